// SPDX-License-Identifier: Apache-2.0
// Cores that do not compute alike: three of them have four rows each of a picture. The middle one reads a row more
// above and below, the others have one of these and a row of padding.
#include <cmath>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lowering/nest/passes.h"
#include "lowering/time/core_costs.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "timed_nests.h"

namespace stowage::core_costs_test {
namespace {

/// Y is the sum of three rows of A, which is computed of X for each tile anew; a tile is a channel.
LoopNest bordered(const std::string& computed) {
  return double_buffer(parsed(fmt::format(R"(nest rows {{
  input X f32[4,12,16]
  intermediate A f32[4,12,16]
  output Y f32[4,12,16]
  stage before {{
    A[c < 4, y < 12, x < 16] = {}
    #0 = X[c, y, x]
  }}
  stage sum3 {{
    Y[c < 4, y < 12, x < 16] = sum over s < 3 of (#0 + 0.0)
    #0 = A[c, y + s - 1, x] else 0
  }}
  variables cy, t
  core cy < 3 of y stride 1
  memory X = X strides [192, 16, 1]
  memory Y = Y strides [192, 16, 1] written
  ldm 8192 bytes
  buffer XX f32[1,6,16] at 0, 768 bytes = X[t, max(4*cy - 1, 0), 0] slots 2
  buffer AA f32[1,6,16] at 768, 384 bytes = A[t, 4*cy - 1, 0]
  buffer YY f32[1,4,16] at 1152, 512 bytes = Y[t, 4*cy, 0] slots 2
  body {{
    0  for t < 4 of c {{
    1    get X[t:t + 1, max(4*cy - 1, 0):min(4*cy + 4, 11) + 1 <= 6, 0:16] -> XX
    2    wait 1
    3    compute map AA = before(XX) over c=t:t + 1, y=max(4*cy - 1, 0):min(4*cy + 4, 11) + 1 <= 6, x=0:16
    4    fill AA around [0:1, max(0, 1 - 4*cy):min(6, 13 - 4*cy) <= 6, 0:16] with 0
    5    fill YY with 0
    6    compute update YY = sum3(AA) over c=t:t + 1, y=4*cy:4*cy + 4, x=0:16, s=0:3
    7    put YY -> Y[t:t + 1, 4*cy:4*cy + 4, 0:16]
    8    wait 7
       }}
  }}
}}
)",
                                          computed)),
                       fixtures::machine());
}

TEST_CASE("computations and fills are those of the core that takes longest in all, not the most of each") {
  const LoopNest nest = bordered("(((#0 * 2.0) + 1.0) * 3.0)");
  const NestCounts counts = predict_counts(nest);
  const CoreCosts costs = core_costs(nest, counts.compute, counts.fill, fixtures::machine());
  // Of three operations a point, in four tiles: 6 rows of 16 in the middle, 5 and a row of padding at the borders; then
  // 4 rows that are cleared, in vectors of 4 elements, and two operations, a sum and an addition, for each of three
  // rows that are added up.
  const std::int64_t sums = 4 * (4 * 16 / 4 + 2 * 3 * 4 * 16);
  CHECK(costs.computing ==
        std::vector<std::int64_t>{4 * (3 * 80 + 16) + sums, 4 * 3 * 96 + sums, 4 * (3 * 80 + 16) + sums});
  std::map<std::string, std::int64_t> cycles;
  for (const Cost& cost : costs.rows) cycles[name_of(cost.formula)] += cycles_of(cost.formula);
  CHECK(cycles == std::map<std::string, std::int64_t>{
                      {"compute before", 4 * 3 * 96}, {"compute sum3", 4 * 2 * 3 * 4 * 16}, {"fill", 4 * 4 * 16 / 4}});
}

TEST_CASE("what cores at a border store last passes while the one in the middle computes still") {
  // It computes for 160 cycles more in each of four tiles. A store of a core takes the engine 64 cycles, so that those
  // of the others have ended before its last one begins.
  const LoopNest nest = bordered("((((((((((#0 * 2.0) + 1.0) * 3.0) + 2.0) * 2.0) + 1.0) * 3.0) + 2.0) * 2.0) + 1.0)");
  const Target target = fixtures::machine();
  REQUIRE(verify(nest, target).value_or("sound") == "sound");
  const std::int64_t closed = estimate_time(nest, predict_counts(nest), target).cycles;
  const std::int64_t simulated = fixtures::simulated(nest, target).cycles;
  INFO(closed << " and " << simulated);
  CHECK(std::abs(closed - simulated) < 20);
}

}  // namespace
}  // namespace stowage::core_costs_test
