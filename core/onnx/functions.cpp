// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/number_text.h"
#include "core/onnx/cross_check.h"
#include "core/onnx/import_rows.h"
#include "core/onnx/node_order.h"

namespace stowage::onnx_import {
namespace {

using Key = std::pair<std::string, std::string>;  ///< domain ("" for ONNX's own) and name

Key key_of(const std::string& domain, const std::string& name) { return {is_onnx_domain(domain) ? "" : domain, name}; }

std::string text_of(const Key& key) { return key.first.empty() ? key.second : key.first + "::" + key.second; }

/// The opset that a function's nodes were written for.
int opset_of(const onnx::FunctionProto& function, int otherwise) {
  for (const auto& import : function.opset_import()) {
    if (is_onnx_domain(import.domain())) return static_cast<int>(std::clamp<std::int64_t>(import.version(), 1, 1000));
  }
  return otherwise;
}

/// Default values of a function's attributes (IR version 9): a field that ONNX 1.12 does not know yet.
std::vector<onnx::AttributeProto> default_attributes(const onnx::FunctionProto& function) {
  constexpr int field_number = 11;
  std::vector<onnx::AttributeProto> defaults;
  const auto& unknown = function.unknown_fields();
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    onnx::AttributeProto attribute;
    if (field.number() == field_number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        attribute.ParseFromString(field.length_delimited())) {
      defaults.push_back(std::move(attribute));
    }
  }
  return defaults;
}

/// A function's body and what its attributes are where a call leaves them out.
struct Function {
  onnx::FunctionProto proto;
  std::vector<onnx::AttributeProto> defaults;
};

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

/// One call of a function: what names and attributes of its body become.
class Call {
 public:
  Call(const onnx::NodeProto& node, const Function& function, std::set<std::string>& taken)
      : node_(node), function_(function.proto), defaults_(function.defaults), taken_(taken) {
    for (int i = 0; i < function_.input_size(); ++i) {
      names_[function_.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    }
    for (int o = 0; o < std::min(function_.output_size(), node.output_size()); ++o) {
      if (node.output(o).empty()) continue;
      // An output that is an operand, or another output too, has a name already.
      if (!names_.emplace(function_.output(o), node.output(o)).second) aliases_.push_back(o);
    }
  }

  /// The function's nodes with the names and attributes of the call.
  Nodes body() {
    Nodes nodes = function_.node();
    name_nodes(nodes);
    for (auto& node : nodes) rename(node);
    for (const int o : aliases_) {
      onnx::NodeProto& alias = *nodes.Add();
      alias.set_op_type("Identity");
      alias.set_name(fmt::format("{}/output_{}", node_.name(), o));
      alias.add_input(names_.at(function_.output(o)));
      alias.add_output(node_.output(o));
    }
    return nodes;
  }

 private:
  std::string renamed(const std::string& name) {
    if (name.empty()) return name;
    if (const auto known = names_.find(name); known != names_.end()) return known->second;
    const std::string wanted = fmt::format("{}/{}", node_.name(), name);
    std::string free = wanted;
    for (int n = 2; !taken_.insert(free).second; ++n) free = fmt::format("{}_{}", wanted, n);
    names_[name] = free;
    return free;
  }

  void rename(onnx::NodeProto& node) {
    node.set_name(fmt::format("{}/{}", node_.name(), node.name()));
    for (auto& name : *node.mutable_input()) name = renamed(name);
    for (auto& name : *node.mutable_output()) name = renamed(name);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename(*attribute.mutable_g());
      if (attribute.ref_attr_name().empty()) {
        attributes.Add()->Swap(&attribute);
      } else if (const auto* value = referred(attribute.ref_attr_name())) {
        onnx::AttributeProto& copy = *attributes.Add();
        copy = *value;
        copy.set_name(attribute.name());
      }  // else the call leaves it out, and the node does so too
    }
    node.mutable_attribute()->Swap(&attributes);
  }

  void rename(onnx::GraphProto& graph) {
    for (auto& input : *graph.mutable_input()) input.set_name(renamed(input.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(renamed(tensor.name()));
    for (auto& node : *graph.mutable_node()) rename(node);
    for (auto& output : *graph.mutable_output()) output.set_name(renamed(output.name()));
  }

  const onnx::AttributeProto* referred(const std::string& name) const {
    if (const auto* given = find_attribute(node_, name)) return given;
    const auto fallback = std::find_if(defaults_.begin(), defaults_.end(),
                                       [&](const onnx::AttributeProto& attribute) { return attribute.name() == name; });
    return fallback == defaults_.end() ? nullptr : &*fallback;
  }

  const onnx::NodeProto& node_;
  const onnx::FunctionProto& function_;
  const std::vector<onnx::AttributeProto>& defaults_;
  std::set<std::string>& taken_;
  std::map<std::string, std::string> names_;
  std::vector<int> aliases_;
};

class Expansion {
 public:
  Expansion(Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {
    collect_names(model.proto.graph());
    for (const auto& function : model.proto.functions()) {
      const Key key = key_of(function.domain(), function.name());
      if (functions_.emplace(key, Function{function, default_attributes(function)}).second) continue;
      fail("duplicate-function", fmt::format("function {}", text_of(key)), "is defined twice",
           "keep one of the definitions");
    }
  }

  bool run() {
    if (!good_) return false;
    if (!functions_.empty()) expand(*model_.proto.mutable_graph()->mutable_node(), model_.opset);
    // A function of ONNX may be made of others.
    for (int round = 0; good_ && round < max_rounds && has_onnx_function(model_.proto.graph().node()); ++round) {
      sort_nodes(*model_.proto.mutable_graph()->mutable_node());
      types_ = infer_types(model_);
      of_onnx_ = true;
      const int left = nodes_left_;
      expand(*model_.proto.mutable_graph()->mutable_node(), model_.opset);
      if (nodes_left_ == left) break;  // ONNX could not make any of them, which will be reported
    }
    return good_;
  }

 private:
  static constexpr int max_rounds = 8;
  static constexpr std::size_t deepest = 100;

  void fail(std::string code, std::string object, std::string message, std::string remedy = {}) {
    good_ = false;
    diagnostics_.error(std::move(code), model_.location(std::move(object)), std::move(message), std::move(remedy));
  }

  void collect_names(const onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) taken_.insert(input.name());
    for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
    for (const auto& output : graph.output()) taken_.insert(output.name());
    for (const auto& node : graph.node()) {
      taken_.insert(node.input().begin(), node.input().end());
      taken_.insert(node.output().begin(), node.output().end());
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) collect_names(attribute.g());
      }
    }
  }

  /// The schema of an operator that ONNX defines by others and Stowage does not have.
  [[nodiscard]] const onnx::OpSchema* onnx_function(const onnx::NodeProto& node) const {
    const int opset = model_.opset_of(node);
    if (!is_onnx_domain(node.domain()) || why_unsupported(node.op_type(), opset).empty()) return nullptr;
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "");
    return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction()) ? schema : nullptr;
  }

  [[nodiscard]] bool has_onnx_function(const Nodes& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const onnx::NodeProto& node) {
      return onnx_function(node) != nullptr ||
             std::any_of(node.attribute().begin(), node.attribute().end(), [&](const onnx::AttributeProto& attribute) {
               return attribute.has_g() && has_onnx_function(attribute.g().node());
             });
    });
  }

  std::optional<Function> body_of_onnx(const onnx::NodeProto& node) const {
    const onnx::OpSchema* schema = onnx_function(node);
    if (schema == nullptr) return std::nullopt;
    Function result;
    onnx::FunctionProto& function = result.proto;
    if (schema->HasFunction()) {
      function = *schema->GetFunction();
    } else {
      std::vector<onnx::TypeProto> types;
      for (const auto& input : node.input()) {
        const auto known = types_.find(input);
        types.push_back(known == types_.end() ? onnx::TypeProto() : known->second);
      }
      if (!schema->BuildContextDependentFunction(onnx::FunctionBodyBuildContextImpl(node, types), function)) {
        return std::nullopt;
      }
      if (function.input_size() == 0) schema->BuildFunction(function);  // some builders have called it already
    }
    if (function.opset_import_size() == 0) function.add_opset_import()->set_version(schema->since_version());
    for (const auto& [name, attribute] : schema->attributes()) {
      if (attribute.default_value.name().empty()) continue;
      result.defaults.push_back(attribute.default_value);
      result.defaults.back().set_name(name);
    }
    return result;
  }

  void expand(Nodes& nodes, int opset) {
    Nodes expanded;
    for (auto& node : nodes) add(node, opset, expanded);
    nodes.Swap(&expanded);
  }

  /// Adds a node, or what it calls.
  void add(onnx::NodeProto& node, int opset, Nodes& to) {
    if (!good_) return;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) expand(*attribute.mutable_g()->mutable_node(), opset);
    }
    const Key key = key_of(node.domain(), node.op_type());
    if (of_onnx_) {
      if (const auto function = body_of_onnx(node)) return call(node, *function, model_.opset_of(node), to);
    } else if (const auto function = functions_.find(key);
               function != functions_.end() && (!key.first.empty() || !why_unsupported(key.second, opset).empty())) {
      return call(node, function->second, opset, to);
    }
    if (!of_onnx_) note_opset(node, opset);
    to.Add()->Swap(&node);
  }

  void call(const onnx::NodeProto& node, const Function& called, int opset, Nodes& to) {
    const onnx::FunctionProto& function = called.proto;
    const Key key = key_of(node.domain(), node.op_type());
    const std::string label = node_label(node.name(), node);
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
      return fail(
          "wrong-operand-count", label,
          fmt::format("has {} and {}; the function takes {} and gives {}", counted(node.input_size(), "operand"),
                      counted(node.output_size(), "output"), function.input_size(), function.output_size()),
          "give the call the function's operands and outputs");
    }
    calls_.push_back(text_of(key));
    if (std::find(calls_.begin(), calls_.end() - 1, calls_.back()) != calls_.end() - 1) {
      return fail("recursive-function", label, fmt::format("its function calls itself: {}", fmt::join(calls_, " -> ")),
                  "export the network without recursion");
    }
    if (calls_.size() > deepest) {
      return fail("model-too-large", label, fmt::format("functions call each other more than {} deep", deepest),
                  "inline some of them: onnx.inliner");
    }
    Nodes body = Call(node, called, taken_).body();
    nodes_left_ -= body.size();
    if (nodes_left_ < 0) {
      return fail("model-too-large", label,
                  fmt::format("with its functions written out the network has more than {} nodes", max_nodes),
                  "compile it in parts");
    }
    const int written_for = opset_of(function, opset);
    const auto* outer = model_.written_out_for(node);
    const Model::WrittenOut own =
        outer != nullptr ? *outer : Model::WrittenOut{node.op_type(), node.name(), ++written_out_};
    for (auto& inner : body) {
      if (of_onnx_) {
        note_opset(inner, written_for);
        for (const auto& output : inner.output()) {
          if (!output.empty()) model_.written_out[output] = own;
        }
        to.Add()->Swap(&inner);
      } else {
        add(inner, written_for, to);
      }
    }
    if (good_) calls_.pop_back();
  }

  /// Where an operator's form in the function's opset is another than in the model's.
  void note_opset(const onnx::NodeProto& node, int opset) {
    if (opset == model_.opset || !is_onnx_domain(node.domain())) return;
    if (find_import_row(node.op_type(), opset) == find_import_row(node.op_type(), model_.opset) &&
        onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "") ==
            onnx::OpSchemaRegistry::Schema(node.op_type(), model_.opset, "")) {
      return;
    }
    for (const auto& output : node.output()) {
      if (!output.empty()) model_.other_opsets[output] = opset;
    }
  }

  Model& model_;
  Diagnostics& diagnostics_;
  std::map<Key, Function> functions_;
  std::set<std::string> taken_;     ///< names of values
  std::vector<std::string> calls_;  ///< functions that are being written out
  std::map<std::string, onnx::TypeProto> types_;
  int nodes_left_ = max_nodes;
  int written_out_ = 0;
  bool of_onnx_ = false;  ///< the model's own functions are done
  bool good_ = true;
};

}  // namespace

bool expand_functions(Model& model, Diagnostics& diagnostics) { return Expansion(model, diagnostics).run(); }

}  // namespace stowage::onnx_import
