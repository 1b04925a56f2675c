// SPDX-License-Identifier: Apache-2.0
// How the tests of operators call them: by kind, attributes and operand values, through the plain evaluation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/operators.h"

namespace stowage::test {

inline constexpr auto i64 = ElementType::i64;

using Operands = std::vector<std::optional<Tensor>>;
using Ints = std::vector<std::int64_t>;

Tensor floats(Shape shape, std::vector<float> values);
Tensor integers(ElementType type, Shape shape, std::vector<std::int64_t> values);
Tensor booleans(Shape shape, std::vector<int> values);
/// 0, 1, 2 … (times `factor`).
Tensor counting(Shape shape, float factor = 1);

/// Defines, verifies and evaluates; fails the test if any of that is refused.
Tensor run(const std::string& kind, const Attributes& attributes, const Operands& operands);
/// The same of an operator with all outputs up to `slots`.
std::vector<Tensor> run_outputs(const std::string& kind, const Attributes& attributes, const Operands& operands,
                                std::size_t slots);
OperatorDefinition define(const std::string& kind, const Attributes& attributes, const Operands& operands);
/// The diagnostics of an operator that must be refused, "[code] message" a line.
std::string refusal(const std::string& kind, const Attributes& attributes, const Operands& operands);

std::vector<double> values(const Tensor& tensor);
/// Checks type f32, shape and values to 1e-6 of the largest magnitude.
void check_floats(const Tensor& tensor, const Shape& shape, const std::vector<double>& wanted);
/// Checks type, shape and values exactly.
void check_integers(const Tensor& tensor, ElementType type, const Shape& shape, const std::vector<double>& wanted);

}  // namespace stowage::test
