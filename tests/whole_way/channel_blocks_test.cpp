// SPDX-License-Identifier: Apache-2.0
// Pictures with channels in blocks all the way: emulated code against the reference, which knows nothing of blocks.
#include <catch2/catch.hpp>

#include "core/channel_blocks.h"
#include "driver/session/prepared_graph.h"
#include "lowering/program/program.h"
#include "tests/fusion/net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using stowage::testing::Net;
using Ints = std::vector<std::int64_t>;

/// Convolutions, a depthwise one, pools, a residual and branches, of extents that are drawn.
Graph net_of_pictures(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  Net net("pictures", seed);
  const std::int64_t width = 4 * draw(1, 4);
  TensorId x =
      net.conv("stem", net.input("x", {draw(1, 2), draw(1, 5), draw(7, 15), draw(7, 15)}), width, 3, draw(1, 2));
  x = net.op("Relu", "act", {x});
  const TensorId branch = net.conv("branch", x, width, draw(0, 1) == 0 ? 1 : 3);
  x = net.op("Relu", "join_act", {net.op("Add", "sum", {branch, x})});
  if (draw(0, 1) == 0) {
    x = net.op("Conv", "dw", {x, net.constant("dw_w", {width, 1, 3, 3}), net.constant("dw_b", {width})},
               {{"group", width}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints(2, draw(1, 2))}});
  }
  const TensorId pool = net.op(draw(0, 1) == 0 ? "MaxPool" : "AveragePool", "pool", {x},
                               {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  x = net.op("Concat", "both", {net.conv("left", x, 4 * draw(1, 3)), net.conv("right", pool, 8)},
             {{"axis", std::int64_t{1}}});
  const TensorId last = net.conv("last", x, draw(1, 9), draw(0, 1) == 0 ? 1 : 3);
  return net.unplaced({last, net.op("GlobalAveragePool", "mean", {x})});
}

}  // namespace

TEST_CASE("random networks of pictures in blocks agree with the reference") {
  const unsigned first = 2626;
  WARN("seeds from " << first);
  for (unsigned seed = first; seed < first + 16; ++seed) {
    INFO("seed " << seed);
    const Graph graph = net_of_pictures(seed);
    CompileRequest request;
    request.layout = blocked_layout;
    if (seed % 4 == 0) request.planner = "swtvm";
    const Compilation compilation = compiled(graph, request);
    CHECK(has_channel_blocks(compilation.program.fused.graph));
    CHECK(checked_strictly(compilation, graph, seed).against_model);
  }
}

TEST_CASE("a network planned again keeps its pictures in blocks") {
  const Graph graph = net_of_pictures(7);
  CompileRequest request;
  request.layout = blocked_layout;
  const Compilation compilation = compiled(graph, request);
  Target larger = compilation.program.target;
  larger.ldm.bytes *= 2;
  Diagnostics diagnostics;
  const auto again = plan_again(compilation, larger, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(again);
  CHECK(layout_found_in(again->program.fused.graph) == blocked_layout);
  CHECK(checked_strictly(*again, graph, 7).against_model);
}

}  // namespace stowage::test
