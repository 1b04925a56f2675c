// SPDX-License-Identifier: Apache-2.0
// Inputs that are loaded without their padding and copied.
#include <catch2/catch.hpp>

#include <string>

#include "core/evaluate.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::copied_inputs_test {
namespace {

/// From the lines of a nest that say what is computed.
StageList stages_of(const std::string& lines) { return parsed("nest test {\n" + lines + "  body {\n  }\n}\n").stages; }

/// A pooling of 16 pictures of 12 x 12, which adds what stands at its centre.
StageList pooling(const std::string& padding = " else 0") {
  return stages_of(R"(  input X f32[16,12,12]
  output Y f32[16,12,12]
  stage pool {
    Y[c < 16, yy < 12, xx < 12] = max over ry < 3, rx < 3 of #0
    #0 = X[c, yy + ry - 1, xx + rx - 1])" +
                   padding + R"(
    #1 = X[c, yy, xx]
    finish (acc + #1)
  }
)");
}

std::string refusal(const StageList& stages, const CopiedInputs& inputs) {
  const auto result = copy_inputs(stages, inputs);
  if (std::holds_alternative<StageList>(result)) return "";
  CHECK(std::get<Decision>(result).rule == "schedule");
  return std::get<Decision>(result).reason;
}

Target machine() {
  Target target;
  target.cores.count = 4;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e9}, {1024, 1e10}};
  return target;
}

Plan plan_of(const Schedule& fixed, const Planner& planner) {
  Planned planned = plan_group("op", pooling(), fixed, planner, machine(), {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  return std::get<Plan>(std::move(planned));
}

Schedule copying(const CopiedInputs& inputs) {
  Schedule schedule;
  schedule.copied = inputs;
  return schedule;
}

TEST_CASE("who pads an input reads its copy, and who wants the centre of a window does", "[copied]") {
  CHECK(possible_copied_inputs(pooling()) == CopiedInputs{"X"});
  const auto copied = std::get<StageList>(copy_inputs(pooling(), {"X"}));
  CHECK(to_text(std::get<StageList>(copy_inputs(pooling(), {"X"}, CopyReaders::that_pad))).find("acc + X[c, yy, xx]") !=
        std::string::npos);
  CHECK(to_text(copied) == R"(input X f32[16,12,12]
output Y f32[16,12,12]
intermediate X_copy f32[16,12,12]
X_copy: X_copy[i0<16, i1<12, i2<12] = X[i0, i1, i2]
pool: Y[c<16, yy<12, xx<12] = max_{ry<3, rx<3} X_copy[c, yy + ry - 1, xx + rx - 1 else 0]
  finish (acc + X_copy[c, yy, xx])
)");
  CHECK(verify(copied).value_or("sound") == "sound");
  // What is copied already stays as it is.
  CHECK(to_text(std::get<StageList>(copy_inputs(copied, {"X"}))) == to_text(copied));
  CHECK(possible_copied_inputs(copied).empty());
}

TEST_CASE("a copy is not made larger for the sake of other readers", "[copied]") {
  // Of the window's channels all are summed; the operand that is added has one of them a tile.
  const StageList residual = stages_of(R"(  input X f32[16,12,12]
  constant W f32[16,16,3,3]
  intermediate S f32[16,12,12]
  output Y f32[16,12,12]
  stage conv {
    S[c < 16, yy < 12, xx < 12] = sum over rc < 16, ry < 3, rx < 3 of (#0 * #1)
    #0 = X[rc, yy + ry - 1, xx + rx - 1] else 0
    #1 = W[c, rc, ry, rx]
  }
  stage add {
    Y[c < 16, yy < 12, xx < 12] = (#0 + #1)
    #0 = S[c, yy, xx]
    #1 = X[c, yy, xx]
  }
)");
  const std::string text = to_text(std::get<StageList>(copy_inputs(residual, {"X"})));
  CHECK(text.find("X_copy[rc, yy + ry - 1, xx + rx - 1 else 0]") != std::string::npos);
  CHECK(text.find("(S[c, yy, xx] + X[c, yy, xx])") != std::string::npos);
}

TEST_CASE("a normalisation over channels loads its input once", "[copied]") {
  const StageList lrn = stages_of(R"(  input X f32[64,256]
  intermediate S f32[64,256]
  output Y f32[64,256]
  stage squares {
    S[c < 64, x < 256] = sum over r < 5 of (#0 * #0)
    #0 = X[c + r - 2, x] else 0
  }
  stage normalize {
    Y[c < 64, x < 256] = (#0 / #1)
    #0 = X[c, x]
    #1 = S[c, x]
  }
)");
  Schedule fixed = copying({"X"});
  fixed.parallel = {{"x", 4}};
  fixed.buffer = {{"c", 16}};
  const Planned planned = plan_group("op", lrn, fixed, SwtvmPlanner(), machine(), {});
  const Plan& plan = std::get<Plan>(planned);
  CHECK(verify(plan.nest, machine()).value_or("sound") == "sound");
  int gets = 0;
  visit_statements(plan.nest.body, [&](const Stmt& s) {
    const auto* dma = std::get_if<Dma>(&s.node);
    if (dma != nullptr && dma->direction == DmaDirection::get) ++gets;
  });
  CHECK(gets == 1);
  // Four tiles of 16 channels, of which the first and the last have a neighbour at one side only.
  CHECK(dma_totals(plan.counts).bytes == (18 + 20 + 20 + 18 + 64) * 256 * 4);
}

TEST_CASE("what cannot be copied is refused by name", "[copied]") {
  CHECK(refusal(pooling(), {"Z"}) == "copied: Z cannot be copied: there is no such tensor");
  CHECK(refusal(pooling(), {"Y"}) == "copied: Y cannot be copied: Y is no input of it");
  const StageList sum = stages_of(R"(  input A f32[2,3]
  output Y f32[2,3]
  stage add {
    Y[i < 2, j < 3] = (#0 + 1.0)
    #0 = A[i, j]
  }
)");
  CHECK(refusal(sum, {"A"}) == "copied: A cannot be copied: nobody looks outside of A");
  CHECK(possible_copied_inputs(sum).empty());
  const StageList twice = stages_of(R"(  input A f32[8]
  output Y f32[8]
  stage add {
    Y[i < 8] = (#0 + #1)
    #0 = A[i - 1] else 0
    #1 = A[i + 1] else 1
  }
)");
  CHECK(refusal(twice, {"A"}) == "copied: A cannot be copied: outside of A its readers see different values");
  const Planned refused = plan_group("op", pooling(), copying({"Z"}), SearchedPlanner(), machine(), {});
  REQUIRE(std::holds_alternative<Decision>(refused));
  CHECK(std::get<Decision>(refused).rule == "schedule");
}

TEST_CASE("a copied input is moved in fewer pieces, and gives the same values", "[copied]") {
  const Plan padded = plan_of(copying({}), SwtvmPlanner());
  const Plan copied = plan_of(copying({"X"}), SwtvmPlanner());
  CHECK(verify(copied.nest, machine()).value_or("sound") == "sound");
  CHECK(dma_totals(copied.counts).bytes == 2 * 16 * 12 * 12 * 4);  // X once, and Y
  CHECK(dma_totals(padded.counts).bytes == 3 * 16 * 12 * 12 * 4);  // the centre by itself
  CHECK(dma_totals(copied.counts).operations < dma_totals(padded.counts).operations);
  std::vector<float> values(16 * 144);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 101) - 50;
  const Tensor x = Tensor::of_floats({16, 12, 12}, values);
  const Tensor expected = evaluate(pooling(), std::vector{x})[StageTensorId(1)];
  for (const Plan* plan : {&padded, &copied}) {
    const Tensor y = interpret(plan->nest, {{StageTensorId(0), x}}).at(StageTensorId(1));
    CHECK(std::equal(y.bytes().begin(), y.bytes().end(), expected.bytes().begin(), expected.bytes().end()));
  }
}

TEST_CASE("the searched planner copies where that is cheaper, the published one where a schedule says so", "[copied]") {
  CHECK(plan_of({}, SearchedPlanner()).schedule.copied == CopiedInputs{"X"});
  CHECK(plan_of({}, SwtvmPlanner()).schedule.copied == CopiedInputs{});
  CHECK(plan_of(copying({}), SearchedPlanner()).schedule.copied == CopiedInputs{});
  CHECK(plan_of({}, SearchedPlanner()).time.cycles < plan_of(copying({}), SearchedPlanner()).time.cycles);
}

}  // namespace
}  // namespace stowage::copied_inputs_test
