// SPDX-License-Identifier: Apache-2.0
#include "driver/run/index_check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/evaluate.h"
#include "core/number_text.h"
#include "core/operators.h"
#include "core/reference/reference.h"

namespace stowage {

namespace {

/// "[0,3]" of the element that is `linear`-th in row-major order.
std::string position_text(const Shape& shape, std::int64_t linear) {
  Shape position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = linear % shape[d];
    linear /= shape[d];
  }
  return to_text(position);
}

/// Names of the network inputs that a tensor is computed from.
std::set<std::string> inputs_behind(const Graph& graph, TensorId tensor) {
  std::set<std::string> names;
  std::set<TensorId> seen{tensor};
  std::vector<TensorId> pending{tensor};
  while (!pending.empty()) {
    const GraphTensor& current = graph.tensor(pending.back());
    pending.pop_back();
    if (current.is_input) names.insert(current.name);
    if (!current.producer) continue;
    for (const auto& operand : graph.op(*current.producer).inputs) {
      if (operand && seen.insert(*operand).second) pending.push_back(*operand);
    }
  }
  return names;
}

class IndexCheck {
 public:
  IndexCheck(const Graph& graph, std::span<const Tensor> inputs, const std::map<std::string, std::string>& files,
             Diagnostics& diagnostics)
      : graph_(graph), files_(files), diagnostics_(diagnostics) {
    for (std::size_t i = 0; i < inputs.size(); ++i) known_[graph.inputs()[i]] = inputs[i];
  }

  bool run() {
    for (const OpId id : topological_order(graph_)) {
      const Operator& op = graph_.op(id);
      if (op.kind == "Gather" && !graph_.tensor(*op.inputs[1]).constant) check_gather(op);
    }
    return good_;
  }

 private:
  void check_gather(const Operator& op) {
    const Shape& data = graph_.tensor(*op.inputs[0]).shape;
    std::int64_t axis = int_attribute(op.attributes, "axis", 0);
    if (axis < 0) axis += static_cast<std::int64_t>(data.size());
    const std::int64_t extent = data[static_cast<std::size_t>(axis)];
    Tensor indices;
    try {
      indices = compute_from(graph_, known_, std::span(&*op.inputs[1], 1), ReferenceMode::onednn).front();
    } catch (const IndexOutOfRange&) {
      return;  // of a Gather before this one, which is reported
    }
    std::int64_t first = -1;
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < indices.size(); ++i) {
      const std::int64_t index = indices.as_int64(i);
      if (index >= -extent && index < extent) continue;
      if (outside++ == 0) first = i;
    }
    if (outside > 0) report(op, extent, axis, indices, first, outside);
  }

  void report(const Operator& op, std::int64_t extent, std::int64_t axis, const Tensor& indices, std::int64_t at,
              std::int64_t outside) {
    good_ = false;
    const TensorId origin = unchanged_from(graph_, *op.inputs[1]);
    const GraphTensor& tensor = graph_.tensor(origin);
    Diagnostic diagnostic;
    diagnostic.code = "index-out-of-range";
    if (tensor.is_input) {
      const auto file = files_.find(tensor.name);
      if (file != files_.end()) diagnostic.location.file = file->second;
      diagnostic.location.object = fmt::format("input {}", tensor.name);
    } else {
      diagnostic.location.object = fmt::format("operator {}", graph_.op(*tensor.producer).name);
      diagnostic.notes.push_back(fmt::format("computed from {}", fmt::join(inputs_behind(graph_, origin), ", ")));
    }
    diagnostic.message =
        fmt::format("element {} is {}, but '{}' looks it up along axis {} of {}, which has {} elements",
                    position_text(tensor.shape, at), indices.as_int64(at), op.name, axis,
                    graph_.tensor(*op.inputs[0]).name, extent);
    if (outside > 1) diagnostic.notes.push_back(fmt::format("{} in all point outside", counted(outside, "element")));
    diagnostic.remedy = fmt::format("indices go from {} to {}; negative ones count from the end", -extent, extent - 1);
    diagnostics_.add(std::move(diagnostic));
  }

  const Graph& graph_;
  const std::map<std::string, std::string>& files_;
  Diagnostics& diagnostics_;
  std::map<TensorId, Tensor> known_;
  bool good_ = true;
};

}  // namespace

TensorId unchanged_from(const Graph& graph, TensorId tensor) {
  while (const auto producer = graph.tensor(tensor).producer) {
    const Operator& op = graph.op(*producer);
    const bool converts = op.kind == "Cast" && is_integer(graph.tensor(*op.inputs[0]).type) &&
                          byte_size(graph.tensor(*op.inputs[0]).type) <= byte_size(graph.tensor(tensor).type);
    if (!converts && !define_operator(graph, *producer).is_view) break;
    tensor = *op.inputs[0];
  }
  return tensor;
}

bool check_indices(const Graph& graph, std::span<const Tensor> inputs, const std::map<std::string, std::string>& files,
                   Diagnostics& diagnostics) {
  return IndexCheck(graph, inputs, files, diagnostics).run();
}

}  // namespace stowage
