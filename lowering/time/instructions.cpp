// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/instructions.h"

#include "core/check.h"

namespace stowage {
namespace {

// There is no vector maximum: a comparison and a selection.
constexpr double comparison_and_selection = 2;

/// Whether a function of the C library, or what is made of several, computes it.
bool is_function(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp:
    case UnaryOp::log:
    case UnaryOp::erf:
    case UnaryOp::tanh:
    case UnaryOp::sin:
    case UnaryOp::cos: return true;
    case UnaryOp::negate:
    case UnaryOp::sqrt:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::abs:
    case UnaryOp::logical_not:
    case UnaryOp::round: return false;
  }
  fail_check("unknown unary operator");
}

bool is_product(const ScalarExpr& e) {
  const auto* binary = std::get_if<ScalarNode::Binary>(&e->value);
  return binary != nullptr && binary->op == BinaryOp::multiply && is_float(e->type);
}

void add(Operations& sum, const ScalarNode::Binary& binary) {
  switch (binary.op) {
    case BinaryOp::divide: sum.divisions += 1; return;
    case BinaryOp::power: sum.functions += 2; return;  // a logarithm and an exponential
    case BinaryOp::minimum:
    case BinaryOp::maximum: sum.instructions += comparison_and_selection; return;
    case BinaryOp::add:
    case BinaryOp::subtract:
      // Of two products one is fused.
      sum.instructions += is_product(binary.a) || is_product(binary.b) ? 0 : 1;
      return;
    case BinaryOp::multiply:
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: sum.instructions += 1; return;
  }
  fail_check("unknown binary operator");
}

}  // namespace

Operations operations_in(const ScalarExpr& e) {
  Operations sum;
  visit_nodes(e, [&](const ScalarNode& node) {
    if (const auto* binary = std::get_if<ScalarNode::Binary>(&node.value)) add(sum, *binary);
    if (const auto* unary = std::get_if<ScalarNode::Unary>(&node.value)) {
      if (is_function(unary->op)) {
        sum.functions += 1;
      } else if (unary->op == UnaryOp::sqrt) {
        sum.divisions += 1;
      } else {
        sum.instructions += 1;
      }
    }
    const bool one = std::holds_alternative<ScalarNode::Select>(node.value) ||
                     std::holds_alternative<ScalarNode::Cast>(node.value) ||
                     std::holds_alternative<ScalarNode::Index>(node.value);
    sum.instructions += one ? 1 : 0;
  });
  return sum;
}

AccumulatorWork combination_in_registers(Reduction reduction) {
  // The emitted SW_VMAX: two comparisons, of which one waits for nothing, and two selections.
  return reduction == Reduction::maximum ? AccumulatorWork{4, 3} : AccumulatorWork{1, 1};
}

double combining_instructions(Reduction reduction, const ScalarExpr& body) {
  switch (reduction) {
    case Reduction::sum: return is_product(body) ? 0 : 1;
    case Reduction::product: return 1;
    case Reduction::maximum:
    case Reduction::minimum: return comparison_and_selection;
    case Reduction::none: return 0;
  }
  fail_check("unknown reduction");
}

}  // namespace stowage
