// SPDX-License-Identifier: Apache-2.0
// Padding in the LDM: what of a buffer lies outside of its tensor, and the statement that fills it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/model/tile_boxes.h"

namespace stowage {

/// One dimension of a buffer whose box may reach outside of the tensor.
struct Border {
  std::vector<IndexExpr> outside;  ///< elements before the tensor's first one and behind its last one; positive if any
  IndexExpr first;                 ///< the tensor's first element, in elements of the buffer
  IndexExpr end;                   ///< behind its last one
};

/// `box` is what the buffer holds, `reach` bounds all boxes that occur; of the tensor, elements 0 to `last`.
Border border_of(const Span& box, const Interval& reach, std::int64_t last);

struct BorderFill {
  Fill fill;
  std::vector<IndexExpr> condition;  ///< something lies outside where any is positive; empty: always
};

/// Fills what of a buffer of these extents lies outside along the dimensions that have `outside`; nothing where none
/// ever does. `range_of` bounds an expression.
std::optional<BorderFill> fill_of(BufferId buffer, const std::vector<std::int64_t>& extents,
                                  const std::vector<Border>& borders, double padding,
                                  const std::function<Interval(const IndexExpr&)>& range_of);

/// The fill as a statement, inside a guard where it has a condition. `made` gives a statement its id; `name` is the
/// tensor's, for the note.
StmtPtr statement_of(const BorderFill& outside, const std::string& name,
                     const std::function<StmtPtr(Stmt::Node node, std::string note)>& made);

}  // namespace stowage
