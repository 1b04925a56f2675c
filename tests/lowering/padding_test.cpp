// SPDX-License-Identifier: Apache-2.0
// Padding: where it is written, how much of it, what it costs, and that the verifier misses none of it.
#include <catch2/catch.hpp>

#include <limits>
#include <map>

#include "core/same_padding.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/random_partition.h"
#include "tests/lowering/nest_walk.h"
#include "tests/lowering/parsed_nest.h"

namespace stowage::padding_test {

using namespace stowage::testing;

namespace {

Target one_core() {
  Target target;
  target.cores.count = 1;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

/// Eight channels of 12 x 12, a 3x3 window, padded by one.
StageList convolution() {
  Net net;
  const Graph graph = net.done({net.conv("conv", net.input("x", {1, 8, 12, 12}), 4, 3)});
  const GraphFacts facts(graph);
  return group_stages(graph, make_group(facts, "single", facts.order.back(), {{facts.order.back(), "anchor"}}));
}

/// Three tiles of four rows, in each of them four turns of two channels.
Plan tiled_convolution() {
  Schedule fixed;
  fixed.buffer = {{"n", 1}, {"ff", 4}, {"yy", 4}, {"xx", 12}, {"rc", 2}, {"ry", 3}, {"rx", 3}};
  fixed.order = {"yyo", "rco"};
  const Planned planned = plan_group("conv", convolution(), fixed, *find_planner("swtvm"), one_core(), {});
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->reason);
  return std::get<Plan>(planned);
}

struct Filled {
  std::int64_t times = 0;
  std::int64_t elements = 0;
  std::int64_t stores = 0;
};

/// What a nest of one core fills of each buffer, by walking it.
std::map<std::string, Filled> filled_by(const LoopNest& nest) {
  std::map<std::string, Filled> filled;
  test::NestWalk walk(nest, 0);
  walk.run(nest.body, [&](const Stmt& statement) {
    const auto* fill = std::get_if<Fill>(&statement.node);
    if (fill == nullptr || fill->in_registers) return;  // nothing is stored where a sum begins in registers
    const Buffer& buffer = nest.buffers[fill->buffer];
    std::int64_t kept = fill->around ? 1 : 0;
    for (std::size_t d = 0; fill->around && d < buffer.extents.size(); ++d) {
      kept *= std::max<std::int64_t>(0, walk.value((*fill->around)[d].extent));
    }
    Filled& sum = filled[buffer.name];
    ++sum.times;
    const std::int64_t set = element_count(buffer.extents) - kept;
    sum.elements += set;
    sum.stores += fill->around ? set : set / 4 + set % 4;  // a whole buffer in vectors
  });
  return filled;
}

/// The verdict on the text of a nest.
std::string verdict_on(const std::string& text) { return verify(parsed(text), one_core()).value_or("sound"); }

}  // namespace

TEST_CASE(
    "padding is written where it changes: columns once, rows where a tile lies at the edge, no turn of channels") {
  const LoopNest nest = tiled_convolution().nest;
  INFO(to_text(nest));
  CHECK(verify(nest, one_core()).value_or("sound") == "sound");
  const Filled filled = filled_by(nest)["x_ldm"];
  // The buffer has 2 channels of 6 rows of 14. Its first and last column are filled once, its first row for the first
  // tile and its last one for the last.
  CHECK(filled.times == 3);
  CHECK(filled.elements == 2 * 6 * 2 + 2 * (2 * 14));
}

TEST_CASE("filling costs what it costs: a term of the time model") {
  const Plan plan = tiled_convolution();
  INFO(to_text(plan.nest));
  std::int64_t elements = 0;
  std::int64_t stores = 0;
  for (const auto& [buffer, filled] : filled_by(plan.nest)) {
    elements += filled.elements;
    stores += filled.stores;
  }
  REQUIRE(elements == 2 * 6 * 2 + 2 * (2 * 14));
  std::int64_t cycles = 0;
  for (const TimeTerm& term : plan.time.terms) {
    if (kind_of(term.cost) != CostKind::fill) continue;
    cycles += term.cycles;
    CHECK(formula_text(term.cost) ==
          std::to_string(elements) + " elements of the busiest core in " + std::to_string(stores) + " stores");
  }
  CHECK(cycles == stores);
}

TEST_CASE("the verifier misses padding that is not there, is overwritten, or has another value") {
  const std::string text = to_text(tiled_convolution().nest);
  INFO(text);
  REQUIRE(verdict_on(text) == "sound");
  const auto verdict_with = [&](const std::string& what, const std::string& instead) {
    std::string changed = text;
    const std::size_t at = changed.find(what);
    REQUIRE(at != std::string::npos);
    return verdict_on(changed.replace(at, what.size(), instead));
  };
  const std::string columns = "fill x_ldm around [0:1, 0:2, 0:6, 1:13] with 0  // padding of x\n";
  const std::string rows = "fill x_ldm around [0:1, 0:2, max(0, 1 - yy_at):min(6, 13 - yy_at) <= 6, 0:14] with 0";
  using Catch::Contains;
  // Left out, or with another value.
  CHECK_THAT(verdict_with("0  " + columns, ""), Contains("reads before dimension 3 of x, where buffer x_ldm was not "));
  CHECK_THAT(verdict_with(rows, "barrier"), Contains("reads before dimension 2 of x, where buffer x_ldm was not "));
  CHECK_THAT(verdict_with("1:13] with 0", "1:13] with 1"), Contains("was not filled with 0"));
  CHECK_THAT(verdict_with("0:14] with 0", "0:14] with -inf"), Contains("was not filled with 0"));
  // More is left out than what lies in the tensor, or less, or something behind the buffer.
  CHECK_THAT(verdict_with("1:13] with", "0:13] with"), Contains("reads before dimension 3"));
  CHECK_THAT(verdict_with("1:13] with", "1:14] with"), Contains("reads behind dimension 3"));
  CHECK_THAT(verdict_with("1:13] with", "2:13] with"), Contains("overwrites padding in dimension 3"));
  CHECK_THAT(verdict_with("1:13] with", "1:15] with"), Catch::StartsWith("fill-in-buffer: statement 0"));
  // Not where the last tile needs it, or as the first tile needs it only.
  CHECK_THAT(verdict_with("yy_at - 7) > 0", "yy_at - 8) > 0"), Contains("reads behind dimension 2"));
  CHECK_THAT(verdict_with("max(0, 1 - yy_at):min(6, 13 - yy_at) <= 6", "1:6"), Contains("overwrites padding"));
}

TEST_CASE("NaN is padding like any other number, and so is -0") {
  const double value = GENERATE(std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN(),
                                -std::numeric_limits<double>::infinity(), -0.0, 1.5);
  const std::string planner = GENERATE("swtvm", "searched");
  INFO(value << " " << planner);
  Net net;
  const TensorId padded = net.op("Pad", "padded", {net.input("x", {5, 60})},
                                 {{"pads", std::vector<std::int64_t>{1, 2, 1, 2}}, {"value", value}});
  const Graph graph = net.done({padded});
  const GraphFacts facts(graph);
  const FusedOperator group = make_group(facts, "single", facts.order.back(), {{facts.order.back(), "anchor"}});
  const Planned planned = plan_group("padded", group_stages(graph, group), {}, *find_planner(planner), one_core(), {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  const std::string text = to_text(std::get<Plan>(planned).nest);
  CHECK(verdict_on(text) == "sound");
  CHECK(to_text(parsed(text)) == text);
}

TEST_CASE("two paddings are the same if no reader can tell: both NaN, or the same bits, which 0 and -0 are not") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(same_padding(nan, -nan));
  CHECK(same_padding(-0.0, -0.0));
  CHECK(same_padding({}, {}));
  CHECK_FALSE(same_padding(0.0, -0.0));
  CHECK_FALSE(same_padding(nan, 0.0));
  CHECK_FALSE(same_padding(nan, {}));
}

}  // namespace stowage::padding_test
