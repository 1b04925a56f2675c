// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/c_expr.h"

#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/check.h"
#include "core/element_arithmetic.h"
#include "core/overloaded.h"

namespace stowage {
namespace {

std::string index_atom(const IndexAtom& atom, const IndexNames& names) {
  const auto arg = [&](std::size_t i) { return c_index((*atom.args)[i], names); };
  const auto division = [&](std::string_view infix, std::string_view function) {
    const IndexExpr& inner = (*atom.args)[0];
    if (bounds(inner, names.range).low < 0) return fmt::format("{}({}, {})", function, arg(0), atom.number);
    const bool simple = inner.constant() == 0 && inner.terms().size() == 1 && inner.terms()[0].coefficient == 1;
    return simple ? fmt::format("({} {} {})", arg(0), infix, atom.number)
                  : fmt::format("(({}) {} {})", arg(0), infix, atom.number);
  };
  switch (atom.kind) {
    case IndexAtom::Kind::variable: return names.variable(atom.variable);
    case IndexAtom::Kind::floor_div: return division("/", "sw_floor_div");
    case IndexAtom::Kind::remainder: return division("%", "sw_floor_mod");
    case IndexAtom::Kind::minimum: return fmt::format("sw_min({}, {})", arg(0), arg(1));
    case IndexAtom::Kind::maximum: return fmt::format("sw_max({}, {})", arg(0), arg(1));
    case IndexAtom::Kind::table: return fmt::format("{}[{}]", names.table(atom.table), arg(0));
    case IndexAtom::Kind::tensor_value:
      return fmt::format("sw_wrap({}, {})", names.read_value(atom.read()), atom.bound);
  }
  fail_check("unknown index atom");
}

/// The suffix that picks a helper of sw_rt.h or of <math.h> for a type: narrow integers compute in int.
std::string_view helper_suffix(ElementType type) {
  switch (type) {
    case ElementType::f32: return "_float";
    case ElementType::f64: return "_double";
    case ElementType::i64:
    case ElementType::u32: return "_long";
    case ElementType::u64: return "_ulong";
    default: return "";
  }
}

bool narrower_than_int(ElementType type) { return is_integer(type) && byte_size(type) < 4; }

/// What C computed in int, back in a narrower type.
std::string in_type(ElementType type, std::string value) {
  return narrower_than_int(type) ? fmt::format("({})({})", c_name_of(type), value) : value;
}

/// Arithmetic for which C has an answer to every overflow; other integers go through helpers that wrap.
bool wraps_itself(ElementType type) {
  return !is_integer(type) || type == ElementType::u32 || type == ElementType::u64;
}

/// A helper of sw_rt.h for the type. The one for u32 computes in long.
std::string helper_call(std::string_view name, ElementType type, const std::string& arguments) {
  std::string call = fmt::format("{}{}({})", name, helper_suffix(type), arguments);
  return type == ElementType::u32 ? fmt::format("(uint32_t){}", call) : in_type(type, std::move(call));
}

std::string unary(UnaryOp op, ElementType type, const std::string& a) {
  const auto call = [&](std::string_view name) {
    check(is_float(type), "operation on an integer that has none");
    return fmt::format("{}{}({})", name, type == ElementType::f32 ? "f" : "", a);
  };
  switch (op) {
    case UnaryOp::negate:
      return wraps_itself(type) ? fmt::format("(-{})", a) : helper_call("sw_sub", type, fmt::format("0, {}", a));
    case UnaryOp::exp: return call("exp");
    case UnaryOp::log: return call("log");
    case UnaryOp::sqrt: return call("sqrt");
    case UnaryOp::erf: return call("erf");
    case UnaryOp::tanh: return call("tanh");
    case UnaryOp::sin: return call("sin");
    case UnaryOp::cos: return call("cos");
    // Of an integer these are itself.
    case UnaryOp::floor: return is_float(type) ? call("floor") : a;
    case UnaryOp::ceil: return is_float(type) ? call("ceil") : a;
    case UnaryOp::round: return is_float(type) ? call("rint") : a;
    case UnaryOp::abs:
      if (is_float(type)) return call("fabs");
      if (!is_signed(type)) return a;
      return helper_call("sw_abs", type, a);
    case UnaryOp::logical_not: return fmt::format("(!{})", a);
  }
  fail_check("unknown unary operation");
}

/// Of a float to an integer by a helper, because C leaves it undefined beyond the integer's range.
std::string c_cast(ElementType from, ElementType to, const std::string& a) {
  if (to == ElementType::boolean) return fmt::format("({} != 0)", a);
  if (!is_float(from) || is_float(to)) return fmt::format("({}){}", c_name_of(to), a);
  std::string_view name = c_name_of(to);
  name.remove_suffix(2);  // "_t"
  return fmt::format("sw_to_{}({})", name, a);
}

/// Prints nodes with memory of what occurs more than once, which becomes a temporary when it is first met. What is the
/// same is told by its text, not by its address: of a nest that was written and read again the C is the same.
class ScalarPrinter {
 public:
  ScalarPrinter(const ScalarExpr& root, const ScalarNames& names) : names_(names) { count(root); }

  std::string print(const ScalarExpr& e) {
    if (is_leaf(*e)) return print_node(*e);
    const std::string& same = text_of(e);
    if (const auto known = temporaries_.find(same); known != temporaries_.end()) return known->second;
    std::string text = print_node(*e);
    if (uses_.at(same) > 1) {
      text = names_.temporary(e->type, text);
      temporaries_.emplace(same, text);
    }
    return text;
  }

 private:
  static bool is_leaf(const ScalarNode& node) {
    return !std::holds_alternative<ScalarNode::Unary>(node.value) &&
           !std::holds_alternative<ScalarNode::Binary>(node.value) &&
           !std::holds_alternative<ScalarNode::Select>(node.value) &&
           !std::holds_alternative<ScalarNode::Cast>(node.value);
  }

  /// Equal for nodes that compute the same.
  const std::string& text_of(const ScalarExpr& e) {
    std::string& text = texts_[e.get()];
    if (text.empty()) {
      text = fmt::format("{} {}", name_of(e->type),
                         to_text(
                             e, [](ReadId read) { return fmt::format("#{}", read.index()); }, names_.index));
    }
    return text;
  }

  void count(const ScalarExpr& e) {
    if (is_leaf(*e) || ++uses_[text_of(e)] > 1) return;  // its operands are counted already
    std::visit(Overloaded{[&](const ScalarNode::Unary& n) { count(n.a); },
                          [&](const ScalarNode::Binary& n) {
                            count(n.a);
                            count(n.b);
                          },
                          [&](const ScalarNode::Select& n) {
                            count(n.condition);
                            count(n.a);
                            count(n.b);
                          },
                          [&](const ScalarNode::Cast& n) { count(n.a); }, [](const auto&) {}},
               e->value);
  }

  std::string print_node(const ScalarNode& node) {
    return std::visit(Overloaded{[&](const ScalarNode::Constant& n) { return c_constant(node.type, n.value); },
                                 [&](const ScalarNode::IntConstant& n) { return c_integer(node.type, n.value); },
                                 [&](const ScalarNode::Read& n) { return names_.read(n.read); },
                                 [&](const ScalarNode::Accumulator&) { return names_.accumulator; },
                                 [&](const ScalarNode::Index& n) {
                                   return fmt::format("({})({})", c_name_of(node.type), names_.index(n.value));
                                 },
                                 [&](const ScalarNode::Unary& n) { return unary(n.op, node.type, print(n.a)); },
                                 [&](const ScalarNode::Binary& n) {
                                   // In two statements: the order in which temporaries are made must not depend on the
                                   // compiler.
                                   const std::string a = print(n.a);
                                   const std::string b = print(n.b);
                                   return c_binary(n.op, n.a->type, a, b);
                                 },
                                 [&](const ScalarNode::Select& n) {
                                   const std::string condition = print(n.condition);
                                   const std::string a = print(n.a);
                                   const std::string b = print(n.b);
                                   return fmt::format("({} ? {} : {})", condition, a, b);
                                 },
                                 [&](const ScalarNode::Cast& n) { return c_cast(n.a->type, node.type, print(n.a)); }},
                      node.value);
  }

  const ScalarNames& names_;
  std::map<const ScalarNode*, std::string> texts_;  ///< looked up by address, never iterated
  std::map<std::string, int> uses_;                 ///< by text
  std::map<std::string, std::string> temporaries_;  ///< the same
};

}  // namespace

std::string c_index(const IndexExpr& e, const IndexNames& names, bool wide) {
  return sum_text(
      e, [&](const IndexAtom& atom) { return index_atom(atom, names); }, wide ? "L * " : " * ");
}

bool is_name(const IndexExpr& e) {
  return e.constant() == 0 && e.terms().size() == 1 && e.terms()[0].coefficient == 1 &&
         e.terms()[0].atom.kind == IndexAtom::Kind::variable;
}

std::string c_integer(ElementType type, std::int64_t value) {
  if (is_float(type)) return c_constant(type, static_cast<double>(value));
  value = wrapped(type, value);
  if (type == ElementType::u64) return fmt::format("{}u", static_cast<std::uint64_t>(value));
  // The most negative numbers have no literal of their own in C.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  if (value == std::numeric_limits<std::int32_t>::min() && type == ElementType::i32) return "(-2147483647 - 1)";
  const std::string text = std::to_string(value) + (type == ElementType::u32 ? "u" : "");
  return value < 0 ? "(" + text + ")" : text;
}

std::string c_constant(ElementType type, double value) {
  if (!is_float(type)) return c_integer(type, to_integer(type, value));
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  const bool single = type == ElementType::f32;
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (single && std::isinf(static_cast<float>(value))) return value < 0 ? "(-INFINITY)" : "INFINITY";
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (single) text += "f";
  return text[0] == '-' ? "(" + text + ")" : text;
}

std::string c_binary(BinaryOp op, ElementType type, const std::string& a, const std::string& b) {
  const auto infix = [&](std::string_view sign) { return fmt::format("({} {} {})", a, sign, b); };
  const auto helper = [&](std::string_view name) { return helper_call(name, type, fmt::format("{}, {}", a, b)); };
  switch (op) {
    case BinaryOp::add: return wraps_itself(type) ? infix("+") : helper("sw_add");
    case BinaryOp::subtract: return wraps_itself(type) ? infix("-") : helper("sw_sub");
    case BinaryOp::multiply: return wraps_itself(type) ? infix("*") : helper("sw_mul");
    case BinaryOp::divide: return is_float(type) ? infix("/") : helper("sw_div");
    case BinaryOp::minimum: return helper("sw_min");
    case BinaryOp::maximum: return helper("sw_max");
    case BinaryOp::power:
      if (type == ElementType::f32) return fmt::format("powf({}, {})", a, b);
      if (type == ElementType::f64) return fmt::format("pow({}, {})", a, b);
      return fmt::format("({}){}({}, {})", c_name_of(type), type == ElementType::u64 ? "sw_pow_ulong" : "sw_pow_long",
                         a, b);
    case BinaryOp::less: return infix("<");
    case BinaryOp::less_equal: return infix("<=");
    case BinaryOp::equal: return infix("==");
    case BinaryOp::logical_and: return infix("&&");
    case BinaryOp::logical_or: return infix("||");
  }
  fail_check("unknown binary operation");
}

std::string c_scalar(const ScalarExpr& e, const ScalarNames& names) { return ScalarPrinter(e, names).print(e); }

std::string without_outer_parentheses(std::string text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth == 0) {
      if (text[0] == '(' && i + 1 == text.size()) return text.substr(1, i - 1);
      break;
    }
  }
  return text;
}

}  // namespace stowage
