// SPDX-License-Identifier: Apache-2.0
// What plans of sample networks take, so that a search that finds worse ones is noticed.
// STOWAGE_NETWORKS names others than the small ones.
#include <cstdint>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "driver/networks/networks.h"
#include "driver/session/session.h"
#include "lowering/search/limit_distance.h"
#include "tests/driver/networks/chosen_networks.h"
#include "tests/driver/networks/scratch_file.h"
#include "tests/fusion/net.h"

namespace stowage {
namespace {

/// Cycles as they were measured last. Where the model tells others, or plans get better, these are measured anew:
/// `stowage compile` prints them.
const std::map<std::string, std::int64_t> measured = {
    {"alexnet", 16'256'814},     {"bert_base", 21'493'492}, {"cifarnet", 609'470},    {"dcgan", 1'169'318},
    {"googlenet", 10'065'057},   {"lenet", 166'545},        {"matmul", 263'692},      {"mobilenet_v1", 3'506'722},
    {"mobilenet_v2", 3'222'336}, {"resnet18", 8'681'798},   {"resnet50", 20'834'345}, {"vector", 30'674},
    {"vgg16", 92'957'399},       {"vgg19", 110'658'880}};

/// The best inner loops of sums of products in float32, of the peak: docs/searched.md.
constexpr double inner_loops_reach = 0.97;

/// Each kernel takes its limit and what it loses, and no loss is a gain.
void check_losses(const Program& program) {
  for (const ProgramStep& step : program.steps) {
    if (step.plan() == nullptr) continue;
    INFO(step.group.name);
    const Plan& plan = *step.plan();
    const PhysicalLimit limit = physical_limit(plan.nest.stages, program.target);
    const LimitDistance distance = distance_to_limit(plan, limit, program.target);
    CHECK(limit.bytes <= step.step_plan()->traffic().bytes);
    CHECK(limit.seconds() <= plan.time.seconds);
    std::int64_t sum = distance.limit;
    for (const std::int64_t lost : distance.lost) {
      CHECK(lost >= 0);
      sum += lost;
    }
    CHECK(sum == plan.time.cycles);
  }
}

/// Of what all cores compute at most, by what the operator defines.
double share_of_peak(const Plan& plan, const Target& target) {
  const double most = target.cores.count * target.cores.vector_flops_per_cycle.of(ElementType::f32);
  return static_cast<double>(flops(plan.nest.stages)) / static_cast<double>(plan.time.cycles) / most;
}

/// VGG-16's 3x3 convolutions but the first, which has three channels.
void check_convolutions(const Program& program) {
  int convolutions = 0;
  for (const ProgramStep& step : program.steps) {
    const std::string& kind = program.fused.graph.op(step.group.operators.front()).kind;
    if (step.plan() == nullptr || kind != "Conv" || step.plan()->nest.stages.tensors.front().shape[1] == 3) continue;
    INFO(step.group.name);
    ++convolutions;
    CHECK(share_of_peak(*step.plan(), program.target) >= 0.85 * inner_loops_reach);
  }
  CHECK(convolutions == 12);
}

TEST_CASE("a product of 4096 x 4096 x 4096 takes at least nine tenths of the rate of its inner loop") {
  testing::Net net;
  const Graph graph =
      net.done({net.op("MatMul", "product", {net.input("a", {4096, 4096}), net.input("b", {4096, 4096})})});
  Diagnostics diagnostics;
  const auto compilation = compile_graph(graph, CompileRequest{}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  CHECK(share_of_peak(*compilation->program.steps[StepId(0)].plan(), compilation->program.target) >=
        0.9 * inner_loops_reach);
}

TEST_CASE("plans of sample networks take no more cycles than they took") {
  for (const std::string& network : test::chosen_networks({"lenet", "cifarnet", "dcgan"})) {
    INFO(network);
    REQUIRE(measured.contains(network));
    const test::ScratchFile model(network);
    Diagnostics diagnostics;
    REQUIRE(write_network(network, {}, model.path(), diagnostics));
    CompileRequest request;
    request.model = model.path();
    const auto compilation = compile(request, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(compilation);
    const ProgramTotals totals = totals_of(compilation->program);
    CHECK(totals.seconds >= totals.least_seconds);
    CHECK(static_cast<double>(totals.cycles) <= 1.01 * static_cast<double>(measured.at(network)));
    check_losses(compilation->program);
    if (network == "vgg16") check_convolutions(compilation->program);
  }
}

}  // namespace
}  // namespace stowage
