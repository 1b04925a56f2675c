// SPDX-License-Identifier: Apache-2.0
#include "lowering/verify/followed.h"

#include <algorithm>

namespace stowage {
namespace {

/// Transfers, what waits for them, and whether that stands behind them in the same block.
struct Awaiting {
  std::map<StatementId, std::set<BufferId>> buffers_of;  ///< of a transfer
  std::set<StatementId> in_block;                        ///< transfers with a Wait behind them in their block
  std::set<StatementId> anywhere;                        ///< transfers that some Wait names
};

void collect(const Block& block, Awaiting& awaiting) {
  std::set<StatementId> started;
  for (const StmtPtr& s : block) {
    if (route_of(*s)) {
      visit_uses(*s, [&](const BufferUse& use) { awaiting.buffers_of[s->id].insert(use.buffer); });
      started.insert(s->id);
    } else if (const auto* wait = std::get_if<Wait>(&s->node); wait != nullptr && !wait->slot) {
      awaiting.anywhere.insert(*wait->dma);
      if (started.contains(*wait->dma)) awaiting.in_block.insert(*wait->dma);
    } else if (const Block* body = body_of(*s)) {
      collect(*body, awaiting);
    }
  }
}

class Follower {
 public:
  explicit Follower(const LoopNest& nest) : nest_(nest) { collect(nest.body, awaiting_); }

  Followed run() {
    followed_.buffers.assign(nest_.buffers.size(), false);
    for (const BufferId b : nest_.buffers.ids()) followed_.buffers[b] = nest_.buffers[b].slots > 1;
    for (const auto& [transfer, buffers] : awaiting_.buffers_of) {
      if (!awaiting_.anywhere.contains(transfer) || awaiting_.in_block.contains(transfer)) continue;
      for (const BufferId buffer : buffers) follow(buffer);
    }
    visit_statements(nest_.body, [&](const Stmt& s) {
      const auto* wait = std::get_if<Wait>(&s.node);
      visit_uses(s, [&](const BufferUse& use) {
        if (wait != nullptr || !use.origin.empty()) follow(use.buffer);
      });
    });
    if (std::none_of(followed_.buffers.begin(), followed_.buffers.end(), [](bool b) { return b; })) return {};
    roots_.emplace(nest_);
    visit_statements(nest_.body, [&](const Stmt& s) { deciding(s); });
    close();
    inside(nest_.body);
    return std::move(followed_);
  }

 private:
  void follow(BufferId buffer) { followed_.buffers[buffer] = true; }

  void decides(const IndexExpr& e) { followed_.variables.merge(roots_->of(e)); }

  [[nodiscard]] bool touches_followed(const Block& block) const {
    bool found = false;
    visit_statements(block, [&](const Stmt& s) {
      visit_uses(s, [&](const BufferUse& use) { found = found || followed_.is_followed(use.buffer); });
      const auto* wait = std::get_if<Wait>(&s.node);
      if (wait == nullptr || wait->slot) return;
      for (const BufferId buffer : awaiting_.buffers_of.at(*wait->dma)) found = found || followed_.is_followed(buffer);
    });
    return found;
  }

  void deciding(const Stmt& s) {
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      const auto& conditions = guard->any_positive;
      if (!std::all_of(conditions.begin(), conditions.end(), needs_variables_only) || !touches_followed(guard->body))
        return;
      followed_.guards.insert(s.id);
      for (const IndexExpr& e : conditions) decides(e);
      return;
    }
    visit_uses(s, [&](const BufferUse& use) {
      decides(use.slot);
      const std::vector<IndexExpr>& own = nest_.buffers[use.buffer].origin;
      for (std::size_t d = 0; d < use.origin.size(); ++d) {
        if (use.origin[d] == own[d]) continue;
        for (const IndexExpr& e : {use.origin[d], own[d]}) {
          // A core's coordinate is the same at both ends of a transfer and may stay a symbol.
          for (const VarId v : roots_->of(e)) {
            if (nest_.variables[v.index()].kind == NestVariable::Kind::loop) followed_.variables.insert(v);
          }
        }
      }
    });
  }

  /// A loop that is walked trip by trip has a number of trips that is known.
  void close() {
    for (std::size_t before = 0; before != followed_.variables.size();) {
      before = followed_.variables.size();
      visit_statements(nest_.body, [&](const Stmt& s) {
        const auto* loop = std::get_if<Loop>(&s.node);
        if (loop != nullptr && followed_.variables.contains(loop->variable)) decides(loop->extent);
      });
    }
  }

  /// The variables that decide and occur in a block; notes those of the loops in it.
  std::set<VarId> inside(const Block& block) {
    std::set<VarId> found;
    const auto add = [&](const IndexExpr& e) { found.merge(roots_->of(e)); };
    const auto add_ranges = [&](const std::vector<Range>& ranges) {
      for (const Range& range : ranges) add(range.start), add(range.extent);
    };
    for (const StmtPtr& s : block) {
      visit_uses(*s, [&](const BufferUse& use) {
        add(use.slot);
        for (const IndexExpr& e : origin_of(nest_, use)) add(e);
      });
      if (const auto* guard = std::get_if<Guard>(&s->node)) {
        for (const IndexExpr& e : guard->any_positive) add(e);
      }
      if (const auto* dma = std::get_if<Dma>(&s->node)) add_ranges(dma->region);
      if (const auto* broadcast = std::get_if<Broadcast>(&s->node)) {
        add(broadcast->sender);
        add_ranges(broadcast->region);
      }
      if (const auto* compute = std::get_if<Compute>(&s->node)) add_ranges(compute->box);
      if (const auto* fill = std::get_if<Fill>(&s->node); fill != nullptr && fill->around) add_ranges(*fill->around);
      if (const Block* body = body_of(*s)) {
        std::set<VarId> deeper = inside(*body);
        // How often a loop runs decides what it leaves behind, also where its body does not ask for that.
        if (const auto* loop = std::get_if<Loop>(&s->node)) deeper.merge(roots_->of(loop->extent));
        std::erase_if(deeper, [&](VarId v) { return !followed_.variables.contains(v); });
        if (std::holds_alternative<Loop>(s->node)) followed_.used_in[s->id] = deeper;
        found.merge(deeper);
      }
    }
    return found;
  }

  const LoopNest& nest_;
  Awaiting awaiting_;
  Followed followed_;
  std::optional<Roots> roots_;
};

}  // namespace

Roots::Roots(const LoopNest& nest) {
  visit_statements(nest.body, [&](const Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->variable] = of(let->value);
  });
}

std::set<VarId> Roots::of(const IndexExpr& e) const {
  std::set<VarId> roots;
  for (const VarId v : variables_of(e)) {
    const auto let = lets_.find(v);
    if (let == lets_.end()) {
      roots.insert(v);
    } else {
      roots.insert(let->second.begin(), let->second.end());
    }
  }
  return roots;
}

bool needs_variables_only(const IndexExpr& e) { return !has_table(e) && tensor_values_of(e).empty(); }

Followed followed_in(const LoopNest& nest) { return Follower(nest).run(); }

}  // namespace stowage
