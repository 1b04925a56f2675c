// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/nest_so_far.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage::inspector {

namespace {

using Kind = ReplayLine::Kind;

class SoFarWriter {
 public:
  SoFarWriter(const GroupModel& model, const NestState& state) : model_(model), state_(state) {
    for (std::size_t l = 0; l < state.loops.size(); ++l) {
      const ModelIterator& iterator = iterator_of(state.loops[l]);
      if (iterator.spatial || iterator.stage == model.main) around_.push_back(l);
      if (iterator.spatial) ++spatial_;
    }
  }

  std::vector<ReplayLine> run() {
    if (const std::string cores = cores_line(state_.parallel); !cores.empty()) add(Kind::plain, 0, cores);
    level(0);
    return std::move(lines_);
  }

 private:
  [[nodiscard]] const ModelIterator& iterator_of(const OuterLoop& loop) const {
    return model_.iterators[loop.iterator];
  }
  [[nodiscard]] bool is_output(const ModelBuffer& buffer) const { return buffer.kind == ModelBuffer::Kind::output; }

  ReplayLine& add(Kind kind, std::size_t depth, std::string text, std::string note = {}) {
    return lines_.emplace_back(ReplayLine{kind, static_cast<int>(depth), std::move(text), std::move(note), false});
  }

  void add_loop(std::size_t l, std::size_t depth) {
    const OuterLoop& loop = state_.loops[l];
    const ModelIterator& iterator = iterator_of(loop);
    const bool open = state_.ordering && l < state_.open;
    std::string text = fmt::format("for {} < {}", loop.name, loop.trips);
    if (!state_.sizes.empty() && state_.sizes[loop.iterator] > 1) {
      text += fmt::format("  ({} elements of {} an iteration)", state_.sizes[loop.iterator], iterator.name);
    }
    std::string note = open ? "place open" : iterator.spatial ? "" : "sum";
    add(open ? Kind::open_loop : Kind::loop, depth, std::move(text), std::move(note)).changed =
        state_.changed == loop.name;
  }

  [[nodiscard]] std::vector<std::int64_t> extents_of(BufferId b) const {
    return buffer_extents(model_, b, state_.sizes, state_.residents);
  }

  void transfer(BufferId b, Kind kind, std::size_t depth) {
    const ModelBuffer& buffer = model_.buffers[b];
    const std::string extents = fmt::format("{}", fmt::join(extents_of(b), " × "));
    const std::int64_t iterations = iterations_around(model_, state_, b);
    std::string times = iterations == 1 ? "once" : fmt::format("{} times", iterations);
    if (!state_.parallel.empty()) times += " on each core";
    const std::string_view word = kind == Kind::get ? "DMA get" : kind == Kind::put ? "DMA put" : "init";
    std::string text = fmt::format("{} {} [{}]", word, buffer.name, extents);
    if (kind == Kind::init) {
      const Stage& stage = model_.list->stages[buffer.stage];
      text += fmt::format(" to {:g}", identity_of(stage.reduction, stage.body->type));
    }
    add(kind, depth, std::move(text), std::move(times)).changed = state_.changed == buffer.name;
  }

  /// A sum's start, once its place is known.
  void begin(StageId stage, std::size_t depth) {
    const BufferId b = model_.buffer_of_output[stage];
    if (model_.list->stages[stage].reduction == Reduction::none) return;
    if (state_.depth.empty() || !state_.depth[b]) return;
    transfer(b, Kind::init, depth);
  }

  /// Everything between loop `depth` - 1 and loop `depth` of those that all stages have around them.
  void level(std::size_t depth) {
    const bool innermost = depth == around_.size();
    for (const BufferId b : model_.buffers.ids()) {
      if (state_.depth.empty() || state_.depth[b] != depth) continue;
      if (model_.buffers[b].kind == ModelBuffer::Kind::input) transfer(b, Kind::get, depth);
    }
    for (const StageId stage : model_.list->stages.ids()) {
      const bool is_main = stage == model_.main || model_.in_tail[stage];
      if (!is_main && computed_at(stage) == depth) compute(stage, depth);
    }
    if (depth == spatial_) begin(model_.main, depth);
    if (innermost) {
      compute(model_.main, depth);
    } else {
      add_loop(around_[depth], depth);
      level(depth + 1);
    }
    for (const StageId stage : model_.list->stages.ids()) {
      if (depth == spatial_ && model_.in_tail[stage]) compute(stage, depth);
    }
    for (const BufferId b : model_.buffers.ids()) {
      const bool here = !state_.depth.empty() && state_.depth[b] == depth;
      if (here && is_output(model_.buffers[b])) transfer(b, Kind::put, depth);
    }
  }

  [[nodiscard]] std::size_t computed_at(StageId stage) const {
    const BufferId buffer = model_.buffer_of_output[stage];
    if (stage == model_.main || state_.depth.empty()) return around_.size();
    const auto place = state_.depth[buffer];
    return place ? std::min(*place, around_.size()) : around_.size();
  }

  void compute(StageId stage, std::size_t depth) {
    std::size_t inner = depth;
    if (stage != model_.main) begin(stage, depth);
    for (std::size_t l = 0; l < state_.loops.size(); ++l) {
      const ModelIterator& iterator = iterator_of(state_.loops[l]);
      if (iterator.spatial || iterator.stage != stage || stage == model_.main) continue;
      add_loop(l, inner++);
      for (const BufferId b : model_.buffers.ids()) {
        const bool own = model_.buffers[b].stage == stage && model_.buffers[b].kind == ModelBuffer::Kind::input;
        const std::size_t deep = around_.size() + (inner - depth);
        if (own && !state_.depth.empty() && state_.depth[b] == deep) transfer(b, Kind::get, inner);
      }
    }
    const Stage& found = model_.list->stages[stage];
    std::vector<std::string> tile;
    for (std::size_t a = 0; !state_.sizes.empty() && a < found.axes.size(); ++a) {
      const std::int64_t extent = axis_extent(model_, stage, VarId(a), state_.sizes);
      if (extent > 1) tile.push_back(fmt::format("{} {}", found.axes[a].name, extent));
    }
    add(Kind::compute, inner, "compute " + found.name,
        tile.empty() ? (state_.sizes.empty() ? "" : "one element") : fmt::format("on {}", fmt::join(tile, " × ")));
  }

  const GroupModel& model_;
  const NestState& state_;
  std::vector<std::size_t> around_;  ///< loops of the output, then of the main stage's reduction
  std::size_t spatial_ = 0;          ///< so many of them are of the output
  std::vector<ReplayLine> lines_;
};

}  // namespace

std::string cores_line(const std::vector<ParallelSplit>& parallel) {
  std::vector<std::string> parts;
  for (const ParallelSplit& split : parallel)
    parts.push_back(fmt::format("{} in {} parts", split.iterator, split.parts));
  if (parts.empty()) return {};
  return fmt::format("on each of {} cores: {}", core_parts(parallel), fmt::join(parts, ", "));
}

std::vector<OuterLoop> loops_around(const GroupModel& model, const NestState& state, BufferId buffer) {
  const std::vector<std::size_t> path = path_of(model, state.loops, model.buffers[buffer]);
  // A trace that was edited may have placed a transfer inside of loops that the finished schedule has not.
  const std::size_t depth = std::min(state.depth[buffer].value_or(0), path.size());
  std::vector<OuterLoop> loops;
  for (std::size_t p = 0; p < depth; ++p) loops.push_back(state.loops[path[p]]);
  return loops;
}

std::int64_t iterations_around(const GroupModel& model, const NestState& state, BufferId buffer) {
  std::int64_t iterations = 1;
  for (const OuterLoop& loop : loops_around(model, state, buffer)) iterations *= loop.trips;
  return iterations;
}

std::vector<ReplayLine> nest_so_far(const GroupModel& model, const NestState& state) {
  return SoFarWriter(model, state).run();
}

}  // namespace stowage::inspector
