// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/compute_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/factors.h"

namespace stowage {
namespace {

bool runs_along(LaneUse use) { return use == LaneUse::none || use == LaneUse::contiguous; }

/// What a register block reads: the factors of a product, of which the first one moves along the lanes, or one tensor.
struct BlockReads {
  ReadId first;
  std::optional<ReadId> second;
};

/// Whether a sum or a maximum of what one read gives moves along the lanes: a pooling.
std::optional<BlockReads> pool_in_registers(const Stage& stage, VarId lane) {
  const auto* read = std::get_if<ScalarNode::Read>(&stage.body->value);
  const bool combines = stage.reduction == Reduction::sum || stage.reduction == Reduction::maximum;
  if (read == nullptr || !combines) return std::nullopt;
  const LaneUse use = lane_use(stage.reads[read->read], lane);
  if (use != LaneUse::contiguous && use != LaneUse::strided) return std::nullopt;
  return BlockReads{read->read, std::nullopt};
}

/// The reads of a float32 product under a sum of which one at least moves along the lanes, or of a pooling; nothing if
/// the body is something else. Where both factors do (a depthwise convolution whose lanes are channels), neither is
/// gathered.
std::optional<BlockReads> reads_in_registers(const Stage& stage, Compute::Part part, VarId lane) {
  if (part != Compute::Part::update || stage.body->type != ElementType::f32) return std::nullopt;
  if (const auto pool = pool_in_registers(stage, lane)) return pool;
  const auto factors = factors_of(stage);
  if (!factors) return std::nullopt;
  const auto [a, b] = *factors;
  const auto use = [&](ReadId read) { return lane_use(stage.reads[read], lane); };
  const auto moves = [&](ReadId read) { return use(read) == LaneUse::contiguous || use(read) == LaneUse::strided; };
  if (moves(a) && use(b) == LaneUse::none) return BlockReads{a, b};
  if (moves(b) && use(a) == LaneUse::none) return BlockReads{b, a};
  const bool both = use(a) == LaneUse::contiguous && use(b) == LaneUse::contiguous;
  return both ? std::optional(BlockReads{a, b}) : std::nullopt;
}

/// Whether what one read loads serves every row of a block along an axis, as only the other one moves along it; or
/// neither does, or both do. Of a pooling every row has its own, as if nothing were served by the second.
enum class ServesRows : std::uint8_t { first, second, none };

ServesRows serves_rows(const Stage& stage, const BlockReads& reads, VarId axis) {
  const bool first = moves_along(stage.reads[reads.first], axis);
  const bool second = reads.second && moves_along(stage.reads[*reads.second], axis);
  if (first == second) return ServesRows::none;
  return second ? ServesRows::first : ServesRows::second;
}

/// The longest axis in front of the lanes whose rows are served so; none where none has several.
std::optional<VarId> longest_block(const Compute& compute, const Stage& stage, const BlockReads& reads,
                                   ServesRows served) {
  std::int64_t longest = 1;
  std::optional<VarId> found;
  for (VarId axis; axis < *compute.lane_axis; ++axis) {
    const std::int64_t extent = compute.box[axis.index()].max_extent;
    if (extent <= longest) continue;
    if (serves_rows(stage, reads, axis) != served) continue;
    longest = extent;
    found = axis;
  }
  return found;
}

/// Whether an operation has instructions for vectors of float32 that give what the scalar ones do.
bool has_vector_instructions(const ScalarNode::Binary& binary) {
  switch (binary.op) {
    case BinaryOp::add:
    case BinaryOp::subtract:
    case BinaryOp::multiply:
    case BinaryOp::divide: return true;
    case BinaryOp::minimum:
    case BinaryOp::maximum: {
      // One comparison and one selection, as long as the second operand is never NaN.
      const auto* bound = std::get_if<ScalarNode::Constant>(&binary.b->value);
      return bound != nullptr && !std::isnan(bound->value);
    }
    case BinaryOp::power:
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: return false;
  }
  fail_check("unknown binary operation");
}

/// Whether a read can be a vector along the lanes: loaded, gathered, or one value in all of them.
bool can_be_vector(const Access& access, VarId lane) {
  if (lane_use(access, lane) == LaneUse::other) return false;
  return std::all_of(access.index.begin(), access.index.end(),
                     [](const IndexExpr& e) { return tensor_values_of(e).empty(); });
}

}  // namespace

LaneUse lane_use(const Access& access, VarId lane) {
  LaneUse use = LaneUse::none;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    const auto variables = variables_of(access.index[d]);
    if (!variables.contains(lane)) continue;
    // The lane may only stand as a plain term of the sum.
    for (const IndexTerm& term : access.index[d].terms()) {
      if (term.atom.kind != IndexAtom::Kind::variable && mentions(IndexExpr::of_atom(term.atom), lane)) {
        return LaneUse::other;
      }
    }
    const bool last = d + 1 == access.index.size();
    const bool steps_by_one = last && access.index[d].coefficient_of(lane) == 1;
    use = steps_by_one && use == LaneUse::none ? LaneUse::contiguous : LaneUse::strided;
  }
  return use;
}

bool moves_along(const Access& access, VarId axis) {
  return std::any_of(access.index.begin(), access.index.end(), [&](const IndexExpr& e) { return mentions(e, axis); });
}

std::int64_t register_block_rows(std::int64_t most_lanes, std::int64_t lanes_of_vector) {
  return register_block_sums /
         std::clamp<std::int64_t>(ceil_div(most_lanes, lanes_of_vector), 1, register_block_vectors);
}

std::int64_t rows_of_block(std::int64_t count, std::int64_t most_lanes, std::int64_t lanes_of_vector) {
  const std::int64_t rows = register_block_rows(most_lanes, lanes_of_vector);
  return count <= 0 ? rows : ceil_div(count, ceil_div(count, rows));
}

std::int64_t most_vectors_of_group(std::int64_t rows) {
  return std::max(register_block_vectors, std::min(register_block_one_row_vectors, register_block_sums / rows));
}

std::int64_t vectors_of_group(std::int64_t count, std::int64_t rows, std::int64_t lanes_of_vector) {
  const std::int64_t vectors = std::max<std::int64_t>(1, ceil_div(count, lanes_of_vector));
  return ceil_div(vectors, ceil_div(vectors, most_vectors_of_group(rows)));
}

std::int64_t shortest_vector_loop(const Target& target) {
  return target.cores.vector_lanes > 1 ? target.cores.vector_lanes : std::numeric_limits<std::int64_t>::max();
}

void choose_form(const LoopNest& nest, Compute& compute, const Target& target) {
  const Stage& stage = nest.stages.stages[compute.stage];
  compute.form = ComputeForm::scalar;
  compute.lane_axis.reset();
  compute.block_axis.reset();
  if (stage.spatial == 0) return;
  const VarId lane(stage.spatial - 1);
  if (compute.box[lane.index()].max_extent < shortest_vector_loop(target)) return;
  compute.form = ComputeForm::vector;
  compute.lane_axis = lane;
  const auto reads = reads_in_registers(stage, compute.part, lane);
  if (!reads) return;  // the shortest vector loop fills one vector of a register block
  compute.form = ComputeForm::register_block;
  // Vectors that serve every row save most; without such an axis it is one that the other read does not move along.
  compute.block_axis = longest_block(compute, stage, *reads, ServesRows::first);
  if (!compute.block_axis) compute.block_axis = longest_block(compute, stage, *reads, ServesRows::second);
}

bool may_have_form(const LoopNest& nest, const Compute& compute, const Target& target) {
  if (compute.form == ComputeForm::scalar) return !compute.lane_axis && !compute.block_axis;
  const Stage& stage = nest.stages.stages[compute.stage];
  if (target.cores.vector_lanes < 2 || stage.spatial == 0 || compute.lane_axis != VarId(stage.spatial - 1))
    return false;
  if (compute.form == ComputeForm::vector) return !compute.block_axis;
  if (compute.part == Compute::Part::map)  // in the registers of a sum: verify_registers has the rest
    return may_gather_lanes(stage, compute.part) && (!compute.block_axis || *compute.block_axis < *compute.lane_axis);
  const auto reads = reads_in_registers(stage, compute.part, *compute.lane_axis);
  if (!reads || !compute.block_axis) return reads.has_value();
  return *compute.block_axis < *compute.lane_axis &&
         serves_rows(stage, *reads, *compute.block_axis) != ServesRows::none;
}

bool is_contiguous_along_lane(const LoopNest& nest, const Compute& compute) {
  if (!compute.lane_axis) return false;
  const Stage& stage = nest.stages.stages[compute.stage];
  for (const ReadId r : compute.read_buffers.ids()) {
    if (compute.read_buffers[r] && !runs_along(lane_use(stage.reads[r], *compute.lane_axis))) return false;
  }
  return true;
}

bool may_gather_lanes(const Stage& stage, Compute::Part part) {
  if (stage.spatial == 0 || part == Compute::Part::update) return false;
  const VarId lane(stage.spatial - 1);
  bool may = true;
  visit_nodes(part == Compute::Part::finish ? stage.finish : stage.body, [&](const ScalarNode& node) {
    may = may && node.type == ElementType::f32;
    if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) {
      may = may && can_be_vector(stage.reads[read->read], lane);
    } else if (const auto* binary = std::get_if<ScalarNode::Binary>(&node.value)) {
      may = may && has_vector_instructions(*binary);
    } else {
      may = may && (std::holds_alternative<ScalarNode::Constant>(node.value) ||
                    std::holds_alternative<ScalarNode::Accumulator>(node.value));
    }
  });
  return may;
}

LaneLoop lane_loop(const LoopNest& nest, const Compute& compute, const Target& target) {
  const Stage& stage = nest.stages.stages[compute.stage];
  const bool in_vectors = target.cores.vector_lanes == lanes_of_floatv4 && compute.form == ComputeForm::vector &&
                          compute.lane_axis == VarId(stage.spatial - 1) && may_gather_lanes(stage, compute.part);
  if (!in_vectors) return LaneLoop::plain;
  if (!is_contiguous_along_lane(nest, compute)) return LaneLoop::gathered;
  const Range& lane = compute.box[compute.lane_axis->index()];
  const bool short_row = lane.extent.is_constant() && lane.max_extent % lanes_of_floatv4 == 0 &&
                         lane.max_extent <= register_block_vectors * lanes_of_floatv4;
  return short_row && row_axis(compute) ? LaneLoop::unrolled : LaneLoop::plain;
}

std::optional<VarId> row_axis(const Compute& compute) {
  for (std::size_t axis = compute.lane_axis.value().index(); axis-- > 0;) {
    if (compute.box[axis].max_extent > 1) return VarId(axis);
  }
  return std::nullopt;
}

bool may_run_along_lane(const Stage& stage, Compute::Part part) {
  if (stage.spatial == 0) return false;
  const VarId lane(stage.spatial - 1);
  bool along = true;
  visit_nodes(part == Compute::Part::finish ? stage.finish : stage.body, [&](const ScalarNode& node) {
    const auto* read = std::get_if<ScalarNode::Read>(&node.value);
    if (read == nullptr) return;
    along = along && runs_along(lane_use(stage.reads[read->read], lane));
  });
  return along;
}

bool may_block_registers(const Stage& stage, Compute::Part part) {
  return stage.spatial > 0 && reads_in_registers(stage, part, VarId(stage.spatial - 1)).has_value();
}

ElementType result_type(const Stage& stage, Compute::Part part) {
  return part == Compute::Part::finish ? stage.finish->type : stage.body->type;
}

std::int64_t operations_of(const Stage& stage, Compute::Part part) {
  const std::int64_t operations = part == Compute::Part::finish
                                      ? operation_count(stage.finish)
                                      : operation_count(stage.body) + (part == Compute::Part::update ? 1 : 0);
  return std::max<std::int64_t>(1, operations);
}

}  // namespace stowage
