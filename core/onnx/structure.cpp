// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/onnx/node_order.h"
#include "core/onnx/tensor_proto.h"

namespace stowage::onnx_import {
namespace {

constexpr int outside = -1;  ///< "made by" of network inputs and weights

class StructureCheck {
 public:
  StructureCheck(const Model& model, Diagnostics& diagnostics)
      : model_(model), graph_(model.proto.graph()), names_(node_names(graph_.node())), diagnostics_(diagnostics) {}

  bool run() {
    collect_outside_values();
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const auto& output : graph_.node(n).output()) {
        if (!output.empty()) define(output, n);
      }
    }
    check_operands();
    check_outputs();
    return good_;
  }

 private:
  void fail(std::string code, std::string object, std::string message, std::string remedy = {}) {
    good_ = false;
    diagnostics_.error(std::move(code), model_.location(std::move(object)), std::move(message), std::move(remedy));
  }

  std::string label(int node) const { return node_label(names_[static_cast<std::size_t>(node)], graph_.node(node)); }

  void collect_outside_values() {
    std::set<std::string> inputs;
    for (int i = 0; i < graph_.input_size(); ++i) {
      const auto& input = graph_.input(i);
      if (input.name().empty()) {
        fail("invalid-name", fmt::format("input {}", i), "this network input has no name (inputs count from 0)",
             "name every input where the network is made, and export it again");
      }
      if (!inputs.insert(input.name()).second) {
        fail("duplicate-value", fmt::format("input {}", input.name()), "this name stands for two network inputs",
             "give every input a name of its own");
      }
      made_by_.emplace(input.name(), outside);
    }
    for (const auto& sparse : graph_.sparse_initializer()) {
      fail("sparse-tensor", fmt::format("tensor {}", sparse.values().name()),
           "is a sparse tensor, which is not supported", "store it as an ordinary tensor");
    }
    std::set<std::string> weights;
    for (const auto& tensor : graph_.initializer()) {
      if (!weights.insert(tensor.name()).second) {
        fail("duplicate-value", fmt::format("tensor {}", tensor.name()), "this name stands for two weights",
             "give every weight a name of its own");
      }
      made_by_.emplace(tensor.name(), outside);  // weights may be listed as inputs too (IR version 3)
    }
  }

  void define(const std::string& value, int node) {
    const auto [at, is_new] = made_by_.emplace(value, node);
    if (is_new) return;
    fail("duplicate-value", label(node),
         fmt::format("writes '{}', which {} already defines", value,
                     at->second == outside ? "a network input or weight" : label(at->second)),
         "give every value a name of its own");
  }

  /// Every operand must come from before its reader: nodes are sorted, so that those from behind are in a cycle.
  void check_operands() {
    bool out_of_order = false;
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& input : values_read(graph_.node(n))) {
        const auto maker = made_by_.find(input);
        if (maker == made_by_.end()) {
          fail("missing-input", label(n), fmt::format("reads '{}', which nothing in the model defines", input),
               suggest_value(input));
        } else {
          out_of_order = out_of_order || maker->second >= n;
        }
      }
    }
    if (!out_of_order) return;
    if (const auto cycle = find_cycle(); !cycle.empty()) {
      fail("cycle", "graph", fmt::format("the network has a cycle: {}", fmt::join(cycle, " -> ")),
           "change what one of these nodes reads, so that no value depends on itself");
    }
  }

  /// Searching is quadratic in the names' lengths: done for readable names, in networks of usual size, a few times.
  std::string suggest_value(const std::string& name) {
    constexpr std::size_t longest = 100;
    constexpr std::size_t max_names = 5000;
    const std::string otherwise = "add what makes it, or make it an input of the network";
    if (name.size() > longest || made_by_.size() > max_names || suggestions_left_ == 0) return otherwise;
    --suggestions_left_;
    std::vector<std::string> known;
    for (const auto& [value, node] : made_by_) {
      if (value.size() <= 2 * longest) known.push_back(value);
    }
    const auto nearest = nearest_name(name, known);
    return nearest ? fmt::format("did you mean '{}'?", *nearest) : otherwise;
  }

  /// Nodes along one cycle, the first one repeated at the end; Kahn's algorithm leaves exactly the nodes that depend on
  /// a cycle, and walking operands backwards among those must come back.
  std::vector<std::string> find_cycle() const {
    const auto count = static_cast<std::size_t>(graph_.node_size());
    std::vector<std::vector<std::size_t>> readers(count);
    std::vector<std::size_t> waiting(count, 0);
    for (std::size_t n = 0; n < count; ++n) {
      for (const std::string& input : values_read(graph_.node(static_cast<int>(n)))) {
        const auto maker = made_by_.find(input);
        if (maker == made_by_.end() || maker->second == outside) continue;
        readers[static_cast<std::size_t>(maker->second)].push_back(n);
        ++waiting[n];
      }
    }
    std::vector<std::size_t> ready;
    for (std::size_t n = 0; n < count; ++n) {
      if (waiting[n] == 0) ready.push_back(n);
    }
    while (!ready.empty()) {
      const std::size_t n = ready.back();
      ready.pop_back();
      for (const std::size_t reader : readers[n]) {
        if (--waiting[reader] == 0) ready.push_back(reader);
      }
    }
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t w) { return w > 0; });
    if (stuck == waiting.end()) return {};
    std::vector<std::size_t> walk{static_cast<std::size_t>(stuck - waiting.begin())};
    std::vector<bool> seen(count, false);
    while (!seen[walk.back()]) {
      seen[walk.back()] = true;
      for (const std::string& input : values_read(graph_.node(static_cast<int>(walk.back())))) {
        const auto maker = made_by_.find(input);
        if (maker == made_by_.end() || maker->second == outside) continue;
        if (waiting[static_cast<std::size_t>(maker->second)] > 0) {
          walk.push_back(static_cast<std::size_t>(maker->second));
          break;
        }
      }
    }
    std::vector<std::string> cycle;
    for (auto at = std::find(walk.begin(), walk.end(), walk.back()); at != walk.end(); ++at)
      cycle.push_back(names_[*at]);
    std::reverse(cycle.begin(), cycle.end());  // from maker to reader
    return cycle;
  }

  void check_outputs() {
    if (graph_.output_size() == 0) fail("no-output", "graph", "the network has no output");
    std::set<std::string> outputs;
    for (const auto& output : graph_.output()) {
      if (!outputs.insert(output.name()).second) {
        fail("duplicate-value", fmt::format("output {}", output.name()), "is listed as a network output twice");
      }
      if (!made_by_.contains(output.name())) {
        fail("missing-output", fmt::format("output {}", output.name()),
             "nothing in the model defines this network output", suggest_value(output.name()));
      }
    }
  }

  const Model& model_;
  const onnx::GraphProto& graph_;
  std::vector<std::string> names_;
  Diagnostics& diagnostics_;
  std::map<std::string, int> made_by_;  ///< node that makes a value
  int suggestions_left_ = 20;
  bool good_ = true;
};

}  // namespace

bool check_structure(const Model& model, Diagnostics& diagnostics) { return StructureCheck(model, diagnostics).run(); }

bool has_unsupported_type(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [&](const onnx::AttributeProto& attribute) {
    const bool converts = node.op_type() == "Cast" && attribute.name() == "to";
    return (attribute.has_t() && !is_computable(attribute.t().data_type())) ||
           (converts && !is_computable(static_cast<int>(attribute.i())));
  });
}

bool check_types(const Model& model, Diagnostics& diagnostics) {
  const onnx::GraphProto& graph = model.proto.graph();
  std::map<std::string, std::vector<std::string>> users;  // by type
  const auto note = [&](int type, std::string user) {
    if (!is_computable(type)) users[onnx_type_name(type)].push_back(std::move(user));
  };
  std::set<std::string> weights;
  for (const auto& tensor : graph.initializer()) {
    weights.insert(tensor.name());
    note(tensor.data_type(), fmt::format("weight {}", tensor.name()));
  }
  for (const auto& input : graph.input()) {
    if (weights.contains(input.name())) continue;
    if (input.type().has_tensor_type()) {
      note(input.type().tensor_type().elem_type(), fmt::format("input {}", input.name()));
    } else {
      users["sequences or optional values"].push_back(fmt::format("input {}", input.name()));
    }
  }
  for (const auto& output : graph.output()) {
    const auto kind = output.type().value_case();
    if (kind != onnx::TypeProto::VALUE_NOT_SET && kind != onnx::TypeProto::kTensorType) {
      users["sequences or optional values"].push_back(fmt::format("output {}", output.name()));
    }
  }
  const auto names = node_names(graph.node());
  for (int n = 0; n < graph.node_size(); ++n) {
    const std::string label = node_label(names[static_cast<std::size_t>(n)], graph.node(n));
    for (const auto& attribute : graph.node(n).attribute()) {
      if (attribute.has_t()) note(attribute.t().data_type(), label);
      if (graph.node(n).op_type() == "Cast" && attribute.name() == "to") note(static_cast<int>(attribute.i()), label);
    }
  }
  for (const auto& [type, where] : users) {
    constexpr std::size_t shown = 5;
    Diagnostic diagnostic;
    diagnostic.code = "unsupported-type";
    diagnostic.location = model.location();
    diagnostic.message = fmt::format("the network uses {}, in which Stowage does not compute ({} {})", type,
                                     where.size(), where.size() == 1 ? "place" : "places");
    diagnostic.remedy = "convert the network to float32";
    for (std::size_t i = 0; i < std::min(shown, where.size()); ++i) diagnostic.notes.push_back(where[i]);
    if (where.size() > shown) diagnostic.notes.push_back(fmt::format("and {} more", where.size() - shown));
    diagnostics.add(std::move(diagnostic));
  }
  return users.empty();
}

}  // namespace stowage::onnx_import
