// SPDX-License-Identifier: Apache-2.0
// What an import row sees of one ONNX node: its operands and attributes, checked, and ways to append canonical
// operators to the graph. Operators whose operands are all known are folded as they are appended.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph.h"
#include "core/onnx/import.h"
#include "core/onnx/model_file.h"

namespace stowage::onnx_import {

/// What a name in the model stands for: a constant, a tensor of the graph, or both (a constant that an operator reads).
struct Value {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
  std::optional<Tensor> constant;
  std::optional<TensorId> id;
};
using ValueRef = std::shared_ptr<Value>;  ///< aliases (Identity, Dropout) share a value; null: absent operand

/// Thrown by the functions below once the reason is in the Diagnostics; caught for each node, so that one run reports
/// the mistakes of several nodes. Never leaves this folder.
struct Refused {};

/// One import in progress.
struct ImportState {
  Model& model;
  const ImportOptions& options;
  Diagnostics& diagnostics;
  GraphBuilder builder;
  std::stop_token stop{};
  /// Types that ONNX finds, asked for at the first node that cannot be imported: what it would have made stands in for
  /// it, so that the nodes behind it are looked at too.
  std::optional<std::map<std::string, onnx::TypeProto>> inferred{};
  bool has_stand_ins = false;
  std::set<std::string> used_names{};        ///< names that some node or network output reads
  std::set<std::string> reserved_names{};    ///< names of network outputs, which no other tensor may take
  std::map<std::string, int> times_named{};  ///< how many operators asked for a name
  std::set<std::string> inputs_to_bind{};    ///< network inputs whose values decide shapes
  std::int64_t folding_points_left = std::int64_t{1} << 28;  ///< keeps folding to seconds
  std::int64_t generated_bytes_left = 0;  ///< for constants that are larger than what the file says about them

  /// The tensor of the graph; a constant enters the graph with its first reader.
  TensorId id_of(Value& value);
};

/// Names of one graph, in front of those of the graph around it (branches of If). A null value: could not be imported.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, ValueRef> values{};
  std::set<std::string> failed{};

  [[nodiscard]] ValueRef find(const std::string& name) const;
  [[nodiscard]] bool has_failed(const std::string& name) const;
};

class NodeImport {
 public:
  NodeImport(ImportState& state, Scope& scope, const onnx::NodeProto& node, std::string name, int branch_depth);

  [[nodiscard]] int opset() const { return state_.model.opset_of(node_); }
  [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int branch_depth() const { return branch_depth_; }
  ImportState& state() { return state_; }
  Scope& scope() { return scope_; }

  // Operands
  [[nodiscard]] int operand_count() const { return node_.input_size(); }
  [[nodiscard]] bool has_operand(int slot) const;
  ValueRef operand(int slot);  ///< refuses where it is absent
  ValueRef operand_or_null(int slot);
  std::vector<ValueRef> operands();               ///< all, absent ones null
  Tensor known(int slot, std::string_view what);  ///< a value that must be known at import
  std::vector<std::int64_t> known_ints(int slot, std::string_view what);
  std::vector<double> known_reals(int slot, std::string_view what);
  double known_real(int slot, std::string_view what);  ///< one element
  std::int64_t known_int(int slot, std::string_view what);

  // Attributes; types were checked against the row
  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;
  [[nodiscard]] std::int64_t int_attribute(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] double float_attribute(std::string_view name, double fallback) const;
  [[nodiscard]] std::string string_attribute(std::string_view name, std::string fallback) const;
  [[nodiscard]] std::vector<std::int64_t> ints_attribute(std::string_view name,
                                                         std::vector<std::int64_t> fallback = {}) const;
  [[nodiscard]] Attributes attributes() const;  ///< numbers, strings and lists as written
  /// 0 <= axis < rank, or a refusal.
  std::int64_t checked_axis(std::int64_t axis, std::size_t rank);

  // Results
  [[nodiscard]] bool wants(int slot) const;  ///< the output has a name that somebody reads
  /// Appends the operator that makes output `slot`.
  ValueRef emit(int slot, const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands);
  ValueRef emit(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands) {
    return emit(0, kind, std::move(attributes), operands);
  }
  /// Appends the operator that makes the first output, and those of the others that somebody reads.
  void emit_outputs(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands);
  /// Appends an operator on the way to an output; it is called NODE/part.
  ValueRef part(std::string_view part, const std::string& kind, Attributes attributes,
                const std::vector<ValueRef>& operands);
  ValueRef constant(std::string_view part, Tensor value);
  void set_output(int slot, ValueRef value);
  void set_constant(int slot, Tensor value);
  /// Refuses where a constant of this shape would take too much memory; to be called before it is made.
  void reserve(ElementType type, const Shape& shape);

  [[nodiscard]] SourceLocation location() const;
  [[noreturn]] void refuse(std::string code, std::string message, std::string remedy = {});
  /// "its result [1073741825] has more than … elements".
  [[noreturn]] void refuse_too_large(std::string_view what, const Shape& shape);

 private:
  ValueRef append(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands,
                  const std::string& name, const std::string& output_name);
  /// By result slot; null where no name is given.
  std::vector<ValueRef> append(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands,
                               const std::string& name, const std::vector<std::optional<std::string>>& output_names);
  /// The outputs by result slot, of those that are `wanted`.
  std::optional<std::vector<std::optional<Tensor>>> fold(const std::string& kind, const Attributes& attributes,
                                                         const std::vector<ValueRef>& operands, const std::string& name,
                                                         const std::vector<bool>& wanted);

  ImportState& state_;
  Scope& scope_;
  const onnx::NodeProto& node_;
  std::string name_;
  int branch_depth_ = 0;
};

/// Imports the nodes of a graph in order; false if any failed. Names of nodes get `prefix`. Of nodes whose operands
/// could not be imported the form is checked. Operators and types of the main graph that check_model() reports
/// (import.cpp) are not reported again.
bool import_nodes(ImportState& state, Scope& scope, const onnx::GraphProto& graph, const std::string& prefix,
                  int branch_depth);

}  // namespace stowage::onnx_import
