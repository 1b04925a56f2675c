// SPDX-License-Identifier: Apache-2.0
// What the definitions of operators are written with. Only the sources of core/operators/ include this.
//
// A definition is a plain function `OperatorDefinition f(Definer& d)`: it looks at operands and attributes, drafts
// stages and returns `d.done()`. A mistake of the user leaves it by `d.refuse(...)`, which guarded<f> turns into a
// Diagnostic, so that definitions read like the formulas in the ONNX documentation.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/operators.h"
#include "core/usual_remedy.h"

namespace stowage::operators {

/// Extents for which tables of source positions are made; beyond that they would fill the memory.
inline constexpr std::int64_t largest_table = std::int64_t{1} << 26;

/// Internal to core/operators: how a definition that cannot be made is left.
struct Refusal {
  std::string code;
  std::string message;
  std::string remedy;
};

class Definer {
 public:
  explicit Definer(const OperatorContext& context);

  [[nodiscard]] std::size_t slots() const { return operands_.size(); }
  [[nodiscard]] bool has(std::size_t slot) const { return slot < operands_.size() && operands_[slot].has_value(); }
  /// Index of an operand in the stage list's tensors.
  [[nodiscard]] StageTensorId operand(std::size_t slot) const;
  /// All operands that are present, in slot order.
  [[nodiscard]] std::vector<StageTensorId> operands() const;
  [[nodiscard]] const Shape& shape(StageTensorId tensor) const { return definition_.list.tensors[tensor].shape; }
  [[nodiscard]] ElementType type(StageTensorId tensor) const { return definition_.list.tensors[tensor].type; }
  [[nodiscard]] int rank(StageTensorId tensor) const { return static_cast<int>(shape(tensor).size()); }
  /// The elements, where the operand is a constant.
  [[nodiscard]] const std::optional<Tensor>& value(StageTensorId tensor) const {
    return definition_.list.tensors[tensor].value;
  }

  /// Whether somebody wants the output of this slot; the first always.
  [[nodiscard]] bool wants(std::size_t slot) const {
    return slot == 0 || (slot < context_.op.outputs.size() && context_.op.outputs[slot].has_value());
  }

  [[nodiscard]] const Attributes& attributes() const { return context_.op.attributes; }
  [[nodiscard]] bool has_attribute(const std::string& name) const { return attributes().contains(name); }
  /// An axis in -rank … rank-1, the rank being the number of dimensions, counted from the front.
  [[nodiscard]] std::size_t axis(std::int64_t axis, std::size_t dimensions) const;
  /// The attribute's axes, each once, ascending; `fallback` where it is absent.
  [[nodiscard]] std::vector<std::size_t> axes(const std::string& name, std::size_t dimensions,
                                              std::vector<std::size_t> fallback) const;

  void require_floats(std::initializer_list<StageTensorId> tensors) const;   ///< f32 or f64
  void require_numbers(std::initializer_list<StageTensorId> tensors) const;  ///< anything but boolean
  void require_same_type(const std::vector<StageTensorId>& tensors) const;
  void require_rank(StageTensorId tensor, int lowest, int highest) const;
  [[noreturn]] void refuse(std::string code, std::string message, std::string remedy = {}) const;

  StageTensorId add_constant(std::string name, Tensor value);
  StageTensorId add_tensor(std::string name, ElementType type, Shape shape, TensorRole role);
  void set_result(std::size_t slot, StageTensorId tensor);
  void add_stage(Stage stage) { definition_.list.stages.push_back(std::move(stage)); }
  OperatorDefinition done() { return std::move(definition_); }
  /// Marks the output as sharing the first operand's memory.
  OperatorDefinition done_as_view();

 private:
  const OperatorContext& context_;
  std::vector<std::optional<StageTensorId>> operands_;
  OperatorDefinition definition_;
};

/// One stage under construction. Spatial axes first, then reduction axes, then reads, then one of intermediate/output.
class StageDraft {
 public:
  StageDraft(Definer& definer, std::string name);

  IndexExpr axis(std::string name, std::int64_t extent);
  IndexExpr reduction_axis(std::string name, std::int64_t extent);
  /// Spatial axes i0, i1, … over a whole shape.
  std::vector<IndexExpr> axes(const Shape& shape);

  ScalarExpr read(StageTensorId tensor, std::vector<IndexExpr> at, std::optional<double> padding = {});
  /// The read that read() made last, for tensor_value().
  [[nodiscard]] ReadId last_read() const { return ReadId(stage_.reads.size() - 1); }
  /// Reads a tensor that is broadcast to the shape of the spatial axes (dimensions aligned at the end).
  ScalarExpr read_broadcast(StageTensorId tensor);

  /// Ends the draft: its result becomes a new tensor of the definition, whose index is returned.
  StageTensorId intermediate(const std::string& tensor, ScalarExpr body);
  StageTensorId intermediate(const std::string& tensor, Reduction reduction, ScalarExpr body, ScalarExpr finish = {});
  StageTensorId output(ScalarExpr body, const std::string& tensor = "Y");
  StageTensorId output(Reduction reduction, ScalarExpr body, ScalarExpr finish = {}, const std::string& tensor = "Y");
  /// An output beside the first, where it is wanted, else an intermediate.
  StageTensorId result(std::size_t slot, const std::string& tensor, Reduction reduction, ScalarExpr body,
                       ScalarExpr finish = {});

 private:
  StageTensorId write(const std::string& tensor, std::optional<std::size_t> slot, Reduction reduction, ScalarExpr body,
                      ScalarExpr finish);
  Definer& definer_;
  Stage stage_;
};

/// The shape that operands broadcast to; refused where they do not.
Shape broadcast_shape(const Definer& d, const std::vector<StageTensorId>& tensors);
Shape broadcast_shape(const Definer& d, const Shape& a, const Shape& b);

/// A number of any element type.
ScalarExpr number(ElementType type, double value);
ScalarExpr less(ScalarExpr a, ScalarExpr b);
ScalarExpr equal(ScalarExpr a, ScalarExpr b);

/// Catches a definition's refusal.
template <OperatorDefinition (*define)(Definer&)>
Result<OperatorDefinition> guarded(const OperatorContext& context) {
  try {
    Definer definer(context);
    return define(definer);
  } catch (const Refusal& refusal) {
    context.diagnostics.error(refusal.code, context.location, refusal.message,
                              refusal.remedy.empty() ? usual_remedy(refusal.code, context.op.kind) : refusal.remedy);
    return Failed{};
  }
}

// The rows of each family, in any order.
std::vector<OperatorRow> convolution_rows();
std::vector<OperatorRow> element_wise_rows();
std::vector<OperatorRow> layout_rows();
std::vector<OperatorRow> matmul_rows();
std::vector<OperatorRow> normalization_rows();
std::vector<OperatorRow> pooling_rows();
std::vector<OperatorRow> reduction_rows();
std::vector<OperatorRow> selection_rows();

}  // namespace stowage::operators
