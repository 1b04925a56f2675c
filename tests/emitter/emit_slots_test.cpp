// SPDX-License-Identifier: Apache-2.0
// Kernels whose buffers have several slots: emitted, compiled, run in emulation, and with faults in them.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "../lowering/fixtures.h"
#include "../lowering/operator_draw.h"
#include "../lowering/relative_error.h"
#include "../lowering/sharing_draw.h"
#include "../lowering/slots_draw.h"
#include "core/evaluate.h"
#include "emitted_program.h"
#include "emitter/athread/emit.h"
#include "emitter/emulation/emulate.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "tests/random_runs.h"
#include "vendor_compile.h"

namespace stowage {
namespace {

using test::number_from;

/// As check_program, in emulation, whose cores can do something together.
void check_emulated(const Program& program, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
  const EmittedProgram emitted = emit_athread(program);
  CHECK(test::complaints_of_vendor_headers({&emitted}) == "");
  std::map<std::pair<StepId, StatementId>, DmaTotals> predicted;
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() == nullptr) continue;
    for (const auto& [id, totals] : program.steps[s].plan()->counts.dma) predicted[{s, id}] = totals;
  }
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    INFO("level " << static_cast<int>(level));
    EmulationOptions options;
    options.level = level;
    options.seed = 5;
    Diagnostics diagnostics;
    const auto result = emulate(program, emitted, inputs, options, nullptr, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(result);
    for (std::size_t o = 0; o < expected.size(); ++o) {
      INFO("output " << o);
      CHECK(test::relative_error(expected[o], result->outputs.at(o)) < 2e-5);
    }
    std::size_t counted = 0;
    for (const StatementCount& count : result->counts) {
      const DmaTotals& totals = predicted.at({count.step, count.statement});
      INFO("step " << count.step.index() << ", statement " << count.statement.index());
      CHECK(count.transfers == totals.transfers);
      CHECK(count.operations == totals.operations);
      CHECK(count.bytes == totals.bytes);
      ++counted;
    }
    CHECK(counted == predicted.size());
  }
}

TEST_CASE(
    "random operators with random slots and sharing: emitted, compiled and run, they give the definition's values") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 85);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 4);
  std::size_t overlapped = 0;
  std::size_t shared = 0;
  int by_columns = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    fixtures::OperatorDraw draw(seed + round);
    Target target = fixtures::with_mesh(draw, draw.machine());
    target.name = "random";
    if (round % 4 == 0) {
      target.cores.mesh_rows = std::max(2, target.cores.mesh_rows);
      target.cores.count = target.cores.mesh_rows * target.cores.mesh_columns;
      target.cores.column_broadcast = ColumnBroadcast{11, 2};
      target.ldm.alignment = std::max(target.ldm.alignment, 32);
    }
    constexpr std::size_t operators_a_program = 12;
    std::vector<StageList> lists;
    std::vector<std::vector<Tensor>> values;
    std::vector<Schedule> schedules;
    std::string text;
    for (int tries = 0; lists.size() < operators_a_program && tries < 200; ++tries) {
      auto drawn = draw.draw();
      if (!drawn) continue;
      const Planned plain = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
      if (std::holds_alternative<Decision>(plain)) continue;
      const GroupModel model = build_group_model(drawn->stages, target);
      Schedule fixed = fixtures::random_slots(draw, model, std::get<Plan>(plain).schedule);
      if (round % 2 == 0) fixed = fixtures::random_sharing(draw, model, target, std::move(fixed));
      const Planned planned = plan_group("op", drawn->stages, fixed, SwtvmPlanner(), target, {});
      if (std::holds_alternative<Decision>(planned)) continue;
      const LoopNest& nest = std::get<Plan>(planned).nest;
      if (first_use_of_slots(nest) == nullptr && first_of_team(nest) == nullptr) continue;
      shared += first_of_team(nest) != nullptr ? 1 : 0;
      by_columns += std::any_of(fixed.sharing.begin(), fixed.sharing.end(),
                                [](const auto& input) { return input.second == SharedBy::column; });
      text += fmt::format("{}: {}\n", lists.size(), drawn->text);
      lists.push_back(std::move(drawn->stages));
      values.push_back(std::move(drawn->inputs));
      schedules.push_back(std::move(fixed));
    }
    overlapped += lists.size();
    std::vector<std::size_t> refused;
    const Program program =
        fixtures::program_of(fmt::format("random_{}", seed + round), lists, target, refused, schedules);
    INFO(text << "on " << target.cores.count << " cores with " << target.ldm.available() << " bytes");
    REQUIRE(refused.empty());
    std::vector<Tensor> inputs;
    std::vector<Tensor> expected;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      inputs.insert(inputs.end(), values[i].begin(), values[i].end());
      const auto all = evaluate(lists[i], values[i]);
      expected.push_back(all[lists[i].stages.back().output]);
    }
    if (round % 2 == 0) {
      check_emulated(program, inputs, expected);
    } else {
      fixtures::check_program(program, inputs, expected);
    }
  }
  CHECK(overlapped > 3 * rounds);
  CHECK(shared > rounds);
  CHECK(by_columns > 0);
}

/// C[24,96] = A[24,80] * B[80,96] on four cores, with two slots for everything.
Program product() {
  Target target;
  target.name = "four";
  target.cores.count = 4;
  target.cores.mesh_rows = target.cores.mesh_columns = 2;
  Schedule fixed;
  fixed.parallel = {{{"x", 4}}};
  fixed.buffer = {{"x", 2}, {"y", 32}, {"k", 16}};
  fixed.slots = {{"A", 2}, {"B", 2}, {"C", 2}};
  return fixtures::program_of("product", fixtures::matmul_stages(24, 96, 80), target, fixed);
}

const EmittedFile& kernel_of(const EmittedProgram& emitted) {
  for (const EmittedFile& file : emitted.files) {
    if (file.path.ends_with(".s.c") && file.path.starts_with("product")) return file;
  }
  FAIL("no kernel");
  return emitted.files.front();
}

TEST_CASE("slots in C: arrays of boxes, a reply word for every one, and waits by slot") {
  const Program program = product();
  const EmittedProgram emitted = emit_athread(program);
  const std::string& text = kernel_of(emitted).text;
  INFO(text);
  for (const char* line : {"  float t_B_ldm[2][16][32];  /* B: 4096 bytes at 256 */\n",
                           "  volatile unsigned reply_para, reply_A[2], reply_B[2], reply_C[2];\n",
                           "          ldm->reply_B[(xo + yo + ko + 1) % 2] = 0;\n",
                           "        dma_wait(&ldm->reply_B[(xo + yo + ko) % 2], 1);\n",
                           "SW_LOAD4(b_v, &ldm->t_B_ldm[(xo + yo + ko) % 2][ki][0]);\n",
                           "SW_LOAD4(acc0, &ldm->t_C_ldm[(xo + yo) % 2][0][0]);\n",
                           "      if (3 * xo + yo - 1 > 0) {\n        dma_wait(&ldm->reply_C[(xo + yo) % 2], 1);\n",
                           "  dma_wait(&ldm->reply_C[0], 1);\n  dma_wait(&ldm->reply_C[1], 1);\n}\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("a kernel with slots runs at every level, and its counts are as predicted") {
  const Program plain = product();
  const std::vector<Tensor> inputs = fixtures::random_inputs(plain, 7);
  const IdVector<StageTensorId, Tensor> expected = evaluate(plain.steps[StepId(0)].plan()->nest.stages, inputs);
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    for (const bool sanitize : {false, true}) {
      if (sanitize && level == EmulationLevel::count) continue;
      INFO("level " << static_cast<int>(level) << ", sanitize " << sanitize);
      const Program program = sanitize ? with_red_zones(plain) : plain;
      EmulationOptions options;
      options.level = level;
      options.sanitize = sanitize;
      options.seed = 11;
      Diagnostics diagnostics;
      const auto result = emulate(program, emit_athread(program), inputs, options, nullptr, diagnostics);
      INFO(format_diagnostics(diagnostics));
      REQUIRE(result);
      CHECK(diagnostics.entries().empty());
      for (std::int64_t i = 0; i < expected.back().size(); ++i) {
        REQUIRE(result->outputs.at(0).as_double(i) == Approx(expected.back().as_double(i)).margin(1e-4));
      }
      const NestCounts& predicted = program.steps[StepId(0)].plan()->counts;
      REQUIRE(result->counts.size() == predicted.dma.size());
      for (const StatementCount& count : result->counts) {
        const DmaTotals& totals = predicted.dma.at(count.statement);
        CHECK(count.transfers == totals.transfers);
        CHECK(count.operations == totals.operations);
        CHECK(count.bytes == totals.bytes);
      }
      CHECK(result->ldm_peak_bytes.at(StepId(0)) == program.steps[StepId(0)].plan()->nest.ldm_bytes);
    }
  }
}

TEST_CASE("a slot that is used before its wait is found, whichever slot it is") {
  const Program program = product();
  const std::vector<Tensor> inputs = fixtures::random_inputs(program, 7);
  const auto run = [&](const std::string& what, const std::string& instead, bool sanitize) {
    EmittedProgram emitted = emit_athread(program);
    bool found = false;
    for (EmittedFile& file : emitted.files) {
      const std::size_t at = file.text.find(what);
      if (at == std::string::npos) continue;
      file.text.replace(at, what.size(), instead);
      found = true;
    }
    REQUIRE(found);
    EmulationOptions options;
    options.level = EmulationLevel::check;
    options.sanitize = sanitize;
    Diagnostics diagnostics;
    const auto result = emulate(program, emitted, inputs, options, nullptr, diagnostics);
    std::string codes;
    for (const Diagnostic& diagnostic : diagnostics.entries()) codes += diagnostic.code + " ";
    return result ? "nothing" : codes;
  };
  CHECK(run("dma_wait(&ldm->reply_B[(xo + yo + ko) % 2], 1);", "", false) ==
        "emulation-never-awaited emulation-dma-overlap emulation-never-awaited ");
  CHECK(run("dma_wait(&ldm->reply_B[(xo + yo + ko) % 2], 1);", "dma_wait(&ldm->reply_B[(xo + yo + ko + 1) % 2], 1);",
            false) == "emulation-wait-never-ends emulation-never-awaited ");
  CHECK(run("SW_LOAD4(b_v, &ldm->t_B_ldm[(xo + yo + ko) % 2]", "SW_LOAD4(b_v, &ldm->t_B_ldm[(xo + yo + ko + 1) % 2]",
            true) == "emulation-forbidden-access ");
  CHECK(run("dma_wait(&ldm->reply_C[(xo + yo) % 2], 1);", "", false) ==
        "emulation-put-source-changed emulation-wait-count emulation-wait-count ");
  CHECK(run("dma_wait(&ldm->reply_C[1], 1);", "", false) == "emulation-never-awaited ");
  CHECK(run("ldm->t_B_ldm[(xo + yo + ko + 1) % 2], 2048", "ldm->t_B_ldm[(xo + yo + ko) % 2], 2048", true) ==
        "emulation-forbidden-access ");
}

}  // namespace
}  // namespace stowage
