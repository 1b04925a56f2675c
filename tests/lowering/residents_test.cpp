// SPDX-License-Identifier: Apache-2.0
// Inputs that stay in the LDM while loops go round.
#include <catch2/catch.hpp>

#include <numeric>
#include <string>

#include "core/evaluate.h"
#include "lowering/check/check_nest.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/model/residents.h"
#include "lowering/nest/lower.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "parsed_nest.h"
#include "resident_draw.h"
#include "slots_draw.h"
#include "tests/lowering/relative_error.h"
#include "tests/random_runs.h"

namespace stowage::residents_test {
namespace {

using fixtures::OperatorDraw;

/// C[x, y] = sum of A[x, k] * B[k, y], of 8, 32 and 64.
StageList matmul() {
  return parsed(R"(nest test {
  input A f32[8,64]
  input B f32[64,32]
  output C f32[8,32]
  stage matmul {
    C[x < 8, y < 32] = sum over k < 64 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }
  body {
  }
}
)")
      .stages;
}

Target one_core() {
  Target target;
  target.cores.count = 1;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e9}, {1024, 1e10}};
  return target;
}

/// Tiles of 2 x 16 x 16, the pictures' rows outside.
Schedule tiled() {
  Schedule schedule;
  schedule.parallel.emplace();
  schedule.buffer = {{"x", 2}, {"y", 16}, {"k", 16}};
  schedule.order = {"xo", "yo", "ko"};
  return schedule;
}

Planned planned(const Schedule& schedule) {
  return plan_group("matmul", matmul(), schedule, SwtvmPlanner(), one_core(), {});
}

std::string refusal(const Schedule& schedule) {
  const Planned refused = planned(schedule);
  if (std::holds_alternative<Plan>(refused)) return "";
  return std::get<Decision>(refused).reason;
}

TEST_CASE("a resident input is loaded once, with all that its core needs", "[resident]") {
  Schedule schedule = tiled();
  schedule.resident = {{"B", {"k", "y"}}};
  const Plan plan = std::get<Plan>(planned(schedule));
  const std::string text = to_text(plan.nest);
  CHECK(text.substr(text.find("  buffer A_ldm")) == R"(  buffer A_ldm f32[2,16] at 0, 128 bytes = A[x_at, k_at]
  buffer B_ldm f32[64,32] at 128, 8192 bytes = B[0, 0]
  buffer C_ldm f32[2,16] at 8320, 128 bytes = C[x_at, y_at]
  body {
    0  get B[0:64, 0:32] -> B_ldm  // B before the first loop
    1  wait 0
    2  for xo < 4 of x {
    3    let x_at = 2*xo
    4    for yo < 2 of y {
    5      let y_at = 16*yo
    6      fill C_ldm with 0 in registers  // initialisation of C
    7      for ko < 4 of k {
    8        let k_at = 16*ko
    9        get A[x_at:x_at + 2, k_at:k_at + 16] -> A_ldm  // A inside ko
   10        wait 9
   11        compute update C_ldm = matmul(A_ldm, B_ldm) over x=x_at:x_at + 2, y=y_at:y_at + 16, k=k_at:k_at + 16 as register_block lane y block x
           }
   12      put C_ldm -> C[x_at:x_at + 2, y_at:y_at + 16]  // C inside yo
   13      wait 12
         }
       }
  }
}
)");
  CHECK(verify(plan.nest, one_core()).value_or("sound") == "sound");
  // 8192 bytes of B once, where its tiles would come four times; of A 2048 bytes for each of two yo.
  CHECK(dma_totals(plan.counts).bytes == 8192 + 2 * 2048 + 1024);
  CHECK(dma_totals(std::get<Plan>(planned(tiled())).counts).bytes == 4 * 8192 + 2 * 2048 + 1024);
}

TEST_CASE("an input that is resident along sums alone moves with the loops outside", "[resident]") {
  Schedule schedule = tiled();
  schedule.resident = {{"A", {"k"}}};
  const Plan plan = std::get<Plan>(planned(schedule));
  CHECK(plan.schedule.dma.at("A") == "xo");
  CHECK(plan.nest.buffers[BufferId(0)].extents == std::vector<std::int64_t>{2, 64});
  CHECK(plan.schedule.resident == ResidentInputs{{"A", {"k"}}});
  // What has no loop stays anyway, and need not be said.
  schedule.resident = {{"A", {"k"}}, {"B", {"k"}}};
  schedule.order.reset();
  schedule.buffer = {{"k", 64}};
  CHECK(std::get<Plan>(planned(schedule)).schedule.resident.empty());
}

TEST_CASE("what cannot stay is refused with the reason", "[resident]") {
  const auto with = [](const ResidentInputs& resident) {
    Schedule schedule = tiled();
    schedule.resident = resident;
    return refusal(schedule);
  };
  CHECK(with({{"C", {"y"}}}) == "resident: there is no input 'C' to load");
  CHECK(with({{"A", {"y"}}}) == "resident: A cannot stay along y, as it does not move with y");
  CHECK(with({{"A", {"z"}}}) == "resident: there is no iterator 'z'; known are: x, y, k");
  // B would be loaded inside ko all the same, with all of y each time.
  CHECK(with({{"B", {"y"}}}) ==
        "resident: B is loaded again inside ko, and a loop along which it is to stay is around that");
  // More than the LDM: all of B beside the tiles of the others.
  Target small = one_core();
  small.ldm.bytes = 8192;
  Schedule schedule = tiled();
  schedule.resident = {{"B", {"k", "y"}}};
  const Planned refused = plan_group("matmul", matmul(), schedule, SwtvmPlanner(), small, {});
  REQUIRE(std::holds_alternative<Decision>(refused));
  CHECK(std::get<Decision>(refused).rule == "ldm-capacity");
}

TEST_CASE("the searched planner keeps an operand where another one passes by", "[resident]") {
  // 8 x 4096 outputs of sums over 256: B does not fit, A does, and takes 8 of 48 KiB.
  const StageList wide = parsed(R"(nest test {
  input A f32[8,256]
  input B f32[256,4096]
  output C f32[8,4096]
  stage matmul {
    C[x < 8, y < 4096] = sum over k < 256 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }
  body {
  }
}
)")
                             .stages;
  Target target = one_core();
  target.ldm.bytes = 49152;
  const Plan plan = std::get<Plan>(plan_group("matmul", wide, {}, SearchedPlanner(), target, {}));
  INFO(to_text(plan.nest) << plan.time.cycles);
  CHECK(plan.schedule.resident == ResidentInputs{{"A", {"k"}}});
}

TEST_CASE("random operators with random inputs that stay are sound, right, and take no less than their bounds") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261124);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 1500);
  int stayed = 0;
  int refused = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    Target target = draw.machine();
    target.cores.launch_seconds = 0;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text << " on " << target.cores.count
                         << " cores with " << target.ldm.bytes << " bytes\n"
                         << to_text(drawn->stages));
    const Planned plain = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Decision>(plain)) continue;
    const GroupModel model = build_group_model(drawn->stages, target);
    Schedule fixed = fixtures::random_slots(draw, model, std::get<Plan>(plain).schedule);
    if (draw.coin()) fixed.slots.clear();
    fixed.resident = fixtures::random_residents(draw, model);
    const Planned made = plan_group("op", drawn->stages, fixed, SwtvmPlanner(), target, {});
    if (const auto* decision = std::get_if<Decision>(&made)) {
      INFO(decision->reason);
      const bool expected = decision->rule == "ldm-capacity" ||
                            decision->reason.find(" slot for that") != std::string::npos ||
                            decision->reason.find("is loaded again inside") != std::string::npos;
      REQUIRE(expected);
      ++refused;
      continue;
    }
    const Plan& plan = std::get<Plan>(made);
    stayed += plan.schedule.resident.empty() ? 0 : 1;
    INFO(to_text(plan.nest));
    REQUIRE(verify(plan.nest, target).value_or("sound") == "sound");
    REQUIRE(verify_results(plan.nest, target).value_or("sound") == "sound");
    const auto read = std::get<ReadSchedule>(read_schedule(model, plan.schedule));
    const IdVector<BufferId, int> slots = slots_by_buffer(model, plan.schedule.slots);
    REQUIRE(PlanBounds(model, target).least_cycles(read, slots) <= plan.time.cycles);
    const auto bytes = buffer_bytes(model, read.sizes, target.ldm.alignment, slots, read.residents);
    REQUIRE(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) == plan.nest.ldm_bytes);
    // A complete schedule gives the plan that it is of.
    REQUIRE(to_text(std::get<LoopNest>(lower("op", drawn->stages, plan.schedule, target))) == to_text(plan.nest));
    std::map<StageTensorId, Tensor> inputs;
    std::size_t next = 0;
    for (const StageTensorId t : drawn->stages.tensors.ids()) {
      const StageTensor& tensor = drawn->stages.tensors[t];
      if (tensor.role == TensorRole::input) inputs[t] = drawn->inputs[next++];
      if (tensor.role == TensorRole::constant) inputs[t] = *tensor.value;
    }
    const auto expected = evaluate(drawn->stages, drawn->inputs);
    const auto actual = interpret(plan.nest, inputs);
    const StageTensorId output = drawn->stages.stages.back().output;
    REQUIRE(test::relative_error(expected[output], actual.at(output)) < 2e-5);
  }
  INFO(stayed << " with inputs that stay, " << refused << " refused");
  CHECK((rounds < 100 || stayed > static_cast<int>(rounds) / 10));
}

}  // namespace
}  // namespace stowage::residents_test
