// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic of a stage: what is computed at one point of its iteration space.
//
// Every node has an element type; operands of an arithmetic node have the type of the node, comparisons yield
// boolean, Select picks between two operands of the node's type. Integer division truncates towards zero as C does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/element_type.h"
#include "core/index_expr.h"

namespace stowage {

struct ScalarNode;
using ScalarExpr = std::shared_ptr<const ScalarNode>;

enum class UnaryOp : std::uint8_t { negate, exp, log, sqrt, erf, tanh, floor, ceil, abs, logical_not, sin, cos, round };
enum class BinaryOp : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  power,  // yield the type of their operands
  less,
  less_equal,
  equal,
  logical_and,
  logical_or  // yield boolean
};

struct ScalarNode {
  struct Constant {
    double value = 0;
  };  ///< exact for every type but 64-bit integers beyond 2^53
  struct IntConstant {
    std::int64_t value = 0;
  };
  struct Read {
    ReadId read;
  };                      ///< value of Stage::reads[read] at this point
  struct Accumulator {};  ///< the finished reduction (only in Stage::finish)
  struct Index {
    IndexExpr value;
  };  ///< an index expression as a number
  struct Unary {
    UnaryOp op;
    ScalarExpr a;
  };
  struct Binary {
    BinaryOp op;
    ScalarExpr a, b;
  };
  struct Select {
    ScalarExpr condition, a, b;
  };
  struct Cast {
    ScalarExpr a;
  };  ///< as C converts; to boolean: a != 0
  using Value = std::variant<Constant, IntConstant, Read, Accumulator, Index, Unary, Binary, Select, Cast>;

  ElementType type = ElementType::f32;
  Value value;
};

ScalarExpr scalar_constant(ElementType type, double value);
ScalarExpr scalar_integer(ElementType type, std::int64_t value);
ScalarExpr scalar_read(ElementType type, ReadId read);
ScalarExpr scalar_accumulator(ElementType type);
ScalarExpr scalar_index(ElementType type, IndexExpr value);
ScalarExpr scalar_unary(UnaryOp op, ScalarExpr a);
ScalarExpr scalar_binary(BinaryOp op, ScalarExpr a, ScalarExpr b);
ScalarExpr scalar_select(ScalarExpr condition, ScalarExpr a, ScalarExpr b);
ScalarExpr scalar_cast(ElementType type, ScalarExpr a);

inline ScalarExpr operator+(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::add, std::move(a), std::move(b));
}
inline ScalarExpr operator-(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::subtract, std::move(a), std::move(b));
}
inline ScalarExpr operator*(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::multiply, std::move(a), std::move(b));
}
inline ScalarExpr operator/(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::divide, std::move(a), std::move(b));
}
inline ScalarExpr min(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::minimum, std::move(a), std::move(b));
}
inline ScalarExpr max(ScalarExpr a, ScalarExpr b) {
  return scalar_binary(BinaryOp::maximum, std::move(a), std::move(b));
}

/// Rebuilds the tree bottom-up. `leaf` may return a replacement for a Constant, IntConstant, Read, Accumulator or
/// Index node, or nullptr to keep it.
ScalarExpr map_leaves(const ScalarExpr& e, const std::function<ScalarExpr(const ScalarExpr&)>& leaf);
/// Calls `visit` on every node, operands before their operator.
void visit_nodes(const ScalarExpr& e, const std::function<void(const ScalarNode&)>& visit);
/// Arithmetic nodes (unary, binary, select); casts, reads and constants are free.
std::int64_t operation_count(const ScalarExpr& e);

std::string_view name_of(UnaryOp op);   ///< "exp", "neg" …
std::string_view name_of(BinaryOp op);  ///< "+", "min", "<" …
/// Whether it is written between its operands; otherwise as a function of them.
bool is_infix(BinaryOp op);
/// The operation of that name; nothing where there is none.
std::optional<UnaryOp> find_unary(std::string_view name);
std::optional<BinaryOp> find_binary(std::string_view name);
/// Text such as "max(#0 * #1 + acc, 0)"; reads print by `read_text`, index expressions by `index_text`.
std::string to_text(const ScalarExpr& e, const std::function<std::string(ReadId)>& read_text,
                    const std::function<std::string(const IndexExpr&)>& index_text);

}  // namespace stowage
