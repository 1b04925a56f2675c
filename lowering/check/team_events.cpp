// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/team_events.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stowage {

TeamEvents::TeamEvents(const LoopNest& nest)
    : nest_(nest), events_(static_cast<std::size_t>(std::max(1, nest.cores_used()))) {
  std::map<BufferId, Space> of_buffer;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* dma = std::get_if<Dma>(&s.node);
    if (dma != nullptr && dma->to != Space::ldm) team_of_[s.id] = of_buffer[dma->buffer.buffer] = dma->to;
    const auto* broadcast = std::get_if<Broadcast>(&s.node);
    if (broadcast != nullptr) {
      team_of_[s.id] = of_buffer[broadcast->buffer.buffer] = broadcast->to;
      of_buffer.try_emplace(broadcast->source.buffer, broadcast->to);
    }
    if (std::holds_alternative<Barrier>(s.node)) team_of_[s.id] = Space::mesh;
  });
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* wait = std::get_if<Wait>(&s.node);
    if (wait == nullptr) return;
    if (wait->slot) {
      const auto found = of_buffer.find(wait->slot->buffer);
      if (found != of_buffer.end()) team_of_[s.id] = found->second;
    } else if (const auto found = team_of_.find(*wait->dma); found != team_of_.end()) {
      team_of_[s.id] = found->second;
    }
  });
}

void TeamEvents::add(int core, Moment at, std::vector<std::int64_t> what) {
  events_[static_cast<std::size_t>(core)].push_back({std::move(at), std::move(what)});
}

std::vector<const TeamEvents::Event*> TeamEvents::events_of(int core, Space team) const {
  std::vector<const Event*> found;
  for (const Event& event : events_[static_cast<std::size_t>(core)]) {
    const auto known = team_of_.find(event.at.statement);
    const Space meets = known == team_of_.end() ? Space::row : known->second;
    if (meets == team || meets == Space::mesh) found.push_back(&event);
  }
  return found;
}

std::optional<TeamMismatch> TeamEvents::mismatch(int core, int with, Space team) const {
  const auto own = events_of(core, team);
  const auto others = events_of(with, team);
  for (std::size_t i = 0; i < std::max(own.size(), others.size()); ++i) {
    if (i >= own.size())
      return TeamMismatch{with, others[i]->at, {}, core, fmt::format("core {} does not come to this", core)};
    if (i >= others.size())
      return TeamMismatch{core, own[i]->at, {}, with, fmt::format("core {} does not come to this", with)};
    const StatementId statement = others[i]->at.statement;
    if (own[i]->at.statement == statement && own[i]->what == others[i]->what) continue;
    return TeamMismatch{core, own[i]->at, others[i]->at, with,
                        own[i]->at.statement == statement
                            ? fmt::format("core {} takes part with another box", with)
                            : fmt::format("core {} is at statement {} then", with, statement.index())};
  }
  return std::nullopt;
}

std::vector<TeamMismatch> TeamEvents::mismatches() const {
  std::vector<TeamMismatch> found;
  const int cores = nest_.cores_used();
  const int columns = nest_.mesh ? std::max(1, nest_.mesh->columns) : std::max(1, cores);
  for (int core = 0; core < cores; ++core) {
    if (auto row = mismatch(core, core / columns * columns, Space::row)) found.push_back(*std::move(row));
    if (auto column = mismatch(core, core % columns, Space::column)) found.push_back(*std::move(column));
    if (auto all = mismatch(core, 0, Space::mesh)) found.push_back(*std::move(all));
  }
  return found;
}

}  // namespace stowage
