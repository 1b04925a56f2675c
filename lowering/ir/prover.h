// SPDX-License-Identifier: Apache-2.0
// Facts that hold at every execution of a statement: by interval bounds where they suffice, else by trying every value
// of the variables that matter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowering/ir/enclosing.h"

namespace stowage {

class Prover {
 public:
  explicit Prover(const LoopNest& nest);

  /// An execution at which the fact does not hold.
  struct Violation {
    std::vector<std::int64_t> values;    ///< by variable
    std::vector<std::size_t> variables;  ///< those that were tried, outermost first
    bool undecided = false;              ///< too many values to try: the fact could not be shown
  };

  /// Must be called for every Loop before its body is entered.
  void enter(const Loop& loop, const Enclosing& enclosing);

  /// Nothing if `e` >= 0 at every execution at which all conditions are > 0.
  [[nodiscard]] std::optional<Violation> find_negative(const Enclosing& enclosing, const IndexExpr& e,
                                                       std::span<const IndexExpr> conditions) const;

  /// Calls visit(values) for every value of the wanted variables (and of those their trip counts depend on) for which
  /// all guards over these variables alone pass. False if there are more than `maximum`, or by far too many to try.
  bool enumerate(const Enclosing& enclosing, const std::set<std::size_t>& wanted, std::int64_t maximum,
                 const std::function<bool(std::span<const std::int64_t>)>& visit,
                 std::vector<std::size_t>* enumerated = nullptr) const;

  /// Whether the intervals of `length` elements from `start`, one for every value of the wanted variables, cover 0 to
  /// `extent` - 1, each element once. False also where there are more than `maximum`.
  [[nodiscard]] bool tiles(const Enclosing& enclosing, const std::set<std::size_t>& wanted, std::int64_t maximum,
                           const Expression& start, const Expression& length, std::int64_t extent) const;

  /// Value of an expression of the nest at a violation.
  [[nodiscard]] static std::int64_t value_at(const Enclosing& enclosing, const IndexExpr& e,
                                             const Violation& violation);
  /// "cy = 1, yo = 2", or "" if nothing varies.
  [[nodiscard]] std::string text(const Violation& violation) const;

 private:
  [[nodiscard]] std::int64_t lower_bound(const IndexExpr& e, int branches = 0) const;

  const LoopNest* nest_;
  std::vector<Interval> ranges_;  ///< of core and loop variables
};

}  // namespace stowage
