// SPDX-License-Identifier: Apache-2.0
// `stowage diff`: two compilations of one network, of two networks, for two targets.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/operators.h"
#include "driver/diff/diff_tables.h"
#include "driver/diff/model_error.h"
#include "driver/diff/plan_diff.h"
#include "driver/store/plan_file.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

void compile_sample(const std::string& network, const std::string& folder, std::vector<std::string> options = {}) {
  if (!std::filesystem::exists(network + ".onnx")) {
    REQUIRE(run_stowage({"network", network, "-o", network + ".onnx"}).code == 0);
  }
  std::vector<std::string> arguments = {"compile", network + ".onnx", "-o", folder};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const ToolRun run = run_stowage(arguments);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

PlanDiff diff_of(const std::string& before, const std::string& after) {
  Diagnostics diagnostics;
  const auto a = read_compilation(before, diagnostics);
  const auto b = read_compilation(after, diagnostics);
  REQUIRE((a && b));
  return diff_compilations(*a, *b);
}

/// Every step of both programs stands in exactly one change, and the changes' numbers add up to the totals.
void check_sums(const PlanDiff& diff) {
  PlanNumbers before;
  PlanNumbers after;
  const auto add = [](PlanNumbers& sum, const PlanNumbers& numbers) {
    sum.groups += numbers.groups;
    sum.kernels += numbers.kernels;
    sum.transfers += numbers.transfers;
    sum.operations += numbers.operations;
    sum.bytes += numbers.bytes;
    sum.ldm_bytes = std::max(sum.ldm_bytes, numbers.ldm_bytes);
    sum.cycles += numbers.cycles;
  };
  for (const GroupChange& change : diff.groups) {
    add(before, change.numbers_before);
    add(after, change.numbers_after);
  }
  before.seconds = diff.before.totals.seconds;
  after.seconds = diff.after.totals.seconds;
  CHECK(before == diff.before.totals);
  CHECK(after == diff.after.totals);
}

TEST_CASE("diff tells what fusion changes, as text and as JSON") {
  const Workplace here;
  compile_sample("lenet", "unfused", {"--fusion", "none"});
  compile_sample("lenet", "fused");
  const ToolRun run = run_stowage({"diff", "unfused", "fused"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("diff-lenet.txt", run.out));

  const auto json = nlohmann::json::parse(run_stowage({"diff", "unfused", "fused", "--json"}).out);
  CHECK(json.at("same") == false);
  CHECK(run.out.find(json.at("verdict").get<std::string>()) != std::string::npos);
  // In B the first convolution and its pool are one fused operator, and so are ip1 and its ReLU.
  CHECK(json.at("a").at("totals").at("groups") == 9);
  CHECK(json.at("b").at("totals").at("groups") == 7);
  std::vector<std::vector<std::string>> regrouped;
  for (const auto& row : json.at("groups")) {
    if (row.at("kind") != "regrouped") continue;
    CHECK(row.at("a").size() == 2);
    regrouped.push_back(row.at("b")[0].at("operators").get<std::vector<std::string>>());
  }
  CHECK(regrouped == std::vector<std::vector<std::string>>{{"conv1", "pool1"}, {"ip1", "relu1"}});
  check_sums(diff_of("unfused", "fused"));
  check_sums(diff_of("fused", "unfused"));
}

TEST_CASE("diff says whether the difference is inside the model's error") {
  DiffSide side;
  side.network = "net";
  side.target = "sw26010";
  const auto diff_of = [&](double a, double simulated_a, double b, double simulated_b) {
    PlanDiff diff{side, side, {}, {}};
    diff.before.totals.seconds = a;
    diff.before.simulated_seconds = simulated_a;
    diff.after.totals.seconds = b;
    diff.after.simulated_seconds = simulated_b;
    GroupChange change;
    change.kind = GroupChange::Kind::planned;
    change.before.emplace_back();
    change.after.emplace_back();
    diff.groups.push_back(change);
    return diff;
  };
  // Both met by the simulation: measurements set the error, 3 %.
  const PlanDiff small = diff_of(1.00, 1.00, 0.98, 0.99);
  REQUIRE(difference_error(small));
  CHECK(difference_error(small)->model_error == Approx(0.03));
  CHECK(difference_error(small)->is_inside());
  CHECK(difference_error_text(small) ==
        "In simulation B is 1.0 % faster. The difference is inside the model's error of 3.0 % (closed form against "
        "simulation: 1.0 %, against measurements: 3.0 %): on the machine there may be none, or the other plan may be "
        "faster.");
  const PlanDiff large = diff_of(1.00, 1.00, 0.90, 0.90);
  CHECK_FALSE(difference_error(large)->is_inside());
  CHECK(difference_error_text(large) ==
        "In simulation B is 10.0 % faster. The difference is larger than the model's error of 3.0 % (closed form "
        "against simulation: 0.0 %, against measurements: 3.0 %).");
  // One that the closed form gets wrong sets the error of both.
  const PlanDiff wrong = diff_of(1.00, 1.00, 0.90, 1.10);
  CHECK(difference_error(wrong)->closed_form_error == Approx(1 - 0.90 / 1.10));
  CHECK(difference_error(wrong)->is_inside());
  CHECK(difference_error_text(wrong).starts_with("In simulation B is 10.0 % slower."));

  PlanDiff unknown = small;
  unknown.after.simulated_seconds.reset();
  CHECK_FALSE(difference_error(unknown));
  CHECK(difference_error_text(unknown).empty());
  PlanDiff same = small;
  same.groups.front().kind = GroupChange::Kind::same;
  CHECK_FALSE(difference_error(same));
}

TEST_CASE("a plan does not differ from itself") {
  const Workplace here;
  compile_sample("lenet", "one");
  const ToolRun run = run_stowage({"diff", "one", "one"});
  CHECK(run.code == 0);
  CHECK(run.out.find("\n\nA and B are the same plan\n") != std::string::npos);
  CHECK(run.out.find("7 fused operators are the same in both") != std::string::npos);
  CHECK(diff_of("one", "one").is_same());
}

TEST_CASE("a kernel that a person spawns is told, and runs") {
  const Workplace here;
  compile_sample("lenet", "together");
  write_text("spawn.toml", "[schedule.ip1]\nlaunch = \"spawn\"\n");
  compile_sample("lenet", "apart", {"--schedule", "spawn.toml"});
  const ToolRun run = run_stowage({"diff", "together", "apart"});
  INFO(run.err << run.out);
  CHECK(run.code == 0);
  CHECK(run.out.find("ip1 is spawned by itself") != std::string::npos);
  CHECK(run.out.find("| ip1            | launch   | barrier | spawn |") != std::string::npos);
  CHECK(run_stowage({"run", "apart", "--check", "--level", "strict"}).code == 0);
  const std::string report = read_text("apart/report.md");
  CHECK(report.find("6 in 2 spawns") != std::string::npos);

  write_text("spawn.toml", "[schedule.ip1]\nlaunch = \"spawned\"\n");
  const ToolRun misspelt = run_stowage({"compile", "lenet.onnx", "--schedule", "spawn.toml"});
  CHECK(misspelt.code == 1);
  CHECK(misspelt.err.find("spawn.toml:2:10: error: 'spawned' is not how a kernel begins: \"spawn\" or \"barrier\"") ==
        0);
  CHECK(misspelt.err.find("did you mean 'spawn'?") != std::string::npos);
  write_text("spawn.toml", "[schedule.pool1]\nlaunch = \"barrier\"\n");
  const ToolRun first = run_stowage({"compile", "lenet.onnx", "--schedule", "spawn.toml"});
  CHECK(first.code == 1);
  CHECK(first.err.find("[nothing-before]") != std::string::npos);
}

TEST_CASE("diff says which place changed and what that costs") {
  const Workplace here;
  const auto by_hand = [&](const std::string& folder, const std::string& schedule) {
    write_text(folder + ".toml", "[schedule.matmul]\nbuffer = { x = 1, y = 8, k = 1024 }\n" + schedule);
    compile_sample("matmul", folder, {"--set", "target.cores.count=1", "--schedule", folder + ".toml"});
  };
  by_hand("inside", "order = [\"x\", \"yo\"]\ndma = { A = \"yo\", B = \"yo\", C = \"yo\" }\n");
  by_hand("outside", "order = [\"x\", \"yo\"]\ndma = { A = \"x\", B = \"yo\", C = \"yo\" }\n");
  const PlanDiff diff = diff_of("inside", "outside");
  REQUIRE(diff.groups.size() == 1);
  REQUIRE(diff.groups[0].schedule.size() == 1);
  CHECK(diff.groups[0].schedule[0].what == ScheduleChange::What::place);
  CHECK(diff.groups[0].schedule[0].subject == "A");
  CHECK(diff.groups[0].schedule[0].before == "inside yo");
  CHECK(diff.groups[0].schedule[0].after == "inside x");
  // A's 1024 elements are fetched once instead of 128 times.
  CHECK(diff.groups[0].numbers_before.transfers - diff.groups[0].numbers_after.transfers == 127);
  CHECK(verdict(diff).find("% faster: matmul moves the DMA of its input A from yo out to x") != std::string::npos);
  CHECK(verdict(diff_of("outside", "inside"), "old", "new").find("new is ") == 0);
  CHECK(verdict(diff_of("outside", "inside")).find("% slower: matmul moves the DMA of its input A from x into yo") !=
        std::string::npos);
}

TEST_CASE("a get without a loop stands before the loops, a put after them") {
  const Workplace here;
  write_text("small.toml", "[schedule.conv2]\nbuffer = { xx = 4 }\n");
  compile_sample("lenet", "plan", {"--planner", "swtvm"});
  compile_sample("lenet", "small", {"--planner", "swtvm", "--schedule", "small.toml"});
  std::map<std::string, std::string> places;
  for (const GroupChange& group : diff_of("plan", "small").groups) {
    for (const ScheduleChange& change : group.schedule) {
      if (change.what == ScheduleChange::What::place) places[change.subject] = change.before;
    }
  }
  CHECK(places.at("pool1") == "before the loops");
  CHECK(places.at("conv2") == "after the loops");
}

TEST_CASE("the verdict names what was edited in a group, and what that made of it") {
  const Workplace here;
  write_text("small.toml", "[schedule.conv2]\nbuffer = { xx = 4 }\n");
  compile_sample("lenet", "plan", {"--planner", "swtvm"});
  compile_sample("lenet", "small", {"--planner", "swtvm", "--schedule", "small.toml"});
  CHECK(verdict(diff_of("plan", "small")) ==
        "B is 11.3 % slower: conv2 moves the DMA of its output conv2 from outside of all loops into xxo, moves the DMA "
        "of "
        "its input pool1 from outside of all loops into xxo, buffers 4 of xx instead of 8 and 1 more (by itself 77.9 % "
        "slower)");
  CHECK(verdict(diff_of("small", "plan")) ==
        "B is 10.1 % faster: conv2 moves the DMA of its output conv2 from xxo out of all loops, moves the DMA of its "
        "input "
        "pool1 from xxo out of all loops, buffers 8 of xx instead of 4 and 1 more (by itself 43.8 % faster)");
}

TEST_CASE("diff of plans for different targets names the settings") {
  const Workplace here;
  compile_sample("matmul", "many", {"--planner", "swtvm"});
  compile_sample("matmul", "few", {"--planner", "swtvm", "--set", "target.cores.count=16"});
  const ToolRun run = run_stowage({"diff", "many", "few"});
  CHECK(run.code == 0);
  CHECK(run.out.find("B is ") != std::string::npos);
  CHECK(run.out.find("another target (cores.count 16 instead of 64); matmul uses 16 cores instead of 64") !=
        std::string::npos);
  CHECK(run.out.find("| cores.count ") != std::string::npos);
}

TEST_CASE("diff of different networks says so and compares totals") {
  const Workplace here;
  compile_sample("matmul", "one");
  compile_sample("lenet", "two");
  const ToolRun run = run_stowage({"diff", "one", "two"});
  CHECK(run.code == 0);
  CHECK(run.out.find("A and B are plans of different networks (matmul and lenet) without a fused operator in common, "
                     "so only totals can be compared: A takes ") != std::string::npos);
  const PlanDiff diff = diff_of("one", "two");
  CHECK_FALSE(diff.is_comparable());
  check_sums(diff);
}

/// Two layers, under names of the caller's choice.
Compilation two_layers(const std::string& first, const std::string& second, const std::string& fusion) {
  GraphBuilder builder("layers");
  Diagnostics diagnostics;
  const TensorId x = builder.add_input(first + "_x", ElementType::f32, {64, 64});
  const auto y = append_operator(builder, "Relu", first, {}, {x}, first + "_y", {}, {}, diagnostics);
  const auto z = append_operator(builder, "Sigmoid", second, {}, {*y}, second + "_z", {}, {}, diagnostics);
  builder.mark_output(*z);
  CompileRequest request;
  request.fusion = fusion;
  auto compilation = compile_graph(std::move(builder).build(), request, diagnostics);
  REQUIRE(compilation);
  return *std::move(compilation);
}

TEST_CASE("groups of a network with other names are matched by their contents") {
  const PlanDiff same = diff_compilations(two_layers("a", "b", "none"), two_layers("c", "d", "none"));
  REQUIRE(same.groups.size() == 2);
  CHECK(same.groups[0].before[0].name == "a");
  CHECK(same.groups[0].after[0].name == "c");
  CHECK(same.groups[1].after[0].name == "d");
  CHECK(same.is_same());
  // A name that the other network gives to another operator is a name all the same, so contents do not count.
  const PlanDiff regrouped = diff_compilations(two_layers("a", "b", "none"), two_layers("a", "b", "greedy"));
  REQUIRE(regrouped.groups.size() == 1);
  CHECK(regrouped.groups[0].kind == GroupChange::Kind::regrouped);
  CHECK(verdict(regrouped).find("a and b are one fused operator; 1 group fewer") != std::string::npos);
  CHECK(verdict(diff_compilations(two_layers("a", "b", "greedy"), two_layers("a", "b", "none")))
            .find("a and b are fused operators of their own; 1 group more") != std::string::npos);
  // What only one of them has.
  const PlanDiff partly = diff_compilations(two_layers("a", "b", "none"), two_layers("a", "a2", "none"));
  REQUIRE(partly.groups.size() == 2);
  check_sums(partly);
}

/// A change of groups, each a list of operators called after its first one.
GroupChange regrouped(const std::vector<std::vector<std::string>>& before,
                      const std::vector<std::vector<std::string>>& after, double seconds_before, double seconds_after) {
  GroupChange change;
  change.kind = GroupChange::Kind::regrouped;
  for (const auto& operators : before) change.before.push_back({StepId(0), operators.front(), "t", operators});
  for (const auto& operators : after) change.after.push_back({StepId(0), operators.front(), "t", operators});
  change.numbers_before.seconds = seconds_before;
  change.numbers_after.seconds = seconds_after;
  change.numbers_before.groups = std::ssize(before);
  change.numbers_after.groups = std::ssize(after);
  return change;
}

PlanDiff diff_with(std::vector<GroupChange> changes) {
  PlanDiff diff;
  for (const GroupChange& change : changes) {
    for (auto [totals, numbers] : {std::pair(&diff.before.totals, &change.numbers_before),
                                   std::pair(&diff.after.totals, &change.numbers_after)}) {
      totals->seconds += numbers->seconds;
      totals->groups += numbers->groups;
    }
  }
  diff.groups = std::move(changes);
  return diff;
}

TEST_CASE("only what is joined counts as joined, and what is split as split") {
  const auto joined = [](const std::string& n) {
    return regrouped({{"a" + n}, {"b" + n}}, {{"a" + n, "b" + n}}, 10, 9);
  };
  const auto split = [](const std::string& n) {
    return regrouped({{"a" + n, "b" + n}}, {{"a" + n}, {"b" + n}}, 10, 9);
  };
  // Three groups become two, but none of these holds a whole one of those: neither a join nor a split.
  const auto crossed = [](const std::string& n) {
    return regrouped({{"a" + n}, {"b" + n, "c" + n}, {"d" + n}}, {{"a" + n, "b" + n}, {"c" + n, "d" + n}}, 10, 8);
  };
  CHECK(verdict(diff_with({crossed("1")})) ==
        "B is 20.0 % faster: a1 + b1 and c1 + d1 instead of a1, b1 + c1 and d1; 1 group fewer");
  CHECK(verdict(diff_with({joined("1"), joined("2"), crossed("3")})) ==
        "B is 13.3 % faster: 2 fused operators are joined from smaller ones (above all a1 and b1 are one fused "
        "operator); "
        "a3 + b3 and c3 + d3 instead of a3, b3 + c3 and d3; 3 groups fewer");
  CHECK(
      verdict(diff_with({split("1"), split("2")})) ==
      "B is 10.0 % faster: 4 fused operators come from splitting larger ones (above all a1 and b1 are fused operators "
      "of their own); 2 groups more");
  CHECK(verdict(diff_with({crossed("1"), crossed("2")})) ==
        "B is 20.0 % faster: 4 fused operators hold other operators than before (above all a1 + b1 and c1 + d1 instead "
        "of "
        "a1, b1 + c1 and d1); 2 groups fewer");
}

TEST_CASE("groups that are called alike but hold other operators are told apart") {
  const GroupChange change = regrouped({{"a", "b"}, {"c"}}, {{"a"}, {"c", "b"}}, 10, 8);
  CHECK(side_text(change.before) == side_text(change.after));
  CHECK(sides_text(change) == std::pair<std::string, std::string>("a (a, b) + c", "a + c (c, b)"));
  const std::string text = diff_text(diff_with({change}));
  CHECK(text.find("| a (a, b) + c         | a + c (c, b) | fused otherwise |") != std::string::npos);
  CHECK(sides_text(regrouped({{"a"}, {"b"}}, {{"a", "b"}}, 1, 1)) == std::pair<std::string, std::string>("a + b", "a"));
}

TEST_CASE("what did not change says nothing in a table of differences, and what was not there is new") {
  PlanDiff diff = diff_with({regrouped({{"a"}}, {{"b"}}, 0, 8), regrouped({{"c"}}, {{"c"}}, 5, 5)});
  diff.groups.front().numbers_after.cycles = 8;
  const PlanTable table = changes_table(diff);
  check_keys(table.columns);
  const auto columns = columns_by_key(table.columns, {"baseline", "group", "cycles", "share"});
  const auto cell = [&](std::size_t row, std::size_t column) { return table.rows.at(row).cells.at(columns[column]); };
  CHECK(cell(0, 0) == Cell("a"));
  CHECK(cell(0, 1) == Cell("b"));
  CHECK(cell(0, 2) == Cell(std::int64_t{8}));
  CHECK(cell(0, 3) == Cell("new"));
  CHECK(cell(1, 2) == Cell(std::int64_t{0}));
  CHECK(cell(1, 3) == Cell());
  for (const PlanTable& other : {totals_table(diff), settings_table(diff), schedule_table(diff.groups.front())})
    check_keys(other.columns);
}

TEST_CASE("diff of folders that are none reports both") {
  const Workplace here;
  const ToolRun run = run_stowage({"diff", "no", "nothing"});
  CHECK(run.code == 1);
  CHECK(run.err.find("no/plan.json: error: ") == 0);
  CHECK(run.err.find("nothing/plan.json: error: ") != std::string::npos);
}

TEST_CASE("speed in words") {
  CHECK(speed_text(1.0, 1.0) == "equally fast");
  CHECK(speed_text(1.0, 0.877) == "12.3 % faster");
  CHECK(speed_text(1.0, 0.4) == "2.50 times as fast");
  // What is not the same is not "0.0 %" faster.
  CHECK(speed_text(1.0, 0.9999) == "less than 0.1 % faster");
  CHECK(speed_text(1.0, 1.0004) == "less than 0.1 % slower");
  CHECK(speed_text(1.0, 1.0006) == "0.1 % slower");
  CHECK(speed_text(1.0, 1.5) == "50.0 % slower");
  CHECK(speed_text(1.0, 2.5) == "2.50 times as slow");
}

}  // namespace
}  // namespace stowage::test
