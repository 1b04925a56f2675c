// SPDX-License-Identifier: Apache-2.0
// What a team of cores does together it does in step: a core that does not come, or comes once more, leaves the others
// waiting for ever. A transfer of a team, its wait, and a barrier, are reached by all cores of the team equally often
// and in the same order if every loop around has as many trips on all of them and every guard around the same answer.
// Loops and guards are looked at from the outside inwards, so that cores that differ are compared in the same trip of
// all loops around. That also rules out that teams wait for each other in a circle: all cores run through one order of
// statements and trips, and whoever is last in it waits for nobody.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lowering/ir/mesh.h"
#include "lowering/ir/prover.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

constexpr std::int64_t max_compared = 1'000'000;

class TeamsCheck {
 public:
  explicit TeamsCheck(const LoopNest& nest) : nest_(nest), prover_(nest) {
    visit_statements(nest.body, [&](const Stmt& s) {
      const auto team = team_of(s);
      if (!team) return;
      teams_of_[s.id] = {*team};
      visit_uses(s, [&](const BufferUse& use) { teams_at_[use.buffer].insert(*team); });
    });
    collect(nest.body);
    for (const CoreAxis& axis : nest.core_grid) core_variables_.insert(axis.variable.index());
  }

  Broken run() {
    if (teams_of_.empty()) return std::nullopt;
    for (int core = 0; core < nest_.cores_used(); ++core) number_of_[coordinates(values_of_core(nest_, core))] = core;
    Broken broken;
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (!broken) broken = statement(s, around);
    });
    return broken;
  }

 private:
  /// What is compared: a number that each core has of its own.
  struct Compared {
    std::vector<IndexExpr> of;
    std::function<std::int64_t(const std::vector<std::int64_t>&)> number;  ///< from the values of `of`
    std::string what;                                                      ///< "the number of trips"
    std::string_view rule;
  };

  [[nodiscard]] std::vector<std::int64_t> coordinates(std::span<const std::int64_t> values) const {
    std::vector<std::int64_t> coordinates;
    for (const CoreAxis& axis : nest_.core_grid) coordinates.push_back(values[axis.variable.index()]);
    return coordinates;
  }

  /// The teams that meet in a statement, or somewhere inside of it.
  std::set<Space> collect(const Block& block) {
    std::set<Space> all;
    for (const StmtPtr& s : block) {
      std::set<Space> met;
      if (const auto known = teams_of_.find(s->id); known != teams_of_.end()) met = known->second;
      if (std::holds_alternative<Barrier>(s->node)) met = {Space::mesh};
      if (const auto* wait = std::get_if<Wait>(&s->node)) {
        if (!wait->slot) {
          if (const auto known = teams_of_.find(*wait->dma); known != teams_of_.end()) met = known->second;
        } else if (const auto known = teams_at_.find(wait->slot->buffer); known != teams_at_.end()) {
          met = known->second;
        }
      }
      if (const Block* body = body_of(*s)) met = collect(*body);
      if (!met.empty()) teams_of_[s->id] = met;
      all.insert(met.begin(), met.end());
    }
    return all;
  }

  Broken statement(const Stmt& s, const Enclosing& around) {
    const auto* loop = std::get_if<Loop>(&s.node);
    if (loop != nullptr) prover_.enter(*loop, around);
    const auto met = teams_of_.find(s.id);
    if (met == teams_of_.end()) return std::nullopt;
    for (const Space space : met->second) {
      for (const Compared& compared : all_compared(s)) {
        if (auto broken = same(s, around, space, compared)) return broken;
      }
    }
    return std::nullopt;
  }

  static std::int64_t first(const std::vector<std::int64_t>& values) { return values[0]; }

  [[nodiscard]] std::vector<Compared> all_compared(const Stmt& s) const {
    std::vector<Compared> all;
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      all.push_back({{loop->extent},
                     [](const auto& values) { return std::max<std::int64_t>(0, values[0]); },
                     "the number of trips",
                     "team-in-step"});
    } else if (const auto* guard = std::get_if<Guard>(&s.node)) {
      const auto passes = [](const auto& values) -> std::int64_t {
        return std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value > 0; }) ? 1 : 0;
      };
      all.push_back({guard->any_positive, passes, "whether it passes (1) or not (0)", "team-in-step"});
    } else if (const auto* wait = std::get_if<Wait>(&s.node)) {
      if (wait->slot) all.push_back({{wait->slot->slot}, first, "the slot", "team-in-step"});
    } else if (const auto* dma = std::get_if<Dma>(&s.node)) {
      add_box(all, dma->buffer, dma->region);
    } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      all.push_back({{broadcast->sender}, first, "the sender", "team-same-sender"});
      add_box(all, broadcast->buffer, broadcast->region);
    }
    return all;
  }

  /// What arrives is the same box for all, at the same place of the LDM.
  void add_box(std::vector<Compared>& all, const BufferUse& use, const std::vector<Range>& region) const {
    const std::vector<IndexExpr>& origin = origin_of(nest_, use);
    for (std::size_t d = 0; d < region.size(); ++d) {
      const auto add = [&](const IndexExpr& e, std::string_view what) {
        all.push_back({{e}, first, fmt::format("{} in dimension {}", what, d), "team-same-box"});
      };
      add(region[d].start, "the start");
      add(region[d].extent, "the extent");
      add(region[d].start - origin[d], "the place in the buffer");
    }
    all.push_back({{use.slot}, first, "the slot", "team-same-box"});
  }

  /// Nothing if all cores of each team have the same number, in the same trips of all loops around.
  Broken same(const Stmt& s, const Enclosing& around, Space space, const Compared& compared) const {
    std::vector<Expression> expressions;
    std::set<std::size_t> used;
    for (const IndexExpr& e : compared.of) {
      expressions.push_back(around.expression(e));
      used.insert(expressions.back().variables.begin(), expressions.back().variables.end());
      if (tensor_values_of(expressions.back().expr).empty()) continue;
      return broken_rule(nest_, compared.rule, s,
                         fmt::format("{} comes from a tensor, and may differ from core to core", compared.what));
    }
    const Teams teams(nest_, space);
    const bool may_differ = std::any_of(nest_.core_grid.begin(), nest_.core_grid.end(), [&](const CoreAxis& axis) {
      return used.contains(axis.variable.index()) && differs_in_team(teams, axis);
    });
    if (!may_differ) return std::nullopt;
    std::set<std::size_t> wanted = used;
    wanted.insert(core_variables_.begin(), core_variables_.end());
    std::map<std::vector<std::int64_t>, std::pair<std::int64_t, int>> known;  // number and core, by team and trips
    Broken broken;
    std::vector<std::size_t> variables;
    const auto compare = [&](std::span<const std::int64_t> values) {
      std::vector<std::int64_t> each;
      for (const Expression& e : expressions) each.push_back(e.compiled(values));
      const std::int64_t number = compared.number(each);
      const int core = number_of_.at(coordinates(values));
      std::vector<std::int64_t> place = {teams.team_of(core)};
      for (const std::size_t v : variables) {
        if (!core_variables_.contains(v)) place.push_back(values[v]);
      }
      const auto [other, is_new] = known.try_emplace(std::move(place), number, core);
      if (is_new || other->second.first == number) return true;
      broken = broken_rule(nest_, compared.rule, s,
                           difference(space, compared, other->second, {number, core}) + trips_text(variables, values));
      return false;
    };
    const bool all = prover_.enumerate(around, wanted, max_compared, compare, &variables);
    if (broken || all) return broken;
    return broken_rule(nest_, unchecked_rule, s,
                       fmt::format("too many values to show that {} is the same on all cores", compared.what));
  }

  /// Whether cores of one team have several values of a coordinate.
  [[nodiscard]] bool differs_in_team(const Teams& teams, const CoreAxis& axis) const {
    for (int core = 0; core < nest_.cores_used(); ++core) {
      const int leader = teams.core_at(teams.team_of(core), 0);
      if (core / axis.stride % axis.parts != leader / axis.stride % axis.parts) return true;
    }
    return false;
  }

  [[nodiscard]] std::string difference(Space space, const Compared& compared, std::pair<std::int64_t, int> a,
                                       std::pair<std::int64_t, int> b) const {
    return fmt::format("{} is {} on {} and {} on {}, which are of one {}", compared.what, a.first,
                       core_text(nest_, a.second), b.first, core_text(nest_, b.second),
                       space == Space::mesh && !nest_.mesh ? "launch" : name_of(space));
  }

  [[nodiscard]] std::string trips_text(const std::vector<std::size_t>& variables,
                                       std::span<const std::int64_t> values) const {
    std::vector<std::string> trips;
    for (const std::size_t v : variables) {
      if (!core_variables_.contains(v)) trips.push_back(fmt::format("{} = {}", nest_.variables[v].name, values[v]));
    }
    return trips.empty() ? "" : fmt::format(" ({})", fmt::join(trips, ", "));
  }

  const LoopNest& nest_;
  Prover prover_;
  std::map<StatementId, std::set<Space>> teams_of_;  ///< the teams that meet there or inside
  std::map<BufferId, std::set<Space>> teams_at_;     ///< the teams whose transfers use it
  std::set<std::size_t> core_variables_;
  std::map<std::vector<std::int64_t>, int> number_of_;  ///< of a core, by its coordinates
};

}  // namespace

Broken verify_teams(const LoopNest& nest) { return TeamsCheck(nest).run(); }

}  // namespace stowage
