// SPDX-License-Identifier: Apache-2.0
// Random programs with every dimension of their schedules drawn: verified, played through by the checker, which refuses
// none of them, and interpreted, which gives the definition's values; every tenth round's are emitted, compiled and run
// in emulation. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it: 2000 rounds are 20 000 programs.
#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "../lowering/program_draw.h"
#include "core/evaluate.h"
#include "emitted_program.h"
#include "emitter/emulation/emulate.h"
#include "lowering/check/check_nest.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/ldm_room.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/lowering/relative_error.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

using fixtures::DrawnProgram;
using fixtures::OperatorDraw;
using test::number_from;

constexpr std::size_t programs_a_round = 10;
constexpr std::uint64_t rounds_an_emulation = 10;

/// In how many programs what stands in the schedule.
using Dimensions = std::map<std::string, int>;

bool is_uneven(const Plan& plan) {
  const GroupModel model = build_group_model(plan.nest.stages, {});
  const auto uneven = [&](const ParallelSplit& split) {
    const auto iterator = model.iterator_named(split.iterator);
    return iterator && model.iterators[*iterator].extent % split.parts != 0;
  };
  return std::any_of(plan.schedule.parallel->begin(), plan.schedule.parallel->end(), uneven);
}

void count_dimensions(const DrawnProgram& program, Dimensions& counted) {
  const Schedule& schedule = program.plan.schedule;
  const auto slots = [](const auto& entry) { return entry.second > 1; };
  const auto by = [&](SharedBy team) {
    return std::any_of(schedule.sharing.begin(), schedule.sharing.end(),
                       [&](const auto& entry) { return entry.second == team; });
  };
  const auto count = [&](const char* dimension, bool is_there) { counted[dimension] += is_there ? 1 : 0; };
  count("blocks of lanes", !schedule.lanes->empty());
  count("behind a barrier", schedule.launch == LaunchedBy::barrier);
  count("by columns", by(SharedBy::column));
  count("by rows", by(SharedBy::row));
  count("by the mesh", by(SharedBy::mesh));
  count("copied inputs", !schedule.copied->empty());
  count("folded", *schedule.folded);
  count("merged axes", !schedule.merged->empty());
  count("residents", !schedule.resident.empty());
  count("reordered", program.reordered);
  count("searched", program.searched);
  count("several cores", !schedule.parallel->empty());
  count("split reductions", schedule.split && !schedule.split->empty());
  count("slots", std::any_of(schedule.slots.begin(), schedule.slots.end(), slots));
  count("uneven parts", is_uneven(program.plan));
}

/// Nothing that the rules of the IR or the checker refuse, and the values of the definition. False where there are too
/// many values to be sure of, which verify says.
bool check_drawn(const DrawnProgram& program, const Target& target) {
  const LoopNest& nest = program.plan.nest;
  INFO(to_text(nest));
  const std::string verdict = verify(nest, target).value_or("sound");
  if (verdict.starts_with("unchecked: ")) return false;
  REQUIRE(verdict == "sound");
  REQUIRE(verify_results(nest, target).value_or("sound") == "sound");
  const NestCheck check = check_nest(nest, target);
  for (const Fault& fault : check.faults) FAIL_CHECK(name_of(fault.family) << ": " << fault.what);
  REQUIRE(check.faults.empty());
  REQUIRE(check.complete);
  const auto expected = evaluate(program.defined, program.values);
  const StageTensorId output = program.defined.stages.back().output;
  const auto actual = interpret(nest, program.inputs());
  REQUIRE(test::relative_error(expected[output], actual.at(output).reshaped(expected[output].shape())) < 2e-5);
  return true;
}

/// The values of the definition and the predicted counts, in emulation.
void check_emulated(const std::string& name, const std::vector<DrawnProgram>& programs, const Target& target) {
  std::vector<StageList> lists;
  std::vector<Schedule> schedules;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
  for (const DrawnProgram& program : programs) {
    lists.push_back(program.stages);
    schedules.push_back(program.plan.schedule);
    if (lists.size() == 1) schedules.back().launch = LaunchedBy::spawn;  // nothing is before it
    const std::vector<Tensor> given = program.network_inputs();
    inputs.insert(inputs.end(), given.begin(), given.end());
    expected.push_back(evaluate(program.defined, program.values)[program.defined.stages.back().output]);
  }
  std::vector<std::size_t> refused;
  const Program program = fixtures::program_of(name, lists, target, refused, schedules);
  REQUIRE(refused.empty());
  EmulationOptions options;
  options.level = EmulationLevel::check;
  Diagnostics diagnostics;
  const auto result = emulate(program, emit_athread(program), inputs, options, nullptr, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(result);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    INFO("program " << o);
    REQUIRE(test::relative_error(expected[o], result->outputs.at(o).reshaped(expected[o].shape())) < 2e-5);
  }
  for (const StatementCount& count : result->counts) {
    const DmaTotals& totals = program.steps[count.step].plan()->counts.dma.at(count.statement);
    INFO("program " << count.step.index() << ", statement " << count.statement.index());
    REQUIRE(count.transfers == totals.transfers);
    REQUIRE(count.operations == totals.operations);
    REQUIRE(count.bytes == totals.bytes);
  }
  std::map<std::pair<StepId, std::optional<StatementId>>, TeamMeetings> met;
  for (const StatementMeetings& at : result->meetings) met[{at.step, at.statement}] = at.meetings;
  for (const StepId s : program.steps.ids()) {
    const Plan& plan = *program.steps[s].plan();
    INFO("program " << s.index());
    // Counted is where the parameters begin, which C aligns.
    const int unit = std::max(target.ldm.alignment, alignment_of_parameters(target));
    REQUIRE(result->ldm_peak_bytes[s] == ceil_div(plan.nest.ldm_bytes, unit) * unit);
    for (const auto& [statement, predicted] : plan.counts.meetings) {
      INFO("statement " << statement.index());
      const TeamMeetings counted = met[{s, statement}];
      REQUIRE(counted.times == predicted.times);
      REQUIRE(counted.registers == predicted.registers);
      met.erase({s, statement});
    }
  }
  REQUIRE(met.empty());
}

}  // namespace

TEST_CASE(
    "random programs with every dimension drawn: the checker refuses none, and all give the definition's values") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261127);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 40);
  std::cout << "STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << "\n";
  std::size_t checked = 0, unchecked = 0, emulated = 0;
  Dimensions dimensions;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const bool emulates = (seed + round) % rounds_an_emulation == 0;
    const Target target = fixtures::drawn_target(draw, emulates);
    std::vector<DrawnProgram> programs;
    for (int tries = 0; programs.size() < programs_a_round && tries < 400; ++tries) {
      auto program = fixtures::drawn_program(draw, target, /*weights=*/true);
      if (!program) continue;
      INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: program " << programs.size() << ", " << program->text
                           << " on " << target.cores.count << " cores with " << target.ldm.bytes << " bytes\n"
                           << to_text(program->stages));
      if (!check_drawn(*program, target)) {
        ++unchecked;
        continue;
      }
      count_dimensions(*program, dimensions);
      ++checked;
      programs.push_back(*std::move(program));
    }
    if (!emulates || programs.empty()) continue;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    check_emulated(fmt::format("drawn_{}", seed + round), programs, target);
    emulated += programs.size();
  }
  std::string all;
  for (const auto& [dimension, count] : dimensions) all += fmt::format(", {} {}", dimension, count);
  INFO(checked << " programs, " << unchecked << " too large to be verified, " << emulated << " emulated" << all);
  if (rounds > 100)
    WARN(checked << " programs, " << unchecked << " too large to be verified, " << emulated << " emulated" << all);
  if (rounds < 40) return;
  CHECK(checked > rounds * programs_a_round * 9 / 10);
  CHECK(unchecked * 100 <= checked);
  CHECK(emulated * (rounds_an_emulation + 2) > checked);
  for (const auto& [dimension, count] : dimensions) {
    INFO(dimension);
    CHECK(static_cast<std::size_t>(count) * 400 > checked);
  }
}

}  // namespace stowage
