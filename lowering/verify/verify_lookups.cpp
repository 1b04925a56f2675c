// SPDX-License-Identifier: Apache-2.0
// Tables are looked up where they have an entry. Comes before every rule that tries values of expressions.
#include <fmt/format.h>

#include "lowering/ir/compute_hull.h"
#include "lowering/ir/prover.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

class LookupsCheck {
 public:
  explicit LookupsCheck(const LoopNest& nest) : nest_(nest), prover_(nest) {}

  Broken run() {
    Broken broken;
    visit_with_enclosing_while(nest_, [&](const Stmt& s, const Enclosing& around) {
      broken = statement(s, around);
      return !broken;
    });
    return broken;
  }

 private:
  Broken statement(const Stmt& s, const Enclosing& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      auto broken = lookups(s, around, loop->extent);
      if (!broken) prover_.enter(*loop, around);
      return broken;
    }
    if (const auto* let = std::get_if<Let>(&s.node)) return lookups(s, around, let->value);
    if (const auto* guard = std::get_if<Guard>(&s.node)) return all(s, around, guard->any_positive);
    if (const auto* fill = std::get_if<Fill>(&s.node))
      return fill->around ? ranges(s, around, *fill->around) : Broken();
    if (const auto* dma = std::get_if<Dma>(&s.node)) {
      auto broken = ranges(s, around, dma->region);
      return broken ? broken : origin(s, around, dma->buffer);
    }
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      auto broken = ranges(s, around, broadcast->region);
      if (!broken) broken = lookups(s, around, broadcast->sender);
      if (!broken) broken = origin(s, around, broadcast->source);
      return broken ? broken : origin(s, around, broadcast->buffer);
    }
    if (const auto* compute = std::get_if<Compute>(&s.node)) {
      auto broken = ranges(s, around, compute->box);
      if (!broken) broken = origin(s, around, compute->output_buffer);
      for (const auto& source : compute->read_buffers) {
        if (source && !broken) broken = origin(s, around, *source);
      }
      return broken ? broken : touched(s, around, *compute);
    }
    return std::nullopt;
  }

  /// Where the buffer's box begins, and where the one in the slot does.
  Broken origin(const Stmt& s, const Enclosing& around, const BufferUse& use) const {
    if (auto broken = all(s, around, nest_.buffers[use].origin)) return broken;
    return all(s, around, use.origin);
  }

  /// Constants are looked up while an expression is made, so those must be inside before there is one.
  Broken in_stage(const Stmt& s, const Compute& compute) const {
    const Stage& stage = nest_.stages.stages[compute.stage];
    for (std::size_t a = 0; a < compute.box.size(); ++a) {
      const Range& range = compute.box[a];
      for (const IndexExpr& e : {range.start, range.start + range.extent - 1}) {
        if (!e.is_constant() || (e.constant() >= 0 && e.constant() < stage.axes[a].extent)) continue;
        return broken_rule(nest_, "compute-in-stage", s,
                           fmt::format("touches element {} of axis {} of stage {}, which has {}", e.constant(),
                                       stage.axes[a].name, stage.name, stage.axes[a].extent));
      }
    }
    return std::nullopt;
  }

  /// Where the tables of the stage's own reads are looked up.
  Broken touched(const Stmt& s, const Enclosing& around, const Compute& compute) const {
    const Stage& stage = nest_.stages.stages[compute.stage];
    for (const ReadId r : stage.reads.ids()) {
      if (!compute.read_buffers[r]) continue;
      for (const IndexExpr& index : stage.reads[r].index) {
        if (!has_table(index)) continue;
        if (auto broken = in_stage(s, compute)) return broken;
        const Hull hull = hull_of(nest_, index, compute);
        if (auto broken = lookups(s, around, hull.low)) return broken;
        if (auto broken = lookups(s, around, hull.high)) return broken;
      }
    }
    return std::nullopt;
  }

  Broken ranges(const Stmt& s, const Enclosing& around, const std::vector<Range>& ranges) const {
    for (const Range& range : ranges) {
      if (auto broken = lookups(s, around, range.start)) return broken;
      if (auto broken = lookups(s, around, range.extent)) return broken;
    }
    return std::nullopt;
  }

  Broken all(const Stmt& s, const Enclosing& around, const std::vector<IndexExpr>& expressions) const {
    for (const IndexExpr& e : expressions) {
      if (auto broken = lookups(s, around, e)) return broken;
    }
    return std::nullopt;
  }

  /// Innermost tables first, whose values the others are looked up at.
  Broken lookups(const Stmt& s, const Enclosing& around, const IndexExpr& e) const {
    for (const IndexTerm& term : e.terms()) {
      if (!term.atom.args) continue;
      if (auto broken = all(s, around, *term.atom.args)) return broken;
      if (term.atom.kind != IndexAtom::Kind::table) continue;
      const IndexExpr& at = term.atom.args->front();
      const auto entries = static_cast<std::int64_t>(term.atom.table->values.size());
      for (const IndexExpr& distance : {at, IndexExpr(entries - 1) - at}) {
        const auto violation = prover_.find_negative(around, distance, {});
        if (!violation) continue;
        return broken_rule(nest_, violation->undecided ? unchecked_rule : "table-lookup", s,
                           fmt::format("looks up entry {} of table {}, which has {}",
                                       Prover::value_at(around, at, *violation), term.atom.table->name, entries));
      }
    }
    return std::nullopt;
  }

  const LoopNest& nest_;
  Prover prover_;
};

}  // namespace

Broken verify_lookups(const LoopNest& nest) { return LookupsCheck(nest).run(); }

}  // namespace stowage
