// SPDX-License-Identifier: Apache-2.0
// `stowage exercise`: every exercise has the fault that it says, and no other family first; answers are judged.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "driver/exercises/exercises.h"
#include "driver/session/session.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

Target machine() {
  CompileRequest request;
  Diagnostics diagnostics;
  const auto target = target_of(request, diagnostics);
  REQUIRE(target);
  return *target;
}

}  // namespace

TEST_CASE("every exercise is sound but for the fault that it is about, whatever its sizes") {
  const Target target = machine();
  for (int number = 1; number <= static_cast<int>(exercise_kinds().size()); ++number) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const Exercise exercise = make_exercise(number, seed, target);
      INFO("exercise " << number << ", seed " << seed << "\n" << exercise.nest);
      Diagnostics diagnostics;
      const auto sound = parse_loop_nest(exercise.sound, diagnostics);
      REQUIRE(sound);
      CHECK(check_nest(*sound, target).faults.empty());
      CHECK(verify(*sound, target).value_or("sound") == "sound");
      CHECK(verify_results(*sound, target).value_or("sound") == "sound");
      const NestCheck found = check_exercise(exercise, target);
      REQUIRE_FALSE(found.faults.empty());
      CHECK(found.faults.front().family == exercise_kinds()[static_cast<std::size_t>(number - 1)].family);
      CHECK(exercise.sheet.find(exercise.nest) != std::string::npos);
    }
  }
}

TEST_CASE("an exercise is written, solved and mended") {
  const Workplace here;
  const ToolRun written = run_stowage({"exercise", "3", "-o", "lesson"});
  INFO(written.err);
  CHECK(written.code == 0);
  CHECK(written.out == "written: lesson/exercise-3.md and lesson/exercise-3.nest\n");
  CHECK(run_stowage({"exercise", "3", "-o", "lesson"}).code == 1);  // nothing is overwritten
  CHECK(run_stowage({"exercise", "3", "-o", "lesson", "--force"}).code == 0);
  const ToolRun checked = run_stowage({"check", "lesson/exercise-3.nest"});
  CHECK(checked.code == 1);
  CHECK(checked.out.find("[race]") != std::string::npos);

  const ToolRun right = run_stowage({"exercise", "3", "--solve", "race:10"});
  CHECK(right.code == 0);
  CHECK(right.out.starts_with("Yes.\n[race] elements "));
  CHECK(run_stowage({"exercise", "3", "--solve", "race:9"}).code == 0);  // the transfer that it collides with
  CHECK(run_stowage({"exercise", "3", "--solve", "race:1"}).out ==
        "No: the family is right, but it shows elsewhere.\n");
  CHECK(run_stowage({"exercise", "3", "--solve", "overlap:11"}).out == "No: there is no such fault.\n");
  CHECK(run_stowage({"exercise", "7", "--solve", "capacity"}).code == 0);
  CHECK(run_stowage({"exercise", "3", "--solve", "racing"}).code == 2);
  CHECK(run_stowage({"exercise", "3", "--solve", "race:x"}).code == 2);
  CHECK(run_stowage({"exercise", "9"}).code == 2);

  std::string nest = read_text("lesson/exercise-3.nest");
  const std::size_t at = nest.find("B_ldm[(ko + 1) % 2]) over");
  REQUIRE(at != std::string::npos);
  write_text("lesson/exercise-3.nest", nest.replace(at, 19, "B_ldm[ko % 2]"));
  CHECK(run_stowage({"check", "lesson/exercise-3.nest"}).code == 0);
}

TEST_CASE("exercises are listed, as in the documents") {
  const Workplace here;
  const ToolRun run = run_stowage({"exercise"});
  CHECK(run.code == 0);
  const std::string page = read_text(source_folder() / "docs/checker.md");
  int number = 0;
  for (const ExerciseKind& kind : exercise_kinds()) {
    CHECK(run.out.find(kind.title) != std::string::npos);
    CHECK(page.find(fmt::format("{}. {}", ++number, kind.title)) != std::string::npos);
  }
}

}  // namespace stowage::test
