// SPDX-License-Identifier: Apache-2.0
#include "run_operator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/evaluate.h"

namespace stowage::test {
namespace {

std::vector<std::optional<StageTensor>> stage_tensors(const Operands& operands) {
  std::vector<std::optional<StageTensor>> tensors;
  for (const auto& operand : operands) {
    tensors.emplace_back();
    if (!operand) continue;
    tensors.back() = StageTensor{"operand", operand->type(), operand->shape(), TensorRole::input, {}, {}};
  }
  return tensors;
}

Operator operator_of(const std::string& kind, const Attributes& attributes) {
  Operator op;
  op.kind = kind;
  op.name = kind;
  op.attributes = attributes;
  return op;
}

}  // namespace

Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of_floats(std::move(shape), values); }

Tensor integers(ElementType type, Shape shape, std::vector<std::int64_t> values) {
  const auto width = static_cast<std::size_t>(byte_size(type));
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) store_element(type, values[i], bytes.data() + i * width);
  return Tensor(type, std::move(shape), std::move(bytes));
}

Tensor booleans(Shape shape, std::vector<int> values) {
  return integers(ElementType::boolean, std::move(shape), {values.begin(), values.end()});
}

Tensor counting(Shape shape, float factor) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * factor;
  return floats(std::move(shape), values);
}

OperatorDefinition define(const std::string& kind, const Attributes& attributes, const Operands& operands) {
  Diagnostics diagnostics;
  auto definition = define_operator(operator_of(kind, attributes), stage_tensors(operands), {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(definition);
  INFO(to_text(definition->list));
  CHECK(verify(definition->list).value_or("fine") == "fine");
  return *std::move(definition);
}

Tensor run(const std::string& kind, const Attributes& attributes, const Operands& operands) {
  std::vector<Tensor> inputs;
  for (const auto& operand : operands) {
    if (operand) inputs.push_back(*operand);
  }
  return evaluate(define(kind, attributes, operands).list, inputs).back();
}

std::vector<Tensor> run_outputs(const std::string& kind, const Attributes& attributes, const Operands& operands,
                                std::size_t slots) {
  Operator op = operator_of(kind, attributes);
  for (std::size_t slot = 0; slot < slots; ++slot) op.outputs.emplace_back(TensorId(slot));
  Diagnostics diagnostics;
  const auto definition = define_operator(op, stage_tensors(operands), {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(definition);
  INFO(to_text(definition->list));
  CHECK(verify(definition->list).value_or("fine") == "fine");
  std::vector<Tensor> inputs;
  for (const auto& operand : operands) {
    if (operand) inputs.push_back(*operand);
  }
  const IdVector<StageTensorId, Tensor> all = evaluate(definition->list, inputs);
  std::vector<Tensor> outputs;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const StageTensor& tensor = result_tensor(*definition, slot);
    outputs.push_back(all[definition->list.tensors.id_of(tensor)]);
  }
  return outputs;
}

std::string refusal(const std::string& kind, const Attributes& attributes, const Operands& operands) {
  Diagnostics diagnostics;
  const auto definition = define_operator(operator_of(kind, attributes), stage_tensors(operands), {}, diagnostics);
  CHECK_FALSE(definition);
  std::string text;
  for (const Diagnostic& d : diagnostics.entries()) text += (text.empty() ? "[" : "\n[") + d.code + "] " + d.message;
  return text;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = tensor.as_double(static_cast<std::int64_t>(i));
  return result;
}

void check_floats(const Tensor& tensor, const Shape& shape, const std::vector<double>& wanted) {
  CHECK(tensor.type() == ElementType::f32);
  CHECK(tensor.shape() == shape);
  const auto found = values(tensor);
  REQUIRE(found.size() == wanted.size());
  double largest = 0;
  for (const double w : wanted) {
    if (std::isfinite(w)) largest = std::max(largest, std::abs(w));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("element " << i << ": " << found[i] << ", wanted " << wanted[i]);
    if (std::isfinite(wanted[i])) {
      CHECK(std::abs(found[i] - wanted[i]) <= 1e-6 * std::max(1.0, largest));
    } else {
      CHECK(found[i] == wanted[i]);
    }
  }
}

void check_integers(const Tensor& tensor, ElementType type, const Shape& shape, const std::vector<double>& wanted) {
  CHECK(tensor.type() == type);
  CHECK(tensor.shape() == shape);
  CHECK(values(tensor) == wanted);
}

}  // namespace stowage::test
