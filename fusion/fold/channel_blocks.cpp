// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/channel_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/channel_blocks.h"
#include "core/operators.h"
#include "fusion/fold/element_by_element.h"
#include "fusion/fold/graph_copy.h"

namespace stowage {
namespace {

bool is_pool(const Operator& op) {
  return op.kind == "MaxPool" || op.kind == "AveragePool" || op.kind == "GlobalMaxPool" ||
         op.kind == "GlobalAveragePool";
}

bool has_one_pixel(const Shape& shape) {
  return shape.size() > 2 && std::all_of(shape.begin() + 2, shape.end(), [](std::int64_t e) { return e == 1; });
}

/// The shape with dimensions of 1 in front, up to a rank.
Shape with_rank(const Shape& shape, std::size_t rank) {
  Shape result(rank - std::min(rank, shape.size()), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

/// Channels a block of every tensor; 0 for those that stay as they are.
class BlockChoice {
 public:
  BlockChoice(const Graph& graph, const Target& target, TraceSink trace)
      : graph_(graph), target_(target), trace_(trace) {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      leader_.push_back(t);
      block_.push_back(widest_block(graph_.tensor(TensorId(t))));
    }
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) join(OpId(i));
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) refuse_incapable(OpId(i));
  }

  [[nodiscard]] std::int64_t block_of(TensorId tensor) const { return block_[leader_of(tensor.index())]; }
  /// Whether the operator says by its attribute where its picture and its result have blocks.
  [[nodiscard]] bool has_attribute(OpId id) const {
    const Operator& op = graph_.op(id);
    return is_dense(op) || ((is_pool(op) || is_depthwise(op)) && has_same_blocks(id));
  }
  [[nodiscard]] bool any() const {
    for (std::size_t t = 0; t < leader_.size(); ++t) {
      if (block_of(TensorId(t)) > 0) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] std::int64_t widest_block(const GraphTensor& tensor) const {
    const Shape& shape = tensor.shape;
    const std::int64_t lanes = target_.cores.vector_lanes;
    const bool is_picture =
        tensor.producer && tensor.type == ElementType::f32 && shape.size() >= 3 && shape.size() <= 5;
    if (lanes < 2 || !is_picture || element_count(shape) == 0 || shape[1] % lanes != 0) return 0;
    if (tensor.is_output && !has_one_pixel(shape)) return 0;
    return shape[1] % (2 * lanes) != 0 ? lanes : 2 * lanes;
  }

  [[nodiscard]] std::size_t leader_of(std::size_t tensor) const {
    while (leader_[tensor] != tensor) tensor = leader_[tensor];
    return tensor;
  }

  /// Two tensors have the same blocks or none.
  void join(TensorId a, TensorId b) {
    const std::size_t first = leader_of(a.index());
    const std::size_t second = leader_of(b.index());
    if (first == second) return;
    leader_[second] = first;
    block_[first] = std::min(block_[first], block_[second]);
  }

  void join(OpId id) {
    const Operator& op = graph_.op(id);
    if (!has_same_blocks(id)) return;
    for (const auto& input : op.inputs) {
      if (input && is_picture_operand(op, *input)) join(op.first_output(), *input);
    }
  }

  /// Operators that compute each channel by itself, or move them as they are.
  [[nodiscard]] bool has_same_blocks(OpId id) const {
    const Operator& op = graph_.op(id);
    if (op.outputs.size() != 1) return false;
    const Shape& shape = graph_.tensor(op.first_output()).shape;
    if (is_pool(op) || is_depthwise(op)) return true;
    if (op.kind == "Concat") {
      const std::int64_t axis = int_attribute(op.attributes, "axis", 0);
      return axis == 1 || axis + static_cast<std::int64_t>(shape.size()) == 1;
    }
    return is_element_by_element(graph_, id);
  }

  /// Whether the tensor fills a slot that takes pictures like the result.
  [[nodiscard]] bool is_picture_operand(const Operator& op, TensorId input) const {
    if (is_pool(op) || op.kind == "Conv") return input == *op.inputs.front();
    return op.kind == "Concat" || graph_.tensor(input).shape == graph_.tensor(op.first_output()).shape;
  }

  [[nodiscard]] bool is_depthwise(const Operator& op) const {
    if (op.kind != "Conv" || op.outputs.size() != 1 || !graph_.tensor(*op.inputs[1]).constant) return false;
    const std::int64_t groups = int_attribute(op.attributes, "group", 1);
    const Shape& weights = graph_.tensor(*op.inputs[1]).shape;
    return groups > 1 && weights[0] == groups && weights[1] == 1;
  }

  [[nodiscard]] bool is_dense(const Operator& op) const {
    return op.kind == "Conv" && int_attribute(op.attributes, "group", 1) == 1;
  }

  /// Takes the blocks from what the operator reads or writes and cannot have so.
  void refuse_incapable(OpId id) {
    const Operator& op = graph_.op(id);
    if (is_dense(op)) {
      const GraphTensor& weights = graph_.tensor(*op.inputs[1]);
      if (!weights.constant) refuse(op.first_output(), fmt::format("{} is not constant", weights.name));
      for (std::size_t slot = 1; slot < op.inputs.size(); ++slot) refuse_read(op, slot);
      return;
    }
    if (has_same_blocks(id)) {
      for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
        if (!op.inputs[slot] || is_picture_operand(op, *op.inputs[slot])) continue;
        if (is_element_by_element(graph_, id)) {
          if (!follows(*op.inputs[slot], op.first_output())) {
            refuse(op.first_output(),
                   fmt::format("{} would have to be copied into blocks", graph_.tensor(*op.inputs[slot]).name));
          }
        }
        refuse_read(op, slot);
      }
      return;
    }
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) refuse_read(op, slot);
    for (const TensorId output : outputs_of(op)) {
      refuse(output, fmt::format("{} ({}) has no form for blocks", op.name, op.kind));
    }
  }

  /// The operator reads what is in this slot as ONNX has it.
  void refuse_read(const Operator& op, std::size_t slot) {
    if (!op.inputs[slot]) return;
    if (has_one_pixel(graph_.tensor(*op.inputs[slot]).shape)) return;
    refuse(*op.inputs[slot], fmt::format("{} ({}) reads it as it is", op.name, op.kind));
  }

  void refuse(TensorId tensor, const std::string& why) {
    std::int64_t& block = block_[leader_of(tensor.index())];
    if (block == 0) return;
    block = 0;
    const GraphTensor& of = graph_.tensor(tensor);
    trace_.add(of.name, ChannelsKept{Decision::refuse("channel-blocks", why)});
  }

  /// Whether an operand that is broadcast can have dimensions like a result in blocks.
  [[nodiscard]] bool follows(TensorId input, TensorId result) const {
    const GraphTensor& operand = graph_.tensor(input);
    const std::size_t rank = graph_.tensor(result).shape.size();
    if (element_count(operand.shape) == 1) return true;
    const Shape shape = with_rank(operand.shape, rank);
    return shape.size() == rank && (operand.constant || shape[1] == 1 || has_one_pixel(shape));
  }

  const Graph& graph_;
  const Target& target_;
  TraceSink trace_;
  std::vector<std::size_t> leader_;  ///< tensors with the same blocks, as a forest
  std::vector<std::int64_t> block_;  ///< of leaders
};

class BlockedGraph {
 public:
  BlockedGraph(const Graph& graph, const BlockChoice& choice, TraceSink trace)
      : graph_(graph), choice_(choice), trace_(trace), copy_(graph) {}

  Graph run() {
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) add(OpId(i));
    for (const TensorId output : graph_.outputs()) operand(output);
    return std::move(copy_).build();
  }

 private:
  void add(OpId id) {
    const Operator& op = graph_.op(id);
    const std::int64_t result = choice_.block_of(op.first_output());
    const bool has_attribute = choice_.has_attribute(id);
    const std::int64_t read = has_attribute ? choice_.block_of(*op.inputs.front()) : 0;
    if (result == 0 && read == 0) return add_unchanged(op);
    Attributes attributes = op.attributes;
    std::vector<std::optional<TensorId>> operands;
    if (has_attribute) {
      attributes[channel_blocks_attribute] = std::vector<std::int64_t>{read, result};
      operands.emplace_back(read > 0 ? blocked_.at(*op.inputs.front()) : operand(*op.inputs.front()));
      for (std::size_t slot = 1; slot < op.inputs.size(); ++slot) {
        if (!op.inputs[slot]) {
          operands.emplace_back();
        } else {
          operands.emplace_back(slot == 1 && result > 0 ? weights(*op.inputs[slot], result)
                                                        : operand(*op.inputs[slot]));
        }
      }
    } else {
      if (op.kind == "Concat") attributes["axis"] = std::int64_t{1};
      const std::size_t rank = graph_.tensor(op.first_output()).shape.size();
      for (const auto& input : op.inputs) {
        operands.push_back(input ? std::optional(following(*input, rank, result)) : std::nullopt);
      }
    }
    trace_.add(op.name, ChannelsBlocked{has_attribute ? read : result, result});
    add_result(op, std::move(attributes), std::move(operands), result);
  }

  void add_result(const Operator& op, Attributes attributes, std::vector<std::optional<TensorId>> operands,
                  std::int64_t block) {
    const TensorId old = op.first_output();
    const GraphTensor& tensor = graph_.tensor(old);
    const std::string name = block > 0 && tensor.is_output ? copy_.new_name(tensor.name + "_blocks") : tensor.name;
    const Shape shape = block > 0 ? blocked_shape(tensor.shape, 1, block) : tensor.shape;
    const TensorId added =
        copy_.add(op.kind, op.name, std::move(attributes), std::move(operands), {name, tensor.type, shape}, op.origins);
    if (block > 0) {
      blocked_[old] = added;
    } else {
      copy_.set(old, added);
    }
  }

  void add_unchanged(const Operator& op) {
    for (const auto& old : op.inputs) {
      if (old) operand(*old);
    }
    copy_.add_unchanged(op);
  }

  /// The new graph's tensor of the same shape; views come when they are first used.
  TensorId operand(TensorId old) {
    const auto found = blocked_.find(old);
    if (found != blocked_.end() && !copy_.has(old)) {
      const GraphTensor& tensor = graph_.tensor(old);
      const std::string view = copy_.new_name(tensor.name + "_view");
      copy_.set(old, copy_.add_reshape(found->second, view, tensor.is_output ? tensor.name : view, tensor.shape));
    }
    return copy_.operand(old);
  }

  TensorId weights(TensorId old, std::int64_t block) {
    const auto [known, added] = weights_.try_emplace({old, block});
    if (added) {
      const GraphTensor& tensor = graph_.tensor(old);
      known->second =
          copy_.builder().add_constant(copy_.new_name(tensor.name + "_blocks"), blocked(*tensor.constant, 0, block));
    }
    return known->second;
  }

  /// An operand as it is broadcast to a result in blocks.
  TensorId following(TensorId old, std::size_t rank, std::int64_t block) {
    const GraphTensor& tensor = graph_.tensor(old);
    if (tensor.shape.size() == rank && choice_.block_of(old) == block) return blocked_.at(old);
    if (element_count(tensor.shape) == 1) return operand(old);  // also the bounds of a Clip
    const auto known = following_.find({old, rank, block});
    if (known != following_.end()) return known->second;
    const Shape full = with_rank(tensor.shape, rank);
    const Shape shape = blocked_shape(full, 1, full[1] == 1 ? 1 : block);
    const std::string name = copy_.new_name(tensor.name + "_blocks");
    TensorId result;
    if (tensor.constant) {
      const Tensor value = tensor.constant->reshaped(full);
      result = copy_.builder().add_constant(name, full[1] == 1 ? value.reshaped(shape) : blocked(value, 1, block));
    } else {
      result = copy_.add_reshape(operand(old), name, name, shape);
    }
    return following_[{old, rank, block}] = result;
  }

  const Graph& graph_;
  const BlockChoice& choice_;
  TraceSink trace_;
  GraphCopy copy_;
  std::map<TensorId, TensorId> blocked_;  ///< tensors of the old graph that are there in blocks
  std::map<std::pair<TensorId, std::int64_t>, TensorId> weights_;
  std::map<std::tuple<TensorId, std::size_t, std::int64_t>, TensorId> following_;
};

}  // namespace

std::vector<std::string> layout_names() { return {std::string(given_layout), std::string(blocked_layout)}; }

Graph block_channels(const Graph& graph, const Target& target, TraceSink trace) {
  const BlockChoice choice(graph, target, trace);
  return choice.any() ? BlockedGraph(graph, choice, trace).run() : graph;
}

}  // namespace stowage
