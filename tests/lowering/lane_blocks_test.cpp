// SPDX-License-Identifier: Apache-2.0
// Axes cut into blocks that vectors run along.
#include <catch2/catch.hpp>

#include <numeric>

#include <fmt/format.h>

#include "core/target.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/stage_form.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "parsed_nest.h"

namespace stowage::lane_blocks_test {
namespace {

Tensor counted_up(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::of_floats(std::move(shape), values);
}

/// From the lines of a nest that say what is computed; its constants count up.
StageList stages_of(const std::string& lines) {
  StageList stages = parsed("nest test {\n" + lines + "  body {\n  }\n}\n").stages;
  for (StageTensor& tensor : stages.tensors) {
    if (tensor.name != "W" && tensor.name != "B") continue;
    tensor.role = TensorRole::constant;
    tensor.value = counted_up(tensor.shape);
  }
  return stages;
}

/// A 3x3 convolution to 8 channels of 6 x 10 pictures, with a bias, and what follows it.
StageList convolution_and_sum() {
  return stages_of(R"(  input X f32[2,3,6,10]
  input W f32[8,3,3,3]
  input B f32[8]
  input R f32[2,8,6,10]
  intermediate C f32[2,8,6,10]
  output Y f32[2,8,6,10]
  stage conv {
    C[n < 2, ff < 8, yy < 6, xx < 10] = sum over rc < 3, ry < 3, rx < 3 of (#0 * #1)
    #0 = X[n, rc, yy + ry - 1, xx + rx - 1] else 0
    #1 = W[ff, rc, ry, rx]
    #2 = B[ff]
    finish (acc + #2)
  }
  stage add {
    Y[n < 2, ff < 8, yy < 6, xx < 10] = max((#0 + #1), 0.0)
    #0 = C[n, ff, yy, xx]
    #1 = R[n, ff, yy, xx]
  }
)");
}

StageList convolution() {
  return stages_of(R"(  input X f32[2,3,13,21]
  input W f32[8,3,3,3]
  output Y f32[2,8,6,10]
  stage conv {
    Y[n < 2, ff < 8, yy < 6, xx < 10] = sum over rc < 3, ry < 3, rx < 3 of (#0 * #1)
    #0 = X[n, rc, 2*yy + ry, 2*xx + rx]
    #1 = W[ff, rc, ry, rx]
  }
)");
}

StageList product() {
  return stages_of(R"(  input A f32[5,7]
  input W f32[7,24]
  output Y f32[5,24]
  stage product {
    Y[x < 5, y < 24] = sum over k < 7 of (#0 * #1)
    #0 = A[x, k]
    #1 = W[k, y]
  }
)");
}

/// A 1x1 convolution, a bound, a 3x3 depthwise convolution of stride 2, and a bound where the sum is not stored itself.
StageList depthwise(bool bounded) {
  const std::string sum = bounded ? "intermediate D f32[1,16,4,10]" : "output D f32[1,16,4,10]";
  std::string lines = fmt::format(R"(  input X f32[1,6,9,21]
  input W f32[16,6,1,1]
  input B f32[16,1,3,3]
  intermediate C f32[1,16,9,21]
  intermediate M f32[1,16,9,21]
  {}
  output Y f32[1,16,4,10]
  stage conv {{
    C[n < 1, ff < 16, yy < 9, xx < 21] = sum over rc < 6 of (#0 * #1)
    #0 = X[n, rc, yy, xx]
    #1 = W[ff, rc, 0, 0]
  }}
  stage bound {{
    M[n < 1, ff < 16, yy < 9, xx < 21] = max(#0, 0.0)
    #0 = C[n, ff, yy, xx]
  }}
  stage depthwise {{
    D[n < 1, ff < 16, y < 4, x < 10] = sum over ry < 3, rx < 3 of (#0 * #1)
    #0 = M[n, ff, 2*y + ry - 1, 2*x + rx - 1] else 0
    #1 = B[ff, 0, ry, rx]
  }}
)",
                                  sum);
  if (bounded) {
    lines += "  stage last {\n    Y[n < 1, ff < 16, y < 4, x < 10] = max(#0, 0.0)\n    #0 = D[n, ff, y, x]\n  }\n";
  } else {
    lines.erase(lines.find("  output Y"), std::string("  output Y f32[1,16,4,10]\n").size());
  }
  return stages_of(lines);
}

Target machine(int lanes = 4) {
  Target target;
  target.cores.count = 4;
  target.cores.vector_lanes = lanes;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

std::string text_in_blocks(const StageList& stages, const LaneBlocks& blocks) {
  const auto blocked = block_lanes(stages, blocks);
  if (const auto* refused = std::get_if<Decision>(&blocked)) {
    CHECK(refused->rule == "schedule");
    return refused->reason;
  }
  CHECK(verify(std::get<StageList>(blocked)).value_or("sound") == "sound");
  return to_text(std::get<StageList>(blocked));
}

TEST_CASE("elements of a tensor in blocks, of which the elements lie innermost", "[lanes]") {
  const Tensor value = counted_up({2, 4, 3});
  const Packing packing = packing_along(value.shape(), 1, 2);
  CHECK(packing == Packing{2, 4, 3, 2});
  const Tensor blocked = packed(value, packing, {2, 2, 3, 2});
  CHECK(blocked.shape() == Shape{2, 2, 3, 2});
  const auto elements = blocked.as<float>();
  CHECK(std::vector<float>(elements.begin(), elements.end()) ==
        std::vector<float>{0, 3, 1, 4, 2, 5, 12, 15, 13, 16, 14, 17, 6, 9, 7, 10, 8, 11, 18, 21, 19, 22, 20, 23});
  const auto before = value.as<float>();
  const Tensor back = unpacked(blocked, packing, value.shape());
  const auto after = back.as<float>();
  CHECK(std::vector<float>(after.begin(), after.end()) == std::vector<float>(before.begin(), before.end()));
}

TEST_CASE("the sum of a convolution has its channels innermost, what follows it reads it so", "[lanes]") {
  CHECK(text_in_blocks(convolution_and_sum(), {{"ff", 4}}) == R"(input X f32[2,3,6,10]
constant W f32[2,3,3,3,4] packed [1, 8, 27] by 4
constant B f32[2,4]
input R f32[2,2,4,6,10]
intermediate C f32[2,2,6,10,4]
output Y f32[2,2,4,6,10]
conv: C[n<2, ff_block<2, yy<6, xx<10, ff_lane<4] = sum_{rc<3, ry<3, rx<3} (X[n, rc, yy + ry - 1, xx + rx - 1 else 0] * W[ff_block, rc, ry, rx, ff_lane])
  finish (acc + B[ff_block, ff_lane])
add: Y[n<2, ff_block<2, ff_lane<4, yy<6, xx<10] = max((C[n, ff_block, yy, xx, ff_lane] + R[n, ff_block, ff_lane, yy, xx]), 0.0)
)");
}

TEST_CASE("a sum that nothing follows is stored by a stage of its own", "[lanes]") {
  const std::string text = R"(input X f32[2,3,13,21]
constant W f32[1,3,3,3,8] packed [1, 8, 27] by 8
output Y f32[2,1,8,6,10]
intermediate Y_sum f32[2,1,6,10,8]
conv: Y_sum[n<2, ff_block<1, yy<6, xx<10, ff_lane<8] = sum_{rc<3, ry<3, rx<3} (X[n, rc, 2*yy + ry, 2*xx + rx] * W[ff_block, rc, ry, rx, ff_lane])
conv_store: Y[n<2, ff_block<1, ff_lane<8, yy<6, xx<10] = Y_sum[n, ff_block, yy, xx, ff_lane]
)";
  CHECK(text_in_blocks(convolution(), {{"ff", 8}}) == text);
  // What is in blocks already stays as it is.
  const StageList blocked = std::get<StageList>(block_lanes(convolution(), {{"ff", 8}}));
  CHECK(text_in_blocks(blocked, {{"ff", 8}}) == text);
}

TEST_CASE("a depthwise convolution of what has its channels innermost has them so too", "[lanes]") {
  const std::string text = R"(input X f32[1,6,9,21]
constant W f32[2,6,1,1,8] packed [1, 16, 6] by 8
constant B f32[2,1,3,3,8] packed [1, 16, 9] by 8
intermediate C f32[1,2,9,21,8]
intermediate M f32[1,2,9,21,8]
)";
  const std::string stages =
      R"(conv: C[n<1, ff_block<2, yy<9, xx<21, ff_lane<8] = sum_{rc<6} (X[n, rc, yy, xx] * W[ff_block, rc, 0, 0, ff_lane])
bound: M[n<1, ff_block<2, yy<9, xx<21, ff_lane<8] = max(C[n, ff_block, yy, xx, ff_lane], 0.0)
)";
  const std::string sum =
      "sum_{ry<3, rx<3} (M[n, ff_block, 2*y + ry - 1, 2*x + rx - 1, ff_lane else 0] * B[ff_block, 0, ry, rx, "
      "ff_lane])\n";
  CHECK(text_in_blocks(depthwise(true), {{"ff", 8}}) ==
        text + "intermediate D f32[1,2,4,10,8]\noutput Y f32[1,2,8,4,10]\n" + stages +
            "depthwise: D[n<1, ff_block<2, y<4, x<10, ff_lane<8] = " + sum +
            "last: Y[n<1, ff_block<2, ff_lane<8, y<4, x<10] = max(D[n, ff_block, y, x, ff_lane], 0.0)\n");
  CHECK(text_in_blocks(depthwise(false), {{"ff", 8}}) ==
        text + "output D f32[1,2,8,4,10]\nintermediate D_sum f32[1,2,4,10,8]\n" + stages +
            "depthwise: D_sum[n<1, ff_block<2, y<4, x<10, ff_lane<8] = " + sum +
            "depthwise_store: D[n<1, ff_block<2, ff_lane<8, y<4, x<10] = D_sum[n, ff_block, y, x, ff_lane]\n");
}

TEST_CASE("columns of a product need no stage to store them, and their weights are packed", "[lanes]") {
  CHECK(text_in_blocks(product(), {{"y", 8}}) == R"(input A f32[5,7]
constant W f32[3,7,8] packed [7, 24, 1] by 8
output Y f32[5,3,8]
product: Y[x<5, y_block<3, y_lane<8] = sum_{k<7} (A[x, k] * W[y_block, k, y_lane])
)");
  const StageList blocked = std::get<StageList>(block_lanes(product(), {{"y", 8}}));
  const auto weights = blocked.tensors[StageTensorId(1)].value->as<float>();
  CHECK(weights[1] == 1);   // W[0, 1]
  CHECK(weights[8] == 24);  // W[1, 0]
  CHECK(weights[56] == 8);  // W[0, 8]
}

TEST_CASE("a block is of two vectors, three or one, as divides the axis", "[lanes]") {
  CHECK(possible_lane_blocks(convolution(), {}, machine()) == LaneBlocks{{"ff", 8}});
  CHECK(possible_lane_blocks(convolution(), {}, machine(2)) == LaneBlocks{{"ff", 4}});
  CHECK(possible_lane_blocks(product(), {}, machine()) == LaneBlocks{{"y", 8}});
  CHECK(possible_lane_blocks(product(), {"y"}, machine()).empty());
  CHECK(possible_lane_blocks(product(), {"yo"}, machine()).empty());
  CHECK(possible_lane_blocks(product(), {}, machine(1)).empty());
  CHECK(possible_lane_blocks(product(), {}, machine(8)) == LaneBlocks{{"y", 24}});
  CHECK(possible_lane_blocks(product(), {}, machine(24)) == LaneBlocks{{"y", 24}});
  CHECK(possible_lane_blocks(product(), {}, machine(16)).empty());
}

TEST_CASE("what cannot be blocked is refused by name", "[lanes]") {
  CHECK(text_in_blocks(convolution(), {{"gg", 8}}) == "lanes: gg cannot be blocked by 8: there is no iterator 'gg'");
  CHECK(text_in_blocks(convolution(), {{"rc", 3}}) == "lanes: rc cannot be blocked by 3: 'rc' is reduced");
  CHECK(text_in_blocks(convolution(), {{"ff", 3}}) ==
        "lanes: ff cannot be blocked by 3: 8 elements of 'ff' are no whole number of blocks of 3");
  CHECK(text_in_blocks(convolution(), {{"xx", 5}}) ==
        "lanes: xx cannot be blocked by 5: stage conv reads otherwise along it");
  StageList of_input = product();
  of_input.tensors[StageTensorId(1)].role = TensorRole::input;
  CHECK(text_in_blocks(of_input, {{"y", 8}}) ==
        "lanes: y cannot be blocked by 8: W is no constant that could be packed");
  CHECK(text_in_blocks(product(), {{"x", 5}}) ==
        "lanes: x cannot be blocked by 5: A is no constant that could be packed");
}

TEST_CASE("a planner that chooses forms takes lanes in blocks where that is cheaper", "[lanes]") {
  const auto plan_of = [](const StageList& stages, const Schedule& fixed, const Planner& planner) {
    Planned planned = plan_group("op", stages, fixed, planner, machine(), {});
    REQUIRE(std::holds_alternative<Plan>(planned));
    return std::get<Plan>(std::move(planned));
  };
  // A stride of 2 has no vectors along the rows.
  const Plan found = plan_of(convolution(), {}, SearchedPlanner());
  CHECK(found.schedule.lanes == LaneBlocks{{"ff", 8}});
  Schedule apart;
  apart.lanes.emplace();
  const Plan without = plan_of(convolution(), apart, SearchedPlanner());
  CHECK(without.schedule.lanes == LaneBlocks{});
  CHECK(found.time.cycles < without.time.cycles);
  CHECK(plan_of(convolution(), {}, SwtvmPlanner()).schedule.lanes == LaneBlocks{});
  Schedule fixed;
  fixed.lanes = LaneBlocks{{"ff", 4}};
  CHECK(plan_of(convolution(), fixed, SwtvmPlanner()).schedule.buffer.contains("ff_lane"));
  Schedule named;
  named.buffer["ff"] = 4;
  CHECK(plan_of(convolution(), named, SearchedPlanner()).schedule.lanes == LaneBlocks{});
  Schedule block_named;
  block_named.buffer["ff_lane"] = 8;
  CHECK(plan_of(convolution(), block_named, SearchedPlanner()).schedule.lanes == LaneBlocks{{"ff", 8}});
  // Of a depthwise convolution behind another one a stride has vectors along the channels only.
  const Plan chain = plan_of(depthwise(true), {}, SearchedPlanner());
  CHECK(chain.schedule.lanes == LaneBlocks{{"ff", 8}});
  CHECK(chain.time.cycles < plan_of(depthwise(true), apart, SearchedPlanner()).time.cycles);
}

TEST_CASE("where cores are many and pixels few, blocks of one vector are tried and may be cheaper", "[lanes]") {
  Target target = machine();
  CHECK(narrow_lane_blocks(product(), {{"y", 8}}, target).empty());  // 5 rows for 4 cores
  target.cores.count = 6;
  CHECK(narrow_lane_blocks(product(), {{"y", 8}}, target) == LaneBlocks{{"y", 4}});
  CHECK(narrow_lane_blocks(product(), {{"y", 4}}, target).empty());
  CHECK(narrow_lane_blocks(product(), {}, target).empty());
  target.cores.count = 3;  // a block for each
  CHECK(narrow_lane_blocks(product(), {{"y", 8}}, target).empty());
  // Of 20 blocks of 8 channels no more than 20 cores would have one.
  const StageList stages = stages_of(R"(  input X f32[96,49]
  input W f32[160,96]
  output Y f32[160,49]
  stage conv {
    Y[ff < 160, p < 49] = sum over rc < 96 of (#0 * #1)
    #0 = X[rc, p]
    #1 = W[ff, rc]
  }
)");
  Diagnostics diagnostics;
  const Target real = *load_target("sw26010", {}, diagnostics);
  const auto cycles_with = [&](const Schedule& fixed) {
    const Planned planned = plan_group("op", stages, fixed, SearchedPlanner(), real, {});
    REQUIRE(std::holds_alternative<Plan>(planned));
    const Plan& plan = std::get<Plan>(planned);
    return std::pair(plan.schedule.lanes.value_or(LaneBlocks{}), plan.time.cycles);
  };
  const auto [chosen, cycles] = cycles_with({});
  CHECK(chosen == LaneBlocks{{"ff", 4}});
  Schedule wide;
  wide.lanes = LaneBlocks{{"ff", 8}};
  CHECK(cycles < cycles_with(wide).second);
}

}  // namespace
}  // namespace stowage::lane_blocks_test
