// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/fold_intrinsics.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/operators.h"
#include "fusion/facts/parameters.h"
#include "fusion/fold/graph_copy.h"
#include "fusion/fold/pad_folding.h"
#include "fusion/fold/transposed_phases.h"

namespace stowage {
namespace {

bool has_weights(const Operator& op) {
  return op.kind == "Conv" || op.kind == "ConvTranspose" || op.kind == "Gemm" || op.kind == "MatMul";
}

bool is_affine_kind(const Operator& op) {
  return op.kind == "BatchNormalization" || op.kind == "Mul" || op.kind == "Div" || op.kind == "Add" ||
         op.kind == "Sub";
}

/// What becomes of one operator that absorbs others.
struct Folding {
  Operator op;                 ///< with its new attributes; operands still those of the old graph
  ChannelAffine affine;        ///< to go into the weights and the bias
  bool transpose = false;      ///< operand 1 is a matrix to be transposed
  std::vector<OpId> in_front;  ///< pads
  std::vector<OpId> behind;    ///< scales and shifts, in order
};

/// Decides what folds; changes nothing.
class FoldingPlan {
 public:
  FoldingPlan(const Graph& graph, TraceSink trace)
      : graph_(graph), trace_(trace), absorbed_(graph.operators().size(), false) {
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
      const OpId id(i);
      Folding folding{graph.op(id), {}, false, {}, {}};
      fold_pad(id, folding);
      if (has_weights(folding.op)) fold_behind(id, folding);
      folding.transpose = should_transpose(folding.op);
      if (folding.transpose) record(id, OperatorFolded{OperatorFolded::What::transposed, "", folding.op.name});
      if (folding.transpose || !folding.in_front.empty() || !folding.behind.empty()) foldings_.emplace(id, folding);
    }
  }

  [[nodiscard]] bool absorbed(OpId op) const { return absorbed_[op.index()]; }
  [[nodiscard]] const Folding* of(OpId op) const {
    const auto found = foldings_.find(op);
    return found == foldings_.end() ? nullptr : &found->second;
  }

 private:
  void record(OpId subject, TraceEvent what) const { trace_.add(graph_.op(subject).name, std::move(what)); }

  /// The reason why a result does not disappear into its only reader, or nothing.
  [[nodiscard]] std::optional<std::string> kept_result(const GraphTensor& result) const {
    if (result.is_output) return fmt::format("{} is an output of the network", result.name);
    if (result.consumers.size() > 1) {
      return fmt::format("{} is read by {} and {}", result.name, graph_.op(result.consumers[0]).name,
                         graph_.op(result.consumers[1]).name);
    }
    return std::nullopt;
  }

  void fold_pad(OpId id, Folding& folding) {
    if (folding.op.inputs.empty() || !folding.op.inputs[0]) return;
    const GraphTensor& data = graph_.tensor(*folding.op.inputs[0]);
    if (!data.producer || graph_.op(*data.producer).kind != "Pad" || !absorbs_pads(folding.op)) return;
    const Operator& pad = graph_.op(*data.producer);
    if (const auto reason = kept_result(data)) {
      return record(*data.producer, FoldingRefused{"", Decision::refuse("inner-use", *reason)});
    }
    PadFolding result = folded_pads(graph_, pad, folding.op);
    if (!result.decision) return record(*data.producer, FoldingRefused{"", result.decision});
    folding.op.attributes = std::move(result.attributes);
    folding.op.inputs[0] = pad.inputs[0];
    folding.in_front.push_back(*data.producer);
    absorbed_[data.producer->index()] = true;
    record(id, OperatorFolded{OperatorFolded::What::pad, pad.name, folding.op.name});
  }

  [[nodiscard]] bool should_transpose(const Operator& op) const {
    return op.kind == "Gemm" && int_attribute(op.attributes, "transB", 0) != 0 &&
           graph_.tensor(*op.inputs[1]).constant.has_value();
  }

  void fold_behind(OpId id, Folding& folding) {
    const Operator& op = graph_.op(id);
    const GraphTensor& result = graph_.tensor(op.first_output());
    const Shape& shape = result.shape;
    if (shape.empty()) return;
    const bool is_matrix = op.kind == "Gemm" || op.kind == "MatMul";
    const std::size_t channel_axis = is_matrix ? shape.size() - 1 : 1;
    folding.affine = ChannelAffine::identity(shape[channel_axis]);
    TensorId last = op.first_output();
    while (const std::optional<OpId> next = next_affine(last)) {
      const Decision decision = fold_one(op, graph_.op(*next), last, shape, channel_axis, folding);
      if (!decision) return record(*next, FoldingRefused{op.name, decision});
      record(id, OperatorFolded{OperatorFolded::What::scale, graph_.op(*next).name, op.name});
      folding.behind.push_back(*next);
      absorbed_[next->index()] = true;
      last = graph_.op(*next).first_output();
    }
  }

  /// The first reader of a tensor that is of an affine kind and has a constant operand.
  [[nodiscard]] std::optional<OpId> next_affine(TensorId tensor) const {
    for (const OpId reader : graph_.tensor(tensor).consumers) {
      const Operator& op = graph_.op(reader);
      if (!is_affine_kind(op)) continue;
      if (op.kind == "BatchNormalization" && op.inputs[0] == tensor) return reader;
      const auto is_constant = [&](const auto& operand) { return operand && graph_.tensor(*operand).constant; };
      if (std::any_of(op.inputs.begin(), op.inputs.end(), is_constant)) return reader;
    }
    return std::nullopt;
  }

  Decision fold_one(const Operator& op, const Operator& next, TensorId x, const Shape& shape, std::size_t channel_axis,
                    Folding& folding) const {
    if (auto reason = kept_result(graph_.tensor(x))) return Decision::refuse("inner-use", std::move(*reason));
    auto step = channel_affine(graph_, next, x, shape, channel_axis);
    if (auto* reason = std::get_if<std::string>(&step)) return Decision::refuse("per-channel", std::move(*reason));
    const ChannelAffine affine = folding.affine.then(std::get<ChannelAffine>(step));
    if (!affine.is_finite()) return Decision::refuse("finite", "a folded parameter would not be a finite number");
    if (const Decision decision = parameters_allow(op, affine, shape[channel_axis]); !decision) return decision;
    folding.affine = affine;
    return Decision::allow();
  }

  /// Whether weights and bias can take the factors and summands.
  [[nodiscard]] Decision parameters_allow(const Operator& op, const ChannelAffine& affine,
                                          std::int64_t channels) const {
    const GraphTensor& weights = graph_.tensor(*op.inputs[1]);
    if (!is_float(weights.type)) {
      return Decision::refuse("element-type", fmt::format("{} holds {} elements", weights.name, name_of(weights.type)));
    }
    if (affine.scales() && !weights.constant) {
      return Decision::refuse("constant-weights", fmt::format("{} is not constant", weights.name));
    }
    if (op.kind == "MatMul") {
      if (affine.shifts()) return Decision::refuse("no-bias-operand", "MatMul has no bias operand");
      if (weights.shape.size() < 2) return Decision::refuse("per-channel", "the right operand is a vector");
      return Decision::allow();
    }
    if (op.inputs.size() > 2 && op.inputs[2]) {
      const GraphTensor& bias = graph_.tensor(*op.inputs[2]);
      if (!bias.constant) return Decision::refuse("constant-weights", fmt::format("{} is not constant", bias.name));
      const bool is_row = bias.shape.empty() || element_count(bias.shape) == bias.shape.back();
      if (!is_row || !channel_values(*bias.constant, channels)) {
        return Decision::refuse("per-channel", fmt::format("{} of shape {} is not one value for each of {} channels",
                                                           bias.name, to_text(bias.shape), channels));
      }
    }
    return Decision::allow();
  }

  const Graph& graph_;
  TraceSink trace_;
  std::vector<bool> absorbed_;
  std::map<OpId, Folding> foldings_;
};

/// Builds the new graph.
class FoldedGraph {
 public:
  FoldedGraph(const Graph& graph, const FoldingPlan& plan) : graph_(graph), plan_(plan), copy_(graph) {}

  Graph run() {
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) {
      const OpId id(i);
      if (plan_.absorbed(id)) continue;
      if (const Folding* folding = plan_.of(id)) {
        add_folded(*folding);
      } else {
        copy_.add_unchanged(graph_.op(id));
      }
    }
    return std::move(copy_).build();
  }

 private:
  void add_folded(const Folding& folding) {
    Operator op = folding.op;
    TensorId old_output = op.first_output();
    std::vector<std::string> origins;
    for (const OpId id : folding.in_front) append_origins(origins, id);
    origins.insert(origins.end(), op.origins.begin(), op.origins.end());
    for (const OpId id : folding.behind) {
      append_origins(origins, id);
      old_output = graph_.op(id).first_output();
    }
    std::vector<std::optional<TensorId>> operands;
    if (folding.transpose || !folding.behind.empty()) {
      operands = folded_operands(folding, op);
    } else {
      operands = copy_.operands_of(op);
    }
    const GraphTensor& output = graph_.tensor(old_output);
    copy_.set(old_output, copy_.add(op.kind, op.name, op.attributes, std::move(operands),
                                    {output.name, output.type, output.shape}, std::move(origins)));
  }

  void append_origins(std::vector<std::string>& origins, OpId id) const {
    const std::vector<std::string>& more = graph_.op(id).origins;
    origins.insert(origins.end(), more.begin(), more.end());
  }

  /// Operands with folded weights and bias; sets the attributes that change with them.
  std::vector<std::optional<TensorId>> folded_operands(const Folding& folding, Operator& op) {
    const bool scales = !folding.behind.empty() && folding.affine.scales();
    std::vector<std::optional<TensorId>> operands = {copy_.operand(*op.inputs[0])};
    operands.emplace_back(scales || folding.transpose ? folded_weights(folding, op, scales)
                                                      : copy_.operand(*op.inputs[1]));
    if (op.inputs.size() > 2 || folding.affine.shifts()) operands.push_back(folded_bias(folding, op));
    if (folding.transpose) op.attributes.erase("transB");
    return operands;
  }

  TensorId folded_weights(const Folding& folding, const Operator& op, bool scales) {
    const TensorId old = *op.inputs[1];
    const std::int64_t groups = int_attribute(op.attributes, "group", 1);
    const std::vector<double> scale = scales ? folding.affine.scale : std::vector<double>();
    const auto key = std::tuple(old, op.kind, groups, folding.transpose, scale);
    const auto known = folded_.find(key);
    if (known != folded_.end()) return known->second;
    const GraphTensor& tensor = graph_.tensor(old);
    Tensor value = folding.transpose ? transposed(*tensor.constant) : *tensor.constant;
    if (scales) value = scaled_weights(op, value, scale);
    return folded_[key] =
               copy_.builder().add_constant(copy_.new_name(tensor.name + (scales ? "_folded" : "_transposed")), value);
  }

  std::optional<TensorId> folded_bias(const Folding& folding, Operator& op) {
    const bool has_bias = op.inputs.size() > 2 && op.inputs[2].has_value();
    if (folding.behind.empty()) return has_bias ? std::optional(copy_.operand(*op.inputs[2])) : std::nullopt;
    const auto channels = static_cast<std::int64_t>(folding.affine.scale.size());
    std::vector<double> bias(static_cast<std::size_t>(channels), 0.0);
    if (has_bias) bias = *channel_values(*graph_.tensor(*op.inputs[2]).constant, channels);
    const double beta = op.kind == "Gemm" ? float_attribute(op.attributes, "beta", 1) : 1;
    for (std::size_t c = 0; c < bias.size(); ++c) {
      bias[c] = folding.affine.scale[c] * (beta * bias[c]) + folding.affine.shift[c];
    }
    op.attributes.erase("beta");
    const ElementType type = graph_.tensor(*op.inputs[1]).type;
    const auto key = std::tuple(type, bias);
    const auto known = biases_.find(key);
    if (known != biases_.end()) return known->second;
    const std::string name = has_bias ? graph_.tensor(*op.inputs[2]).name + "_folded" : op.name + "_bias";
    return biases_[key] = copy_.builder().add_constant(copy_.new_name(name), tensor_of_doubles(type, {channels}, bias));
  }

  const Graph& graph_;
  const FoldingPlan& plan_;
  GraphCopy copy_;
  std::map<std::tuple<TensorId, std::string, std::int64_t, bool, std::vector<double>>, TensorId> folded_;
  std::map<std::tuple<ElementType, std::vector<double>>, TensorId> biases_;
};

}  // namespace

Graph fold_intrinsics(const Graph& graph, TraceSink trace) {
  const FoldingPlan plan(graph, trace);
  return compute_by_phases(FoldedGraph(graph, plan).run(), trace);
}

}  // namespace stowage
