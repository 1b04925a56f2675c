// SPDX-License-Identifier: Apache-2.0
// What a statement's uses of followed buffers are about in one iteration: which slot, and which box of the tensor. The
// dependence analysis of verify_flow() compares these numbers over statements and iterations.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowering/ir/compute_hull.h"
#include "lowering/ir/prover.h"
#include "lowering/verify/followed.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {

class SlotWalk {
 public:
  SlotWalk(const LoopNest& nest, const Followed& followed);

  /// A variable that decides has this value from here on, or none.
  void set(VarId variable, std::optional<std::int64_t> value);

  /// By statement and number of the use in it (visit_uses). Nothing where it is not known, or outside of the buffer.
  [[nodiscard]] std::optional<std::int64_t> slot(const Stmt& s, std::size_t use) const;
  /// The number of the box: equal boxes have equal numbers from 1 on.
  int box(const Stmt& s, std::size_t use);
  /// Whether two boxes begin at the same element.
  [[nodiscard]] bool same_origin(int a, int b) const { return boxes_[index(a)].origin == boxes_[index(b)].origin; }
  /// Whether a box is another one in another trip of a loop that is not walked trip by trip.
  [[nodiscard]] bool moves_with(int box, VarId variable) const { return boxes_[index(box)].roots.contains(variable); }

  /// Whether a box lies where the first element of a buffer says.
  [[nodiscard]] bool depends_on(int box, BufferId buffer) const { return boxes_[index(box)].values.contains(buffer); }

  /// What the use touches of its tensor is in a part that was loaded or computed.
  Broken touches_what_is_there(const Stmt& s, std::size_t use, int there);
  /// Whether a fill around a box leaves all of it as it is.
  bool leaves(const Stmt& s, int there);

  /// Trips of a loop, or whether a guard passes; nothing where that is not known.
  [[nodiscard]] std::optional<std::int64_t> trips(const Stmt& s) const;
  [[nodiscard]] std::optional<bool> passes(const Stmt& s) const;

  /// Values of these variables, for those that have one.
  [[nodiscard]] std::vector<std::int64_t> values_of(const std::set<VarId>& variables) const;
  /// " (yo = 1, ko = 3)", or "" where no variable decides.
  [[nodiscard]] std::string iteration() const;
  /// "[64, 128*yo]"
  [[nodiscard]] std::string origin_text(int box) const;

 private:
  /// Over core and loop variables.
  struct Use {
    BufferUse used;
    std::optional<CompiledIndex> slot;  ///< nothing where it comes from a table or a tensor
    std::vector<IndexExpr> origin;
    std::vector<Hull> part;
    std::set<VarId> decided_by;
  };
  struct Site {
    Enclosing around;
    Prover prover;
    std::vector<Use> uses;
    std::vector<IndexExpr> conditions;    ///< of the statement to take effect
    std::set<VarId> effect_decided_by;    ///< variables that decide and occur in `conditions`
    std::vector<CompiledIndex> compiled;  ///< Guard: conditions, Loop: trips
    std::set<VarId> roots;                ///< of `compiled`
  };
  struct Box {
    std::string origin;
    std::vector<IndexExpr> begin;
    std::vector<Hull> part;
    std::set<VarId> roots;      ///< variables that stayed symbols
    std::set<BufferId> values;  ///< buffers whose first elements occur
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  void add(const Stmt& s, const Enclosing& around, const Prover& prover);
  Use use_of(const BufferUse& used, std::vector<Hull> part, const Enclosing& around) const;
  /// The expression with the values that are known.
  [[nodiscard]] IndexExpr now(const IndexExpr& e) const;
  [[nodiscard]] std::string text(const IndexExpr& e) const;
  /// Nothing if `distance` is never negative.
  [[nodiscard]] std::optional<Prover::Violation> negative(const Site& site, const IndexExpr& distance,
                                                          const std::vector<IndexExpr>& conditions) const;

  const LoopNest& nest_;
  const Followed& followed_;
  Roots roots_;
  std::map<StatementId, Site> sites_;
  std::vector<std::int64_t> values_;  ///< by variable
  std::set<VarId> known_;
  std::vector<Box> boxes_ = {{}};  ///< 0 is no box
  std::map<std::string, int> numbers_;
  std::map<std::pair<std::pair<StatementId, std::size_t>, std::vector<std::int64_t>>, int> box_of_;
  /// Statement, its box, and the one that it was seen to be inside of; values that decide whether it takes effect.
  std::set<std::pair<std::tuple<StatementId, int, int>, std::vector<std::int64_t>>> inside_;
};

}  // namespace stowage
