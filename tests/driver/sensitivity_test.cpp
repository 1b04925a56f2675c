// SPDX-License-Identifier: Apache-2.0
// `stowage sensitivity`: the curve of a plan's network over one value of its target, knees and what changes there.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/batch/knees.h"
#include "driver/diff/plan_diff.h"
#include "driver/page/scene_svg.h"
#include "driver/sensitivity/curve.h"
#include "driver/sensitivity/curve_page.h"
#include "driver/store/plan_file.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

ToolRun sensitivity_of(std::vector<std::string> options) {
  options.insert(options.begin(), {"sensitivity", "plan", "--cost-cache", "none"});
  return run_stowage(options);
}

nlohmann::json curve_of(std::vector<std::string> options) {
  options.emplace_back("--json");
  const ToolRun run = sensitivity_of(std::move(options));
  INFO(run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace

TEST_CASE("a curve bends where a change is followed by less than half of it, or by the opposite") {
  using Places = std::vector<std::size_t>;
  CHECK(knees_of({}).empty());
  CHECK(knees_of({100, 50}).empty());                      // what follows is not known
  CHECK(knees_of({1000, 500, 499, 498}) == Places{1});     // it falls no more
  CHECK(knees_of({1000, 500, 250, 125}).empty());          // it falls on as it did
  CHECK(knees_of({1000, 800, 720, 700}) == Places{1, 2});  // 20 %, 10 %, 3 %
  CHECK(knees_of({1000, 992, 992}).empty());               // less than 1 %
  CHECK(knees_of({1000, 1000, 500, 500}) == Places{2});    // a step
  CHECK(knees_of({500, 400, 440, 484}) == Places{1});      // the lowest point
  CHECK(knees_of({0, 5, 5}).empty());                      // of nothing there is no part
}

TEST_CASE("every point of a curve is what compile gives for that value") {
  const Workplace here;
  compile_lenet("plan", {"--fusion", "greedy", "--planner", "swtvm", "--set", "target.cores.count=16"});
  const auto curve = curve_of({"--key", "target.ldm.bytes", "--from", "16384", "--to", "131072"});
  CHECK(curve.at("fusion") == "greedy");
  CHECK(curve.at("planner") == "swtvm");
  CHECK(curve.at("own_value") == 65536);
  REQUIRE(curve.at("points").size() == 4);
  for (const auto& point : curve.at("points")) {
    const auto bytes = point.at("value").get<std::int64_t>();
    const ToolRun run = run_stowage({"compile", "lenet.onnx", "--fusion", "greedy", "--planner", "swtvm", "--set",
                                     "target.cores.count=16", "--set", "target.ldm.bytes=" + std::to_string(bytes),
                                     "--cost-cache", "none", "--json"});
    REQUIRE(run.code == 0);
    const auto compiled = nlohmann::json::parse(run.out);
    INFO(bytes);
    for (const char* key : {"groups", "kernels", "dma_transfers", "dma_bytes", "ldm_peak_bytes", "cycles", "time_s"}) {
      CHECK(point.at(key) == compiled.at(key));
    }
  }
}

TEST_CASE("a curve is the same without the model, and the model is needed where tensors may lie elsewhere") {
  const Workplace here;
  compile_lenet("plan");
  const std::vector<std::string> options = {"--key", "ldm.bytes", "--from", "32768",
                                            "--to",  "65536",     "--step", "16384"};
  const auto with_model = curve_of(options);
  fs::remove("lenet.onnx");
  CHECK(curve_of(options) == with_model);
  const ToolRun run = sensitivity_of({"--key", "dma.alignment", "--from", "4", "--to", "8"});
  CHECK(run.code == 1);
  CHECK_THAT(run.err,
             Catch::Contains("the model lenet.onnx is not there as it was") && Catch::Contains("[model-gone]"));
}

TEST_CASE("knees are told with what neighbouring plans do otherwise, and refused values with the reason") {
  const Workplace here;
  compile_lenet("plan");
  const std::vector<std::string> options = {"--key", "target.ldm.bytes", "--from", "6144", "--to", "98304"};
  const ToolRun run = sensitivity_of(options);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  CHECK_THAT(run.out,
             Catch::StartsWith("stowage ") &&
                 Catch::Contains("| stowage sensitivity plan --key target.ldm.bytes --from 6144 --to 98304 |"));
  CHECK_THAT(run.out, Catch::Contains("\nno plan at 6 KiB: "));
  const auto curve = curve_of(options);
  CHECK(curve.at("points").size() == 5);
  CHECK(curve.at("points")[0].contains("refused"));
  REQUIRE_FALSE(curve.at("knees").empty());
  // The words are those of the two plans, compared as `diff` does.
  for (const auto& knee : curve.at("knees")) {
    std::vector<Compilation> sides;
    for (const char* side : {"before", "value"}) {
      const std::string folder = std::to_string(knee.at(side).get<std::int64_t>());
      if (!fs::exists(folder)) {
        REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", folder, "--set", "target.ldm.bytes=" + folder,
                             "--cost-cache", "none"})
                    .code == 0);
      }
      Diagnostics diagnostics;
      auto side_plan = read_compilation(folder, diagnostics);
      REQUIRE(side_plan);
      sides.push_back(*std::move(side_plan));
    }
    const PlanDiff diff = diff_programs(sides[0].program, sides[1].program);
    const std::string words = knee.at("words");
    INFO(words);
    CHECK_THAT(words, Catch::StartsWith("at ") && Catch::EndsWith(change_words(diff)));
    CHECK_THAT(words, Catch::Contains(" KiB " + gains_text(diff.before.totals, diff.after.totals) + " than at "));
    CHECK_THAT(run.out, Catch::Contains(words));
  }
}

TEST_CASE("a page and a table are written whole, and the page's picture is well formed") {
  const Workplace here;
  compile_lenet("plan", {"--planner", "swtvm"});
  const std::vector<std::string> options = {"--key", "target.ldm.bytes", "--from", "6144", "--to", "98304"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return sensitivity_of(more);
  };
  CHECK(with({"-o", "curve.csv"}).code == 0);
  const std::string table = read_text("curve.csv");
  CHECK_THAT(table, Catch::StartsWith("value,groups,kernels,dma_transfers,dma_bytes,ldm_peak_bytes,cycles,time_s,knee,"
                                      "changes,refused\r\n6144,,,"));
  CHECK(std::count(table.begin(), table.end(), '\n') == 6);
  CHECK(with({"-o", "curve.html"}).code == 0);
  const std::string page = read_text("curve.html");
  CHECK_THAT(page, Catch::Contains("<h1>lenet against target.ldm.bytes</h1>") && Catch::Contains("<h2>Knees</h2>"));
  CHECK(page.find("http://") == std::string::npos);  // it loads nothing
  const std::size_t svg = page.find("<svg");
  CHECK(malformed(page.substr(svg, page.find("</svg>") + 6 - svg)) == "");
  CHECK(with({"-o", "curve.html"}).code == 1);  // it is there
  CHECK(with({"-o", "curve.html", "--force"}).code == 0);
  CHECK(read_text("curve.html") == page);
}

TEST_CASE("a plan that its options do not give any more is warned of") {
  const Workplace here;
  write_text("by-hand.toml", "[schedule.conv2]\nbuffer = { rc = 2 }\n");
  compile_lenet("plan", {"--planner", "swtvm", "--schedule", "by-hand.toml"});
  const std::vector<std::string> options = {"--key", "target.ldm.bytes", "--from", "65536", "--to", "65536"};
  CHECK_THAT(sensitivity_of(options).err, Catch::Contains("another plan today than this one") &&
                                              Catch::Contains("[plan-differs]") && Catch::Contains("--schedule"));
  std::vector<std::string> fixed = options;
  fixed.insert(fixed.end(), {"--schedule", "by-hand.toml"});
  CHECK(sensitivity_of(fixed).err.empty());
  // The plan's own value need not be on the curve.
  CHECK_THAT(sensitivity_of({"--key", "target.ldm.bytes", "--from", "32768", "--to", "32768"}).err,
             Catch::Contains("[plan-differs]"));
}

TEST_CASE("every wrong use of sensitivity is told") {
  const Workplace here;
  compile_lenet("plan", {"--planner", "swtvm"});
  struct Wrong {
    std::vector<std::string> options;
    int code;
    std::string told;
  };
  const auto range = [](const std::string& from, const std::string& to, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--key", "target.ldm.bytes", "--from", from, "--to", to});
    return more;
  };
  const std::vector<Wrong> table = {
      {{"--key", "target.ldm.byte", "--from", "1", "--to", "2"}, 2, "did you mean 'target.ldm.bytes'?"},
      {{"--key", "ldm.byts", "--from", "1", "--to", "2"}, 2, "did you mean 'target.ldm.bytes'?"},
      {{"--key", "target.name", "--from", "1", "--to", "2"}, 2, "target 'sw26010' has no number 'target.name'"},
      {{"--from", "1", "--to", "2"}, 2, "--key is required"},
      {{"--key", "target.ldm.bytes", "--to", "2"}, 2, "--from is required"},
      {range("4096", "1024"), 2, "ends at 1024 before its beginning 4096 [wrong-range]"},
      {range("1024", "4096", {"--factor", "1"}), 2, "with a 'factor' wants one more than 1"},
      {range("1024", "4096", {"--factor", "0.5"}), 2, "with a 'factor' wants one more than 1"},
      {range("0", "4096"), 2, "a 'from' more than 0"},
      {range("1024", "4096", {"--step", "0"}), 2, "has a 'step' that is not more than 0"},
      {range("1024", "4096", {"--step", "-8"}), 2, "has a 'step' that is not more than 0"},
      {range("1024", "4096", {"--step", "8", "--factor", "2"}), 2, "--step does not go with --factor"},
      {range("64KiB", "4096"), 2, "'64KiB' is no number [wrong-type]"},
      {range("1e", "4096"), 2, "--from 1e --to 4096 --factor 2: error: "},
      {range("1024", "4096", {"--step", "1"}), 2,
       "these are 3 073 values, at most 1 000 are compiled for [too-many-values]"},
      {range("1", "1e9", {"--step", "1"}), 2, "has more than 1000000 values [wrong-range]"},
      {range("1", "5000"), 1, "there is no plan for any value of target.ldm.bytes"},
      {range("65536", "65536", {"-o", "curve.txt"}), 2, "'curve.txt' ends neither in .html nor in .csv"},
      {range("65536", "65536", {"--force"}), 2, "--force has no meaning without -o"},
      {range("65536", "65536", {"--schedule", "none.toml"}), 1, "none.toml"},
  };
  for (const Wrong& wrong : table) {
    const ToolRun run = sensitivity_of(wrong.options);
    INFO(wrong.told << "\n" << run.err);
    CHECK(run.code == wrong.code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::Contains(wrong.told));
  }
  const ToolRun nowhere = run_stowage({"sensitivity", "nowhere", "--key", "ldm.bytes", "--from", "1", "--to", "2"});
  CHECK(nowhere.code == 1);
  CHECK_THAT(nowhere.err, Catch::Contains("nowhere/plan.json"));
  fs::create_directory("empty");
  CHECK(run_stowage({"sensitivity", "empty", "--key", "ldm.bytes", "--from", "1", "--to", "2"}).code == 1);
}

}  // namespace stowage::test
