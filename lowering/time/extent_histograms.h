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

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "lowering/ir/enclosing.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

using Extents = std::vector<std::int64_t>;
using VarSet = std::set<std::size_t>;

/// Executions by the extents of some dimensions (in the order of `dimensions`).
struct Histogram {
  std::vector<std::size_t> dimensions;
  std::map<Extents, std::int64_t> executions;
  friend auto operator<=>(const Histogram&, const Histogram&) = default;
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
  std::vector<std::int64_t> values_;
  std::vector<bool> known_;
};

/// Calls visit(extents, executions) for every combination of extents that one core executes.
void for_each_box(std::span<const Histogram* const> factors, std::size_t rank,
                  const std::function<void(const Extents&, std::int64_t)>& visit);

/// Points of all boxes.
std::int64_t points_of(std::span<const Histogram* const> factors);

}  // namespace stowage
