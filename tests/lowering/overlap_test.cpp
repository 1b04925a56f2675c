// SPDX-License-Identifier: Apache-2.0
// What is hidden of transfers, on small nests: the closed form beside the simulation of the same nest, where it matters
// which trips have what to hide, who shares the engine with whom, and who issues the calls.
#include <cmath>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lowering/nest/passes.h"
#include "lowering/nest/plan.h"
#include "lowering/simulate/simulate.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::overlap_test {
namespace {

/// 64 cores that compute an operation a cycle; transfers start up for 10 cycles and share so many bytes a cycle.
Target mesh_machine(double bytes_per_cycle) {
  Target target;
  target.name = "machine";
  target.clock_hz = 1e9;
  target.cores.launch_seconds = 0;
  target.cores.count = 64;
  target.cores.mesh_rows = 8;
  target.cores.mesh_columns = 8;
  target.cores.barrier_cycles = 5;
  target.dma.startup_cycles = 10;
  target.dma.bandwidth = {{4, bytes_per_cycle * 1e9}};
  return target;
}

struct BothTimes {
  std::int64_t closed = 0;
  std::int64_t simulated = 0;
  [[nodiscard]] double error() const {
    return static_cast<double>(closed - simulated) / static_cast<double>(simulated);
  }
};

/// Of a nest whose transfers block, after the pass that lets those with slots go on.
BothTimes both_times(const std::string& text, const Target& target) {
  const LoopNest nest = double_buffer(parsed(text), target);
  INFO(to_text(nest));
  REQUIRE(verify(nest, target).value_or("sound") == "sound");
  const Simulated result = simulate(nest, target);
  REQUIRE(std::holds_alternative<Simulation>(result));
  return {estimate_time(nest, predict_counts(nest), target).cycles, std::get<Simulation>(result).cycles};
}

/// Y[i] = sum of 2 * X[i] over `work` on one core, in four tiles of 64.
std::string scale(int work) {
  return fmt::format(R"(nest scale {{
  input X f32[256]
  output Y f32[256]
  stage scale {{
    Y[i < 256] = sum over r < {0} of (#0 * 2.0)
    #0 = X[i]
  }}
  variables t
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 1024 bytes
  buffer XX f32[64] at 0, 512 bytes = X[64*t] slots 2
  buffer YY f32[64] at 512, 512 bytes = Y[64*t] slots 2
  body {{
    0  for t < 4 of i {{
    1    get X[64*t:64*t + 64] -> XX
    2    wait 1
    3    fill YY with 0
    4    compute update YY = scale(XX) over i=64*t:64*t + 64, r=0:{0}
    5    put YY -> Y[64*t:64*t + 64]
    6    wait 5
       }}
  }}
}}
)",
                     work);
}

/// C[64,64] = A[64,64] * B[64,64]: each core a row of C, all the same tiles of B.
std::string product(int rows_of_b, const std::string& loaded_by, const std::string& slots_of_c) {
  return fmt::format(R"(nest matmul {{
  input A f32[64,64]
  input B f32[64,64]
  output C f32[64,64]
  stage matmul {{
    C[x < 64, y < 64] = sum over k < 64 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }}
  variables cx, yo, ko
  core cx < 64 of x stride 1
  mesh 8 rows 8 columns
  memory A = A strides [64, 1]
  memory B = B strides [64, 1]
  memory C = C strides [64, 1] written
  ldm 16384 bytes
  buffer AA f32[1,64] at 0, 256 bytes = A[cx, 0]
  buffer CC f32[1,16] at 256, 128 bytes = C[cx, 16*yo]{2}
  buffer BB f32[{0},16] at 512, {3} bytes = B[{0}*ko, 16*yo] slots 2
  body {{
    0  get A[cx:cx + 1, 0:64] -> AA
    1  wait 0
    2  for yo < 4 of y {{
    3    fill CC with 0
    4    for ko < {4} of k {{
    5      get B[{0}*ko:{0}*ko + {0}, 16*yo:16*yo + 16] -> BB{1}
    6      wait 5
    7      compute update CC = matmul(AA, BB) over x=cx:cx + 1, y=16*yo:16*yo + 16, k={0}*ko:{0}*ko + {0}
         }}
    8    put CC -> C[cx:cx + 1, 16*yo:16*yo + 16]
    9    wait 8
       }}
  }}
}}
)",
                     rows_of_b, loaded_by, slots_of_c, 2 * 64 * rows_of_b, 64 / rows_of_b);
}

TEST_CASE("the computation of the last trip, which loads nothing, has the store before it beside it") {
  // A trip takes 64 * 2 cycles or so, each transfer 10 + 64: the last trip hides a store alone, all of it.
  const BothTimes times = both_times(scale(1), mesh_machine(4));
  INFO(times.closed << " and " << times.simulated);
  CHECK(std::abs(times.error()) < 0.01);
}

TEST_CASE("what one core loads for all comes late beside the stores of all") {
  // A tile of B needs 256 cycles of the engine, a store of a core 16: all 64 stores, of 1024 cycles together, end
  // before the tile that is loaded meanwhile, and only one computation of 512 cycles passes beside them.
  const BothTimes times = both_times(product(16, " of mesh", " slots 2"), mesh_machine(4));
  INFO(times.closed << " and " << times.simulated);
  CHECK(std::abs(times.error()) < 0.02);
  // Where each core loads its own, each store has one load of 64 times as much beside it, and all pass at their time.
  const BothTimes alone = both_times(product(16, "", " slots 2"), mesh_machine(256));
  INFO(alone.closed << " and " << alone.simulated);
  CHECK(std::abs(alone.error()) < 0.02);
}

/// Tiles of X, which all cores want, are rows apart from each other, tiles of W, of each core, are not.
const std::string of_rows = R"(nest rows {
  input X f32[8,8,32]
  input W f32[64,32,8,8]
  output Y f32[64]
  stage sum {
    Y[x < 64] = sum over p < 8, q < 8, r < 32 of (#0 * #1)
    #0 = X[p, q, r]
    #1 = W[x, r, q, p]
  }
  variables cx, ro, qo
  core cx < 64 of x stride 1
  mesh 8 rows 8 columns
  memory X = X strides [256, 32, 1]
  memory W = W strides [2048, 64, 8, 1]
  memory Y = Y strides [1] written
  ldm 4096 bytes
  buffer YY f32[1] at 0, 4 bytes = Y[cx]
  buffer XX f32[8,4,4] at 32, 1024 bytes = X[0, 4*qo, 4*ro] slots 2
  buffer WW f32[1,4,4,8] at 1056, 1024 bytes = W[cx, 4*ro, 4*qo, 0] slots 2
  body {
    0  fill YY with 0
    1  for ro < 8 of r {
    2    for qo < 2 of q {
    3      get X[0:8, 4*qo:4*qo + 4, 4*ro:4*ro + 4] -> XX of mesh
    4      get W[cx:cx + 1, 4*ro:4*ro + 4, 4*qo:4*qo + 4, 0:8] -> WW
    5      wait 3
    6      wait 4
    7      compute update YY = sum(XX, WW) over x=cx:cx + 1, p=0:8, q=4*qo:4*qo + 4, r=4*ro:4*ro + 4
         }
       }
    8  put YY -> Y[cx:cx + 1]
    9  wait 8
  }
}
)";

TEST_CASE("the calls for what one core loads for all hold back no other core") {
  // A tile of X takes 8 calls of 40 cycles, and each core computes for 256. Its tile of W, which the others ask for
  // meanwhile, takes the engine 512.
  Target target = mesh_machine(64);
  target.dma.issue_cycles = 40;
  const BothTimes times = both_times(of_rows, target);
  INFO(times.closed << " and " << times.simulated);
  CHECK(std::abs(times.error()) < 0.04);
}

TEST_CASE("a core at the border, whose boxes move channel by channel, takes longer for its calls") {
  // Three cores, four rows each: the middle one loads 6 rows of 8 channels in one strided call, the others 5 rows
  // of each channel in a call of its own.
  const std::string bordered = R"(nest rows {
  input X f32[32,12,16]
  output Y f32[32,12,16]
  stage sum3 {
    Y[c < 32, y < 12, x < 16] = sum over s < 3 of (#0 + 0.0)
    #0 = X[c, y + s - 1, x] else 0
  }
  variables cy, t
  core cy < 3 of y stride 1
  memory X = X strides [192, 16, 1]
  memory Y = Y strides [192, 16, 1] written
  ldm 8192 bytes
  buffer XX f32[8,6,16] at 0, 3072 bytes = X[8*t, max(4*cy - 1, 0), 0]
  buffer YY f32[8,4,16] at 3072, 2048 bytes = Y[8*t, 4*cy, 0]
  body {
    0  for t < 4 of c {
    1    get X[8*t:8*t + 8, max(4*cy - 1, 0):min(4*cy + 4, 11) + 1 <= 6, 0:16] -> XX
    2    wait 1
    3    fill YY with 0
    4    compute update YY = sum3(XX) over c=8*t:8*t + 8, y=4*cy:4*cy + 4, x=0:16, s=0:3
    5    put YY -> Y[8*t:8*t + 8, 4*cy:4*cy + 4, 0:16]
    6    wait 5
       }
  }
}
)";
  Target target = mesh_machine(64);
  target.dma.issue_cycles = 100;
  const LoopNest nest = parsed(bordered);
  const Simulated result = simulate(nest, target);
  REQUIRE(std::holds_alternative<Simulation>(result));
  const std::int64_t simulated = std::get<Simulation>(result).cycles;
  const NestCounts counts = predict_counts(nest);
  REQUIRE(counts.most_calls);
  CHECK(counts.most_calls->operations.at(StatementId(1)) == 4 * 8);
  CHECK(counts.dma_of_busiest_core.at(StatementId(1)).operations == 4);
  const std::int64_t closed = estimate_time(nest, counts, target).cycles;
  INFO(closed << " and " << simulated);
  CHECK(std::abs(closed - simulated) < simulated / 50);
}

}  // namespace
}  // namespace stowage::overlap_test
