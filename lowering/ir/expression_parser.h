// SPDX-License-Identifier: Apache-2.0
// Reads index and scalar expressions as core/index_expr.h and core/scalar_expr.h print them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/scalar_expr.h"
#include "core/text_cursor.h"

namespace stowage {

/// Names that an expression may use.
struct ExpressionNames {
  std::map<std::string, VarId> variables;
  std::map<std::string, std::shared_ptr<const IndexTable>> tables;
};

/// Largest number in an index expression; keeps every sum of products within 64 bits.
constexpr std::int64_t max_index_number = std::int64_t{1} << 40;

IndexExpr parse_index(TextCursor& cursor, const ExpressionNames& names);
/// As parse_index; a remainder that is all of it needs no parentheses: "(ko + 1) % 2".
IndexExpr parse_slot(TextCursor& cursor, const ExpressionNames& names);

/// Bounds of an expression, refused where they do not fit comfortably into 64 bits.
Interval parse_bounds(TextCursor& cursor, const Token& where, const IndexExpr& e, const VariableRange& range);

/// `read_types`: of the stage's reads; `accumulator`: null where none may be used.
ScalarExpr parse_scalar(TextCursor& cursor, const ExpressionNames& names,
                        const IdVector<ReadId, ElementType>& read_types, const ElementType* accumulator);

}  // namespace stowage
