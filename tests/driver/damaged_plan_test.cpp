// SPDX-License-Identifier: Apache-2.0
// plan.json and trace.json that were damaged by chance or on purpose: every command reads them or says what is wrong.
#include <chrono>
#include <functional>
#include <map>

#include <catch2/catch.hpp>

#include "driver/page/report_page.h"
#include "tests/driver/tool_runner.h"
#include "tests/mutated_json.h"
#include "tests/mutated_plan.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Only to notice what never ends: the longest of these takes a tenth of a second.
constexpr std::chrono::seconds hangs{20};

/// What `run` says is an answer of the command, in time.
void check_answer(const std::vector<std::string>& arguments) {
  const auto start = Clock::now();
  const ToolRun run = run_stowage(arguments);
  INFO(arguments.front() << ": " << run.code << "\n" << run.err);
  CHECK((run.code == 0 || run.code == 1));
  if (run.code == 1) CHECK(run.err.find(": error: ") != std::string::npos);
  CHECK(Clock::now() - start < hangs);
}

void check_folder(const fs::path& folder) {
  const auto start = Clock::now();
  Diagnostics diagnostics;
  const auto compilation = read_compilation(folder, diagnostics);
  INFO(format_diagnostics(diagnostics));
  CHECK(Clock::now() - start < hangs);
  CHECK(static_cast<bool>(compilation) != diagnostics.has_errors());
  if (!compilation) return;
  CHECK_FALSE(report_page(*compilation, {}).empty());
  check_answer({"explain", folder.string(), "--steps"});
  check_answer({"explain", folder.string(), "--why-not", "query,key"});
  check_answer({"graph", folder.string(), "-o", "graph.dot", "--force"});
  check_answer({"diff", "whole", folder.string()});
  check_answer({"diff", folder.string(), "whole"});
}

TEST_CASE("damaged plans and traces are diagnostics, never a crash", "[damaged]") {
  const Workplace here;
  write_varied_plan("whole");
  fs::copy("whole", "damaged", fs::copy_options::recursive);
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 150);
  const std::map<std::string, std::vector<std::string>> files = {
      {"plan.json", {"", "/graph", "/steps", "/steps", "/steps", "/memory"}},
      {"trace.json", {"", "/records", "/records", "/fusion/candidates", "/fusion/graphs"}}};
  for (const auto& [file, places] : files) {
    const std::string whole = read_text("whole/" + file);
    std::uint64_t refused = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      JsonMutator mutator(whole, places, seed + round);
      write_text("damaged/" + file, mutator.next());
      INFO(file << ", STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
      check_folder("damaged");
      Diagnostics diagnostics;
      refused += read_compilation("damaged", diagnostics) ? 0 : 1;
    }
    write_text("damaged/" + file, whole);
    INFO(file << ": " << refused << " of " << rounds << " were refused");
    CHECK((rounds < 100 || refused > rounds / 4));
  }
}

TEST_CASE("an edited step of a plan is refused with its reason", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  using Json = nlohmann::ordered_json;
  const Json whole = Json::parse(read_text("plan/plan.json"));
  const auto said = [&](const std::function<void(Json&)>& edit) {
    Json damaged = whole;
    edit(damaged);
    write_text("plan/plan.json", damaged.dump(1));
    const ToolRun run = run_stowage({"explain", "plan"});
    CHECK(run.code == 1);
    CHECK(run.err.starts_with("plan/plan.json: error: "));
    CHECK(run.err.find("[damaged-plan]") != std::string::npos);
    return run.err;
  };
  const auto says = [&](const std::string& reason, const std::function<void(Json&)>& edit) {
    const std::string error = said(edit);
    INFO(error);
    CHECK(error.find(reason) != std::string::npos);
  };
  const auto index_of = [&](const std::function<bool(const Json&)>& wanted) {
    std::size_t at = 0;
    while (at < whole.at("steps").size() && !wanted(whole.at("steps")[at])) ++at;
    REQUIRE(at < whole.at("steps").size());
    return at;
  };
  const std::size_t siblings = index_of([](const Json& step) { return step.contains("stacks"); });
  const std::size_t view = index_of([](const Json& step) { return step.at("template") == "view"; });
  const std::size_t last = whole.at("steps").size() - 1;
  const auto step = [](Json& file, std::size_t at) -> Json& { return file.at("steps")[at]; };

  says("there is no role 'anchr'", [&](Json& file) { step(file, siblings)["roles"][0] = "anchr"; });
  says(" roles for ", [&](Json& file) { step(file, siblings)["roles"].erase(0); });
  says("it has no operator", [&](Json& file) {
    step(file, last)["operators"] = Json::array();
    step(file, last)["roles"] = Json::array();
  });
  says("is held twice", [&](Json& file) {
    step(file, last)["operators"] = step(file, siblings)["operators"];
    step(file, last)["roles"] = step(file, siblings)["roles"];
  });
  says("its graph has no operator", [&](Json& file) { step(file, last)["operators"][0] = "nobody"; });
  says("its graph has no tensor", [&](Json& file) { step(file, last)["inputs"][0] = "nothing"; });
  says("its inputs are not what it reads", [&](Json& file) { step(file, last)["inputs"].erase(0); });
  says("its output is not its last operator's", [&](Json& file) { step(file, last)["output"] = "x"; });
  says("it has stacks and no siblings", [&](Json& file) {
    for (Json& role : step(file, siblings)["roles"]) role = role == "sibling" ? "epilogue" : role.get<std::string>();
  });
  says("stack", [&](Json& file) { step(file, siblings)["stacks"].erase(0); });
  says("group ",
       [&](Json& file) { std::swap(step(file, siblings)["stacks"][0]["whole"], step(file, siblings)["output"]); });
  says("stack", [&](Json& file) { step(file, siblings)["stacks"][0]["axis"] = 0; });
  says("whole number", [&](Json& file) { step(file, siblings)["stacks"][0]["axis"] = -1; });
  says("it is a view, and not marked as one", [&](Json& file) { step(file, view)["template"] = "single"; });
  says("it is marked as a view, and is none", [&](Json& file) { step(file, siblings)["template"] = "view"; });
  says("has no schedule", [&](Json& file) { step(file, last).erase("schedule"); });
  says("before a group has written it", [&](Json& file) { std::swap(step(file, 0), step(file, last)); });
  says("no group holds", [&](Json& file) { file.at("steps").erase(last); });
  says("named after none", [&](Json& file) { step(file, last)["name"] = "someone"; });
  says("is not complete", [&](Json& file) { step(file, last)["schedule"].erase("order"); });
  says("there is no iterator", [&](Json& file) { step(file, last)["schedule"]["buffer"]["nothing"] = 1; });
  says("not those that are transferred", [&](Json& file) { step(file, last)["schedule"]["dma"]["nothing"] = ""; });
  says("a buffer has one slot", [&](Json& file) { step(file, last)["schedule"]["slots"].front() = 2; });
  says("cannot be cut into", [&](Json& file) {
    for (Json& split : step(file, last)["schedule"]["parallel"]) split["parts"] = 4096;
  });
  says("the loop nest of", [&](Json& file) { step(file, last)["nest"].push_back("barrier"); });
  says("its memory map differs", [&](Json& file) { file.at("memory").at("places")[0]["first_step"] = 3; });
  says("brackets stand in more than 64 others", [&](Json& file) {
    Json deep;
    for (int level = 0; level < 65; ++level) deep = Json::array({deep});
    file["deep"] = deep;
  });
}

TEST_CASE("two hundred kilobytes of brackets are refused at once", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  for (const std::string file : {"plan/plan.json", "plan/trace.json"}) {
    const std::string whole = read_text(file);
    write_text(file, "{\"format\": " + std::string(200'000, '['));
    const auto start = Clock::now();
    const ToolRun run = run_stowage({"explain", "plan"});
    INFO(run.err);
    CHECK(Clock::now() - start < std::chrono::seconds(5));
    CHECK(run.code == 1);
    CHECK(run.err.find(file + ": error: brackets stand in more than 64 others") == 0);
    write_text(file, whole);
  }
}

TEST_CASE("a trace whose numbers are none is refused", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  const std::string whole = read_text("plan/trace.json");
  const std::string key = "[\"buffer ";
  const auto at = whole.find("\",\"", whole.find(key)) + 3;
  REQUIRE(at < whole.size());
  for (const std::string number : {"many", "0", "-1", "1e3", "99999999999999999999", "1000000"}) {
    std::string damaged = whole;
    damaged.replace(at, damaged.find('"', at) - at, number);
    write_text("plan/trace.json", damaged);
    const ToolRun run = run_stowage({"explain", "plan"});
    INFO(number << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("plan/trace.json: error: 'buffer ") == 0);
  }
}

}  // namespace
}  // namespace stowage::test
