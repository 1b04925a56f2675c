// SPDX-License-Identifier: Apache-2.0
// What planners have chosen, between compilations: read back whole, taken instead of a search, and of no harm where it
// is damaged.
#include <filesystem>
#include <random>

#include <catch2/catch.hpp>

#include "core/temporary_folder.h"
#include "driver/athread/kept_choices.h"
#include "lowering/model/stage_form.h"
#include "lowering/program/planners.h"
#include "lowering/program/record_file.h"
#include "tests/driver/tool_runner.h"
#include "tests/sunway.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

fs::path choices_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == choices_of_planners) found.push_back(entry.path());
  }
  REQUIRE(found.size() == 1);
  return found.front();
}

/// Each operator alone, so that all that are alike are searched.
std::vector<std::string> compile_operators(const std::string& folder, const std::string& planner) {
  return {"compile",      "network.onnx", "--fusion", "none", "--planner", planner,
          "--cost-cache", "cache",        "-o",       folder, "--force"};
}

}  // namespace

TEST_CASE("what planners choose is read back from its text as it was") {
  for (const std::string planner : {"searched", "optimal"}) {
    const Workplace here;
    REQUIRE(run_stowage({"network", "lenet", "-o", "network.onnx"}).code == 0);
    REQUIRE(run_stowage(compile_operators("out", planner)).code == 0);
    const std::string lines = read_text(choices_in("cache"));
    // A line is "KEY TEXT CHECKSUM".
    int read = 0;
    for (std::size_t from = 0; from < lines.size();) {
      const std::size_t end = lines.find('\n', from);
      const std::string line = lines.substr(from, end - from);
      from = end + 1;
      CHECK(line.find("\\\\") == std::string::npos);
      const std::string text = line.substr(line.find(' ') + 1, line.rfind(' ') - line.find(' ') - 1);
      const PlanChoice choice = choice_of(text);
      CHECK_FALSE(choice.records.empty());
      CHECK(choice.certificate.has_value() == (planner == "optimal"));
      CHECK(choice.schedule.parallel.has_value());
      CHECK(text_of(choice) == text);
      ++read;
    }
    CHECK(read > 5);
  }
}

TEST_CASE("what was chosen before is taken, and only for its planner and target") {
  const TemporaryFolder folder;
  const Planner& planner = *find_planner("searched");
  const Target target = fixtures::sunway();
  PlanChoices first;
  PlanChoice choice;
  choice.schedule.parallel.emplace();
  choice.schedule.launch = LaunchedBy::barrier;
  choice.schedule = with_form(choice.schedule, {});
  choice.records.push_back({"group", SplitsLeftOut{}, std::make_shared<const GroupNames>()});
  first.add("a group", choice);
  PlanChoice stopped = choice;
  stopped.cut_short = true;
  first.add("a group of which the search was stopped", stopped);
  PlanChoice at_once = choice;
  at_once.records.clear();
  first.add("a group that nobody searched", at_once);
  keep_choices(folder.path(), planner, target, first);

  const auto recalled = [&](const Planner& by, const Target& on) {
    PlanChoices choices;
    recall_choices(folder.path(), by, on, choices);
    return choices.find("a group");
  };
  const auto found = recalled(planner, target);
  REQUIRE(found);
  CHECK(found->schedule == choice.schedule);
  CHECK(found->records.size() == 1);
  choice.schedule.launch = LaunchedBy::spawn;  // as if what is on disk could not be read
  PlanChoices second;
  second.add("a group", choice);
  keep_choices(folder.path(), planner, target, second);
  CHECK(recalled(planner, target)->schedule == choice.schedule);
  CHECK_FALSE(recalled(*find_planner("optimal"), target));
  CHECK_FALSE(recalled(planner, fixtures::sunway({"cores.count=32"})));
  PlanChoices others;
  recall_choices(folder.path(), planner, target, others);
  CHECK_FALSE(others.find("a group of which the search was stopped"));
  CHECK_FALSE(others.find("a group that nobody searched"));
  CHECK_FALSE(others.find("another group"));
}

TEST_CASE("damaged choices are as good as none") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "network.onnx"}).code == 0);
  REQUIRE(run_stowage(compile_operators("expected", "searched")).code == 0);
  const auto expected = files_below("expected");
  const fs::path file = choices_in("cache");
  const std::string whole = read_text(file);
  const unsigned seed = 20261128;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 12; ++i) {
    std::string text = whole;
    if (i % 2 == 0) text.resize(random() % text.size());
    for (unsigned flips = random() % 4; flips > 0 && !text.empty(); --flips) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    write_text(file, text);
    REQUIRE(run_stowage(compile_operators("again", "searched")).code == 0);
    CHECK(files_below("again") == expected);
    CHECK(read_text(file) == whole);  // mended
  }
}

}  // namespace stowage::test
