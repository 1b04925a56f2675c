// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/prover.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {
namespace {

constexpr int max_branches = 8;
constexpr std::int64_t max_values = 4'000'000;
constexpr std::int64_t tried_per_value = 8;  ///< guards may leave out by far the most values of a loop

bool is_choice(const IndexAtom& atom) {
  return atom.kind == IndexAtom::Kind::minimum || atom.kind == IndexAtom::Kind::maximum;
}

/// Largest values of the tensor elements in an expression, by slot.
void raise_tensor_values(const IndexExpr& e, std::size_t variables, std::vector<std::int64_t>& values) {
  for (const IndexTerm& term : e.terms()) {
    if (term.atom.kind == IndexAtom::Kind::tensor_value) {
      values[variables + term.atom.read().index()] = term.atom.bound - 1;
    }
    if (term.atom.args) {
      for (const IndexExpr& arg : *term.atom.args) raise_tensor_values(arg, variables, values);
    }
  }
}

}  // namespace

Prover::Prover(const LoopNest& nest) : nest_(&nest), ranges_(nest.variables.size()) {
  for (const CoreAxis& axis : nest.core_grid) ranges_[axis.variable.index()] = {0, axis.parts - 1};
}

void Prover::enter(const Loop& loop, const Enclosing& enclosing) {
  const std::int64_t maximum = -lower_bound(enclosing.expanded(loop.extent) * -1);
  ranges_[loop.variable.index()] = {0, std::max<std::int64_t>(0, maximum - 1)};
}

/// min(a, b) <= a, so one branch is enough where the expression is the larger of two; intervals alone would lose that
/// y + min(n, 10 - y) stays within 10.
std::int64_t Prover::lower_bound(const IndexExpr& e, int branches) const {
  if (branches < max_branches) {
    for (const IndexTerm& term : e.terms()) {
      if (!is_choice(term.atom)) continue;
      const IndexExpr rest = e - IndexExpr::of_atom(term.atom) * term.coefficient;
      const std::int64_t a = lower_bound(rest + (*term.atom.args)[0] * term.coefficient, branches + 1);
      const std::int64_t b = lower_bound(rest + (*term.atom.args)[1] * term.coefficient, branches + 1);
      const bool larger_of_two = (term.atom.kind == IndexAtom::Kind::maximum) == (term.coefficient > 0);
      return larger_of_two ? std::max(a, b) : std::min(a, b);
    }
  }
  return bounds(e, [&](VarId v) { return ranges_[v.index()]; }).low;
}

bool Prover::enumerate(const Enclosing& enclosing, const std::set<std::size_t>& wanted, std::int64_t maximum,
                       const std::function<bool(std::span<const std::int64_t>)>& visit,
                       std::vector<std::size_t>* enumerated) const {
  // Trip counts bring in further variables; walking inwards to outwards finds them in one pass.
  std::set<std::size_t> needed = wanted;
  const auto& loops = enclosing.loops();
  for (std::size_t l = loops.size(); l-- > 0;) {
    if (needed.contains(loops[l].variable))
      needed.insert(loops[l].trips.variables.begin(), loops[l].trips.variables.end());
  }
  struct Level {
    std::size_t variable;
    const CompiledIndex* trips;  ///< null for a core's coordinate
    std::int64_t parts;
    std::vector<const EnclosingGuard*> guards;  ///< whose variables have values from here on
  };
  std::vector<Level> levels;
  for (const CoreAxis& axis : nest_->core_grid) {
    if (needed.contains(axis.variable.index())) levels.push_back({axis.variable.index(), nullptr, axis.parts, {}});
  }
  for (const EnclosingLoop& loop : loops) {
    if (needed.contains(loop.variable)) levels.push_back({loop.variable, &loop.trips.compiled, 0, {}});
  }
  std::vector<const EnclosingGuard*> at_once;
  for (const EnclosingGuard& guard : enclosing.guards()) {
    std::set<std::size_t> used;
    for (const Expression& e : guard) used.insert(e.variables.begin(), e.variables.end());
    if (!std::includes(needed.begin(), needed.end(), used.begin(), used.end())) continue;
    std::size_t last = 0;
    bool any = false;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (used.contains(levels[i].variable)) {
        last = i;
        any = true;
      }
    }
    (any ? levels[last].guards : at_once).push_back(&guard);
  }
  if (enumerated != nullptr) {
    enumerated->clear();
    for (const Level& level : levels) enumerated->push_back(level.variable);
  }

  std::vector<std::int64_t> values(enclosing.slots(), 0);
  const auto passes = [&](const EnclosingGuard* guard) {
    return std::any_of(guard->begin(), guard->end(), [&](const Expression& e) { return e.compiled(values) > 0; });
  };
  std::int64_t count = 0;
  std::int64_t tried = 0;
  enum class State { going, stopped, too_many };
  State state = State::going;
  const std::function<void(std::size_t)> descend = [&](std::size_t at) {
    if (at == levels.size()) {
      if (++count > maximum) {
        state = State::too_many;
      } else if (!visit(values)) {
        state = State::stopped;
      }
      return;
    }
    const Level& level = levels[at];
    const std::int64_t trips = level.trips != nullptr ? (*level.trips)(values) : level.parts;
    for (std::int64_t i = 0; i < trips && state == State::going; ++i) {
      values[level.variable] = i;
      if (++tried > maximum * tried_per_value) state = State::too_many;
      if (std::all_of(level.guards.begin(), level.guards.end(), passes)) descend(at + 1);
    }
  };
  if (std::all_of(at_once.begin(), at_once.end(), passes)) descend(0);
  return state != State::too_many;
}

std::optional<Prover::Violation> Prover::find_negative(const Enclosing& enclosing, const IndexExpr& wanted,
                                                       std::span<const IndexExpr> conditions) const {
  const Expression e = enclosing.expression(wanted);
  if (lower_bound(e.expr) >= 0) return std::nullopt;

  const auto search = [&](const std::set<std::size_t>& variables, const std::vector<Expression>& required) {
    std::optional<Violation> found;
    std::vector<std::size_t> enumerated;
    const bool decided = enumerate(
        enclosing, variables, max_values,
        [&](std::span<const std::int64_t> values) {
          if (!std::all_of(required.begin(), required.end(),
                           [&](const Expression& c) { return c.compiled(values) > 0; }))
            return true;
          std::vector<std::int64_t> raised(values.begin(), values.end());
          if (!tensor_values_of(e.expr).empty()) raise_tensor_values(e.expr, nest_->variables.size(), raised);
          if (e.compiled(values) >= 0 && e.compiled(raised) >= 0) return true;
          found = Violation{
              e.compiled(values) < 0 ? std::vector<std::int64_t>(values.begin(), values.end()) : raised, {}, false};
          return false;
        },
        &enumerated);
    if (!decided) found = Violation{std::vector<std::int64_t>(enclosing.slots(), 0), {}, true};
    if (found) found->variables = enumerated;
    return found;
  };

  // First without asking whether the statement takes effect at all there. Then a table may be asked for what it has
  // not, from which a guard keeps it.
  std::optional<Violation> found;
  bool leaves_table = false;
  try {
    found = search(e.variables, {});
    if (!found || found->undecided) return found;
  } catch (const LookupOutside&) {
    leaves_table = true;
  }
  std::set<std::size_t> variables = e.variables;
  std::vector<Expression> required;
  for (const IndexExpr& condition : conditions) {
    Expression c = enclosing.expression(condition);
    if (lower_bound(c.expr - 1) >= 0) continue;
    variables.insert(c.variables.begin(), c.variables.end());
    required.push_back(std::move(c));
  }
  for (const EnclosingLoop& loop : enclosing.loops()) {
    if (lower_bound(loop.trips.expr - 1) >= 0) continue;
    variables.insert(loop.trips.variables.begin(), loop.trips.variables.end());
    required.push_back(loop.trips);
  }
  for (const EnclosingGuard& guard : enclosing.guards()) {
    for (const Expression& g : guard) variables.insert(g.variables.begin(), g.variables.end());
  }
  if (required.empty() && enclosing.guards().empty() && !leaves_table) return found;
  return search(variables, required);
}

bool Prover::tiles(const Enclosing& enclosing, const std::set<std::size_t>& wanted, std::int64_t maximum,
                   const Expression& start, const Expression& length, std::int64_t extent) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  const bool all = enumerate(enclosing, wanted, maximum, [&](std::span<const std::int64_t> values) {
    intervals.emplace_back(start.compiled(values), length.compiled(values));
    return true;
  });
  if (!all) return false;
  std::sort(intervals.begin(), intervals.end());
  std::int64_t next = 0;
  for (const auto& [from, elements] : intervals) {
    if (elements <= 0) continue;
    if (from != next) return false;
    next = from + elements;
  }
  return next == extent;
}

std::int64_t Prover::value_at(const Enclosing& enclosing, const IndexExpr& e, const Violation& violation) {
  return enclosing.expression(e).compiled(violation.values);
}

std::string Prover::text(const Violation& violation) const {
  std::vector<std::string> parts;
  for (const std::size_t v : violation.variables) {
    parts.push_back(fmt::format("{} = {}", nest_->variables[v].name, violation.values[v]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace stowage
