// SPDX-License-Identifier: Apache-2.0
// The least that a fused operator takes on a target, worked out by hand, and that no plan takes less.
#include <cmath>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/limit_distance.h"
#include "lowering/search/physical_limit.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "operator_draw.h"
#include "parsed_nest.h"
#include "sharing_draw.h"
#include "tests/random_runs.h"

namespace stowage::physical_limit_test {
namespace {

/// 4 cores at 1 GHz that compute 8 operations a cycle each; 4 bytes a cycle for all.
Target four() {
  Target target;
  target.clock_hz = 1e9;
  target.cores.count = 4;
  target.cores.mesh_rows = target.cores.mesh_columns = 2;
  target.dma.bandwidth = {{4, 1e9}, {256, 4e9}};
  return target;
}

TEST_CASE("the limit of a product is its tensors moved once, or its operations at the best rate") {
  const PhysicalLimit limit = physical_limit(fixtures::matmul_stages(16, 32, 8), four());
  CHECK(limit.bytes == 4 * (16 * 8 + 8 * 32 + 16 * 32));
  CHECK(limit.moving_seconds == Approx(3584 / 4e9));
  CHECK(limit.computing_seconds == Approx(16 * 32 * 8 * 2 / (4 * 8 * 1e9)));
  CHECK(limit.seconds() == limit.moving_seconds);
  CHECK(physical_limit(fixtures::matmul_stages(512, 512, 512), four()).seconds() ==
        Approx(512.0 * 512 * 512 * 2 / (4 * 8 * 1e9)));
}

TEST_CASE("nothing is stored before something was loaded") {
  Target target = four();
  target.dma.startup_cycles = 700;
  const PhysicalLimit limit = physical_limit(fixtures::matmul_stages(16, 32, 8), target);
  CHECK(limit.critical_path_seconds == Approx(1400 / 1e9));
  CHECK(limit.moving_seconds < limit.critical_path_seconds);
  CHECK(limit.seconds() == limit.critical_path_seconds);
}

TEST_CASE("the limit counts what divisions and remainders say is needed") {
  // A transposed convolution of stride 2: 5 elements of X, one of which lies outside, all 4 of W, 8 of Y.
  const StageList stages = parsed(R"(nest test {
  input X f32[16]
  input W f32[6]
  output Y f32[8]
  stage up {
    Y[y < 8] = sum over t < 2 of (#0 * #1)
    #0 = X[((y + 1) / 2) - t] else 0
    #1 = W[((y + 1) % 2) + 2*t]
  }
  body {
  }
}
)")
                               .stages;
  CHECK(physical_limit(stages, four()).bytes == 4 * (5 + 4 + 8));
  // 10 of 56 elements, although quotients and remainders, each for itself, make up 2 * 8.
  const StageList reshaped = parsed(R"(nest test {
  input X f32[7,8]
  output Y f32[10]
  stage copy {
    Y[y < 10] = #0
    #0 = X[(y / 8), (y % 8)]
  }
  body {
  }
}
)")
                                 .stages;
  CHECK(physical_limit(reshaped, four()).bytes <= 4 * (10 + 10));
}

TEST_CASE("the limit is that of what is wanted, and not of the copies that a plan makes") {
  const auto limit_of = [](const std::string& stages) {
    return physical_limit(parsed("nest test {\n" + stages + "  body {\n  }\n}\n").stages, four());
  };
  const PhysicalLimit plain = limit_of(R"(  input X f32[8]
  output Y f32[8]
  stage add {
    Y[y < 8] = (#0 + 1.0)
    #0 = X[y]
  }
)");
  const PhysicalLimit copied = limit_of(R"(  input X f32[8]
  output Y f32[8]
  intermediate Z f32[8]
  stage copy {
    Z[z < 8] = #0
    #0 = X[z]
  }
  stage add {
    Y[y < 8] = (#0 + 1.0)
    #0 = Z[y]
  }
)");
  CHECK(plain.computing_seconds > 0);
  CHECK(copied.computing_seconds == plain.computing_seconds);
}

/// A convolution from 8 features to 16 with windows of 3 x 3 over pictures of 32 x 32, which have a border.
StageList windows() {
  return parsed(R"(nest test {
  input X f32[8,32,32]
  input W f32[16,8,3,3]
  output Y f32[16,32,32]
  stage conv {
    Y[f < 16, y < 32, x < 32] = sum over c < 8, r < 3, s < 3 of (#0 * #1)
    #0 = X[c, y + r - 1, x + s - 1] else 0
    #1 = W[f, c, r, s]
  }
  body {
  }
}
)")
      .stages;
}

TEST_CASE("what the LDMs cannot hold is loaded again: the limit says how much at least") {
  Target target = four();
  target.ldm.bytes = 4096;
  target.ldm.reserved = 0;
  const StageList product = fixtures::matmul_stages(256, 128, 512);
  const double products = 256.0 * 128 * 512, results = 256.0 * 128;
  const auto words = [](const StageList& stages, const Target& on) {
    return static_cast<double>(physical_limit(stages, on).bytes) / 4;
  };
  // Of each core 4096 bytes and 32 registers of 32 bytes: 1280 elements. Results are stored, and not loaded.
  CHECK(words(product, target) ==
        Approx(2 * products / std::sqrt(1280.0) - 4 * 2 * 1280 - results + results).margin(1));
  // Cores that load together have one memory.
  target.dma.row_broadcast = true;
  CHECK(words(product, target) == Approx(2 * products / std::sqrt(4 * 1280.0) - 2 * 4 * 1280).margin(1));
  // What holds all of it has nothing to load again.
  target.ldm.bytes = 1 << 20;
  CHECK(words(product, target) == 256 * 512 + 512 * 128 + 256 * 128);
  // An element of a picture is in 9 windows; at its border windows read none.
  target.cores.count = target.cores.mesh_rows = target.cores.mesh_columns = 1;
  target.ldm.bytes = 256;
  const double inside = 8 * 16 * (3 * 32 - 2) * (3 * 32 - 2);
  CHECK(words(windows(), target) == Approx(2 * inside / std::sqrt(9 * 320.0) - 2 * 320).margin(1));
  // Of these machines the last plan that planner searched makes is not far from that.
  for (const StageList& stages : {product, windows()}) {
    target.ldm.bytes = 4096;
    const Plan plan = std::get<Plan>(plan_group("op", stages, {}, SearchedPlanner(), target, {}));
    const double moved = static_cast<double>(dma_totals(plan.counts).bytes) / 4;
    CHECK(words(stages, target) <= moved);
    CHECK(3 * words(stages, target) > moved);
  }
}

TEST_CASE("no plan of a random product loads less than its limit, where LDMs hold little of it") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261128);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 40);
  int planned = 0, again = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fixtures::OperatorDraw draw(seed + round);
    Target target = four();
    target.cores.mesh_rows = target.cores.mesh_columns = draw.coin() ? 1 : 2;
    target.cores.count = target.cores.mesh_rows * target.cores.mesh_columns;
    target.dma.row_broadcast = draw.coin();
    target.ldm.reserved = 0;
    target.ldm.bytes = 32 * draw.between(8, 64);
    const std::int64_t m = draw.between(40, 160), n = draw.between(40, 160), k = draw.between(40, 160);
    const StageList stages = fixtures::matmul_stages(m, n, k);
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << m << " x " << n << " x " << k << ", "
                         << target.cores.count << " cores with " << target.ldm.bytes << " bytes");
    const Planned plan = plan_group("op", stages, {}, SearchedPlanner(), target, {});
    if (std::holds_alternative<Decision>(plan)) continue;
    ++planned;
    const std::int64_t least = physical_limit(stages, target).bytes;
    CHECK(least <= dma_totals(std::get<Plan>(plan).counts).bytes);
    again += least > 4 * (m * n + n * k + m * k) ? 1 : 0;
  }
  CHECK(planned * 2 > static_cast<int>(rounds));
  CHECK(again * 4 > planned);
}

TEST_CASE("no plan of a random operator takes less than its limit") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261210);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 300);
  int planned = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fixtures::OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    Target target = fixtures::with_mesh(draw, draw.machine());
    target.cores.launch_seconds = 0;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text);
    const Planned plan = plan_group("op", drawn->stages, {}, SearchedPlanner(), target, {});
    if (std::holds_alternative<Decision>(plan)) continue;
    ++planned;
    const PhysicalLimit limit = physical_limit(drawn->stages, target);
    REQUIRE(limit.bytes <= dma_totals(std::get<Plan>(plan).counts).bytes);
    REQUIRE(limit.seconds() <= std::get<Plan>(plan).time.seconds);
    // The limit and what is lost beside it are the time.
    const LimitDistance distance = distance_to_limit(std::get<Plan>(plan), limit, target);
    CHECK(std::abs(static_cast<double>(distance.limit) - limit.seconds() * target.clock_hz) <= 1);
    std::int64_t sum = distance.limit;
    for (const std::int64_t lost : distance.lost) {
      REQUIRE(lost >= 0);
      sum += lost;
    }
    REQUIRE(sum == std::get<Plan>(plan).time.cycles);
  }
  CHECK(planned * 2 > static_cast<int>(rounds));
}

TEST_CASE("what a plan loses beside its limit has its cause") {
  // One core, whose LDM holds everything: moved once, in the blocks that there are, and nothing is computed meanwhile.
  Target target = four();
  target.cores.count = 1;
  const StageList stages = fixtures::matmul_stages(16, 32, 8);
  const Plan plan = std::get<Plan>(plan_group("op", stages, {}, SwtvmPlanner(), target, {}));
  const auto cycles = cycles_by_kind(plan.time);
  const auto of = [&](CostKind kind) { return cycles.contains(kind) ? cycles.at(kind) : 0; };
  const std::int64_t computed = of(CostKind::compute) + of(CostKind::fill);
  const std::int64_t moved = of(CostKind::get) + of(CostKind::put);
  const LimitDistance distance = distance_to_limit(plan, physical_limit(stages, target), target);
  CHECK(distance.of(LostTo::launch) == of(CostKind::launch));
  CHECK(distance.of(LostTo::overlap) == std::min(computed, moved));
  CHECK(distance.of(LostTo::capacity) == 0);  // each once
  const std::int64_t rest = std::max(computed, moved) - distance.limit;
  CHECK(distance.of(computed >= moved ? LostTo::inner_loop : LostTo::layout) == rest);
}

}  // namespace
}  // namespace stowage::physical_limit_test
