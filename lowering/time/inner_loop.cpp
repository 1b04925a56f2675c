// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/inner_loop.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/tensor.h"
#include "lowering/ir/compute_form.h"
#include "lowering/time/counts.h"
#include "lowering/time/instructions.h"

namespace stowage {
namespace {

constexpr std::int64_t bytes_of_lane = bytes_of_floatv4 / lanes_of_floatv4;

// Instructions where nobody has counted those of a compiler: of the emitted loops, so no key of a target says them;
// what each takes, its `cores.pipelines` do. Setting up a loop: its counter, its addresses, its end.
constexpr double entry_instructions = 4;

std::int64_t product_of(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// Vectors of each group of accumulators that a row of `count` lanes is cut into, where that is the row's full length.
/// The last vector of a group may overlap its neighbour.
std::vector<std::int64_t> groups_of_full_row(std::int64_t count, std::int64_t rows, std::int64_t lanes) {
  const std::int64_t vectors = vectors_of_group(count, rows, lanes);
  const std::int64_t group = vectors * lanes;
  std::int64_t whole = count / group;
  if (count % group > 0 && count % group < lanes && whole > 0) --whole;
  std::vector<std::int64_t> groups(static_cast<std::size_t>(whole), vectors);
  std::int64_t left = count - whole * group;
  if (left > group && vectors > 1) {
    groups.push_back(vectors - 1);
    left -= group - lanes;
  }
  if (left > 0) groups.push_back((left + lanes - 1) / lanes);
  return groups;
}

/// How many blocks there are of so many rows, where the number of rows is known: equal ones and what is left.
std::map<std::int64_t, std::int64_t> blocks_of_rows(std::int64_t count, std::int64_t rows) {
  std::map<std::int64_t, std::int64_t> blocks{{rows, count / rows}};
  if (const std::int64_t left = count % rows; left > 0) ++blocks[left];
  return blocks;
}

/// The same for any number of rows: whole blocks, then halves.
std::map<std::int64_t, std::int64_t> blocks_of_any_rows(std::int64_t count, std::int64_t rows) {
  std::map<std::int64_t, std::int64_t> blocks;
  for (; rows > 0; rows = smaller_block(rows)) {
    blocks[rows] = count / rows;
    count %= rows;
  }
  return blocks;
}

/// Cycles in which a group of so many accumulators is loaded or set, ends and is stored.
double around_trips(double accumulators, const Pipelines& pipelines, double access) {
  return 2 * accumulators * access + pipelines.load_latency + pipelines.arithmetic_latency;
}

std::set<ReadId> reads_in(const ScalarExpr& expression) {
  std::set<ReadId> reads;
  visit_nodes(expression, [&](const ScalarNode& node) {
    if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) reads.insert(read->read);
  });
  return reads;
}

}  // namespace

InnerLoop::InnerLoop(const LoopNest& nest, const Compute& compute, const Target& target, KnownRows known_rows)
    : nest_(nest),
      compute_(compute),
      stage_(nest.stages.stages[compute.stage]),
      expression_(compute.part == Compute::Part::finish ? stage_.finish : stage_.body),
      pipelines_(*target.cores.pipelines),
      lanes_(target.cores.vector_lanes),
      known_rows_(std::move(known_rows)),
      lane_loop_(lane_loop(nest, compute, target)) {
  for (const ReadId read : reads_in(expression_)) operands_.push_back(operand_of(read));
  if (!compute_.lane_axis) return;
  std::vector<IndexExpr> index;
  for (const VarId axis : stage_.spatial_axes()) index.emplace_back(axis);
  output_aligned_ = is_aligned(compute_.output_buffer, index);
}

LoopOperand InnerLoop::operand_of(ReadId read) const {
  const Access& access = stage_.reads[read];
  LoopOperand operand;
  operand.by_block = compute_.block_axis && moves_along(access, *compute_.block_axis);
  operand.inner = compute_.box.empty() || moves_along(access, VarId(innermost_axis(0)));
  if (!compute_.lane_axis) return operand;
  if (const auto row = row_axis(compute_)) operand.by_row = moves_along(access, *row);
  operand.lane = lane_use(access, *compute_.lane_axis);
  const auto& use = compute_.read_buffers[read];
  operand.aligned = operand.lane == LaneUse::contiguous && use.has_value() && is_aligned(*use, access.index);
  operand.in_registers = compute_.part != Compute::Part::update && compute_.form == ComputeForm::register_block &&
                         use.has_value() && nest_.buffers[*use].offset == nest_.buffers[compute_.output_buffer].offset;
  return operand;
}

/// As the emitter finds out whether it may load a whole vector, for all rows of a block: lane loops step by vectors.
bool InnerLoop::is_aligned(const BufferUse& use, const std::vector<IndexExpr>& index) const {
  const Buffer& held = nest_.buffers[use.buffer];
  const std::int64_t vector_bytes = lanes_ * bytes_of_lane;
  if (held.offset % vector_bytes != 0 || (held.slots > 1 && held.slot_bytes() % vector_bytes != 0)) return false;
  const std::vector<std::int64_t> strides = row_major_strides(held.extents);
  const std::vector<IndexExpr>& origin = origin_of(nest_, use);
  const std::size_t first_axis = nest_.variables.size();
  IndexExpr flat;
  for (std::size_t d = 0; d < index.size() && d < held.extents.size(); ++d) {
    if (held.extents[d] == 1) continue;
    const IndexExpr at = substitute(index[d], [&](VarId axis) {
      const Range& range = compute_.box[axis.index()];
      return range.max_extent == 1 ? range.start : range.start + IndexExpr(VarId(first_axis + axis.index()));
    });
    flat += (at - origin[d]) * strides[d];
  }
  if (flat.constant() % lanes_ != 0) return false;
  return std::all_of(flat.terms().begin(), flat.terms().end(), [&](const IndexTerm& term) {
    const bool is_lane = term.atom.kind == IndexAtom::Kind::variable &&
                         term.atom.variable == VarId(first_axis + compute_.lane_axis->index());
    return is_lane || term.coefficient % lanes_ == 0;
  });
}

std::size_t InnerLoop::innermost_axis(std::size_t first) const {
  for (std::size_t axis = compute_.box.size(); axis-- > first;) {
    if (compute_.box[axis].max_extent > 1) return axis;
  }
  return compute_.box.size() - 1;
}

double InnerLoop::entry_cycles() const {
  return pipelines_.load_latency + pipelines_.arithmetic_latency + entry_instructions / 2;
}

/// Spatial loops outside, reductions inside them in a register.
double InnerLoop::scalar_cycles(std::span<const std::int64_t> extents) const {
  const double trip = scalar_trip(stage_, compute_.part, pipelines_, operands_).cycles();
  const double points = static_cast<double>(product_of(extents));
  const double inner = extents.empty() ? 1 : static_cast<double>(extents[innermost_axis(0)]);
  const double cycles = points * trip + points / inner * entry_cycles();
  if (compute_.part != Compute::Part::update) return cycles;
  constexpr double load_and_store = 2;
  return cycles + load_and_store * static_cast<double>(product_of(extents.first(stage_.spatial)));
}

/// The lanes innermost, in vectors and a rest of single ones; what is summed stays in the LDM.
double InnerLoop::vector_cycles(std::span<const std::int64_t> extents) const {
  const std::size_t lane = compute_.lane_axis.value().index();
  const auto work = [&](std::int64_t lanes) {
    return vector_trip(stage_, compute_.part, pipelines_, operands_, lanes).cycles();
  };
  const bool vectors = is_contiguous_along_lane(nest_, compute_);
  const std::int64_t in_vectors = vectors ? extents[lane] / lanes_ : 0;
  const std::int64_t single = extents[lane] - in_vectors * lanes_;
  const double loops = static_cast<double>(product_of(extents)) / static_cast<double>(extents[lane]);
  return loops *
         (static_cast<double>(in_vectors) * work(lanes_) + static_cast<double>(single) * work(1) + entry_cycles());
}

/// The same with gathered reads; what is one value for all lanes is loaded to them once for each row.
double InnerLoop::gathered_cycles(std::span<const std::int64_t> extents) const {
  const std::size_t lane = compute_.lane_axis.value().index();
  const double rows = static_cast<double>(product_of(extents)) / static_cast<double>(extents[lane]);
  const auto single = static_cast<double>(extents[lane] % lanes_);
  const double in_vectors = (static_cast<double>(extents[lane]) - single) / static_cast<double>(lanes_);
  const auto of_row = static_cast<double>(std::count_if(
      operands_.begin(), operands_.end(), [](const LoopOperand& operand) { return operand.lane == LaneUse::none; }));
  const double vector = gathered_trip(stage_, compute_.part, pipelines_, operands_, lanes_, output_aligned_).cycles();
  const double one = vector_trip(stage_, compute_.part, pipelines_, operands_, 1).cycles();
  return rows * (in_vectors * vector + single * one + of_row + entry_cycles());
}

/// All vectors of a row in a trip of the loop over the rows.
double InnerLoop::unrolled_cycles(std::span<const std::int64_t> extents) const {
  const std::int64_t vectors = extents[compute_.lane_axis.value().index()] / lanes_;
  const double trips = static_cast<double>(product_of(extents)) / static_cast<double>(vectors * lanes_);
  const double entries = trips / static_cast<double>(extents[row_axis(compute_).value().index()]);
  double before = entry_cycles();
  for (const LoopOperand& operand : operands_) {
    if (operand.by_row) continue;
    const double loads = operand.lane == LaneUse::none ? 1 : static_cast<double>(vectors);
    before += loads * (operand.lane == LaneUse::none || operand.aligned ? 1 : unaligned_loads);
  }
  const TripWork trip = unrolled_trip(stage_, compute_.part, pipelines_, operands_, lanes_, vectors, output_aligned_);
  return trips * trip.cycles() + entries * before;
}

/// One group of accumulators: loaded or set, summed over all reductions, stored; or what is computed in them before
/// they are stored. No vectors: one lane in plain floats.
double InnerLoop::group_cycles(std::span<const std::int64_t> extents, std::int64_t rows, std::int64_t vectors) const {
  const auto columns = static_cast<double>(std::max<std::int64_t>(1, vectors));
  const auto height = static_cast<double>(rows);
  if (compute_.part != Compute::Part::update) {
    return end_of_block(stage_, pipelines_, operands_, rows, vectors, lanes_).cycles();
  }
  const TripWork trip = block_trip(stage_, pipelines_, operands_, rows, vectors, lanes_);
  const std::span<const std::int64_t> reduced = extents.subspan(stage_.spatial);
  const auto trips = static_cast<double>(product_of(reduced));
  // The innermost loop is entered once for each trip of those around it.
  const double entries = reduced.empty() ? 1 : trips / static_cast<double>(extents[innermost_axis(stage_.spatial)]);
  const double accumulator_access = vectors == 0 || output_aligned_ ? 1 : unaligned_loads;
  return trips * trip.cycles() + entries * entry_instructions / 2 +
         around_trips(height * columns, pipelines_, accumulator_access);
}

double InnerLoop::block_cycles(std::span<const std::int64_t> extents) const {
  const std::size_t lane = compute_.lane_axis.value().index();
  const std::int64_t count = extents[lane];
  const std::int64_t most = compute_.box[lane].max_extent;
  const auto groups_with = [&](std::int64_t rows) {  // vectors of each; 0: a single lane
    if (count == most) return groups_of_full_row(count, rows, lanes_);
    std::vector<std::int64_t> groups(static_cast<std::size_t>(count / (register_block_vectors * lanes_)),
                                     register_block_vectors);
    const std::int64_t left = count % (register_block_vectors * lanes_);
    groups.insert(groups.end(), static_cast<std::size_t>(left / lanes_), 1);
    groups.insert(groups.end(), static_cast<std::size_t>(left % lanes_), 0);
    return groups;
  };
  std::int64_t blocked = 1;
  std::map<std::int64_t, std::int64_t> blocks{{1, 1}};  // how many of so many rows
  if (compute_.block_axis) {
    const std::size_t axis = compute_.block_axis->index();
    blocked = extents[axis];
    // As the emitter has code of its own for them.
    const bool is_known =
        compute_.box[axis].extent.is_constant() ||
        (known_rows_.empty() ? blocked == compute_.box[axis].max_extent
                             : std::find(known_rows_.begin(), known_rows_.end(), blocked) != known_rows_.end());
    blocks = is_known ? blocks_of_rows(blocked, rows_of_block(blocked, most, lanes_))
                      : blocks_of_any_rows(blocked, register_block_rows(most, lanes_));
  }
  double cycles = 0;
  for (const auto& [rows, times] : blocks) {
    double of_block = 0;
    for (const std::int64_t vectors : groups_with(rows)) of_block += group_cycles(extents, rows, vectors);
    cycles += static_cast<double>(times) * of_block;
  }
  const auto spatial = extents.first(stage_.spatial);
  return cycles * static_cast<double>(product_of(spatial) / count / blocked);
}

double InnerLoop::cycles(std::span<const std::int64_t> extents) const {
  if (product_of(extents) <= 0) return 0;
  switch (compute_.form) {
    case ComputeForm::scalar: return scalar_cycles(extents);
    case ComputeForm::vector:
      if (lane_loop_ == LaneLoop::unrolled) return unrolled_cycles(extents);
      return lane_loop_ == LaneLoop::gathered ? gathered_cycles(extents) : vector_cycles(extents);
    case ComputeForm::register_block: return block_cycles(extents);
  }
  fail_check("unknown compute form");
}

double least_cycles_of_point(const Stage& stage, Compute::Part part, const Target& target, std::int64_t most_lanes,
                             bool ends_sum) {
  const Pipelines& pipelines = *target.cores.pipelines;
  const std::int64_t lanes = target.cores.vector_lanes;
  const std::size_t axes = part == Compute::Part::finish ? stage.spatial : stage.axes.size();
  std::vector<LoopOperand> operands;
  std::vector<const Access*> accesses;
  bool contiguous = true;
  for (const ReadId read : reads_in(part == Compute::Part::finish ? stage.finish : stage.body)) {
    const Access& access = stage.reads[read];
    LoopOperand operand;
    operand.inner = axes == 0 || moves_along(access, VarId(axes - 1));
    if (stage.spatial > 0) operand.lane = lane_use(access, VarId(stage.spatial - 1));
    operand.aligned = true;
    contiguous = contiguous && (operand.lane == LaneUse::none || operand.lane == LaneUse::contiguous);
    operands.push_back(operand);
    accesses.push_back(&access);
  }
  // A tile of one point along the last axes has its innermost loop along any of those before them.
  double least = scalar_trip(stage, part, pipelines, operands).cycles();
  for (std::size_t axis = 0; axis + 1 < axes; ++axis) {
    for (std::size_t read = 0; read < operands.size(); ++read) {
      operands[read].inner = moves_along(*accesses[read], VarId(axis));
    }
    least = std::min(least, scalar_trip(stage, part, pipelines, operands).cycles());
  }
  if (stage.spatial == 0 || most_lanes < shortest_vector_loop(target)) return least;
  if (ends_sum && part == Compute::Part::map && may_gather_lanes(stage, part)) {  // nothing but the operations
    const TripWork vector = end_of_block(stage, pipelines, {}, 1, 1, lanes);
    return std::min(least,
                    std::max(vector.arithmetic, vector.arithmetic / 2 + vector.alone) / static_cast<double>(lanes));
  }
  if (!may_block_registers(stage, part)) {
    const std::int64_t width = contiguous ? lanes : 1;
    const double trip = vector_trip(stage, part, pipelines, operands, width).cycles();
    least = std::min(least, trip / static_cast<double>(width));
    if (contiguous && may_gather_lanes(stage, part)) {
      for (std::size_t axis = 0; axis + 1 < stage.spatial; ++axis) {
        for (std::size_t r = 0; r < operands.size(); ++r) operands[r].by_row = moves_along(*accesses[r], VarId(axis));
        const TripWork row = unrolled_trip(stage, part, pipelines, operands, lanes, register_block_vectors, true);
        least = std::min(least, row.cycles() / static_cast<double>(register_block_vectors * lanes));
      }
    }
    if (contiguous || !may_gather_lanes(stage, part)) return least;
    const double gathered = gathered_trip(stage, part, pipelines, operands, lanes, true).cycles();
    return std::min(least, gathered / static_cast<double>(lanes));
  }
  for (const BlockGroup& group : block_groups(stage, part, target))
    least = std::min(least, group.trip / static_cast<double>(group.rows * group.vectors * lanes));
  return least;
}

std::vector<BlockGroup> block_groups(const Stage& stage, Compute::Part part, const Target& target) {
  std::vector<BlockGroup> groups;
  if (!may_block_registers(stage, part)) return groups;
  const Pipelines& pipelines = *target.cores.pipelines;
  std::vector<LoopOperand> operands;
  for (const ReadId read : reads_in(stage.body)) {
    LoopOperand operand;
    operand.lane = lane_use(stage.reads[read], VarId(stage.spatial - 1));
    operand.aligned = true;
    // Of a block's rows one read moves along them, as the other serves all of them.
    operand.by_block = operand.lane == LaneUse::none;
    operands.push_back(operand);
  }
  const bool one_serves_lanes =
      std::any_of(operands.begin(), operands.end(), [](const LoopOperand& operand) { return operand.by_block; });
  if (!one_serves_lanes) operands.front().by_block = true;
  for (std::int64_t rows = 1; rows <= register_block_sums; ++rows) {
    for (std::int64_t vectors = 1; vectors * rows <= register_block_sums; ++vectors) {
      BlockGroup group{rows, vectors};
      group.trip = block_trip(stage, pipelines, operands, rows, vectors, target.cores.vector_lanes).cycles();
      group.entry = around_trips(static_cast<double>(rows * vectors), pipelines, 1) + entry_instructions / 2;
      groups.push_back(group);
    }
  }
  return groups;
}

}  // namespace stowage
