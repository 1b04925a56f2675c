// SPDX-License-Identifier: Apache-2.0
// `stowage simulate`: what it prints, and that its figures go together.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

std::int64_t sum_of_parts(const nlohmann::json& row) {
  std::int64_t sum = 0;
  for (const auto& part : row["parts"]) sum += part["cycles"].get<std::int64_t>();
  return sum;
}

/// Terms sum up to both times, and the launch is the same in both.
void check_terms(const nlohmann::json& row) {
  std::int64_t closed = 0;
  std::int64_t simulated = 0;
  for (const auto& term : row["terms"]) {
    closed += term["closed_form_cycles"].get<std::int64_t>();
    simulated += term["simulated_cycles"].get<std::int64_t>();
    if (term["term"] == "launch") CHECK(term["closed_form_cycles"] == term["simulated_cycles"]);
  }
  CHECK(row["terms"].size() == 4);
  CHECK(row["closed_form_cycles"] == closed);
  CHECK(row["cycles"] == simulated);
}

TEST_CASE("a plan in time: the text, which is the example of docs/simulation.md") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("simulate-lenet.txt", run.out));
  const std::string page = read_text(source_folder() / "docs/simulation.md");
  CHECK(page.find("$ stowage simulate lenet\n" + run.out.substr(run.out.find("\n\n") + 2) + "```\n") !=
        std::string::npos);
}

TEST_CASE("one fused operator in time, statement by statement") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--op", "pool1"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("simulate-lenet-pool1.txt", run.out));

  const ToolRun unknown = run_stowage({"simulate", "lenet", "--op", "pool3"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err ==
        "error: no fused operator 'pool3' is launched [unknown-fused-operator]\n  help: did you mean 'pool1'?\n");
}

TEST_CASE("the figures of a simulation go together") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  const auto compiled = nlohmann::json::parse(run_stowage({"compile", "lenet.onnx", "--json"}).out);
  CHECK(json["closed_form_cycles"] == compiled["cycles"]);
  CHECK(json["dma_bytes"] == compiled["dma_bytes"]);
  CHECK(json["flops"] == compiled["flops"]);
  std::int64_t cycles = 0;
  std::int64_t within = 0;
  double worst = 0;
  for (const auto& row : json["fused_operators"]) {
    INFO(row["name"]);
    CHECK(sum_of_parts(row) == row["cycles"]);
    const double simulated = row["cycles"];
    const double error = (row["closed_form_cycles"].get<double>() - simulated) / simulated;
    CHECK(row["closed_form_error"].get<double>() == Approx(error));
    within += std::abs(error) <= 0.1 ? 1 : 0;
    worst = std::max(worst, std::abs(error));
    cycles += row["cycles"].get<std::int64_t>();
    check_terms(row);
    for (const auto& engine : row["engines"]) CHECK(engine["busy_share"].get<double>() <= 1);
  }
  check_terms(json);
  CHECK(json["cycles"] == cycles);
  CHECK(sum_of_parts(json) == cycles);
  CHECK(json["fused_operators_within_10_percent"] == within);
  for (const auto& row : json["fused_operators"]) {
    if (row["name"] == json["worst"]) CHECK(std::abs(row["closed_form_error"].get<double>()) == worst);
  }
}

TEST_CASE("predicted, simulated and emulated counts are the same") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--emulate", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  REQUIRE(json["counts"].size() == 4);
  for (const auto& row : json["counts"]) {
    INFO(row["count"]);
    CHECK(row["predicted"].get<std::int64_t>() > 0);
    CHECK(row["predicted"] == row["emulated"]);
    if (row.contains("simulated")) CHECK(row["simulated"] == row["predicted"]);
  }
  const ToolRun text = run_stowage({"simulate", "lenet", "--emulate"});
  CHECK(text.out.find("| of all cores              | predicted | simulated |  emulated |") != std::string::npos);
  const ToolRun alone = run_stowage({"simulate", "lenet"});
  CHECK(alone.out.find("emulated") == std::string::npos);
}

/// What the trace event format demands of a file, and of its events together. Says how many of each phase there are.
std::map<std::string, int> check_trace(const nlohmann::json& file) {
  REQUIRE(file.is_object());
  REQUIRE(file["displayTimeUnit"] == "ns");
  REQUIRE(file["traceEvents"].is_array());
  std::map<std::string, int> phases;
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>>
      slices;  // ns, by process and thread
  std::map<std::int64_t, std::vector<nlohmann::json>> flows;
  std::set<std::pair<int, int>> named;
  const auto nanoseconds = [](const nlohmann::json& time) { return std::llround(time.get<double>() * 1000); };
  for (const auto& event : file["traceEvents"]) {
    const std::string phase = event["ph"];
    ++phases[phase];
    REQUIRE(event["pid"].is_number_integer());
    REQUIRE(event["name"].is_string());
    if (phase == "M") {
      REQUIRE(event["args"].is_object());
      if (event["name"] == "thread_name") named.emplace(event["pid"], event["tid"]);
      continue;
    }
    REQUIRE(event["tid"].is_number_integer());
    REQUIRE(event["ts"].is_number());
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    if (phase == "X") {
      const std::int64_t from = nanoseconds(event["ts"]);
      slices[thread].emplace_back(from, from + nanoseconds(event["dur"]));
      REQUIRE(event["dur"].get<double>() >= 0);
    } else if (phase == "s" || phase == "f") {
      flows[event["id"].get<std::int64_t>()].push_back(event);
    } else {
      REQUIRE(phase == "C");
      REQUIRE(event["args"]["value"].is_number());
    }
  }
  for (auto& [thread, all] : slices) {
    REQUIRE((named.contains(thread) || thread.second == 0));
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) REQUIRE(all[i].first >= all[i - 1].second);
  }
  const auto lies_in_slice = [&](const nlohmann::json& event) {
    const auto& all = slices[{event["pid"], event["tid"]}];
    const std::int64_t at = nanoseconds(event["ts"]);
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.first <= at && at <= s.second; });
  };
  for (const auto& [id, ends] : flows) {
    REQUIRE(ends.size() == 2);
    REQUIRE(ends[0]["ph"] == "s");
    REQUIRE(ends[1]["ph"] == "f");
    REQUIRE(ends[0]["ts"].get<double>() <= ends[1]["ts"].get<double>());
    REQUIRE(lies_in_slice(ends[0]));
    REQUIRE(lies_in_slice(ends[1]));
  }
  return phases;
}

TEST_CASE("a trace holds every event, as the trace event format has it") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--trace", "lenet.json", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto told = nlohmann::json::parse(run.out);
  const std::string text = read_text("lenet.json");
  const auto file = nlohmann::json::parse(text);
  CHECK(file["otherData"]["origin"].get<std::string>().find("stowage compile lenet.onnx") != std::string::npos);
  std::map<std::string, int> phases = check_trace(file);
  CHECK(phases["X"] == told["trace"]["slices"]);
  const std::string page = read_text(source_folder() / "docs/simulation.md");
  CHECK(page.find(fmt::format("LeNet's trace has {} slices", phases["X"])) != std::string::npos);
  CHECK(phases["s"] > 0);
  CHECK(phases["s"] == phases["f"]);
  CHECK(phases["C"] > 0);
  // The time of all: the steps one behind another.
  double last = 0;
  double computing = 0;
  for (const auto& event : file["traceEvents"]) {
    if (event["ph"] != "X") continue;
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
    if (event["cat"] == "compute") computing += event["dur"].get<double>();
  }
  CHECK(std::abs(last * 1e3 - told["time_s"].get<double>() * 1e9) <= 0.5);  // nanoseconds
  for (const auto& engine : told["engines"]) {
    if (engine["engine"] == "cores")
      CHECK(computing * 1.45e3 == Approx(engine["busy_cycles"].get<double>()).epsilon(0.01));
  }

  REQUIRE(run_stowage({"simulate", "lenet", "--trace", "lenet.json.gz"}).code == 0);
  REQUIRE(std::system("gzip -d < lenet.json.gz > unpacked.json") == 0);
  CHECK(read_text("unpacked.json") == text);
  CHECK(read_text("lenet.json.gz").size() * 4 < text.size());

  const ToolRun again = run_stowage({"simulate", "lenet", "--trace", "lenet.json"});
  CHECK(again.code == 1);
  CHECK(again.err.find("[output-exists]") != std::string::npos);
  CHECK(run_stowage({"simulate", "lenet", "--trace", "lenet.json", "--force", "--op", "ip1"}).code == 0);
  CHECK(check_trace(nlohmann::json::parse(read_text("lenet.json")))["X"] < phases["X"]);
  CHECK(run_stowage({"simulate", "lenet", "--force"}).code == 2);
}

/// A schedule whose operator ip1 has one core load for all.
const std::string loaded_together = R"([schedule.ip1]
order = ["ko"]
buffer = { k = 160, x = 1, y_block = 4, y_lane = 4 }
slots = { ip1_weight_transposed = 2 }
sharing = { flatten = "mesh" }
resident = { flatten = ["k"] }
)";

TEST_CASE("a trace of cores that load together has their barriers") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  write_text("together.toml", loaded_together);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "together", "--schedule", "together.toml"}).code == 0);
  REQUIRE(read_text("together/plan.json").find(" of mesh") != std::string::npos);
  const ToolRun run = run_stowage({"simulate", "together", "--trace", "together.json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const std::string text = read_text("together.json");
  check_trace(nlohmann::json::parse(text));
  CHECK(text.find("\"wait at barrier\"") != std::string::npos);
}

TEST_CASE("whether transfers queue up is for who asks to say") {
  const Workplace here;
  compile_lenet();
  const auto shared = nlohmann::json::parse(run_stowage({"simulate", "lenet", "--json"}).out);
  const auto same = nlohmann::json::parse(run_stowage({"simulate", "lenet", "--dma-order", "shared", "--json"}).out);
  CHECK(same == shared);
  const auto queued = nlohmann::json::parse(run_stowage({"simulate", "lenet", "--dma-order", "queued", "--json"}).out);
  CHECK(queued["command"] == "stowage simulate lenet --dma-order queued");
  CHECK(queued["dma_bytes"] == shared["dma_bytes"]);
  CHECK(queued["events"] == shared["events"]);
  // What is waited for does not share with the next trip's, of which ip1 has some in this plan.
  write_text("kept.toml", loaded_together);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "kept", "--schedule", "kept.toml"}).code == 0);
  const auto kept = nlohmann::json::parse(run_stowage({"simulate", "kept", "--json"}).out);
  const auto kept_queued =
      nlohmann::json::parse(run_stowage({"simulate", "kept", "--dma-order", "queued", "--json"}).out);
  const auto cycles_of_ip1 = [](const nlohmann::json& simulated) {
    std::int64_t cycles = 0;
    for (const auto& step : simulated["fused_operators"]) {
      if (step["name"] == "ip1") cycles = step["cycles"].get<std::int64_t>();
    }
    return cycles;
  };
  REQUIRE(cycles_of_ip1(kept_queued) > 0);
  CHECK(cycles_of_ip1(kept_queued) < cycles_of_ip1(kept));
  CHECK(run_stowage({"simulate", "lenet", "--dma-order", "fair"}).code == 2);
}

TEST_CASE("a folder that is not there is told as by other commands") {
  const Workplace here;
  const ToolRun missing = run_stowage({"simulate", "nowhere"});
  CHECK(missing.code == 1);
  CHECK(missing.err == run_stowage({"explain", "nowhere"}).err);
}

}  // namespace
}  // namespace stowage::test
