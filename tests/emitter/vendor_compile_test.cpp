// SPDX-License-Identifier: Apache-2.0
// Emitted sources as the machine's compilers see them. check_program holds every program of these tests against the
// vendor's signatures; here it is shown that this finds what it is to find.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "../lowering/operator_draw.h"
#include "emitted_program.h"
#include "lowering/program/management_plan.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/random_runs.h"

using namespace stowage;

namespace {

Program some_program_planned() {
  fixtures::OperatorDraw draw(1);
  std::vector<StageList> lists;
  while (lists.size() < 3) {
    if (auto drawn = draw.draw()) lists.push_back(std::move(drawn->stages));
  }
  Diagnostics diagnostics;
  std::vector<std::size_t> refused;
  return fixtures::program_of("some", lists, *load_target("sw26010", {}, diagnostics), refused);
}

EmittedProgram some_program() { return emit_athread(some_program_planned()); }

/// The program with one text replaced by another, everywhere in its files that end so.
EmittedProgram with(EmittedProgram program, const std::string& ending, const std::string& from, const std::string& to) {
  bool replaced = false;
  for (EmittedFile& file : program.files) {
    if (!file.path.ends_with(ending)) continue;
    for (std::size_t at = file.text.find(from); at != std::string::npos; at = file.text.find(from, at + to.size())) {
      file.text.replace(at, from.size(), to);
      replaced = true;
    }
  }
  REQUIRE(replaced);
  return program;
}

/// The program with all but its first step given to the management core, so that some kernel is left.
Program on_management_core(Program program) {
  REQUIRE(program.target.management_core);
  for (const StepId s : program.steps.ids()) {
    if (s == StepId(0)) continue;
    program.steps[s].work = ManagementStep{std::make_shared<const ManagementPlan>(
        program.steps[s].step_plan()->stages(), Decision::refuse("ldm-capacity", "too large"), program.target)};
  }
  program.memory = plan_memory(program.fused, program.steps, program.target.main_memory.line_bytes);
  return program;
}

std::string complaints(const EmittedProgram& program) { return test::complaints_of_vendor_headers({&program}); }

}  // namespace

TEST_CASE("emitted sources compile with the vendor's signatures and without the emulation macro") {
  CHECK(complaints(some_program()) == "");
}

TEST_CASE("random programs for random machines compile with the vendor's signatures") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20250117);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 20);
  const bool managed = GENERATE(false, true);
  Diagnostics diagnostics;
  const auto with_that_core = load_target("sw26010", {}, diagnostics);
  std::vector<EmittedProgram> programs;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fixtures::OperatorDraw draw(seed + round);
    Target target = draw.machine();
    target.cores.vector_lanes = draw.coin() ? 4 : 1;
    std::vector<StageList> lists;
    while (lists.size() < 4) {
      if (auto drawn = draw.draw()) lists.push_back(std::move(drawn->stages));
    }
    std::vector<std::size_t> refused;
    Program program = fixtures::program_of(fmt::format("random_{}", round), lists, target, refused);
    if (managed) {
      program.target.management_core = with_that_core->management_core;
      program = on_management_core(std::move(program));
    }
    programs.push_back(emit_athread(program));
  }
  std::vector<const EmittedProgram*> all;
  for (const EmittedProgram& program : programs) all.push_back(&program);
  INFO("STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << (managed ? ", by the management core" : ""));
  CHECK(test::complaints_of_vendor_headers(all) == "");
}

TEST_CASE("the vendor's signatures hold for what the management core computes, and find what it misses") {
  const EmittedProgram program = emit_athread(on_management_core(some_program_planned()));
  CHECK(complaints(program) == "");
  const auto without = with(program, "layers_management.c", "#define LAYER_DONE(layer) (void)0\n", "");
  CHECK_THAT(complaints(without), Catch::Contains("gcc, host side") && Catch::Contains("clang, host side"));
}

TEST_CASE("the vendor's signatures find an LDM variable without slave.h") {
  const auto program = with(some_program(), "sw_ldm.s.c", "#include \"slave.h\"\n", "");
  CHECK_THAT(complaints(program), Catch::Contains("gcc, compute side") && Catch::Contains("clang, compute side") &&
                                      Catch::Contains("__thread_local"));
}

TEST_CASE("the vendor's signatures find a reply word of the wrong sign") {
  const auto program = with(some_program(), ".s.c", "volatile unsigned reply", "volatile int reply");
  CHECK_THAT(complaints(program), Catch::Contains("gcc, compute side") && Catch::Contains("clang, compute side") &&
                                      Catch::Contains("dma_wait"));
}

TEST_CASE("the vendor's signatures find a kernel launched without its prototype") {
  const auto program = with(some_program(), "layers.c", "extern void SLAVE_FUN", "extern void NOT_SLAVE_FUN");
  CHECK_THAT(complaints(program), Catch::Contains("gcc, host side") && Catch::Contains("clang, host side"));
}
