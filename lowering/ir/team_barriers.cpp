// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/team_barriers.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace stowage {
namespace {

bool contains(Space wide, Space narrow) { return wide == narrow || wide == Space::mesh; }

/// Buffers used since the last barrier of a team that takes in the one that asks.
using Used = std::map<Space, std::set<BufferId>>;

class BarrierFinder {
 public:
  explicit BarrierFinder(const LoopNest& nest) {
    visit_statements(nest.body, [&](const Stmt& s) {
      if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) broadcasts_.emplace(s.id, broadcast);
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma == nullptr || dma->to == Space::ldm || dma->direction == DmaDirection::put) return;
      of_get_[s.id] = of_buffer_[dma->buffer] = dma->to;
      box_of_get_.emplace(s.id, dma->buffer);
    });
    if (of_get_.empty() && broadcasts_.empty()) return;
    // Before the first statement a core may not have come to this nest.
    Used used;
    for (const auto& [id, team] : of_get_) {
      for (const BufferId b : nest.buffers.ids()) used[team].insert(b);
    }
    find(nest.body, used);
  }

  TeamBarriers found;

 private:
  [[nodiscard]] std::optional<Space> team_waited_for(const Wait& wait) const {
    const auto team_of = [](const auto& teams, const auto& key) -> std::optional<Space> {
      const auto known = teams.find(key);
      return known == teams.end() ? std::nullopt : std::optional(known->second);
    };
    return wait.slot ? team_of(of_buffer_, wait.slot->buffer) : team_of(of_get_, *wait.dma);
  }

  static void meet(Used& used, Space team) {
    for (auto& [asking, buffers] : used) {
      if (contains(team, asking)) buffers.clear();
    }
  }

  static void use(Used& used, BufferId buffer) {
    for (auto& [asking, buffers] : used) buffers.insert(buffer);
  }

  /// What a statement itself does with the LDM.
  static void use(Used& used, const Stmt& s) {
    visit_uses(s, [&](const BufferUse& buffer) { use(used, buffer); });
  }

  void find(const Block& block, Used& used) {
    for (auto here = block.begin(); here != block.end(); ++here) {
      const Stmt& s = **here;
      if (const Block* const body = body_of(s)) {
        Used inside = used;
        if (std::holds_alternative<Loop>(s.node)) {
          // A later trip begins with what the one before it has used.
          visit_statements(*body, [&](const Stmt& inner) { use(inside, inner); });
        }
        find(*body, inside);
        for (auto& [asking, buffers] : used) buffers.insert(inside[asking].begin(), inside[asking].end());
      } else if (const auto get = of_get_.find(s.id); get != of_get_.end()) {
        // Down a column goes what the first core has in its own LDM, and no sooner than all of them are at the wait.
        if (get->second != Space::column && used.at(get->second).contains(std::get<Dma>(s.node).buffer)) {
          found.before[s.id] = get->second;
          meet(used, get->second);
        }
      } else if (const auto* wait = std::get_if<Wait>(&s.node)) {
        await(s.id, *wait, here, block.end(), used);
      } else if (std::holds_alternative<Barrier>(s.node)) {
        meet(used, Space::mesh);
      } else {
        use(used, s);
      }
    }
  }

  void await(StatementId id, const Wait& wait, Block::const_iterator here, Block::const_iterator end, Used& used) {
    if (const auto sent = wait.dma ? broadcasts_.find(*wait.dma) : broadcasts_.end(); sent != broadcasts_.end()) {
      // The sender may have gone on when another core takes the last register: this is no barrier for what follows.
      const Broadcast& broadcast = *sent->second;
      found.after[id] = broadcast.to;
      found.sent_at.emplace(id, SentBox{broadcast.source, broadcast.buffer, broadcast});
      return;
    }
    const auto team = team_waited_for(wait);
    if (!team) return;
    found.waits_of[id] = *team;
    if (*team == Space::column) {
      found.after[id] = *team;
      const BufferUse box = wait.slot ? *wait.slot : box_of_get_.at(*wait.dma);
      found.sent_at.emplace(id, SentBox{box, box});
      return meet(used, *team);
    }
    for (auto next = std::next(here); next != end; ++next) {
      const auto* const also = std::get_if<Wait>(&(*next)->node);
      if (also == nullptr) break;
      const auto of_next = team_waited_for(*also);
      if (of_next && contains(*of_next, *team)) return;
    }
    found.after[id] = *team;
    meet(used, *team);
  }

  std::map<StatementId, Space> of_get_;
  std::map<StatementId, BufferUse> box_of_get_;
  std::map<BufferId, Space> of_buffer_;  ///< that they fill
  std::map<StatementId, const Broadcast*> broadcasts_;
};

}  // namespace

TeamBarriers team_barriers(const LoopNest& nest) { return BarrierFinder(nest).found; }

}  // namespace stowage
