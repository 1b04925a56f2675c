// SPDX-License-Identifier: Apache-2.0
#include "core/scalar_expr.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/overloaded.h"

namespace stowage {
namespace {

template <class Operation, Operation last>
std::optional<Operation> find_operation(std::string_view name) {
  for (int op = 0; op <= static_cast<int>(last); ++op) {
    if (name_of(static_cast<Operation>(op)) == name) return static_cast<Operation>(op);
  }
  return std::nullopt;
}

ScalarExpr make(ElementType type, ScalarNode::Value value) {
  return std::make_shared<const ScalarNode>(ScalarNode{type, std::move(value)});
}

bool yields_boolean(BinaryOp op) {
  return op == BinaryOp::less || op == BinaryOp::less_equal || op == BinaryOp::equal || op == BinaryOp::logical_and ||
         op == BinaryOp::logical_or;
}

}  // namespace

ScalarExpr scalar_constant(ElementType type, double value) { return make(type, ScalarNode::Constant{value}); }

ScalarExpr scalar_integer(ElementType type, std::int64_t value) { return make(type, ScalarNode::IntConstant{value}); }

ScalarExpr scalar_read(ElementType type, ReadId read) { return make(type, ScalarNode::Read{read}); }

ScalarExpr scalar_accumulator(ElementType type) { return make(type, ScalarNode::Accumulator{}); }

ScalarExpr scalar_index(ElementType type, IndexExpr value) { return make(type, ScalarNode::Index{std::move(value)}); }

ScalarExpr scalar_unary(UnaryOp op, ScalarExpr a) {
  const ElementType type = a->type;
  check(op != UnaryOp::logical_not || type == ElementType::boolean, "logical not of a number");
  return make(type, ScalarNode::Unary{op, std::move(a)});
}

ScalarExpr scalar_binary(BinaryOp op, ScalarExpr a, ScalarExpr b) {
  check(a->type == b->type, "operands of different types");
  const ElementType type = yields_boolean(op) ? ElementType::boolean : a->type;
  return make(type, ScalarNode::Binary{op, std::move(a), std::move(b)});
}

ScalarExpr scalar_select(ScalarExpr condition, ScalarExpr a, ScalarExpr b) {
  check(condition->type == ElementType::boolean, "condition that is not boolean");
  check(a->type == b->type, "operands of different types");
  const ElementType type = a->type;
  return make(type, ScalarNode::Select{std::move(condition), std::move(a), std::move(b)});
}

ScalarExpr scalar_cast(ElementType type, ScalarExpr a) {
  if (a->type == type) return a;
  return make(type, ScalarNode::Cast{std::move(a)});
}

ScalarExpr map_leaves(const ScalarExpr& e, const std::function<ScalarExpr(const ScalarExpr&)>& leaf) {
  const auto recurse = [&](const ScalarExpr& operand) { return map_leaves(operand, leaf); };
  const auto mapped_leaf = [&] {
    ScalarExpr replaced = leaf(e);
    return replaced ? replaced : e;
  };
  return std::visit(Overloaded{
                        [&](const ScalarNode::Unary& n) {
                          ScalarExpr a = recurse(n.a);
                          return a == n.a ? e : scalar_unary(n.op, std::move(a));
                        },
                        [&](const ScalarNode::Binary& n) {
                          ScalarExpr a = recurse(n.a);
                          ScalarExpr b = recurse(n.b);
                          return a == n.a && b == n.b ? e : scalar_binary(n.op, std::move(a), std::move(b));
                        },
                        [&](const ScalarNode::Select& n) {
                          ScalarExpr condition = recurse(n.condition);
                          ScalarExpr a = recurse(n.a);
                          ScalarExpr b = recurse(n.b);
                          if (condition == n.condition && a == n.a && b == n.b) return e;
                          return scalar_select(std::move(condition), std::move(a), std::move(b));
                        },
                        [&](const ScalarNode::Cast& n) {
                          ScalarExpr a = recurse(n.a);
                          return a == n.a ? e : scalar_cast(e->type, std::move(a));
                        },
                        [&](const ScalarNode::Constant&) { return mapped_leaf(); },
                        [&](const ScalarNode::IntConstant&) { return mapped_leaf(); },
                        [&](const ScalarNode::Read&) { return mapped_leaf(); },
                        [&](const ScalarNode::Accumulator&) { return mapped_leaf(); },
                        [&](const ScalarNode::Index&) { return mapped_leaf(); },
                    },
                    e->value);
}

void visit_nodes(const ScalarExpr& e, const std::function<void(const ScalarNode&)>& visit) {
  std::visit(Overloaded{
                 [&](const ScalarNode::Unary& n) { visit_nodes(n.a, visit); },
                 [&](const ScalarNode::Binary& n) {
                   visit_nodes(n.a, visit);
                   visit_nodes(n.b, visit);
                 },
                 [&](const ScalarNode::Select& n) {
                   visit_nodes(n.condition, visit);
                   visit_nodes(n.a, visit);
                   visit_nodes(n.b, visit);
                 },
                 [&](const ScalarNode::Cast& n) { visit_nodes(n.a, visit); },
                 [](const ScalarNode::Constant&) {},
                 [](const ScalarNode::IntConstant&) {},
                 [](const ScalarNode::Read&) {},
                 [](const ScalarNode::Accumulator&) {},
                 [](const ScalarNode::Index&) {},
             },
             e->value);
  visit(*e);
}

std::int64_t operation_count(const ScalarExpr& e) {
  std::int64_t count = 0;
  visit_nodes(e, [&](const ScalarNode& node) {
    count += std::holds_alternative<ScalarNode::Unary>(node.value) ||
                     std::holds_alternative<ScalarNode::Binary>(node.value) ||
                     std::holds_alternative<ScalarNode::Select>(node.value)
                 ? 1
                 : 0;
  });
  return count;
}

std::string_view name_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::negate: return "neg";
    case UnaryOp::exp: return "exp";
    case UnaryOp::log: return "log";
    case UnaryOp::sqrt: return "sqrt";
    case UnaryOp::erf: return "erf";
    case UnaryOp::tanh: return "tanh";
    case UnaryOp::floor: return "floor";
    case UnaryOp::ceil: return "ceil";
    case UnaryOp::abs: return "abs";
    case UnaryOp::logical_not: return "not";
    case UnaryOp::sin: return "sin";
    case UnaryOp::cos: return "cos";
    case UnaryOp::round: return "round";
  }
  fail_check("unknown unary operation");
}

std::string_view name_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "+";
    case BinaryOp::subtract: return "-";
    case BinaryOp::multiply: return "*";
    case BinaryOp::divide: return "/";
    case BinaryOp::minimum: return "min";
    case BinaryOp::maximum: return "max";
    case BinaryOp::power: return "pow";
    case BinaryOp::less: return "<";
    case BinaryOp::less_equal: return "<=";
    case BinaryOp::equal: return "==";
    case BinaryOp::logical_and: return "&&";
    case BinaryOp::logical_or: return "||";
  }
  fail_check("unknown binary operation");
}

bool is_infix(BinaryOp op) { return op != BinaryOp::minimum && op != BinaryOp::maximum && op != BinaryOp::power; }

std::optional<UnaryOp> find_unary(std::string_view name) { return find_operation<UnaryOp, UnaryOp::round>(name); }

std::optional<BinaryOp> find_binary(std::string_view name) {
  return find_operation<BinaryOp, BinaryOp::logical_or>(name);
}

std::string to_text(const ScalarExpr& e, const std::function<std::string(ReadId)>& read_text,
                    const std::function<std::string(const IndexExpr&)>& index_text) {
  const auto text = [&](const ScalarExpr& operand) { return to_text(operand, read_text, index_text); };
  return std::visit(
      Overloaded{
          [&](const ScalarNode::Constant& n) {
            // Shortest text that reads back as the same number; always recognisable as a floating-point literal.
            std::string number = fmt::format("{}", n.value);
            if (number.find_first_of(".einf") == std::string::npos) number += ".0";
            return e->type == ElementType::f32 ? number : fmt::format("{}:{}", number, name_of(e->type));
          },
          [&](const ScalarNode::IntConstant& n) { return fmt::format("{}:{}", n.value, name_of(e->type)); },
          [&](const ScalarNode::Read& n) { return read_text(n.read); },
          [&](const ScalarNode::Accumulator&) { return std::string("acc"); },
          [&](const ScalarNode::Index& n) {
            return fmt::format("index_{}({})", name_of(e->type), index_text(n.value));
          },
          [&](const ScalarNode::Unary& n) { return fmt::format("{}({})", name_of(n.op), text(n.a)); },
          [&](const ScalarNode::Binary& n) {
            if (is_infix(n.op)) return fmt::format("({} {} {})", text(n.a), name_of(n.op), text(n.b));
            return fmt::format("{}({}, {})", name_of(n.op), text(n.a), text(n.b));
          },
          [&](const ScalarNode::Select& n) {
            return fmt::format("select({}, {}, {})", text(n.condition), text(n.a), text(n.b));
          },
          [&](const ScalarNode::Cast& n) { return fmt::format("cast_{}({})", name_of(e->type), text(n.a)); },
      },
      e->value);
}

}  // namespace stowage
