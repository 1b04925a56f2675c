// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/vector_expression.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/overloaded.h"
#include "emitter/athread/c_expr.h"

namespace stowage {
namespace {

const ScalarNode::Binary* as_product(const ScalarExpr& e) {
  const auto* binary = std::get_if<ScalarNode::Binary>(&e->value);
  return binary != nullptr && binary->op == BinaryOp::multiply ? binary : nullptr;
}

}  // namespace

std::string VectorExpression::value(const ScalarExpr& e) {
  return std::visit(
      Overloaded{[&](const ScalarNode::Constant& n) { return operands_.constant(c_constant(e->type, n.value)); },
                 [&](const ScalarNode::Read& n) { return operands_.read(n.read); },
                 [&](const ScalarNode::Accumulator&) { return operands_.accumulator(); },
                 [&](const ScalarNode::Binary& n) { return named(operation(n)); },
                 [&](const auto&) -> std::string { fail_check("an expression without instructions for vectors"); }},
      e->value);
}

std::string VectorExpression::named(const std::string& text) {
  const auto [known, added] = temporaries_.emplace(text, fmt::format("t{}_", next_));
  if (added) {
    ++next_;
    out_.line(fmt::format("floatv4 {} = {};", known->second, text));
  }
  return known->second;
}

std::string VectorExpression::operation(const ScalarNode::Binary& n) {
  switch (n.op) {
    case BinaryOp::add:
      if (const auto* product = as_product(n.a)) return fused("simd_vmas", *product, n.b);
      if (const auto* product = as_product(n.b)) return fused("simd_vmas", *product, n.a);
      return of_two("simd_vadds", n);
    case BinaryOp::subtract:
      if (const auto* product = as_product(n.b)) return fused("simd_vnmas", *product, n.a);
      if (const auto* product = as_product(n.a)) return fused("simd_vmss", *product, n.b);
      return of_two("simd_vsubs", n);
    case BinaryOp::multiply: return of_two("simd_vmuls", n);
    case BinaryOp::divide: return of_two("simd_vdivs", n);
    case BinaryOp::minimum: return bounded(n, false);
    case BinaryOp::maximum: return bounded(n, true);
    default: fail_check("an operation without instructions for vectors");
  }
}

std::string VectorExpression::of_two(std::string_view instruction, const ScalarNode::Binary& n) {
  const std::string a = value(n.a);
  const std::string b = value(n.b);
  return fmt::format("{}({}, {})", instruction, a, b);
}

std::string VectorExpression::fused(std::string_view instruction, const ScalarNode::Binary& product,
                                    const ScalarExpr& third) {
  const std::string a = value(product.a);
  const std::string b = value(product.b);
  const std::string c = value(third);
  return fmt::format("{}({}, {}, {})", instruction, a, b, c);
}

std::string VectorExpression::bounded(const ScalarNode::Binary& n, bool from_below) {
  const std::string a = value(n.a);
  const std::string bound = value(n.b);
  return fmt::format("simd_vseleqs(simd_vfcmplts({}, {}), {}, {})", from_below ? a : bound, from_below ? bound : a, a,
                     bound);
}

}  // namespace stowage
