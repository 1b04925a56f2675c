// SPDX-License-Identifier: Apache-2.0
// Stages that take one pass over the LDM instead of two: constants as literals, finishes computed by what follows.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>

#include "lowering/interpret/interpret.h"
#include "lowering/model/folded_stages.h"
#include "lowering/model/stage_form.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "parsed_nest.h"

namespace stowage::folded_stages_test {
namespace {

/// From the lines of a nest that say what is computed.
StageList stages_of(const std::string& lines) { return parsed("nest test {\n" + lines + "  body {\n  }\n}\n").stages; }

/// A 1x1 convolution to 8 channels with bias, a Clip and what is added to that.
StageList convolution_and_clip() {
  return stages_of(R"(  input X f32[3,6,10]
  constant W f32[8,3] hash "0000000000000000"
  constant B f32[8] = [1, 2, 3, 4, 5, 6, 7, 8]
  constant low f32[] = [-0.5]
  constant high f32[1] = [6]
  input R f32[8,6,10]
  intermediate C f32[8,6,10]
  output Y f32[8,6,10]
  stage conv {
    C[ff < 8, yy < 6, xx < 10] = sum over rc < 3 of (#0 * #1)
    #0 = X[rc, yy, xx]
    #1 = W[ff, rc]
    #2 = B[ff]
    finish (acc + #2)
  }
  stage clip {
    Y[ff < 8, yy < 6, xx < 10] = (min(max(#0, #1), #2) + #3)
    #0 = C[ff, yy, xx]
    #1 = low[]
    #2 = high[0]
    #3 = R[ff, yy, xx]
  }
)");
}

std::string folded_text(const StageList& stages) {
  const StageList folded = fold_stages(stages);
  CHECK(verify(folded).value_or("sound") == "sound");
  CHECK(may_fold(stages) == (to_text(folded) != to_text(stages)));
  CHECK(!may_fold(folded));
  CHECK(to_text(fold_stages(folded)) == to_text(folded));
  return to_text(folded);
}

bool is_folded(const StageList& stages) { return folded_text(stages) != to_text(stages); }

/// A sum over 4 rows of A that a finish halves, or what else `finish` says, and what reads it.
StageList sum_and(const std::string& finish, const std::string& readers) {
  return stages_of(fmt::format(R"(  input A f32[5,4]
  intermediate S f32[5]
  output Y f32[5]
  stage sum {{
    S[i < 5] = sum over r < 4 of #0
    #0 = A[i, r]
    finish {}
  }}
{})",
                               finish, readers));
}

std::string one_reader(const std::string& body) {
  return fmt::format("  stage y {{\n    Y[i < 5] = {}\n    #0 = S[i]\n  }}\n", body);
}

/// The text of a scalar constant as the literal in `Y = max(X, constant)`; "" where it stays a tensor.
std::string literal_in_text(const Tensor& value) {
  StageTensor tensor;
  tensor.type = value.type();
  tensor.shape = value.shape();
  tensor.role = TensorRole::constant;
  tensor.value = value;
  const ScalarExpr literal = literal_of(tensor);
  return literal ? to_text(literal, {}, {}) : "";
}

Target machine() {
  Target target;
  target.cores.count = 4;
  target.cores.pipelines = Pipelines{7, 4, 17, 100};
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e9}, {1024, 1e10}};
  return target;
}

/// With values instead of the hash of the weights.
StageList with_weights(StageList stages) {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(0.25F * static_cast<float>(i % 7 - 3));
  for (StageTensor& tensor : stages.tensors) {
    if (tensor.name == "W") tensor.value = Tensor::of_floats({8, 3}, values);
  }
  return stages;
}

TEST_CASE("a convolution with bias and Clip is a sum, and one pass behind it", "[folded]") {
  CHECK(folded_text(convolution_and_clip()) == R"(input X f32[3,6,10]
constant W f32[8,3]
constant B f32[8]
constant low f32[]
constant high f32[1]
input R f32[8,6,10]
intermediate C f32[8,6,10]
output Y f32[8,6,10]
conv: C[ff<8, yy<6, xx<10] = sum_{rc<3} (X[rc, yy, xx] * W[ff, rc])
clip: Y[ff<8, yy<6, xx<10] = (min(max((C[ff, yy, xx] + B[ff]), -0.5), 6.0) + R[ff, yy, xx])
)");
}

TEST_CASE("lanes in blocks are finished by the stage that stores them", "[folded]") {
  StageForm form;
  form.lanes = {{"ff", 4}};
  form.folded = true;
  const std::string text = to_text(std::get<StageList>(in_form(with_weights(convolution_and_clip()), form)));
  CHECK(text.find("clip: Y[ff_block<2, ff_lane<4, yy<6, xx<10] = (min(max((C[ff_block, yy, xx, ff_lane] + "
                  "B[ff_block, ff_lane]), -0.5), 6.0) + R[ff_block, ff_lane, yy, xx])") != std::string::npos);
  const StageList alone = stages_of(R"(  input X f32[3,6,10]
  constant W f32[8,3] hash "0000000000000000"
  constant B f32[8] hash "0000000000000000"
  output Y f32[8,6,10]
  stage conv {
    Y[ff < 8, yy < 6, xx < 10] = sum over rc < 3 of (#0 * #1)
    #0 = X[rc, yy, xx]
    #1 = W[ff, rc]
    #2 = B[ff]
    finish (acc + #2)
  }
)");
  CHECK(!is_folded(alone));
  const std::string stored = to_text(std::get<StageList>(in_form(alone, form)));
  INFO(stored);
  CHECK(stored.find("finish") == std::string::npos);
  CHECK(stored.find("+ B[ff_block, ff_lane])") != std::string::npos);
}

TEST_CASE("a finish stays where what follows is not one pass over every element", "[folded]") {
  const std::string halved = "(acc * 0.5)";
  CHECK(is_folded(sum_and(halved, one_reader("max(#0, 0.0)"))));
  CHECK(is_folded(sum_and(halved, one_reader("(#0 * tanh(#0))"))));
  // Divisions and functions are not named twice.
  CHECK(is_folded(sum_and("(acc / 3.0)", one_reader("max(#0, 0.0)"))));
  CHECK(!is_folded(sum_and("(acc / 3.0)", one_reader("(#0 * tanh(#0))"))));
  CHECK(!is_folded(sum_and("exp(acc)", one_reader("(#0 * tanh(#0))"))));
  // Two stages read it; each of its elements is read several times, or outside of it.
  CHECK(!is_folded(stages_of(R"(  input A f32[5,4]
  intermediate S f32[5]
  output Y f32[5,3]
  stage sum {
    S[i < 5] = sum over r < 4 of #0
    #0 = A[i, r]
    finish (acc * 0.5)
  }
  stage y {
    Y[i < 5, j < 3] = #0
    #0 = S[i]
  }
)")));
  CHECK(!is_folded(sum_and(halved, R"(  stage y {
    Y[i < 5] = (#0 + #1)
    #0 = S[i]
    #1 = S[i - 1] else 0
  }
)")));
  CHECK(!is_folded(sum_and(halved, R"(  stage y {
    Y[i < 5] = sum over r < 1 of #0
    #0 = S[i]
  }
)")));
  // What is reduced has another type than what is left.
  CHECK(!is_folded(stages_of(R"(  input A i32[5,4]
  intermediate S f32[5]
  output Y f32[5]
  stage sum {
    S[i < 5] = sum over r < 4 of #0
    #0 = A[i, r]
    finish cast_f32(acc)
  }
  stage y {
    Y[i < 5] = max(#0, 0.0)
    #0 = S[i]
  }
)")));
}

TEST_CASE("a constant of one element stays where it is summed, moves with an axis, or is an index", "[folded]") {
  CHECK(!is_folded(stages_of(R"(  input A f32[5,4]
  constant W f32[] = [2]
  output Y f32[5]
  stage y {
    Y[i < 5] = sum over r < 4 of (#0 * #1)
    #0 = A[i, r]
    #1 = W[]
  }
)")));
  CHECK(!is_folded(stages_of(R"(  input A f32[1]
  constant b f32[1] = [2]
  output Y f32[1]
  stage y {
    Y[i < 1] = (#0 + #1)
    #0 = A[i]
    #1 = b[i]
  }
)")));
  CHECK(!is_folded(stages_of(R"(  input A f32[5]
  constant which i64[] = [2]
  output Y f32[1]
  stage y {
    Y[i < 1] = #0
    #0 = A[@1[5]]
    #1 = which[]
  }
)")));
  // Its value is not known, or it is no constant.
  StageList unknown = convolution_and_clip();
  for (StageTensor& tensor : unknown.tensors) {
    if (tensor.name == "low") tensor.value.reset();
    if (tensor.name == "high") tensor.role = TensorRole::input;
  }
  CHECK(folded_text(unknown).find("low[]), high[0])") != std::string::npos);
}

TEST_CASE("literals are exact, of every type that has them", "[folded]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(literal_in_text(Tensor::of_floats({}, std::vector<float>{-0.0F})) == "-0.0");
  CHECK(literal_in_text(Tensor::of_floats({1, 1}, std::vector<float>{0.1F})) == "0.10000000149011612");
  CHECK(literal_in_text(Tensor::of_floats({}, std::vector<float>{nan})) == "nan");
  CHECK(literal_in_text(Tensor::of_floats({}, std::vector<float>{-nan})) == "nan");
  CHECK(literal_in_text(Tensor::of_floats({}, std::vector<float>{-infinite})) == "-inf");
  CHECK(literal_in_text(Tensor::scalar(ElementType::f64, 1e-300)) == "1e-300:f64");
  const std::vector<std::int64_t> lowest = {std::numeric_limits<std::int64_t>::min()};
  CHECK(literal_in_text(Tensor::of_int64s({}, lowest)) == "-9223372036854775808:i64");
  CHECK(literal_in_text(Tensor::scalar(ElementType::i8, -128)) == "-128:i8");
  CHECK(literal_in_text(Tensor::scalar(ElementType::u32, 4294967295.0)) == "4294967295:u32");
  CHECK(literal_in_text(Tensor::scalar(ElementType::boolean, 1)) == "1:bool");
  CHECK(literal_in_text(Tensor::scalar(ElementType::u64, 3)).empty());
  CHECK(literal_in_text(Tensor::of_floats({2}, std::vector<float>{1, 2})).empty());
  // As a nest's text has them, they are read again.
  for (const std::string literal : {"-0.0", "0.10000000149011612", "nan", "-inf", "inf"}) {
    const std::string text =
        to_text(parsed("nest test {\n  input X f32[2]\n  output Y f32[2]\n  stage y {\n    Y[i < 2] = max(#0, " +
                       literal + ")\n    #0 = X[i]\n  }\n  body {\n  }\n}\n"));
    CHECK(text.find("max(#0, " + literal + ")") != std::string::npos);
    CHECK(to_text(parsed(text)) == text);
  }
}

TEST_CASE("groups of other literals are other groups", "[folded]") {
  const auto canonical_text = [](const std::string& bound) {
    StageList stages = convolution_and_clip();
    for (StageTensor& tensor : stages.tensors) {
      if (tensor.name == "low") tensor.value = Tensor::of_floats({}, std::vector<float>{std::stof(bound)});
    }
    return canonical_stages(stages).text;
  };
  CHECK(canonical_text("0.5") == canonical_text("0.5"));
  CHECK(canonical_text("0.5") != canonical_text("0.25"));
  CHECK(canonical_text("0.0") != canonical_text("-0.0"));
  const CanonicalStages canonical = canonical_stages(convolution_and_clip());
  CHECK(may_fold(canonical.stages));
  CHECK(to_text(fold_stages(canonical.stages)).find("-0.5), 6.0)") != std::string::npos);
}

TEST_CASE("planner searched folds, the published one does not, and what a person says holds", "[folded]") {
  const StageList stages = with_weights(convolution_and_clip());
  const auto plan_with = [&](std::optional<bool> folded, const Planner& planner) {
    Schedule fixed;
    fixed.folded = folded;
    Planned planned = plan_group("op", stages, fixed, planner, machine(), {});
    REQUIRE(std::holds_alternative<Plan>(planned));
    return std::get<Plan>(std::move(planned));
  };
  const Plan folded = plan_with(std::nullopt, SearchedPlanner());
  CHECK(folded.schedule.folded == true);
  CHECK(plan_with(std::nullopt, SwtvmPlanner()).schedule.folded == false);
  CHECK(plan_with(true, SwtvmPlanner()).schedule.folded == true);
  const Plan unfolded = plan_with(false, SearchedPlanner());
  CHECK(unfolded.schedule.folded == false);
  CHECK(folded.time.cycles < unfolded.time.cycles);
  // A schedule that speaks of a constant keeps it.
  Schedule about_bound;
  about_bound.dma["low"] = "";
  const Planned planned = plan_group("op", stages, about_bound, SearchedPlanner(), machine(), {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  CHECK(std::get<Plan>(planned).schedule.folded == false);
}

TEST_CASE("folded stages give the same bits", "[folded]") {
  const StageList stages = with_weights(convolution_and_clip());
  std::vector<float> x;
  for (int i = 0; i < 180; ++i) x.push_back(std::sin(static_cast<float>(i)) * 4);
  std::vector<float> r;
  for (int i = 0; i < 480; ++i) r.push_back(std::cos(static_cast<float>(i)));
  x[7] = std::numeric_limits<float>::quiet_NaN();
  x[90] = -std::numeric_limits<float>::infinity();
  const std::vector<Tensor> inputs = {Tensor::of_floats({3, 6, 10}, x), Tensor::of_floats({8, 6, 10}, r)};
  const auto result_of = [&](bool folded, const LaneBlocks& lanes) {
    Schedule fixed;
    fixed.folded = folded;
    fixed.lanes = lanes;
    const Planned planned = plan_group("op", stages, fixed, SearchedPlanner(), machine(), {});
    REQUIRE(std::holds_alternative<Plan>(planned));
    const LoopNest& nest = std::get<Plan>(planned).nest;
    INFO(to_text(nest));
    CHECK(verify(nest, machine()).value_or("sound") == "sound");
    CHECK(verify_results(nest, machine()).value_or("sound") == "sound");
    std::map<StageTensorId, Tensor> values;
    std::size_t input = 0;
    for (const StageTensorId t : nest.stages.tensors.ids()) {
      const StageTensor& tensor = nest.stages.tensors[t];
      if (tensor.role == TensorRole::input) values[t] = inputs[input++].reshaped(tensor.shape);
      if (tensor.role == TensorRole::constant) values[t] = *tensor.value;
    }
    return interpret(nest, values).at(nest.stages.stages.back().output).reshaped({8, 6, 10});
  };
  for (const LaneBlocks& lanes : {LaneBlocks{}, LaneBlocks{{"ff", 8}}}) {
    const Tensor folded = result_of(true, lanes);
    const Tensor before = result_of(false, lanes);
    int different = 0;
    for (std::size_t i = 0; i < 480; ++i) {
      const bool both_nan = std::isnan(folded.as<float>()[i]) && std::isnan(before.as<float>()[i]);
      different += folded.as<std::uint32_t>()[i] == before.as<std::uint32_t>()[i] || both_nan ? 0 : 1;
    }
    CHECK(different == 0);
  }
}

}  // namespace
}  // namespace stowage::folded_stages_test
