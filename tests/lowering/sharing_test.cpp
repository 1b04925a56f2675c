// SPDX-License-Identifier: Apache-2.0
// Inputs that several cores load together.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/evaluate.h"
#include "fixtures.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/idle_parts.h"
#include "lowering/nest/lower.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/planner_searched.h"
#include "lowering/simulate/simulate.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"
#include "lowering/time/overlap.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "operator_draw.h"
#include "parsed_nest.h"
#include "sharing_draw.h"
#include "slots_draw.h"
#include "team_nests.h"
#include "tests/lowering/relative_error.h"
#include "tests/random_runs.h"

namespace stowage::sharing_test {
namespace {

using fixtures::OperatorDraw;

/// 2 x 4 cores at 1 GHz; 100 cycles to launch, 10 for a transfer to start, 5 for a barrier; 4 bytes a cycle, of which
/// one core's transfers reach 2.
Target mesh() {
  Target target;
  target.name = "mesh";
  target.clock_hz = 1e9;
  target.cores.count = 8;
  target.cores.mesh_rows = 2;
  target.cores.mesh_columns = 4;
  target.cores.launch_seconds = 100e-9;
  target.cores.barrier_cycles = 5;
  target.dma.startup_cycles = 10;
  target.dma.core_bytes_per_second = 2e9;
  target.dma.row_broadcast = true;
  target.dma.bandwidth = {{4, 4e9}};
  return target;
}

std::string verdict_of(const std::vector<ParallelSplit>& parallel, const std::string& tensor, SharedBy by,
                       const Target& target = mesh()) {
  const StageList stages = fixtures::matmul_stages(16, 32, 8);
  const GroupModel model = build_group_model(stages, target);
  for (const BufferId b : model.buffers.ids()) {
    if (model.buffers[b].name == tensor) return why_not_shared(model, b, parallel, by, target);
  }
  return "is not there";
}

TEST_CASE("cores load together what they want the same boxes of", "[sharing]") {
  const std::vector<ParallelSplit> rows_first = {{"x", 2}, {"y", 4}};
  CHECK(verdict_of(rows_first, "A", SharedBy::row).empty());
  CHECK(
      verdict_of(rows_first, "B", SharedBy::row) ==
      "moves with y, which is split over cores of one row (each row has 4 of them, and the parts behind it make up 1)");
  CHECK(verdict_of(rows_first, "A", SharedBy::mesh) == "moves with x, which is split over cores");
  CHECK(verdict_of({{"y", 2}, {"x", 4}}, "B", SharedBy::row).empty());
  CHECK(verdict_of({{"y", 8}}, "A", SharedBy::mesh).empty());
  CHECK(verdict_of({{"y", 4}}, "A", SharedBy::row).empty());
  CHECK(verdict_of({{"y", 4}}, "A", SharedBy::mesh) == "is wanted by 4 cores, which are one row");
  Target taller = mesh();
  taller.cores.count = 12;
  taller.cores.mesh_rows = 3;
  CHECK(verdict_of({{"y", 8}}, "A", SharedBy::mesh, taller).empty());
  CHECK(verdict_of({{"y", 6}}, "A", SharedBy::row) == "is wanted by 6 cores, which make up no whole rows of 4");
  CHECK(
      verdict_of({{"x", 4}, {"y", 2}}, "A", SharedBy::row) ==
      "moves with x, which is split over cores of one row (each row has 4 of them, and the parts behind it make up 2)");
  CHECK(verdict_of({{"y", 8}}, "C", SharedBy::mesh) == "is not loaded");
  Target alone = mesh();
  alone.dma.row_broadcast = false;
  CHECK(verdict_of({{"y", 8}}, "A", SharedBy::mesh, alone) ==
        "is loaded by each core for itself on this target (dma.row_broadcast)");
  CHECK(verdict_of({{"y", 8}}, "A", SharedBy::core, alone).empty());
}

/// The same cores, which also send down their columns: 3 cycles until the first register of 32 bytes is there, then 2
/// each.
Target mesh_with_columns() {
  Target target = mesh();
  target.cores.column_broadcast = ColumnBroadcast{3, 2};
  return target;
}

TEST_CASE("cores of a column load together what moves inside of rows only", "[sharing]") {
  const auto verdict = [](const std::vector<ParallelSplit>& parallel, const std::string& tensor) {
    return verdict_of(parallel, tensor, SharedBy::column, mesh_with_columns());
  };
  CHECK(verdict({{"x", 2}, {"y", 4}}, "B").empty());
  CHECK(verdict({{"y", 2}, {"x", 4}}, "A").empty());
  CHECK(verdict({{"x", 2}, {"y", 4}}, "A") ==
        "moves with x, which is split over cores of one column (each row has 4 cores, of which the parts of x and of "
        "what is behind it make up 8)");
  CHECK(verdict({{"x", 4}, {"y", 2}}, "A") ==
        "moves with x, which is split over cores of one column (each row has 4 cores, of which the parts of x and of "
        "what is behind it make up 8)");
  CHECK(verdict({{"x", 4}, {"y", 2}}, "B").empty());
  CHECK(verdict({{"y", 4}}, "A") == "is wanted by 4 cores, which make up no whole columns of 2");
  CHECK(verdict({{"y", 8}}, "C") == "is not loaded");
  CHECK(verdict_of({{"x", 2}, {"y", 4}}, "B", SharedBy::column) ==
        "is sent down no column on this target (cores.column_broadcast)");
  Target no_rows = mesh_with_columns();
  no_rows.dma.row_broadcast = false;
  CHECK(verdict_of({{"x", 2}, {"y", 4}}, "B", SharedBy::column, no_rows).empty());
}

Planned planned(const Schedule& fixed, const Target& target = mesh()) {
  return plan_group("product", fixtures::matmul_stages(16, 32, 8), fixed, SwtvmPlanner(), target, {});
}

Schedule over_y() {
  Schedule fixed;
  fixed.parallel = {{{"y", 8}}};
  fixed.buffer = {{"x", 16}, {"y", 4}, {"k", 4}};
  fixed.sharing = {{"A", SharedBy::mesh}};
  return fixed;
}

TEST_CASE("what cannot be loaded together is refused with the reason and the widest that can", "[sharing]") {
  const auto reason = [](const Schedule& fixed, const Target& target = mesh()) {
    const Planned result = planned(fixed, target);
    const auto* decision = std::get_if<Decision>(&result);
    return decision == nullptr ? std::string("planned") : decision->rule + ": " + decision->reason;
  };
  Schedule fixed = over_y();
  CHECK(reason(fixed) == "planned");
  fixed.sharing = {{"B", SharedBy::row}};
  CHECK_THAT(reason(fixed),
             Catch::StartsWith("schedule: sharing: B cannot be loaded by the cores of a row together, as "
                               "it moves with y, which is split over cores of one row") &&
                 Catch::EndsWith("; at most by the core"));
  fixed.sharing = {{"C", SharedBy::row}};
  CHECK(reason(fixed) == "schedule: sharing: there is no input 'C' to load");
  fixed.parallel = {{{"y", 4}}};
  fixed.sharing = {{"A", SharedBy::mesh}};
  CHECK_THAT(reason(fixed), Catch::EndsWith("which are one row; at most by the row"));
}

TEST_CASE("a product whose first operand goes to all cores at once", "[sharing]") {
  const Planned result = planned(over_y());
  REQUIRE(std::holds_alternative<Plan>(result));
  const Plan& plan = std::get<Plan>(result);
  INFO(to_text(plan.nest));
  CHECK(to_text(plan.nest).find("mesh 2 rows 4 columns") != std::string::npos);
  CHECK(plan.schedule.sharing == std::map<std::string, SharedBy>{{"A", SharedBy::mesh}, {"B", SharedBy::core}});
  CHECK(verify(plan.nest, mesh()).value_or("sound") == "sound");
  CHECK(verify_results(plan.nest, mesh()).value_or("sound") == "sound");
  Target alone = mesh();
  alone.dma.row_broadcast = false;
  CHECK_THAT(verify_results(plan.nest, alone).value_or("sound"), Catch::StartsWith("own-ldm: statement"));

  // A: 2 trips of 16 x 4 floats, once for all cores. B: 2 trips of 4 x 4 floats on each. C: 16 x 4 floats on each.
  Schedule fixed = over_y();
  fixed.sharing.clear();
  const Plan each = std::get<Plan>(planned(fixed));
  const DmaTotals shared = dma_totals(plan.counts);
  CHECK(shared.transfers == 2 + 16 + 8);
  CHECK(shared.bytes == 2 * 256 + 16 * 64 + 8 * 256);
  CHECK(dma_totals(each.counts).bytes == shared.bytes + 7 * 2 * 256);

  // Each trip: a barrier before the get and one behind the wait. The gets of A take as long as one core can take them.
  std::map<CostKind, std::int64_t> cycles = cycles_by_kind(plan.time);
  CHECK(cycles.at(CostKind::barrier) == 2 * 2 * 5);
  CHECK(cycles.at(CostKind::get) == (2 * 256 / 4 + 2 * 10) + (16 * 64 / 4 + 2 * 10));
  CHECK(cycles_by_kind(each.time).at(CostKind::get) == (8 * 2 * 256 / 4 + 2 * 10) + (16 * 64 / 4 + 2 * 10));
}

TEST_CASE("a product whose operands are loaded by rows and by columns moves each once", "[sharing]") {
  Schedule fixed;
  fixed.parallel = {{{"x", 2}, {"y", 4}}};
  fixed.buffer = {{"x", 8}, {"y", 8}, {"k", 4}};
  fixed.sharing = {{"A", SharedBy::row}, {"B", SharedBy::column}};
  const Target target = mesh_with_columns();
  const Planned result = planned(fixed, target);
  REQUIRE(std::holds_alternative<Plan>(result));
  const Plan& plan = std::get<Plan>(result);
  INFO(to_text(plan.nest));
  CHECK(to_text(plan.nest).find("of column") != std::string::npos);
  CHECK(verify(plan.nest, target).value_or("sound") == "sound");
  CHECK(verify_results(plan.nest, target).value_or("sound") == "sound");
  CHECK_THAT(verify_results(plan.nest, mesh()).value_or("sound"),
             Catch::EndsWith("nothing is sent down a column (cores.column_broadcast)"));

  // Two trips of k: A 2 x 8 x 4 floats, B 4 x 4 x 8, each once; C 8 x 8 floats on each core.
  const DmaTotals shared = dma_totals(plan.counts);
  CHECK(shared.transfers == 2 * 2 + 2 * 4 + 8);
  CHECK(shared.bytes == 16 * 8 * 4 + 32 * 8 * 4 + 16 * 32 * 4);

  // Each trip a barrier of the row before the get of A and one behind its wait; B's box of 128 bytes is 4 registers.
  std::map<CostKind, std::int64_t> cycles = cycles_by_kind(plan.time);
  CHECK(cycles.at(CostKind::barrier) == 2 * 2 * 5);
  CHECK(cycles.at(CostKind::broadcast) == 2 * (3 + 4 * 2));
  const auto term = std::find_if(plan.time.terms.begin(), plan.time.terms.end(),
                                 [](const TimeTerm& each) { return kind_of(each.cost) == CostKind::broadcast; });
  CHECK(name_of(term->cost) == "broadcast");
  CHECK(formula_text(term->cost) == "2 broadcasts down each column * 3 cycles + 8 registers * 2 cycles");
  CHECK(source_of(term->cost) == "target: cores.column_broadcast");
}

TEST_CASE("a barrier stands where one core must not go ahead of the others, and nowhere else", "[sharing]") {
  const auto barriers = [](const std::string& body) {
    const std::string text = fmt::format(R"(nest two {{
  input A f32[64]
  input B f32[64]
  output C f32[64]
  stage add {{
    C[i < 64] = (#0 + #1)
    #0 = A[i]
    #1 = B[i]
  }}
  variables c, t
  core c < 8 of i stride 1
  mesh 2 rows 4 columns
  memory A = A strides [1]
  memory B = B strides [1]
  memory C = C strides [1] written
  ldm 1024 bytes
  buffer AA f32[8] at 0, 64 bytes = A[0] slots 2
  buffer BB f32[8] at 64, 32 bytes = B[0]
  buffer CC f32[8] at 96, 32 bytes = C[0]
  body {{
{}  }}
}}
)",
                                         body);
    const TeamBarriers found = team_barriers(parsed(text));
    std::string told;
    for (const auto& [id, team] : found.before) told += fmt::format("{} before {}, ", name_of(team), id.index());
    for (const auto& [id, team] : found.after) told += fmt::format("{} after {}, ", name_of(team), id.index());
    return told;
  };
  const std::string add = "    4  compute map CC = add(AA, BB) over i=0:8\n";
  // Nobody may be filled before all have come; one barrier frees the places of both.
  CHECK(barriers("    0  get A[0:8] -> AA of mesh\n    1  get B[0:8] -> BB of mesh\n    2  wait 0\n    3  wait 1\n" +
                 add) == "mesh before 0, mesh after 3, ");
  CHECK(barriers("    0  get A[0:8] -> AA of row\n    1  get B[0:8] -> BB of mesh\n    2  wait 0\n    3  wait 1\n" +
                 add) == "row before 0, mesh before 1, mesh after 3, ");
  CHECK(barriers("    0  get A[0:8] -> AA of mesh\n    1  get B[0:8] -> BB of row\n    2  wait 0\n    3  wait 1\n" +
                 add) == "mesh before 0, mesh after 2, row after 3, ");
  // What is loaded again was used meanwhile.
  CHECK(barriers("    0  for t < 3 of i {\n    1  get A[0:8] -> AA of row\n    2  wait 1\n    3  get B[0:8] -> BB\n    "
                 "5  wait 3\n" +
                 add + "  }\n") == "row before 1, row after 2, ");
  // Loaded ahead, the wait's barrier is enough.
  CHECK(barriers("    0  get A[0:8] -> AA of row\n    1  for t < 3 of i {\n    2  wait AA[t % 2]\n    3  get A[0:8] -> "
                 "AA[(t + 1) % 2] of row\n    4  compute map CC = add(AA[t % 2], BB) over i=0:8\n  }\n") ==
        "row before 0, row after 2, ");
  CHECK(barriers(
            "    0  get A[0:8] -> AA of row\n    1  for t < 3 of i {\n    2  wait AA[t % 2]\n    4  compute map CC = "
            "add(AA[t % 2], BB) over i=0:8\n    3  get A[0:8] -> AA[(t + 1) % 2] of row\n  }\n") ==
        "row before 0, row before 3, row after 2, ");
  CHECK(barriers("    0  get A[0:8] -> AA\n    1  wait 0\n").empty());
  // What goes down a column goes when all of it are at the wait, each box by itself.
  CHECK(
      barriers("    0  get A[0:8] -> AA of column\n    1  get B[0:8] -> BB of column\n    2  wait 0\n    3  wait 1\n" +
               add) == "column after 2, column after 3, ");
}

/// Inputs of an interpreted nest by tensor.
std::map<StageTensorId, Tensor> inputs_of(const StageList& stages, const std::vector<Tensor>& drawn) {
  std::map<StageTensorId, Tensor> inputs;
  std::size_t next = 0;
  for (const StageTensorId t : stages.tensors.ids()) {
    const StageTensor& tensor = stages.tensors[t];
    if (tensor.role == TensorRole::input) inputs[t] = drawn[next++];
    if (tensor.role == TensorRole::constant) inputs[t] = *tensor.value;
  }
  return inputs;
}

TEST_CASE("random operators with random sharing and slots are sound, right, and take no less than their bounds",
          "[sharing]") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261201);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 1500);
  int shared = 0;
  int by_columns = 0;
  int uneven = 0;
  int idle = 0;
  int ahead = 0;
  int unchecked = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    Target target = fixtures::with_mesh(draw, draw.machine());
    target.cores.launch_seconds = 0;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text << " on " << target.cores.mesh_rows
                         << " x " << target.cores.mesh_columns << " cores with " << target.ldm.bytes << " bytes\n"
                         << to_text(drawn->stages));
    const Planned plain = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Decision>(plain)) continue;
    const GroupModel model = build_group_model(drawn->stages, target);
    Schedule fixed = fixtures::random_slots(draw, model, std::get<Plan>(plain).schedule);
    fixed = fixtures::random_sharing(draw, model, target, std::move(fixed));
    const Planned with_all = plan_group("op", drawn->stages, fixed, SwtvmPlanner(), target, {});
    if (const auto* decision = std::get_if<Decision>(&with_all)) {
      INFO(decision->reason);
      REQUIRE((decision->rule == "ldm-capacity" || decision->rule == "dma-alignment" ||
               decision->reason.find(" slot for that") != std::string::npos ||
               decision->reason.find("would store") != std::string::npos));
      continue;
    }
    const Plan& plan = std::get<Plan>(with_all);
    INFO(to_text(plan.nest));
    const std::string verdict = verify(plan.nest, target).value_or("sound");
    if (verdict.starts_with("unchecked: ")) {
      ++unchecked;  // loops outside of those that slots are counted along, too
      continue;
    }
    REQUIRE(verdict == "sound");
    REQUIRE(verify_results(plan.nest, target).value_or("sound") == "sound");
    const ReadSchedule read = std::get<ReadSchedule>(read_schedule(model, plan.schedule));
    REQUIRE(PlanBounds(model, target)
                .least_cycles(read, slots_by_buffer(model, plan.schedule.slots),
                              sharing_by_buffer(model, plan.schedule.sharing)) <= plan.time.cycles);
    const auto expected = evaluate(drawn->stages, drawn->inputs);
    const auto actual = interpret(plan.nest, inputs_of(drawn->stages, drawn->inputs));
    const StageTensorId output = drawn->stages.stages.back().output;
    REQUIRE(test::relative_error(expected[output], actual.at(output)) < 2e-5);
    if (first_of_team(plan.nest) == nullptr) continue;
    ++shared;
    by_columns += std::any_of(plan.schedule.sharing.begin(), plan.schedule.sharing.end(),
                              [](const auto& input) { return input.second == SharedBy::column; });
    ahead += first_use_of_slots(plan.nest) != nullptr ? 1 : 0;
    const bool is_uneven =
        std::any_of(plan.schedule.parallel->begin(), plan.schedule.parallel->end(), [&](const ParallelSplit& split) {
          const IteratorId i = *model.iterator_named(split.iterator);
          return model.iterators[i].extent % split.parts != 0;
        });
    uneven += is_uneven ? 1 : 0;
    idle +=
        std::any_of(plan.schedule.parallel->begin(), plan.schedule.parallel->end(), [&](const ParallelSplit& split) {
          return filled_parts(model.iterators[*model.iterator_named(split.iterator)].extent, split.parts) < split.parts;
        });
    // In trips that others make a core that has nothing left loads all the same what does not move with them.
    if (is_uneven) continue;
    Schedule alone = plan.schedule;
    for (auto& [tensor, by] : alone.sharing) by = SharedBy::core;
    const LoopNest own = std::get<LoopNest>(lower("op", drawn->stages, alone, target));
    REQUIRE(dma_totals(plan.counts).bytes < dma_totals(predict_counts(own)).bytes);
  }
  CHECK(shared * 10 > static_cast<int>(rounds));
  CHECK(by_columns * 100 > static_cast<int>(rounds));
  CHECK(uneven * 40 > static_cast<int>(rounds));
  CHECK(idle * 100 > static_cast<int>(rounds));
  CHECK(ahead * 20 > static_cast<int>(rounds));
  CHECK(unchecked * 200 <= static_cast<int>(rounds));
}

TEST_CASE("planner searched sends down columns where each operand would else come for every row", "[sharing]") {
  // Cut over rows and columns of the mesh, each operand of a product comes once only if one of them goes down columns.
  const StageList stages = fixtures::matmul_stages(196, 256, 1024);
  const auto cycles_of = [&](const Target& target) {
    const Planned found = plan_group("product", stages, {}, SearchedPlanner(), target, {});
    const Plan& plan = std::get<Plan>(found);
    const bool sends = std::any_of(plan.schedule.sharing.begin(), plan.schedule.sharing.end(),
                                   [](const auto& input) { return input.second == SharedBy::column; });
    return std::pair{plan.time.cycles, sends};
  };
  Diagnostics diagnostics;
  Target target = *load_target("sw26010", {}, diagnostics);
  const auto [by_both, sends] = cycles_of(target);
  target.cores.column_broadcast.reset();
  const auto [by_rows, sends_without] = cycles_of(target);
  CHECK(sends);
  CHECK_FALSE(sends_without);
  CHECK(by_both * 100 < by_rows * 95);
  target.cores.column_broadcast = ColumnBroadcast{11, 1000};
  CHECK_FALSE(cycles_of(target).second);
}

TEST_CASE("planner searched loads together where that is cheaper", "[sharing]") {
  const StageList stages = fixtures::matmul_stages(32, 256, 256);
  const Target target = mesh();
  const Planned together = plan_group("product", stages, {}, SearchedPlanner(), target, {});
  const Planned alone = plan_group("product", stages, {}, SearchedPlanner(), without_sharing(target), {});
  const Plan& plan = std::get<Plan>(together);
  CHECK(first_of_team(plan.nest) != nullptr);
  CHECK(first_of_team(std::get<Plan>(alone).nest) == nullptr);
  CHECK(plan.time.cycles * 10 < std::get<Plan>(alone).time.cycles * 9);
  // Where a barrier takes longer than all else, nobody waits for others.
  Target slow = target;
  slow.cores.barrier_cycles = 1e7;
  const Plan apart = std::get<Plan>(plan_group("product", stages, {}, SearchedPlanner(), slow, {}));
  CHECK(first_of_team(apart.nest) == nullptr);
}

/// Four cores of a row: A, 64 elements, is loaded by one of them for all, B by each for itself, 16 elements.
std::string loads(const std::string& between) {
  return "nest sum {\n  input A f32[64]\n  input B f32[64]\n  output C f32[64]\n"
         "  stage sum {\n    C[x < 64] = (#0 + #1)\n    #0 = A[x]\n    #1 = B[x]\n  }\n"
         "  variables cx\n  core cx < 4 of x stride 1\n  mesh 1 rows 4 columns\n"
         "  memory A = A strides [1]\n  memory B = B strides [1]\n  memory C = C strides [1] written\n"
         "  ldm 512 bytes\n"
         "  buffer AA f32[64] at 0, 256 bytes = A[0]\n  buffer BB f32[16] at 256, 64 bytes = B[16*cx]\n"
         "  buffer CC f32[16] at 320, 64 bytes = C[16*cx]\n  body {\n"
         "    0  get A[0:64] -> AA of row\n" +
         between +
         "    2  get B[16*cx:16*cx + 16] -> BB\n    3  wait 0\n    4  wait 2\n"
         "    5  compute map CC = sum(AA, BB) over x=16*cx:16*cx + 16 as scalar\n"
         "    6  put CC -> C[16*cx:16*cx + 16]\n    7  wait 6\n  }\n}\n";
}

TEST_CASE("while one core loads for others, the DMA moves what was started beside that", "[sharing]") {
  const auto gets_of = [](const LoopNest& nest) {
    std::int64_t cycles = 0;
    for (const Cost& cost : overlapped_costs(nest, predict_counts(nest), mesh())) {
      if (kind_of(cost.formula) == CostKind::get) cycles += cycles_of(cost.formula);
    }
    return cycles;
  };
  // The DMA needs 64 cycles for the 256 bytes of A and as many for those of B; the core that loads A 128 and 32.
  const LoopNest together = parsed(loads(""));
  CHECK(gets_of(together) == 128 + 32 + 2 * 10);
  const LoopNest apart = parsed(loads("    1  fill CC with 0\n"));
  CHECK(gets_of(apart) == 128 + 64 + 2 * 10);
}

}  // namespace
}  // namespace stowage::sharing_test
