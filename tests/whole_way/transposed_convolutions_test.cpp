// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions by phases all the way: emulated code against the reference, which runs them as they were.
#include <catch2/catch.hpp>

#include "fusion/fold/transposed_phases.h"
#include "lowering/program/program.h"
#include "tests/fusion/transposed_net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using stowage::testing::Net;
using stowage::testing::transposed_net;
using Ints = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a transposed convolution, the sum with a skip and an activation are one kernel") {
  Net net("up");
  const TensorId x = net.input("x", {1, 16, 8, 8});
  const TensorId skip = net.input("skip", {1, 16, 16, 16});
  const TensorId up = net.op("ConvTranspose", "up", {x, net.constant("w", {16, 16, 4, 4}), net.constant("b", {16})},
                             {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  const Graph graph = net.unplaced(net.conv("last", net.op("Relu", "relu", {net.op("Add", "sum", {up, skip})}), 4, 3));
  const Compilation compilation = compiled(graph);
  CHECK(totals_of(compilation.program).kernels == 2);
  const CheckResult result = checked_strictly(compilation, graph, 3);
  CHECK(result.against_model);
}

TEST_CASE("random transposed convolutions agree with the reference") {
  const unsigned first = 1125;
  WARN("seeds from " << first);
  for (unsigned seed = first; seed < first + 24; ++seed) {
    INFO("seed " << seed);
    const Graph graph = transposed_net(seed);
    CompileRequest request;
    if (seed % 2 == 0) request.planner = "swtvm";
    CHECK(checked_strictly(compiled(graph, request), graph, seed).against_model);
  }
}

}  // namespace stowage::test
