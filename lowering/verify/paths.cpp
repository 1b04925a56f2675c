// SPDX-License-Identifier: Apache-2.0
#include "lowering/verify/paths.h"

#include <algorithm>
#include <span>

#include "lowering/ir/prover.h"

namespace stowage {

Paths::Paths(const LoopNest& nest) : writers_(nest.buffers.size()) {
  Prover prover(nest);
  const auto writes = [&](const Stmt& s, BufferId buffer) { writers_[buffer].push_back(s.id); };
  visit_with_enclosing(nest, [&](const Stmt& s, const Enclosing& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      if (prover.find_negative(around, loop->extent - 1, {})) skipped_.insert(s.id);
      prover.enter(*loop, around);
    } else if (const auto* dma = std::get_if<Dma>(&s.node); dma != nullptr && dma->direction == DmaDirection::get) {
      writes(s, dma->buffer);
    } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      writes(s, broadcast->buffer);
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      writes(s, compute->output_buffer);
    }
  });
}

std::optional<StatementId> Paths::last_writer(BufferId buffer, const Stmt& before) const {
  const std::vector<StatementId>& writers = writers_[buffer];
  const auto behind = std::lower_bound(writers.begin(), writers.end(), before.id);
  return behind == writers.begin() ? std::nullopt : std::optional(*(behind - 1));
}

bool may_go_on(const Stage& stage, Compute::Part part, Holds holds) {
  if (part == Compute::Part::update) {
    return holds == Holds::filled || holds == Holds::partial || (holds == Holds::complete && stage.finish == nullptr);
  }
  const auto reduced = std::span(stage.axes).subspan(stage.spatial);
  const bool has_points = std::all_of(reduced.begin(), reduced.end(), [](const Axis& axis) { return axis.extent > 0; });
  return holds == Holds::partial || (holds == Holds::filled && !has_points);
}

void join(State& state, const State& other) {
  for (std::size_t c = 0; c < state.contents.size(); ++c) {
    Content& here = state.contents[c];
    const Content& there = other.contents[c];
    if (here.box != there.box) {
      here = {};
      continue;
    }
    here.holds = std::min(here.holds, there.holds);
    if (here.writer != there.writer || there.has_several_writers) {
      here.writer = std::nullopt;
      here.has_several_writers = true;
    }
  }
  std::set<Flight> in_flight;
  for (Flight flight : state.in_flight) {
    const bool same = std::any_of(other.in_flight.begin(), other.in_flight.end(), [&](const Flight& f) {
      return f.statement == flight.statement && f.cell == flight.cell && f.into == flight.into && f.box == flight.box;
    });
    if (!same && flight.box > 0) flight.box = -1;
    in_flight.insert(std::move(flight));
  }
  state.in_flight = std::move(in_flight);
}

}  // namespace stowage
