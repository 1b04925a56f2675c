// SPDX-License-Identifier: Apache-2.0
// How often which extents of a statement's box occur, without walking the nest. Counts cannot depend on data: where the
// value of a tensor is still in an expression, it counts as 0.
//
// The extents are functions of the core's coordinates and of the loops around it. For one core, loops that no extent,
// trip count or guard connects are independent: each group of connected loops is enumerated by itself into a histogram
// (extents of the dimensions it decides -> executions), and the histograms multiply. A loop that nothing depends on is
// a histogram with one entry, its trips. Inside a group, fixing the outermost loop may separate the rest again, so the
// same step is repeated there. Cores with equal histograms share one result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "lowering/ir/enclosing.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

using Extents = std::vector<std::int64_t>;
using VarSet = std::set<std::size_t>;

/// Executions by the extents of some dimensions. Entries lie one behind the other in two arrays: a nest has hundreds of
/// histograms, most of them of an entry or two.
struct Histogram {
  std::vector<std::size_t> dimensions;   ///< ascending
  std::vector<std::int64_t> extents;     ///< of every entry one for each dimension; entries in ascending order
  std::vector<std::int64_t> executions;  ///< of every entry
  friend auto operator<=>(const Histogram&, const Histogram&) = default;

  [[nodiscard]] std::size_t entries() const { return executions.size(); }
  [[nodiscard]] std::span<const std::int64_t> extents_of(std::size_t entry) const {
    return std::span(extents).subspan(entry * dimensions.size(), dimensions.size());
  }
  /// To the entry of these extents, or to a new one.
  void add(std::span<const std::int64_t> of_dimensions, std::int64_t times);
};

/// The histograms of one statement's box.
class ExtentCounter {
 public:
  /// `core_variables` by position in LoopNest::variables; `enclosing` must outlive this.
  ExtentCounter(const Enclosing& enclosing, std::span<const Range> box, const VarSet& core_variables);

  /// Whether any histogram depends on a core variable.
  [[nodiscard]] bool uses(std::size_t core_variable) const;

  /// One histogram per independent group; pointers stay valid and equal histograms of a group have equal pointers.
  std::vector<const Histogram*> histograms(std::span<const std::int64_t> core_values);

 private:
  /// A group of loops, dimensions and guards that depend on each other. `known` variables have their values already.
  struct Group {
    std::vector<std::size_t> loops;       ///< positions in Enclosing::loops, ascending
    std::vector<std::size_t> guards;      ///< positions in Enclosing::guards
    std::vector<std::size_t> dimensions;  ///< of the statement's box, ascending
  };

  bool connects(const Expression& e, std::size_t variable) const;
  /// Splits a group into independent ones, in order of their first loop, guard or dimension.
  [[nodiscard]] std::vector<Group> separate(const Group& group) const;
  [[nodiscard]] bool passes(const EnclosingGuard& guard) const;
  [[nodiscard]] bool passes(const Group& group) const;  ///< all of its guards
  /// How often its loop runs if that is all there is in it.
  [[nodiscard]] std::optional<std::int64_t> trips_of_bare_loop(const Group& group) const;
  Histogram enumerate(const Group& group);
  /// Adds the executions of independent groups, every combination of their extents, to a histogram of all of them.
  void add_product(const std::vector<Group>& parts, Histogram& histogram);
  [[nodiscard]] std::vector<std::size_t> variables_of_group(const Group& group, const VarSet& among) const;

  const Enclosing& enclosing_;
  std::vector<Expression> extents_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::size_t>> core_variables_of_;  ///< by group: what its histogram depends on
  std::vector<std::map<Extents, const Histogram*>> memo_;    ///< by group and values of those
  std::set<Histogram> distinct_;
  const Histogram none_;  ///< of a core that a guard keeps out
  std::vector<std::int64_t> values_;
  std::vector<bool> known_;
};

/// Calls visit(extents, executions) for every combination of extents that one core executes.
template <class Visit>
void for_each_box(std::span<const Histogram* const> factors, std::size_t rank, const Visit& visit) {
  if (std::any_of(factors.begin(), factors.end(), [](const Histogram* f) { return f->entries() == 0; })) return;
  Extents extents(rank, 0);
  std::vector<std::size_t> at(factors.size(), 0);
  for (bool more = true; more;) {
    std::int64_t executions = 1;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::span<const std::int64_t> own = factors[f]->extents_of(at[f]);
      for (std::size_t i = 0; i < own.size(); ++i) extents[factors[f]->dimensions[i]] = own[i];
      executions *= factors[f]->executions[at[f]];
    }
    visit(std::as_const(extents), executions);
    more = false;
    for (std::size_t f = factors.size(); f-- > 0 && !more;) {
      more = ++at[f] < factors[f]->entries();
      if (!more) at[f] = 0;
    }
  }
}

/// Points of all boxes.
std::int64_t points_of(std::span<const Histogram* const> factors);

}  // namespace stowage
