// SPDX-License-Identifier: Apache-2.0
// Plan folders that an earlier version wrote (tests/driver/data says which): every command that opens a folder opens
// them. They are never written again.
#include <algorithm>

#include <catch2/catch.hpp>

#include "driver/json/json.h"
#include "driver/store/plan_file.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// A copy beside the network that it was compiled from, as it was when it was written.
void bring(const std::string& network, const std::string& writer = "version-1") {
  const fs::path data = source_folder() / "tests" / "driver" / "data";
  fs::copy(data / writer / network, "old", fs::copy_options::recursive);
  const std::string model = network + ".onnx";
  fs::copy((fs::exists(data / model) ? data : data / "version-1") / model, model);
}

Json json_of(const std::vector<std::string>& arguments) {
  const ToolRun run = run_stowage(arguments);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return Json::parse(run.out);
}

/// The nests are those of the folder, not ones that lowering makes today.
void check_nests(const Compilation& compilation, const Json& file) {
  for (const StepId i : compilation.program.steps.ids()) {
    const Plan* const plan = compilation.program.steps[i].plan();
    if (plan == nullptr) continue;
    std::string text;
    for (const Json& line : file.at("steps")[i.index()].at("nest")) text += line.get<std::string>() + "\n";
    CHECK(to_text(plan->nest) == text);
  }
}

TEST_CASE("folders of version 1 open, with today's words", "[old_folders]") {
  const Workplace here;
  const std::string network = GENERATE(std::string("inception"), std::string("matmul"));
  CAPTURE(network);
  bring(network);
  const Json file = Json::parse(read_text("old/plan.json"));
  REQUIRE(file.at("version") == 1);
  Diagnostics diagnostics;
  const auto compilation = read_compilation("old", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  check_nests(*compilation, file);
  for (const StepId i : compilation->program.steps.ids()) {
    const Plan* const plan = compilation->program.steps[i].plan();
    if (plan == nullptr) continue;
    // Then a fill stored one element a cycle.
    std::int64_t cycles_then = plan->time.cycles;
    for (const TimeTerm& term : plan->time.terms) {
      const auto* fill = std::get_if<FillCost>(&term.cost);
      if (fill != nullptr) cycles_then += fill->elements_of_busiest - term.cycles;
    }
    CHECK(cycles_then == file.at("steps")[i.index()].at("cycles"));
  }
  const ToolRun steps = run_stowage({"explain", "old", "--steps"});
  INFO(steps.err);
  CHECK(steps.code == 0);
  CHECK(run_stowage({"report", "old", "-o", "page.html"}).code == 0);
  const ToolRun checked = run_stowage({"check", "old"});
  INFO(checked.out << checked.err);
  CHECK(checked.code == 0);
  CHECK(json_of({"simulate", "old", "--json"}).at("time_s") > 0);
  if (network != "inception") return;
  CHECK(read_text("old/plan.json").find("sibling_convolutions") != std::string::npos);
  const Json explained = json_of({"explain", "old", "--json"});
  CHECK(explained.dump().find("\"parallel_convolutions\"") != std::string::npos);
  CHECK(explained.dump().find("\"sibling_convolutions\"") == std::string::npos);
  for (const CandidateRecord& candidate : compilation->fusion.candidates) {
    for (const std::string& name : candidate.templates) CHECK(name.find("sibling") == std::string::npos);
    for (const Decision& refusal : candidate.refusals) CHECK(refusal.rule.find("sibling") == std::string::npos);
  }
  CHECK(run_stowage({"explain", "old", "--why-not", "conv_1x1,conv_3x3"}).code == 0);
}

TEST_CASE("a folder of version 1 and one of today are compared", "[old_folders]") {
  const Workplace here;
  const std::string network = GENERATE(std::string("inception"), std::string("matmul"));
  CAPTURE(network);
  bring(network);
  REQUIRE(run_stowage({"compile", network + ".onnx", "-o", "new", "--planner", "swtvm"}).code == 0);
  const ToolRun same = run_stowage({"diff", "old", "new"});
  INFO(same.out << same.err);
  CHECK(same.code == 0);
  const Json diff = json_of({"diff", "old", "new", "--json"});
  CHECK(diff.dump().find("sibling_convolutions") == std::string::npos);
}

TEST_CASE("a folder of version 1 runs and agrees with the reference", "[old_folders]") {
  const Workplace here;
  const std::string network = GENERATE(std::string("inception"), std::string("matmul"));
  CAPTURE(network);
  bring(network);
  // Its sources are not those that are emitted today, whose names tell what is in them: that is said, and today's run.
  const ToolRun renamed = run_stowage({"run", "old", "--check"});
  CHECK(renamed.code == 0);
  CHECK(renamed.err.find("[source-missing]") != std::string::npos);
  CHECK(renamed.out.find("agree with the reference") != std::string::npos);
  const ToolRun run = run_stowage({"run", "old", "--check", "--changed-sources"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(run.out.find("agree with the reference") != std::string::npos);
  // What is emitted today from its nest computes the same.
  const std::string last = network == "matmul" ? "matmul" : "conv_1x1";
  const ToolRun one = run_stowage({"run", "old", "--check", "--op", last});
  INFO(one.out << one.err);
  CHECK(one.code == 0);
}

/// A folder of version 2 as that was before the format was widened to what it is now.
struct EarlyFolder {
  std::string writer;
  std::string network;
  std::vector<std::string> options;         ///< that it was compiled with
  std::vector<std::string> keys_not_there;  ///< of the plan, of its steps and of their schedules
};

EarlyFolder early_folder() {
  const std::vector<std::string> first = {"layout", "kind",   "cost",    "fixed",    "merged", "lanes",
                                          "copied", "folded", "sharing", "resident", "launch"};
  const std::vector<std::string> before_kinds = {"layout", "kind", "fixed"};
  return GENERATE_COPY(
      EarlyFolder{"version-2-first", "matmul", {}, first}, EarlyFolder{"version-2-first", "small_lenet", {}, first},
      EarlyFolder{"version-2-before-kinds", "small_lenet", {"--layout", "blocked"}, before_kinds},
      EarlyFolder{
          "version-2-before-kinds", "mirror", {"--fusion", "none", "--set", "target.ldm.bytes=8192"}, before_kinds});
}

TEST_CASE("folders of version 2 open that lack what it was widened by", "[old_folders]") {
  const Workplace here;
  const EarlyFolder folder = early_folder();
  CAPTURE(folder.writer, folder.network);
  bring(folder.network, folder.writer);
  const Json file = Json::parse(read_text("old/plan.json"));
  REQUIRE(file.at("version") == 2);
  for (const std::string& key : folder.keys_not_there) {
    INFO(key << " is there: the folder was written again");
    CHECK_FALSE(file.contains(key));
    for (const Json& step : file.at("steps")) {
      CHECK_FALSE(step.contains(key));
      CHECK_FALSE((step.contains("schedule") && step.at("schedule").contains(key)));
    }
  }
  Diagnostics diagnostics;
  const auto compilation = read_compilation("old", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  check_nests(*compilation, file);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"explain", "old"}, {"explain", "old", "--steps"}, {"report", "old", "-o", "page.html"}, {"check", "old"}}) {
    const ToolRun run = run_stowage(command);
    INFO(command.front() << "\n" << run.err);
    CHECK(run.code == 0);
  }
  CHECK((run_stowage({"explain", "old"}).out.find("searched, blocked") != std::string::npos) ==
        (folder.options.size() == 2));  // what the graph shows, as the plan does not say it
  CHECK(json_of({"simulate", "old", "--json"}).at("time_s") > 0);
  const auto& steps = compilation->program.steps;
  const auto managed = std::count_if(steps.begin(), steps.end(),
                                     [](const ProgramStep& step) { return step.kind().key == "management"; });
  CHECK(managed == (folder.network == "mirror" ? 1 : 0));
}

TEST_CASE("a target keeps its hash where a key is renamed", "[old_folders]") {
  const Workplace here;
  bring("mirror", "version-2-before-kinds");  // of which `dma.bandwidth.block_seconds` had another name
  const std::string named = "target sw26010 xxh64:bbd7c846a9ac3334";
  REQUIRE(read_text("old/src/main.c").find(named) != std::string::npos);
  CHECK(run_stowage({"explain", "old"}).out.find(named) != std::string::npos);
}

TEST_CASE("an early folder of version 2 and one of today are compared", "[old_folders]") {
  const Workplace here;
  const EarlyFolder folder = early_folder();
  CAPTURE(folder.writer, folder.network);
  bring(folder.network, folder.writer);
  std::vector<std::string> compile = {"compile", folder.network + ".onnx", "-o", "new"};
  compile.insert(compile.end(), folder.options.begin(), folder.options.end());
  REQUIRE(run_stowage(compile).code == 0);
  const ToolRun differing = run_stowage({"diff", "old", "new"});
  INFO(differing.out << differing.err);
  CHECK(differing.code == 0);
  CHECK(json_of({"diff", "old", "new", "--json"}).is_object());
  CHECK(json_of({"diff", "new", "old", "--json"}).is_object());
}

TEST_CASE("an early folder of version 2 runs and agrees with the reference", "[old_folders]") {
  const Workplace here;
  const EarlyFolder folder = early_folder();
  CAPTURE(folder.writer, folder.network);
  bring(folder.network, folder.writer);
  // What its own sources compute, where they have today's names, else what is emitted from its nests.
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run", "old", "--check", "--changed-sources"},
                                             {"run", "old", "--check", "--op",
                                              folder.network == "mirror"   ? "softmax"
                                              : folder.network == "matmul" ? "matmul"
                                                                           : "ip1"}}) {
    const ToolRun run = run_stowage(command);
    INFO(run.out << run.err);
    CHECK(run.code == 0);
    CHECK(run.out.find(" with the reference") != std::string::npos);
  }
}

TEST_CASE("words of version 1 are read in version 1 alone", "[old_folders]") {
  const Workplace here;
  bring("inception");
  std::string text = read_text("old/plan.json");
  const std::string version = "\"version\": 1";
  text.replace(text.find(version), version.size(), "\"version\": 2");
  write_text("old/plan.json", text);
  const ToolRun today = run_stowage({"explain", "old"});
  CHECK(today.code == 1);
  CHECK(today.err.find("there is no role 'sibling'") != std::string::npos);
  text.replace(text.find("\"version\": 2"), version.size(), "\"version\": 3");
  write_text("old/plan.json", text);
  const ToolRun later = run_stowage({"explain", "old"});
  CHECK(later.code == 1);
  CHECK(later.err.find("its version is 3, this tool reads versions 1 to 2") != std::string::npos);
}

}  // namespace
}  // namespace stowage::test
