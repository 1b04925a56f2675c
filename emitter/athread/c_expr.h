// SPDX-License-Identifier: Apache-2.0
// Index and scalar expressions as C.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/scalar_expr.h"

namespace stowage {

/// What an index expression's atoms are called in C.
struct IndexNames {
  std::function<std::string(VarId)> variable;
  VariableRange range;                                                         ///< static bounds of variables
  std::function<std::string(ReadId)> read_value;                               ///< of an integer tensor
  std::function<std::string(const std::shared_ptr<const IndexTable>&)> table;  ///< name of the array
};

/// Arithmetic in int; divisions that may see a negative number go through sw_floor_div and sw_floor_mod (sw_rt.h).
/// `wide` multiplies in long, for offsets into tensors of 2^31 elements or more.
std::string c_index(const IndexExpr& e, const IndexNames& names, bool wide = false);

/// True for a variable and nothing else: it needs no other name.
bool is_name(const IndexExpr& e);

/// A constant of an element type: "0.5f", "-INFINITY", "-128".
std::string c_constant(ElementType type, double value);
std::string c_integer(ElementType type, std::int64_t value);

/// What a scalar expression's leaves are called in C.
struct ScalarNames {
  std::function<std::string(ReadId)> read;
  std::string accumulator;
  std::function<std::string(const IndexExpr&)> index;
  /// Makes a local constant of a value that is used more than once and returns its name.
  std::function<std::string(ElementType type, const std::string& value)> temporary;
};

/// One C expression; parts of the tree that are used more than once become temporaries. Integers smaller than int are
/// converted back after every operation, as if computed in their own type.
std::string c_scalar(const ScalarExpr& e, const ScalarNames& names);

/// An expression without the parentheses around all of it: of a whole right-hand side they only get in the reader's
/// way.
std::string without_outer_parentheses(std::string text);

/// `a` op `b` in the element type, for a reduction step.
std::string c_binary(BinaryOp op, ElementType type, const std::string& a, const std::string& b);

}  // namespace stowage
