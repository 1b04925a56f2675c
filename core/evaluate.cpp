// SPDX-License-Identifier: Apache-2.0
// A stage is compiled once to a list of instructions over registers, and run for blocks of output elements: a register
// holds one value for every element of the block, so that the cost of interpreting is shared by the whole block.
#include "core/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/evaluate_lanes.h"
#include "core/read_plan.h"

namespace stowage {
namespace {

/// One step of the program: loads a read, or computes a node from registers.
struct Instruction {
  int target = 0;
  std::optional<ReadId> read;        // where it is a load
  const ScalarNode* node = nullptr;  // where it computes
  int a = -1, b = -1, c = -1;        // operand registers
};

class StageRun {
 public:
  StageRun(const StageList& list, const Stage& stage, const IdVector<StageTensorId, Tensor>& values)
      : list_(list), stage_(stage), spatial_(stage.spatial) {
    for (const Access& access : stage.reads) plans_.push_back(plan_read(access, values, spatial_));
    read_register_.assign(stage.reads.size(), -1);
    result_of_body_ = compile(stage.body, body_fixed_, &body_varying_);
    if (stage.finish) result_of_finish_ = compile(stage.finish, finish_, nullptr);
  }

  Tensor run() {
    const StageTensor& output = list_.tensors[stage_.output];
    const auto width = static_cast<std::size_t>(byte_size(output.type));
    const auto total = static_cast<std::size_t>(element_count(output.shape));
    std::vector<std::byte> bytes(total * width);
    axis_.assign(stage_.axes.size(), 0);
    spatial_lanes_.assign(spatial_, IntLane(block_points));
    std::vector<std::int64_t> position(spatial_, 0);
    for (std::size_t done = 0; done < total; done += points_) {
      points_ = std::min(block_points, total - done);
      fill_spatial_lanes(position);
      prepare_reads();
      store_lane(output.type, run_block(), points_, bytes.data() + done * width);
    }
    return Tensor(output.type, output.shape, std::move(bytes));
  }

 private:
  [[nodiscard]] bool is_reduction_axis(VarId axis) const { return axis.index() >= spatial_; }

  [[nodiscard]] bool uses_reduction(const IndexExpr& e) const {
    const auto used = variables_of(e);
    return std::any_of(used.begin(), used.end(), [&](VarId axis) { return is_reduction_axis(axis); });
  }

  int new_register() {
    registers_.emplace_back(block_points);
    return static_cast<int>(registers_.size()) - 1;
  }

  /// Emits the load of a read (once), after the reads that its indices need.
  int compile_read(ReadId read, std::vector<Instruction>& fixed, std::vector<Instruction>* varying) {
    int& known = read_register_[read];
    if (known >= 0) return known;
    bool varies = false;
    for (const IndexExpr& e : stage_.reads[read].index) {
      for (const ReadId needed : tensor_values_of(e))
        varies = register_varies_[compile_read(needed, fixed, varying)] || varies;
      varies = varies || uses_reduction(e);
    }
    Instruction load;
    load.read = read;
    load.target = new_register();
    known = load.target;
    register_varies_[load.target] = varies;
    (varies && varying != nullptr ? *varying : fixed).push_back(load);
    return load.target;
  }

  /// Emits what computes `e`; steps that are the same at all points of the reduction go to `fixed`.
  int compile(const ScalarExpr& e, std::vector<Instruction>& fixed, std::vector<Instruction>* varying) {
    if (const auto known = node_register_.find(e.get()); known != node_register_.end()) return known->second;
    if (const auto* read = std::get_if<ScalarNode::Read>(&e->value)) {
      return node_register_[e.get()] = compile_read(read->read, fixed, varying);
    }
    Instruction step;
    step.node = e.get();
    bool varies = false;
    const auto operand = [&](const ScalarExpr& child) {
      const int from = compile(child, fixed, varying);
      varies = varies || register_varies_[from];
      return from;
    };
    if (const auto* unary = std::get_if<ScalarNode::Unary>(&e->value)) {
      step.a = operand(unary->a);
    } else if (const auto* binary = std::get_if<ScalarNode::Binary>(&e->value)) {
      step.a = operand(binary->a);
      step.b = operand(binary->b);
    } else if (const auto* select = std::get_if<ScalarNode::Select>(&e->value)) {
      step.a = operand(select->condition);
      step.b = operand(select->a);
      step.c = operand(select->b);
    } else if (const auto* cast = std::get_if<ScalarNode::Cast>(&e->value)) {
      step.a = operand(cast->a);
    } else if (const auto* index = std::get_if<ScalarNode::Index>(&e->value)) {
      varies = uses_reduction(index->value);
      for (const ReadId needed : tensor_values_of(index->value)) {
        varies = register_varies_[compile_read(needed, fixed, varying)] || varies;
      }
    }
    step.target = new_register();
    register_varies_[step.target] = varies;
    (varies && varying != nullptr ? *varying : fixed).push_back(step);
    return node_register_[e.get()] = step.target;
  }

  /// Coordinates of the block's elements, in runs along the innermost axis; `position` moves on to the next block.
  void fill_spatial_lanes(std::vector<std::int64_t>& position) {
    if (spatial_ == 0) return;
    const std::size_t inner = spatial_ - 1;
    for (std::size_t begin = 0; begin < points_;) {
      const std::int64_t left = stage_.axes[inner].extent - position[inner];
      const std::size_t length = std::min(points_ - begin, static_cast<std::size_t>(left));
      for (std::size_t a = 0; a < inner; ++a) {
        std::fill_n(spatial_lanes_[a].begin() + static_cast<std::ptrdiff_t>(begin), length, position[a]);
      }
      std::int64_t* lane = spatial_lanes_[inner].data() + begin;
      for (std::size_t p = 0; p < length; ++p) lane[p] = position[inner] + static_cast<std::int64_t>(p);
      begin += length;
      position[inner] += static_cast<std::int64_t>(length);
      for (std::size_t a = spatial_; a-- > 0 && position[a] == stage_.axes[a].extent;) {
        position[a] = 0;
        if (a > 0) ++position[a - 1];
      }
    }
  }

  void prepare_reads() {
    for (ReadPlan& plan : plans_) {
      if (!plan.separable) continue;
      std::fill_n(plan.offset.begin(), points_, 0);
      for (std::size_t d = 0; d < plan.index.size(); ++d) {
        IntLane& index = plan.index[d];
        evaluate_index(plan.spatial[d], index);
        const auto [low, high] =
            std::minmax_element(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(points_));
        plan.reach[d] = {*low, *high};
        add_scaled(plan.offset, plan.strides[d], index);
      }
    }
  }

  const Lane& run_block() {
    for (const Instruction& step : body_fixed_) execute(step);
    const Lane& body = registers_[static_cast<std::size_t>(result_of_body_)];
    if (stage_.reduction == Reduction::none) {
      // Without a reduction nothing varies, but a stage may still have a finish.
      for (const Instruction& step : body_varying_) execute(step);
      if (!stage_.finish) return body;
      accumulator_ = body;
    } else {
      accumulate(body);
      if (!stage_.finish) return accumulator_;
    }
    for (const Instruction& step : finish_) execute(step);
    return registers_[static_cast<std::size_t>(result_of_finish_)];
  }

  void accumulate(const Lane& body) {
    const ElementType type = stage_.body->type;
    fill_identity(stage_.reduction, type, accumulator_);
    for (std::size_t a = spatial_; a < stage_.axes.size(); ++a) {
      if (stage_.axes[a].extent == 0) return;
      axis_[a] = 0;
    }
    for (bool more = true; more;) {
      for (const Instruction& step : body_varying_) execute(step);
      combine(stage_.reduction, type, accumulator_, body, points_);
      more = false;
      for (std::size_t a = stage_.axes.size(); a-- > spatial_;) {
        if (++axis_[a] < stage_.axes[a].extent) {
          more = true;
          break;
        }
        axis_[a] = 0;
      }
    }
    wrap(type, accumulator_.integers, points_);
  }

  void execute(const Instruction& step) {
    Lane& target = registers_[static_cast<std::size_t>(step.target)];
    if (step.read) {
      load(plans_[*step.read], target);
      return;
    }
    const auto operand = [&](int from) -> const Lane& { return registers_[static_cast<std::size_t>(from)]; };
    const ScalarNode& node = *step.node;
    if (const auto* constant = std::get_if<ScalarNode::Constant>(&node.value)) {
      fill(node.type, constant->value, target);
    } else if (const auto* integer = std::get_if<ScalarNode::IntConstant>(&node.value)) {
      fill(node.type, integer->value, target);
    } else if (std::holds_alternative<ScalarNode::Accumulator>(node.value)) {
      target = accumulator_;
    } else if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) {
      evaluate_index(index->value, scratch_);
      convert_integers(scratch_, node.type, target, points_);
    } else if (const auto* unary = std::get_if<ScalarNode::Unary>(&node.value)) {
      apply(unary->op, node.type, operand(step.a), target, points_);
    } else if (const auto* binary = std::get_if<ScalarNode::Binary>(&node.value)) {
      apply(binary->op, binary->a->type, operand(step.a), operand(step.b), target, points_);
    } else if (std::holds_alternative<ScalarNode::Select>(node.value)) {
      select(node.type, operand(step.a), operand(step.b), operand(step.c), target, points_);
    } else if (const auto* cast = std::get_if<ScalarNode::Cast>(&node.value)) {
      convert(cast->a->type, operand(step.a), node.type, target, points_);
    } else {
      fail_check("unknown scalar node");
    }
  }

  void load(ReadPlan& plan, Lane& target) {
    if (!plan.separable) {
      load_general(plan, target);
      return;
    }
    const Shape& shape = plan.tensor->shape();
    const std::size_t dimensions = shape.size();
    std::int64_t shift = 0;
    bool inside = true;
    shifts_.resize(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      shifts_[d] = plan.reduction[d].at(axis_);
      shift += shifts_[d] * plan.strides[d];
      inside = inside && plan.reach[d].low + shifts_[d] >= 0 && plan.reach[d].high + shifts_[d] < shape[d];
    }
    if (inside) {
      load_elements(*plan.tensor, plan.offset, shift, target, points_);
      return;
    }
    scratch_.resize(block_points);
    for (std::size_t p = 0; p < points_; ++p) {
      bool hit = true;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const std::int64_t at = plan.index[d][p] + shifts_[d];
        hit = hit && at >= 0 && at < shape[d];
      }
      scratch_[p] = hit ? plan.offset[p] + shift : outside;
    }
    load_padded(plan, target);
  }

  void load_general(ReadPlan& plan, Lane& target) {
    const Shape& shape = plan.tensor->shape();
    IntLane index(block_points);
    IntLane offset(block_points, 0);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      evaluate_index(plan.access->index[d], index);
      for (std::size_t p = 0; p < points_; ++p) {
        const bool hit = index[p] >= 0 && index[p] < shape[d];
        offset[p] = hit && offset[p] != outside ? offset[p] + index[p] * plan.strides[d] : outside;
      }
    }
    scratch_ = std::move(offset);
    load_padded(plan, target);
  }

  /// Loads the elements at the offsets in `scratch_`; those marked `outside` are the padding value.
  void load_padded(const ReadPlan& plan, Lane& target) {
    const auto end = scratch_.begin() + static_cast<std::ptrdiff_t>(points_);
    const bool any_outside = std::find(scratch_.begin(), end, outside) != end;
    if (any_outside && !plan.access->padding) {
      const StageTensor& tensor = list_.tensors[plan.access->tensor];
      if (plan.depends_on_data) {
        throw IndexOutOfRange(
            fmt::format("an index lies outside of {}, which has shape {}", tensor.name, to_text(tensor.shape)));
      }
      fail_check(fmt::format("stage {} reads outside of {}", stage_.name, tensor.name));
    }
    if (any_outside && plan.tensor->size() == 0) {
      fill(plan.tensor->type(), *plan.access->padding, target);
      return;
    }
    mask_.assign(points_, 0);
    for (std::size_t p = 0; p < points_; ++p) {
      if (scratch_[p] != outside) continue;
      mask_[p] = 1;
      scratch_[p] = 0;
    }
    load_elements(*plan.tensor, scratch_, 0, target, points_);
    if (any_outside) store_where(mask_, plan.tensor->type(), *plan.access->padding, target);
  }

  /// The value of an index expression for every element of the block.
  void evaluate_index(const IndexExpr& e, IntLane& result) {
    result.resize(block_points);
    std::fill_n(result.begin(), points_, e.constant());
    for (const IndexTerm& term : e.terms()) {
      const IndexAtom& atom = term.atom;
      if (atom.kind == IndexAtom::Kind::variable) {
        const std::size_t axis = atom.variable.index();
        if (axis < spatial_) {
          add_scaled(result, term.coefficient, spatial_lanes_[axis]);
        } else {
          for (std::size_t p = 0; p < points_; ++p) result[p] += term.coefficient * axis_[axis];
        }
        continue;
      }
      add_scaled(result, term.coefficient, evaluate_atom(atom));
    }
  }

  void add_scaled(IntLane& sum, std::int64_t factor, const IntLane& lane) const {
    std::int64_t* to = sum.data();
    const std::int64_t* from = lane.data();
    for (std::size_t p = 0; p < points_; ++p) to[p] += factor * from[p];
  }

  IntLane evaluate_atom(const IndexAtom& atom) {
    IntLane first;
    IntLane second;
    if (atom.args) evaluate_index(atom.args->front(), first);
    if (atom.args && atom.args->size() > 1) evaluate_index(atom.args->back(), second);
    const auto map = [&](auto&& f) {
      for (std::size_t p = 0; p < points_; ++p) first[p] = f(p);
    };
    switch (atom.kind) {
      case IndexAtom::Kind::variable: break;
      case IndexAtom::Kind::floor_div: map([&](std::size_t p) { return floor_div(first[p], atom.number); }); break;
      case IndexAtom::Kind::remainder: map([&](std::size_t p) { return floor_mod(first[p], atom.number); }); break;
      case IndexAtom::Kind::minimum: map([&](std::size_t p) { return std::min(first[p], second[p]); }); break;
      case IndexAtom::Kind::maximum: map([&](std::size_t p) { return std::max(first[p], second[p]); }); break;
      case IndexAtom::Kind::table: {
        const auto& values = atom.table->values;
        map([&](std::size_t p) {
          check(first[p] >= 0 && first[p] < static_cast<std::int64_t>(values.size()), "lookup outside of a table");
          return values[static_cast<std::size_t>(first[p])];
        });
        break;
      }
      case IndexAtom::Kind::tensor_value: {
        const int source = read_register_[atom.read()];
        const Lane& value = registers_[static_cast<std::size_t>(source)];
        first.resize(block_points);
        map([&](std::size_t p) {
          const std::int64_t index = value.integers[p];
          return index < 0 ? index + atom.bound : index;
        });
        break;
      }
    }
    return first;
  }

  static constexpr std::int64_t outside = -1;

  const StageList& list_;
  const Stage& stage_;
  std::size_t spatial_;
  IdVector<ReadId, ReadPlan> plans_;

  std::vector<Instruction> body_fixed_;    // once a block
  std::vector<Instruction> body_varying_;  // at every point of the reduction
  std::vector<Instruction> finish_;
  int result_of_body_ = -1;
  int result_of_finish_ = -1;
  std::vector<Lane> registers_;
  std::map<int, bool> register_varies_;
  IdVector<ReadId, int> read_register_;
  std::map<const ScalarNode*, int> node_register_;  // looked up, never iterated

  std::size_t points_ = 0;              // elements of the current block
  std::vector<IntLane> spatial_lanes_;  // coordinates of the block's elements, per spatial axis
  std::vector<std::int64_t> axis_;      // coordinates of the reduction's point, by axis
  Lane accumulator_{block_points};
  IntLane scratch_;
  std::vector<std::int64_t> shifts_;
  std::vector<std::uint8_t> mask_;
};

}  // namespace

IdVector<StageTensorId, Tensor> evaluate(const StageList& list, std::span<const Tensor> inputs) {
  IdVector<StageTensorId, Tensor> values(list.tensors.size());
  std::size_t next = 0;
  for (const StageTensorId t : list.tensors.ids()) {
    const StageTensor& tensor = list.tensors[t];
    if (tensor.role == TensorRole::input) {
      check(next < inputs.size(), "too few inputs for an evaluation");
      values[t] = inputs[next++];
    } else if (tensor.role == TensorRole::constant) {
      check(tensor.value.has_value(), "a constant without a value");
      values[t] = *tensor.value;
    } else {
      continue;
    }
    check(values[t].type() == tensor.type && values[t].shape() == tensor.shape,
          fmt::format("tensor {} is {}{}, {}{} was given", tensor.name, name_of(tensor.type), to_text(tensor.shape),
                      name_of(values[t].type()), to_text(values[t].shape())));
  }
  check(next == inputs.size(), "too many inputs for an evaluation");
  for (const Stage& stage : list.stages) {
    values[stage.output] = StageRun(list, stage, values).run();
  }
  return values;
}

}  // namespace stowage
