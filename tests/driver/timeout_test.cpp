// SPDX-License-Identifier: Apache-2.0
// `stowage batch --timeout` and `compile --time-limit`: what a clock decided says so and is not taken for complete;
// what it did not decide is the same bytes.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/time_limit.h"
#include "driver/session/session.h"
#include "fusion/strategies/fuse_candidates.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a time limit stops by itself, with what is around it, or not at all") {
  const auto is_stopped_soon = [](const std::stop_token& token) {
    for (int i = 0; i < 3000 && !token.stop_requested(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return token.stop_requested();
  };
  std::stop_source outer;
  const TimeLimit soon(0.01, outer.get_token());
  CHECK(is_stopped_soon(soon.token()));
  CHECK_FALSE(outer.stop_requested());
  const TimeLimit late(1e9, outer.get_token());
  CHECK_FALSE(late.token().stop_requested());
  outer.request_stop();
  CHECK(late.token().stop_requested());
}

/// A cost for which time is over when it comes to groups of several operators.
class LateCost : public GroupCost {
 public:
  Answer cost(const Graph&, const FusedOperator& group) const override {
    if (group.operators.size() > 1) return {{false, "stopped", "stopped", {}}, 0};
    return {Decision::allow(), 100};
  }
};

TEST_CASE("groups that were not planned in time are refused, and nothing is called proved") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  Diagnostics diagnostics;
  const auto graph = import_onnx("lenet.onnx", {}, diagnostics);
  REQUIRE(graph);
  const LateCost cost;
  for (const std::string& name : strategy_names()) {
    INFO(name);
    const Strategy& strategy = *find_strategy(name);
    CandidateSet set = find_candidate_groups(*graph, built_in_templates(), &cost, {});
    const std::int64_t late = refuse_out_of_time(set);
    CHECK(late > 0);
    const Fusion fusion = fuse_candidates(set, strategy, {});
    for (const FusedOperator& group : fusion.fused.groups) CHECK(group.operators.size() == 1);
    CHECK(groups_out_of_time(fusion.record) == late);
    CHECK_FALSE(is_proved(fusion.record));
    if (!fusion.record.search) continue;
    CHECK(proof_text(fusion.record, fusion.record.totals.front().cycles) ==
          "the best of the partitions into the " + std::to_string(fusion.fused.groups.size()) +
              " groups that were planned within the time limit; " + std::to_string(late) + " more were not");
  }
}

struct Outcome {
  int code = 0;
  nlohmann::json row;
  std::string line;
};

Outcome batch_within(const std::string& seconds) {
  fs::remove_all("out");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--timeout", seconds});
  const std::string line = read_text("out/results.jsonl");
  return {run.code, nlohmann::json::parse(line), line};
}

TEST_CASE("a job has its plan, the best that was found in time, or none, and says which") {
  const Workplace here;
  write_text("jobs.toml", "[[job]]\nname = \"g\"\nnetwork = \"lenet\"\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "whole"}).code == 0);
  const std::string whole = read_text("whole/results.jsonl");

  const Outcome none = batch_within("0.001");
  CHECK(none.code == 1);
  CHECK(none.row.at("status") == "failed");
  CHECK(none.row.at("out_of_time") == 0.001);
  CHECK(none.row.at("diagnostics").at(0).at("code") == "out-of-time");
  CHECK_FALSE(fs::exists("out/g"));

  const Outcome all = batch_within("1e6");
  CHECK(all.code == 0);
  CHECK(all.line == whole);
  CHECK(read_text("out/g/plan.json") == read_text("whole/g/plan.json"));

  // Between the two there is a time that is enough for operators alone and not for all groups. The machine may be busy
  // at one moment and idle at the next, so no try rules out others.
  double seconds = 0.2;
  Outcome some;
  for (int i = 0; i < 100 && !(some.code == 0 && some.row.contains("out_of_time")); ++i) {
    some = batch_within(std::to_string(seconds));
    INFO(seconds << ": " << some.line);
    if (some.code != 0) {
      CHECK(some.row.at("diagnostics").at(0).at("code") == "out-of-time");
      seconds *= 1.5;
    } else if (!some.row.contains("out_of_time")) {
      CHECK(some.line == whole);
      seconds *= 0.8;
    }
  }
  REQUIRE(some.row.contains("out_of_time"));
  CHECK(some.row.at("summary") == "compiled, out of time");
  CHECK(some.row.at("diagnostics").at(0).at("code") == "out-of-time");
  CHECK(read_text("out/g/report.md").find("--timeout") != std::string::npos);
  const auto cycles = nlohmann::json::parse(whole).at("cycles").get<std::int64_t>();
  CHECK(some.row.at("cycles").get<std::int64_t>() >= cycles);

  // With as little time or less it stays, with more it is done again, and is complete then.
  const std::string same = std::to_string(some.row.at("out_of_time").get<double>());
  for (const std::string& less : {same, std::string("0.001")}) {
    CHECK(run_stowage({"batch", "jobs.toml", "-o", "out", "--timeout", less}).code == 0);
    CHECK(read_text("out/results.jsonl") == some.line);
  }
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  CHECK(read_text("out/results.jsonl") == whole);
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out", "--timeout", "0.001"}).code == 0);
  CHECK(read_text("out/results.jsonl") == whole);
}

TEST_CASE("a limit of time ends the search within one group, with the best plan that it has found") {
  const Workplace here;
  // A network of one operator, for whose plan nearly all of the time goes. Its simulation would end with the search.
  const std::string cost = GENERATE("closed", "simulated");
  CAPTURE(cost);
  write_text("jobs.toml", "[[job]]\nname = \"g\"\nnetwork = \"matmul\"\nbatch = 1000\ncost = \"" + cost + "\"\n");
  const Outcome whole = batch_within("1e6");
  REQUIRE(whole.code == 0);
  CHECK_FALSE(whole.row.contains("out_of_time"));
  Outcome cut;
  for (double seconds = 0.5; seconds > 0.001 && !(cut.code == 0 && cut.row.contains("out_of_time")); seconds *= 0.8) {
    cut = batch_within(std::to_string(seconds));
  }
  INFO(cut.line);
  REQUIRE(cut.code == 0);
  REQUIRE(cut.row.contains("out_of_time"));
  CHECK(cut.row.at("summary") == "compiled, out of time");
  CHECK(cut.row.at("cycles").get<std::int64_t>() >= whole.row.at("cycles").get<std::int64_t>());
  CHECK_FALSE(cut.row.at("search").at("proved").get<bool>());
  CHECK(cut.row.at("search").at("over").get<std::string>().find("; of 1 operator the search was cut short") !=
        std::string::npos);
  const std::string report = read_text("out/g/report.md");
  INFO(report);
  CHECK(report.find("proved best") == report.find("not proved best") + 4);
  CHECK(report.find("1 group not looked at to the end") != std::string::npos);
  // The plan's folder says the same when it is read again.
  CHECK(run_stowage({"report", "out/g", "-o", "again.md"}).code == 0);
  CHECK(read_text("out/g/trace.json").find("\"cut_short\":true") != std::string::npos);
}

TEST_CASE("compile has the best plan that was found in time, or none, and says which") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  const auto compiled = [](const std::vector<std::string>& more) {
    std::vector<std::string> line = {"compile", "lenet.onnx", "--planner", "optimal", "-o", "out", "--force"};
    line.insert(line.end(), more.begin(), more.end());
    return run_stowage(line);
  };
  REQUIRE(compiled({}).code == 0);
  const std::string whole = read_text("out/plan.json");
  REQUIRE(compiled({"--time-limit", "1e6"}).code == 0);
  CHECK(read_text("out/plan.json") == whole);
  const ToolRun none = compiled({"--time-limit", "0.001"});
  CHECK(none.code == 1);
  CHECK(none.err.find("out-of-time") != std::string::npos);

  // The chosen groups are planned last; the machine may be busy at one moment and idle at the next.
  ToolRun cut;
  const auto is_cut = [&] { return cut.code == 0 && cut.err.find("chosen group") != std::string::npos; };
  double seconds = 1;
  for (int i = 0; i < 100 && !is_cut(); ++i) {
    cut = compiled({"--time-limit", std::to_string(seconds)});
    const bool late = cut.code != 0 || cut.err.find("out-of-time") != std::string::npos;
    seconds *= late ? 1.1 : 0.8;
  }
  INFO(cut.out << cut.err);
  REQUIRE(is_cut());
  CHECK(cut.err.find("not looked at to the end") != std::string::npos);
  CHECK(cut.out.find(" --time-limit ") != std::string::npos);
  CHECK(cut.out.find(" above the optimum") != std::string::npos);
  const auto plan = nlohmann::json::parse(read_text("out/plan.json"));
  CHECK(plan.dump().find("\"ended\":\"time\"") != std::string::npos);
}

TEST_CASE("candidates that were refused and those that were cut short are counted together") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  Diagnostics diagnostics;
  const auto graph = import_onnx("lenet.onnx", {}, diagnostics);
  REQUIRE(graph);
  const LateCost cost;
  CandidateSet set = find_candidate_groups(*graph, built_in_templates(), &cost, {});
  CHECK(set.all_matched);
  const auto is_late = [](const CandidateGroup& candidate) {
    return !candidate.refusals.empty() && candidate.refusals.front().rule == "stopped";
  };
  const auto late = std::count_if(set.candidates.begin(), set.candidates.end(), is_late);
  REQUIRE(late > 0);
  std::int64_t cut = 0;
  for (CandidateGroup& candidate : set.candidates) {
    candidate.cut_short = candidate.allowed() && candidate.cycles > 0 && cut < 2;
    cut += candidate.cut_short ? 1 : 0;
  }
  REQUIRE(cut == 2);
  CHECK(refuse_out_of_time(set) == late + cut);
  const Fusion fusion = fuse_candidates(set, *find_strategy("exact"), {});
  CHECK(groups_out_of_time(fusion.record) == late + cut);
  CHECK_FALSE(is_proved(fusion.record));
  const std::string text = proof_text(fusion.record, fusion.record.totals.front().cycles);
  CHECK(text.find(std::to_string(late) + " more were not, and of 2 operators the search was cut short") !=
        std::string::npos);

  std::stop_source over;
  over.request_stop();
  CHECK_FALSE(find_candidate_groups(*graph, built_in_templates(), &cost, {}, over.get_token()).all_matched);
}

TEST_CASE("a limit of time ends the reading of the model as well") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "-o", "resnet18.onnx"}).code == 0);
  write_text("jobs.toml", "[[job]]\nname = \"g\"\nmodel = \"resnet18.onnx\"\n");
  const Outcome late = batch_within("0.001");
  INFO(late.line);
  CHECK(late.code == 1);
  CHECK(late.row.at("status") == "failed");
  CHECK(late.row.at("out_of_time") == 0.001);
  CHECK(late.row.at("summary") == "the time limit was over before the model was read");
  CHECK(late.row.at("diagnostics").size() == 1);
  CHECK(late.row.at("diagnostics").at(0).at("code") == "out-of-time");
}

TEST_CASE("what is not said to be cut short is whole, also of a strategy that needs no groups") {
  const Workplace here;
  write_text("jobs.toml", "[[job]]\nname = \"g\"\nnetwork = \"lenet\"\nfusion = \"none\"\n");
  const Outcome whole = batch_within("1e6");
  REQUIRE(whole.code == 0);
  const std::string plan = read_text("out/g/plan.json");
  const std::string trace = read_text("out/g/trace.json");
  REQUIRE(plan.find("\"others\"") != std::string::npos);
  // From enough for the operators alone to enough for all.
  int done = 0;
  Outcome cut;
  for (double seconds = 0.02; done < 3 && seconds < 100; seconds *= 1.2) {
    const Outcome some = batch_within(std::to_string(seconds));
    INFO(seconds << ": " << some.line);
    if (some.code != 0) continue;
    if (some.row.contains("out_of_time")) {
      cut = some;
      CHECK(some.row.at("summary") == "compiled, out of time");
      // With more time it is done again.
      CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
    } else {
      ++done;
    }
    CHECK(read_text("out/results.jsonl") == whole.line);
    CHECK(read_text("out/g/plan.json") == plan);
    CHECK(read_text("out/g/trace.json") == trace);
  }
  CHECK(done == 3);
  CHECK(cut.code == 0);
  CHECK(cut.row.contains("out_of_time"));
}

TEST_CASE("a group by hand that was not planned in time is told as that") {
  const Workplace here;
  write_text("jobs.toml",
             "[[job]]\nname = \"g\"\nnetwork = \"lenet\"\n[[job.group]]\noperators = [\"conv1\", \"pool1\"]\n");
  const Outcome late = batch_within("0.001");
  INFO(late.line);
  CHECK(late.code == 1);
  for (const auto& diagnostic : late.row.at("diagnostics")) {
    CHECK(diagnostic.at("code") == "out-of-time");
    CHECK(diagnostic.at("help").get<std::string>().find("give it more time") == 0);
  }
  CHECK_FALSE(late.row.at("diagnostics").empty());
}

TEST_CASE("times that are no positive number of seconds are usage errors") {
  for (const std::string wrong : {"0", "-1", "soon", "nan", "inf", "1e10", "1s"}) {
    const ToolRun run = run_stowage({"batch", "jobs.toml", "--timeout", wrong});
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(run.err.find("error: --timeout: '" + wrong + "' is no number of seconds from 0.001 to 1000000000 [usage]") ==
          0);
  }
  CHECK(run_stowage({"batch", "--merge", "x", "--timeout", "1"}).code == 2);
}

}  // namespace
}  // namespace stowage::test
