// SPDX-License-Identifier: Apache-2.0
// Branches all the way: parameters packed into one, one launch for all, results where their readers look for them.
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/temporary_folder.h"
#include "driver/athread/athread_schedule.h"
#include "driver/diff/plan_diff.h"
#include "driver/store/plan_file.h"
#include "driver/store/plan_json.h"
#include "fusion/groups/horizontal_fusion.h"
#include "tests/fusion/random_net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using stowage::testing::Net;
using stowage::testing::RandomNet;
using Ints = std::vector<std::int64_t>;

Compilation compiled_with(const Graph& graph, const std::string& fusion, const std::string& planner = "swtvm",
                          const std::vector<std::vector<std::string>>& groups = {}) {
  CompileRequest request;
  for (const std::vector<std::string>& operators : groups) request.fixed.groups.push_back({operators, {}});
  request.planner = planner;
  request.fusion = fusion;
  Diagnostics diagnostics;
  auto compilation = compile_graph(graph, request, diagnostics);
  if (!compilation) FAIL(format_diagnostics(diagnostics));
  return *std::move(compilation);
}

/// Members of the chosen groups of branches.
std::vector<std::size_t> branches_of(const Compilation& compilation) {
  std::vector<std::size_t> members;
  for (const ProgramStep& step : compilation.program.steps) {
    if (is_horizontal(step.group)) members.push_back(results_of(step.group).size());
  }
  return members;
}

void check_strictly(const Compilation& compilation, const Graph& graph, std::uint32_t seed) {
  const CheckResult result = checked_strictly(compilation, graph, seed);
  // Every result of branches is compared by itself.
  std::size_t compared = 0;
  for (const ProgramStep& step : compilation.program.steps) compared += results_of(step.group).size();
  CHECK(result.groups.size() == compared);
}

Graph inception_head(std::int64_t batch, bool of_input = false) {
  Net net("inception_head");
  const TensorId input = net.input("x", {batch, 16, 14, 14});
  const TensorId x = of_input ? input : net.op("Relu", "shared", {input});
  const auto branch = [&](const std::string& name, TensorId from, std::int64_t channels, std::int64_t kernel) {
    return net.op("Relu", name + "_relu", {net.conv(name, from, channels, kernel)});
  };
  const TensorId one = branch("one", x, 12, 1);
  const TensorId three = branch("three", branch("reduce3", x, 8, 1), 12, 3);
  const TensorId five = branch("five", branch("reduce5", x, 4, 1), 6, 5);
  const TensorId pooled = net.op("MaxPool", "pool", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const TensorId all =
      net.op("Concat", "all", {one, three, five, branch("projection", pooled, 6, 1)}, {{"axis", std::int64_t{1}}});
  return net.done({net.op("Relu", "after", {net.conv("next", all, 8)})});
}

Graph query_key_value() {
  Net net("query_key_value");
  const TensorId x = net.op("Tanh", "shared", {net.input("x", {1, 12, 32})});
  const auto heads = [&](const std::string& name, const Ints& order) {
    const TensorId y =
        net.op("Add", name + "_biased",
               {net.op("MatMul", name, {x, net.constant(name + "_w", {32, 32})}), net.constant(name + "_b", {32})});
    const TensorId parts = net.op("Reshape", name + "_parts", {y}, {{"shape", Ints{1, 12, 4, 8}}});
    return net.op("Transpose", name + "_heads", {parts}, {{"perm", order}});
  };
  const TensorId q = heads("q", {0, 2, 1, 3});
  const TensorId k = heads("k", {0, 2, 3, 1});
  const TensorId v = heads("v", {0, 2, 1, 3});
  const TensorId scores = net.op("Softmax", "softmax", {net.op("MatMul", "scores", {q, k})});
  return net.done({net.op("MatMul", "mix", {scores, v})});
}

}  // namespace

TEST_CASE("the 1x1 convolutions of an inception module are one launch, their results in three places") {
  for (const std::int64_t batch : {1, 3}) {
    INFO("batch " << batch);
    const Graph graph = inception_head(batch);
    const Compilation alone = compiled_with(graph, "none");
    const Compilation fused = compiled_with(graph, "exact");
    CHECK(branches_of(alone).empty());
    // Of three images one branch is cheaper apart, which is shown.
    CHECK(branches_of(fused) == std::vector<std::size_t>{batch == 1 ? 3U : 2U});
    const Compilation three = compiled_with(
        graph, "exact", "swtvm", {{"one", "one_relu", "reduce3", "reduce3_relu", "reduce5", "reduce5_relu"}});
    CHECK(branches_of(three) == std::vector<std::size_t>{3});
    CHECK(totals_of(fused.program).cycles <= totals_of(three.program).cycles);
    check_strictly(three, graph, 1);
    CHECK(totals_of(fused.program).dma.bytes < totals_of(alone.program).dma.bytes);
    CHECK(totals_of(fused.program).cycles < totals_of(alone.program).cycles);
    check_strictly(fused, graph, 1);
    check_strictly(alone, graph, 1);
  }
}

TEST_CASE("query, key and value are one product") {
  const Graph graph = query_key_value();
  for (const char* fusion : {"greedy", "dnnvm", "exact"}) {
    INFO(fusion);
    const Compilation fused = compiled_with(graph, fusion);
    CHECK(branches_of(fused) == std::vector<std::size_t>{3});
    check_strictly(fused, graph, 2);
  }
}

TEST_CASE("branches of an input of the network are one launch") {
  const Graph graph = inception_head(2, true);
  const Compilation alone = compiled_with(graph, "none");
  const Compilation fused = compiled_with(graph, "exact");
  CHECK(branches_of(fused) == std::vector<std::size_t>{3});
  CHECK(totals_of(fused.program).dma.bytes < totals_of(alone.program).dma.bytes);
  CHECK(totals_of(fused.program).cycles < totals_of(alone.program).cycles);
  check_strictly(fused, graph, 5);
}

TEST_CASE("a group of branches runs alone, its results as outputs") {
  for (const Graph& graph : {inception_head(2), query_key_value()}) {
    const Compilation fused = compiled_with(graph, "exact");
    for (const ProgramStep& step : fused.program.steps) {
      if (!is_horizontal(step.group)) continue;
      Diagnostics diagnostics;
      const auto isolated = isolate(fused, step.group.name, diagnostics);
      REQUIRE(isolated);
      const Compilation& alone = isolated->compilation;
      REQUIRE(alone.program.fused.graph.outputs().size() == 3);
      check_strictly(alone, alone.program.fused.graph, 3);
    }
  }
}

TEST_CASE("a folder with branches is read back as it was written") {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path() / "plan";
  const Graph graph = query_key_value();
  const Compilation fused = compiled_with(graph, "exact");
  Diagnostics diagnostics;
  REQUIRE(write_compilation(fused, folder, false, diagnostics));
  const auto read = read_compilation(folder, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(read);
  CHECK(plan_json(*read) == plan_json(fused));
  check_strictly(*read, read->program.fused.graph, 4);
  // The parameters of each branch come out of the stack.
  for (const char* name : {"q_w", "k_w", "v_b"}) {
    INFO(name);
    const auto& before = *fused.program.fused.graph.tensor(*fused.program.fused.graph.find_tensor(name)).constant;
    const auto& after = *read->program.fused.graph.tensor(*read->program.fused.graph.find_tensor(name)).constant;
    CHECK(std::equal(before.bytes().begin(), before.bytes().end(), after.bytes().begin(), after.bytes().end()));
  }
}

TEST_CASE(
    "a plan with branches is planned again: on another target, with a schedule, its branches apart and together") {
  const Graph graph = query_key_value();
  for (const char* planner : {"swtvm", "searched"}) {
    INFO(planner);
    const Compilation fused = compiled_with(graph, "exact", planner);
    REQUIRE(branches_of(fused) == std::vector<std::size_t>{3});
    const auto again = [&](const Compilation& before, const Target& target, const FixedSchedules& fixed) {
      Diagnostics diagnostics;
      auto planned = plan_again(before, target, fixed, diagnostics);
      if (!planned) FAIL(format_diagnostics(diagnostics));
      check_strictly(*planned, planned->program.fused.graph, 6);
      return *std::move(planned);
    };
    const Target& target = fused.program.target;
    CHECK(totals_of(again(fused, target, {}).program).cycles == totals_of(fused.program).cycles);
    CHECK(plan_json(again(fused, target, {})) == plan_json(fused));
    Target smaller = target;
    smaller.cores.count = 8;
    CHECK(branches_of(again(fused, smaller, {})) == std::vector<std::size_t>{3});
    const auto group = std::find_if(fused.program.steps.begin(), fused.program.steps.end(),
                                    [](const ProgramStep& step) { return is_horizontal(step.group); });
    FixedSchedules rows;
    Schedule row;
    row.buffer = {{group->plan()->schedule.buffer.begin()->first, 1}};
    rows.schedules[group->group.name] = fixed_schedule(row);
    CHECK(branches_of(again(fused, target, rows)) == std::vector<std::size_t>{3});
    // One of them alone; what is left of the row is a pair, or two.
    FixedSchedules apart;
    apart.groups = {{{"q"}, {}}};
    const Compilation alone = again(fused, target, apart);
    CHECK(branches_of(alone) != std::vector<std::size_t>{3});
    // And together again, with the same cycles as at first.
    FixedSchedules together;
    together.groups.push_back({{}, {}});
    for (const OpId op : group->group.operators)
      together.groups[0].operators.push_back(fused.program.fused.graph.op(op).name);
    const Compilation joined = again(alone, target, together);
    CHECK(branches_of(joined) == std::vector<std::size_t>{3});
    CHECK(totals_of(joined.program).cycles == totals_of(fused.program).cycles);
    CHECK(joined.program.memory.parameter_bytes == fused.program.memory.parameter_bytes);
    CHECK(joined.program.memory.activation_bytes == fused.program.memory.activation_bytes);
    INFO(diff_text(diff_compilations(fused, joined)));
    CHECK(diff_compilations(fused, joined).is_same());
  }
}

TEST_CASE("random networks with branches agree with the reference and with their predicted counts") {
  std::size_t groups = 0;
  for (const unsigned seed : {501U, 502U, 503U, 504U, 505U, 506U, 507U, 508U}) {
    INFO("seed " << seed);
    const Graph graph = RandomNet(seed).make(14);
    const Compilation fused = compiled_with(graph, "exact");
    groups += branches_of(fused).size();
    check_strictly(fused, graph, seed);
  }
  CHECK(groups > 2);
}

}  // namespace stowage::test
