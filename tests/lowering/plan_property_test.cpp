// SPDX-License-Identifier: Apache-2.0
// Random operators on random machines: plan, lower, interpret, and compare with the plain evaluation. STOWAGE_SEED
// repeats a run, STOWAGE_ROUNDS lengthens it.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <random>

#include "core/evaluate.h"
#include "core/operators.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/merged_axes.h"
#include "lowering/model/stage_form.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "operator_draw.h"
#include "tests/lowering/relative_error.h"
#include "tests/random_runs.h"

namespace stowage::plan_property_test {

using fixtures::OperatorDraw;
using test::number_from;

namespace {

std::map<std::string, Tensor> constants_of(const StageList& stages) {
  std::map<std::string, Tensor> constants;
  for (const StageTensor& tensor : stages.tensors) {
    if (tensor.value) constants.emplace(tensor.name, *tensor.value);
  }
  return constants;
}

/// All inputs but the first as constants, which can be packed.
StageList with_weights(const fixtures::OperatorDraw::Drawn& drawn) {
  StageList stages = drawn.stages;
  std::size_t input = 0;
  for (StageTensor& tensor : stages.tensors) {
    if (tensor.role != TensorRole::input) continue;
    const Tensor& value = drawn.inputs[input];
    if (input++ == 0) continue;
    tensor.role = TensorRole::constant;
    tensor.value = value;
  }
  return stages;
}

/// What a schedule says of the form in the n-th round: nothing; runs taken as one; lanes in blocks, and then runs; in
/// every second round of these inputs that are copied, in two of four stages that are folded.
Schedule with_drawn_form(const StageList& stages, std::uint64_t round, Target target) {
  StageForm form;
  if (round % 3 == 2) {
    target.cores.vector_lanes = 2;
    form.lanes = possible_lane_blocks(stages, {}, target);
  }
  if (round % 3 > 0) form.merged = mergeable_axes(std::get<StageList>(block_lanes(stages, form.lanes)), {});
  if (round % 2 == 0) form.copied = possible_copied_inputs(stages);
  form.folded = round % 4 < 2;
  return with_form({}, form);
}

}  // namespace

TEST_CASE("random operators on random machines: planned, lowered and interpreted, they give the definition's values") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20240611);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 1500);
  int planned = 0;
  int refused = 0;
  int merged = 0;
  int blocked = 0;
  int copied = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    const Target target = draw.machine();
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text << " on " << target.cores.count
                         << " cores with " << target.ldm.bytes << " bytes\n"
                         << to_text(drawn->stages));
    REQUIRE(verify(drawn->stages) == std::nullopt);
    const StageList stages = with_weights(*drawn);
    const Schedule fixed = with_drawn_form(stages, round, target);
    merged += fixed.merged->empty() ? 0 : 1;
    blocked += fixed.lanes->empty() ? 0 : 1;
    copied += fixed.copied->empty() ? 0 : 1;
    REQUIRE(verify(std::get<StageList>(in_form(stages, form_of(fixed)))) == std::nullopt);
    const Planned plan = plan_group("op", stages, fixed, SwtvmPlanner(), target, {});
    if (const auto* decision = std::get_if<Decision>(&plan)) {
      REQUIRE(decision->rule == "ldm-capacity");
      ++refused;
      continue;
    }
    ++planned;
    const LoopNest& nest = std::get<Plan>(plan).nest;
    INFO(to_text(nest));
    REQUIRE(verify(nest, target).value_or("sound") == "sound");
    Diagnostics diagnostics;
    const auto parsed = parse_loop_nest(to_text(nest), diagnostics, constants_of(nest.stages));
    INFO(format_diagnostics(diagnostics));
    REQUIRE(parsed);
    REQUIRE(to_text(*parsed) == to_text(nest));
    std::map<StageTensorId, Tensor> inputs;
    for (const StageTensorId t : nest.stages.tensors.ids()) {
      const StageTensor& tensor = nest.stages.tensors[t];
      if (tensor.role == TensorRole::input) inputs[t] = drawn->inputs[0].reshaped(tensor.shape);
      if (tensor.role == TensorRole::constant) inputs[t] = *tensor.value;
    }
    const auto expected = evaluate(drawn->stages, drawn->inputs);
    const auto actual = interpret(nest, inputs);
    const StageTensorId output = drawn->stages.stages.back().output;
    const Tensor& wanted = expected[output];
    REQUIRE(test::relative_error(wanted, actual.at(output).reshaped(wanted.shape())) < 2e-5);
  }
  INFO(planned << " planned, " << refused << " refused");
  // Tiny machines refuse some; most must be planned, or the test shows nothing.
  CHECK(planned > refused);
  CHECK((rounds < 100 || merged > static_cast<int>(rounds) / 10));
  CHECK((rounds < 100 || blocked > static_cast<int>(rounds) / 50));
  CHECK((rounds < 100 || copied > static_cast<int>(rounds) / 20));
}

}  // namespace stowage::plan_property_test
