// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/transposed_phases.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/operators.h"
#include "fusion/fold/element_by_element.h"
#include "fusion/fold/graph_copy.h"

namespace stowage {
namespace {

using Ints = std::vector<std::int64_t>;

/// The spatial dimensions of a ConvTranspose.
struct Phasing {
  Ints strides;
  Ints offsets;  ///< what is padded in front
  Ints taps;     ///< of each phase
  Ints outputs;  ///< output extents
  Ints extents;  ///< output elements of each phase; of all phases there may be more than are wanted

  [[nodiscard]] bool is_whole(std::size_t d) const { return extents[d] * strides[d] == outputs[d]; }
  [[nodiscard]] bool has_places_of(const Phasing& other) const {
    return strides == other.strides && outputs == other.outputs;
  }
  /// The shape of a result; `beside`: with phases beside the elements, else merged with them.
  [[nodiscard]] Shape result_shape(const Shape& shape, bool beside) const {
    Shape result(shape.begin(), shape.begin() + 2);
    for (std::size_t d = 0; d < strides.size(); ++d) {
      result.push_back(beside ? extents[d] : extents[d] * strides[d]);
      if (beside) result.push_back(strides[d]);
    }
    return result;
  }
};

Ints strides_of(const Operator& op, std::size_t dimensions) {
  return ints_attribute(op.attributes, "strides", Ints(dimensions, 1));
}

/// Pads in front, whichever attributes they follow from: the first tap of the first output element r and the input
/// element i that it meets say them, pad = stride*i + r.
Ints pads_in_front(const Graph& graph, OpId id, const Ints& strides) {
  const OperatorDefinition definition = define_operator(graph, id);
  const IdVector<ReadId, Access>& reads = definition.list.stages.front().reads;
  const auto at_zero = [](const IndexExpr& e) { return evaluate(e, [](VarId) { return std::int64_t{0}; }); };
  Ints pads;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    pads.push_back(strides[d] * at_zero(reads.at(ReadId(0)).index.at(2 + d)) +
                   at_zero(reads.at(ReadId(1)).index.at(2 + d)));
  }
  return pads;
}

Phasing phasing_of(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  const Shape& kernel = graph.tensor(*op.inputs[1]).shape;
  const Shape& shape = graph.tensor(op.first_output()).shape;
  Phasing phasing;
  phasing.strides = strides_of(op, shape.size() - 2);
  phasing.offsets = pads_in_front(graph, id, phasing.strides);
  for (std::size_t d = 0; d < phasing.strides.size(); ++d) {
    phasing.taps.push_back((kernel[2 + d] + phasing.strides[d] - 1) / phasing.strides[d]);
    phasing.outputs.push_back(shape[2 + d]);
    phasing.extents.push_back((shape[2 + d] + phasing.strides[d] - 1) / phasing.strides[d]);
  }
  return phasing;
}

/// Weights may become so many times as large: kernels much smaller than their strides are nearly all zeros by phases,
/// which have to be moved. (1 x 1 with stride 2, four times as large, gains five times by phases.)
constexpr std::int64_t largest_growth = 16;

/// Why a ConvTranspose of a stride is not computed by phases.
Decision may_be_phased(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  const GraphTensor& weights = graph.tensor(*op.inputs[1]);
  if (!weights.constant) return Decision::refuse("constant-weights", fmt::format("{} is not constant", weights.name));
  for (const std::int64_t dilation : ints_attribute(op.attributes, "dilations", {})) {
    if (dilation == 1) continue;
    return Decision::refuse("adjacent-taps", fmt::format("its taps are {} elements apart", dilation));
  }
  const Phasing phasing = phasing_of(graph, id);
  std::int64_t with_zeros = 1;
  std::int64_t of_kernel = 1;
  for (std::size_t d = 0; d < phasing.strides.size(); ++d) {
    with_zeros *= phasing.taps[d] * phasing.strides[d];
    of_kernel *= weights.shape[2 + d];
    if (with_zeros <= largest_growth * of_kernel) continue;
    return Decision::refuse(
        "few-zeros", fmt::format("{} would become {} taps, all others zeros", counted(of_kernel, "tap"), with_zeros));
  }
  return Decision::allow();
}

/// From [C, M/group, kernel…] to [M, phases…, C/group, taps…]: taps of a phase in the order in which the input lies.
Tensor phased_weights(const Tensor& weights, const Phasing& phasing, std::int64_t groups) {
  const std::size_t count = phasing.strides.size();
  const Shape& from = weights.shape();
  const std::int64_t channels = from[0] / groups;
  Shape to = {from[1] * groups};
  to.insert(to.end(), phasing.strides.begin(), phasing.strides.end());
  to.push_back(channels);
  to.insert(to.end(), phasing.taps.begin(), phasing.taps.end());
  const auto width = static_cast<std::size_t>(byte_size(weights.type()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(to)) * width);
  const Ints strides = row_major_strides(from);
  Ints at(to.size(), 0);
  for (std::size_t i = 0; i * width < bytes.size(); ++i) {
    const std::int64_t feature = at[0];
    std::int64_t source =
        ((feature / from[1]) * channels + at[1 + count]) * strides[0] + feature % from[1] * strides[1];
    bool behind_kernel = false;
    for (std::size_t d = 0; d < count; ++d) {
      const std::int64_t step = phasing.strides[d];
      const std::int64_t first = (at[1 + d] + phasing.offsets[d]) % step;
      const std::int64_t tap = first + step * (phasing.taps[d] - 1 - at[2 + count + d]);
      behind_kernel = behind_kernel || tap >= from[2 + d];
      source += tap * strides[2 + d];
    }
    if (!behind_kernel) {
      std::memcpy(&bytes[i * width], &weights.bytes()[static_cast<std::size_t>(source) * width], width);
    }
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == to[d];) at[d] = 0;
  }
  return Tensor(weights.type(), to, std::move(bytes));
}

/// A shape that broadcasts to that of a ConvTranspose, with two dimensions for each spatial one; nothing where it does
/// not broadcast so.
std::optional<Shape> phased_shape(const Shape& shape, const Phasing& phasing) {
  const std::size_t rank = phasing.strides.size() + 2;
  if (shape.size() > rank) return std::nullopt;
  Shape phased;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t dimension = rank - shape.size() + k;
    if (dimension < 2) {
      phased.push_back(shape[k]);
      continue;
    }
    const std::size_t d = dimension - 2;
    const bool whole = shape[k] == phasing.outputs[d] && phasing.is_whole(d);
    if (!whole && shape[k] != 1) return std::nullopt;
    phased.push_back(whole ? phasing.extents[d] : 1);
    phased.push_back(whole ? phasing.strides[d] : 1);
  }
  return phased;
}

class PhasedGraph {
 public:
  PhasedGraph(const Graph& graph, TraceSink trace) : graph_(graph), trace_(trace), copy_(graph) {}

  Graph run() {
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) add(OpId(i));
    for (const TensorId output : graph_.outputs()) operand(output);
    return std::move(copy_).build();
  }

 private:
  /// A tensor of the old graph with the dimensions that it has by phases. It keeps its name, unless it is an output of
  /// the network.
  struct Phased {
    TensorId tensor;
    Phasing phasing;
  };

  void add(OpId id) {
    const Operator& op = graph_.op(id);
    if (op.kind == "ConvTranspose") {
      const Ints strides = strides_of(op, graph_.tensor(op.first_output()).shape.size() - 2);
      if (std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride > 1; })) {
        const Decision decision = may_be_phased(graph_, id);
        if (decision) return add_phases(id);
        trace_.add(op.name, FoldingRefused{"", decision});
      }
    }
    if (add_behind_phases(id)) return;
    for (const auto& old : op.inputs) {
      if (old) operand(*old);
    }
    copy_.add_unchanged(op);
  }

  void add_phases(OpId id) {
    const Operator& op = graph_.op(id);
    const Phasing phasing = phasing_of(graph_, id);
    const std::int64_t groups = int_attribute(op.attributes, "group", 1);
    std::vector<std::optional<TensorId>> operands = {operand(*op.inputs[0]), weights_of(op, phasing, groups)};
    if (op.inputs.size() > 2 && op.inputs[2]) operands.emplace_back(operand(*op.inputs[2]));
    Attributes attributes = {{"extents", phasing.extents}, {"offsets", phasing.offsets}};
    if (groups != 1) attributes["group"] = groups;
    add_phased(op, "ConvTransposePhases", std::move(attributes), std::move(operands), phasing);
    trace_.add(op.name, OperatorFolded{OperatorFolded::What::phases, "", op.name});
  }

  TensorId weights_of(const Operator& op, const Phasing& phasing, std::int64_t groups) {
    const GraphTensor& weights = graph_.tensor(*op.inputs[1]);
    const auto key = std::tuple(*op.inputs[1], groups, phasing.strides, phasing.offsets);
    const auto known = weights_.find(key);
    if (known != weights_.end()) return known->second;
    return weights_[key] = copy_.builder().add_constant(copy_.new_name(weights.name + "_phases"),
                                                        phased_weights(*weights.constant, phasing, groups));
  }

  /// An element-wise operator that alone reads a tensor by phases, with the dimensions of that; false where it is not.
  bool add_behind_phases(OpId id) {
    const Operator& op = graph_.op(id);
    const auto is_phased = [&](const std::optional<TensorId>& input) { return input && only_phased(*input); };
    const auto first = std::find_if(op.inputs.begin(), op.inputs.end(), is_phased);
    if (first == op.inputs.end() || !is_element_by_element(graph_, id)) return false;
    const TensorId leader = **first;
    const Phasing phasing = phased_.at(leader).phasing;
    if (graph_.tensor(op.first_output()).shape != graph_.tensor(leader).shape) return false;
    for (const auto& input : op.inputs) {
      if (!input || has_places_of(*input, phasing)) continue;
      if (!phased_shape(graph_.tensor(*input).shape, phasing)) return false;
    }
    std::vector<std::optional<TensorId>> operands;
    for (const auto& input : op.inputs) {
      operands.push_back(input ? std::optional(phased_operand(*input, phasing)) : std::nullopt);
    }
    add_phased(op, op.kind, op.attributes, std::move(operands), phasing);
    return true;
  }

  /// Whether a tensor is there by phases, for one reader.
  [[nodiscard]] bool only_phased(TensorId old) const {
    const GraphTensor& tensor = graph_.tensor(old);
    return phased_.contains(old) && !copy_.has(old) && tensor.consumers.size() == 1 && !tensor.is_output;
  }

  /// Whether a tensor is there by the same phases.
  [[nodiscard]] bool has_places_of(TensorId old, const Phasing& phasing) const {
    const auto phased = phased_.find(old);
    return phased != phased_.end() && phased->second.phasing.has_places_of(phasing);
  }

  TensorId phased_operand(TensorId old, const Phasing& phasing) {
    if (has_places_of(old, phasing)) return phased_.at(old).tensor;
    const GraphTensor& tensor = graph_.tensor(old);
    const Shape shape = phased_shape(tensor.shape, phasing).value();
    if (element_count(tensor.shape) == 1) return operand(old);  // also the bounds of a Clip
    const auto key = std::tuple(old, shape);
    const auto known = reshaped_.find(key);
    if (known != reshaped_.end()) return known->second;
    const std::string name = copy_.new_name(tensor.name + "_phases");
    if (tensor.constant) return reshaped_[key] = copy_.builder().add_constant(name, tensor.constant->reshaped(shape));
    return reshaped_[key] = copy_.add_reshape(operand(old), name, name, shape);
  }

  void add_phased(const Operator& op, const std::string& kind, Attributes attributes,
                  std::vector<std::optional<TensorId>> operands, const Phasing& phasing) {
    const TensorId old = op.first_output();
    const GraphTensor& tensor = graph_.tensor(old);
    const std::string name = tensor.is_output ? copy_.new_name(tensor.name + "_phases") : tensor.name;
    const TensorId added = copy_.add(kind, op.name, std::move(attributes), std::move(operands),
                                     {name, tensor.type, phasing.result_shape(tensor.shape, true)}, op.origins);
    phased_.emplace(old, Phased{added, phasing});
  }

  /// The new graph's tensor of the same shape; views come when they are first used.
  TensorId operand(TensorId old) {
    const auto phased = phased_.find(old);
    if (phased != phased_.end() && !copy_.has(old)) copy_.set(old, add_view(graph_.tensor(old), phased->second));
    return copy_.operand(old);
  }

  /// A tensor by phases with the dimensions that it had.
  TensorId add_view(const GraphTensor& tensor, const Phased& phased) {
    const Shape merged = phased.phasing.result_shape(tensor.shape, false);
    const std::string view = copy_.new_name(tensor.name + "_view");
    const bool whole = merged == tensor.shape;
    const TensorId all = copy_.add_reshape(phased.tensor, view, tensor.is_output && whole ? tensor.name : view, merged);
    if (whole) return all;
    const std::string cut = copy_.new_name(tensor.name + "_cut");
    Attributes ends = {
        {"axes", Ints{}}, {"starts", Ints(phased.phasing.outputs.size(), 0)}, {"ends", phased.phasing.outputs}};
    for (std::size_t d = 2; d < merged.size(); ++d) {
      std::get<Ints>(ends["axes"]).push_back(static_cast<std::int64_t>(d));
    }
    return copy_.add("Slice", cut, std::move(ends), {all},
                     {tensor.is_output ? tensor.name : cut, tensor.type, tensor.shape}, {});
  }

  const Graph& graph_;
  TraceSink trace_;
  GraphCopy copy_;
  std::map<TensorId, Phased> phased_;
  std::map<std::tuple<TensorId, Shape>, TensorId> reshaped_;  ///< operands with the dimensions of phases
  std::map<std::tuple<TensorId, std::int64_t, Ints, Ints>, TensorId> weights_;
};

}  // namespace

Graph compute_by_phases(const Graph& graph, TraceSink trace) {
  const auto operators = graph.operators();
  const bool any =
      std::any_of(operators.begin(), operators.end(), [](const Operator& op) { return op.kind == "ConvTranspose"; });
  return any ? PhasedGraph(graph, trace).run() : graph;
}

}  // namespace stowage
