// SPDX-License-Identifier: Apache-2.0
// Neighbouring axes taken as one.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "lowering/model/merged_axes.h"
#include "lowering/program/plan_group.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "parsed_nest.h"

namespace stowage::merged_axes_test {
namespace {

/// From the lines of a nest that say what is computed.
StageList stages_of(const std::string& lines) { return parsed("nest test {\n" + lines + "  body {\n  }\n}\n").stages; }

/// A convolution with `window` of 6 x 10 pictures, two of them, and what follows it.
StageList convolution(const std::string& picture, const std::string& window, const std::string& read,
                      const std::string& padding = {}) {
  return stages_of(fmt::format(R"(  input X f32[2,3,{0}]
  input W f32[4,3,{1},{1}]
  input R f32[2,4,6,10]
  intermediate C f32[2,4,6,10]
  output Y f32[2,4,6,10]
  stage conv {{
    C[n < 2, ff < 4, yy < 6, xx < 10] = sum over rc < 3, ry < {1}, rx < {1} of (#0 * #1)
    #0 = X[n, rc, {2}]{3}
    #1 = W[ff, rc, ry, rx]
  }}
  stage add {{
    Y[n < 2, ff < 4, yy < 6, xx < 10] = max((#0 + #1), 0.0)
    #0 = C[n, ff, yy, xx]
    #1 = R[n, ff, yy, xx]
  }}
)",
                               picture, window, read, padding));
}

StageList pointwise() { return convolution("6,10", "1", "yy + ry, xx + rx"); }

std::string refusal(const StageList& stages, const MergedAxes& merged) {
  const auto result = merge_axes(stages, merged);
  if (std::holds_alternative<StageList>(result)) return "";
  CHECK(std::get<Decision>(result).rule == "schedule");
  return std::get<Decision>(result).reason;
}

const MergedAxes height_and_width = {{"yy", "xx"}};

Target machine() {
  Target target;
  target.cores.count = 4;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

TEST_CASE("height and width of a 1x1 convolution are one axis, with what follows it", "[merged]") {
  CHECK(mergeable_axes(pointwise(), {}) == height_and_width);
  const auto merged = merge_axes(pointwise(), height_and_width);
  CHECK(to_text(std::get<StageList>(merged)) == R"(input X f32[2,3,60]
input W f32[4,3,1,1]
input R f32[2,4,60]
intermediate C f32[2,4,60]
output Y f32[2,4,60]
conv: C[n<2, ff<4, yy_xx<60] = sum_{rc<3, ry<1, rx<1} (X[n, rc, yy_xx] * W[ff, rc, ry, rx])
add: Y[n<2, ff<4, yy_xx<60] = max((C[n, ff, yy_xx] + R[n, ff, yy_xx]), 0.0)
)");
  CHECK(verify(std::get<StageList>(merged)).value_or("sound") == "sound");
  // What is merged already stays as it is.
  CHECK(to_text(std::get<StageList>(merge_axes(std::get<StageList>(merged), height_and_width))) ==
        to_text(std::get<StageList>(merged)));
  CHECK(mergeable_axes(std::get<StageList>(merged), {}).empty());
  CHECK(mergeable_axes(pointwise(), {"xx"}).empty());
  CHECK(mergeable_axes(pointwise(), {"yyo"}).empty());
}

TEST_CASE("an element-wise operator has one axis, a product over batches two less", "[merged]") {
  const StageList sum = stages_of(R"(  input A f32[2,3,4]
  input B f32[2,3,4]
  output Y f32[2,3,4]
  stage add {
    Y[i < 2, j < 3, k < 4] = (#0 + #1)
    #0 = A[i, j, k]
    #1 = B[i, j, k]
  }
)");
  CHECK(mergeable_axes(sum, {}) == MergedAxes{{"i", "j", "k"}});
  CHECK(to_text(std::get<StageList>(merge_axes(sum, {{"i", "j", "k"}}))) == R"(input A f32[24]
input B f32[24]
output Y f32[24]
add: Y[i_j_k<24] = (A[i_j_k] + B[i_j_k])
)");
  const StageList product = stages_of(R"(  input A f32[2,3,4,5]
  input B f32[5,6]
  output Y f32[2,3,4,6]
  stage product {
    Y[i < 2, j < 3, m < 4, n < 6] = sum over k < 5 of (#0 * #1)
    #0 = A[i, j, m, k]
    #1 = B[k, n]
  }
)");
  CHECK(to_text(std::get<StageList>(merge_axes(product, mergeable_axes(product, {})))) == R"(input A f32[24,5]
input B f32[5,6]
output Y f32[24,6]
product: Y[i_j_m<24, n<6] = sum_{k<5} (A[i_j_m, k] * B[k, n])
)");
}

TEST_CASE("reductions are merged as spatial axes are, and a part of a tensor as all of it", "[merged]") {
  const StageList mean = stages_of(R"(  input X f32[3,7,8,9]
  output Y f32[3,4]
  stage sums {
    Y[n < 3, c < 4] = sum over ry < 8, rx < 9 of #0
    #0 = X[n, c, ry, rx]
  }
)");
  // Y's rows hold the 4 channels alone; X has 7.
  CHECK(to_text(std::get<StageList>(merge_axes(mean, mergeable_axes(mean, {})))) == R"(input X f32[3,7,72]
output Y f32[3,4]
sums: Y[n<3, c<4] = sum_{ry_rx<72} X[n, c, ry_rx]
)");
  CHECK(refusal(mean, {{"n", "c"}}) == "merged: n, c cannot be one axis: stage sums reads X otherwise");
}

TEST_CASE("what a tensor does not hold side by side stays apart", "[merged]") {
  const std::string otherwise = "merged: yy, xx cannot be one axis: stage conv reads X otherwise";
  CHECK(refusal(convolution("8,12", "3", "yy + ry, xx + rx"), height_and_width) == otherwise);
  CHECK(refusal(convolution("6,10", "3", "yy + ry - 1, xx + rx - 1", " else 0"), height_and_width) == otherwise);
  CHECK(refusal(convolution("11,19", "1", "2*yy, 2*xx"), height_and_width) == otherwise);
  CHECK(refusal(convolution("10,6", "1", "xx, yy"), height_and_width) == otherwise);
  // Rows of 12, of which 10 are read.
  CHECK(refusal(convolution("6,12", "1", "yy, xx"), height_and_width) == otherwise);
  StageList with_gaps = pointwise();
  with_gaps.tensors.back().strides = {480, 120, 20, 1};
  CHECK(refusal(with_gaps, height_and_width) ==
        "merged: yy, xx cannot be one axis: Y has gaps between them in main memory");
  CHECK(mergeable_axes(with_gaps, {}).empty());
  const StageList numbered = stages_of(R"(  output Y f32[2,3]
  stage number {
    Y[i < 2, j < 3] = index_f32(j)
  }
)");
  CHECK(refusal(numbered, {{"i", "j"}}) ==
        "merged: i, j cannot be one axis: what stage number computes depends on where");
  const StageList transposed = stages_of(R"(  input X f32[3,2]
  intermediate T f32[2,3]
  output Y f32[2,3]
  stage transpose {
    T[i < 2, j < 3] = #0
    #0 = X[j, i]
  }
  stage copy {
    Y[i < 2, j < 3] = #0
    #0 = T[i, j]
  }
)");
  CHECK(refusal(transposed, {{"i", "j"}}) == "merged: i, j cannot be one axis: stage transpose reads X otherwise");
}

TEST_CASE("a run of axes that cannot be is refused by name", "[merged]") {
  CHECK(refusal(pointwise(), {{"yy"}}) == "merged: yy cannot be one axis: two at least are merged");
  CHECK(refusal(pointwise(), {{"yy", "xz"}}) == "merged: yy, xz cannot be one axis: there is no iterator 'xz'");
  CHECK(refusal(pointwise(), {{"xx", "yy"}}) == "merged: xx, yy cannot be one axis: 'yy' does not follow 'xx'");
  CHECK(refusal(pointwise(), {{"xx", "rc"}}) == "merged: xx, rc cannot be one axis: 'rc' does not follow 'xx'");
  CHECK(refusal(pointwise(), {{"ff", "yy"}}) == "merged: ff, yy cannot be one axis: stage conv reads X otherwise");
}

TEST_CASE("of 96 pictures of 49 pixels each core has an even part where they are one axis", "[merged]") {
  const StageList stages = stages_of(R"(  input X f32[96,7,7]
  output Y f32[96,7,7]
  stage relu {
    Y[c < 96, yy < 7, xx < 7] = max(#0, 0.0)
    #0 = X[c, yy, xx]
  }
)");
  Diagnostics diagnostics;
  const Target target = *load_target("sw26010", {}, diagnostics);
  const auto cycles_of = [&](const Schedule& fixed) {
    return std::get<Plan>(plan_group("op", stages, fixed, SearchedPlanner(), target, {})).time.cycles;
  };
  Schedule apart;
  apart.merged.emplace();
  CHECK(cycles_of({}) < cycles_of(apart));
}

TEST_CASE("the searched planner merges what no schedule names, the published one what a schedule merges", "[merged]") {
  const auto schedule_of = [](const Schedule& fixed, const Planner& planner) {
    const Planned planned = plan_group("op", pointwise(), fixed, planner, machine(), {});
    REQUIRE(std::holds_alternative<Plan>(planned));
    return std::get<Plan>(planned).schedule;
  };
  CHECK(schedule_of({}, SearchedPlanner()).merged == height_and_width);
  CHECK(schedule_of({}, SwtvmPlanner()).merged == MergedAxes{});
  Schedule merged;
  merged.merged = height_and_width;
  CHECK(schedule_of(merged, SwtvmPlanner()).buffer.contains("yy_xx"));
  Schedule apart;
  apart.merged.emplace();
  CHECK(schedule_of(apart, SearchedPlanner()).merged == MergedAxes{});
  Schedule named;
  named.buffer["xx"] = 5;
  CHECK(schedule_of(named, SearchedPlanner()).buffer.at("xx") == 5);
  Schedule one_named;
  one_named.buffer["yy_xx"] = 20;
  CHECK(schedule_of(one_named, SearchedPlanner()).buffer.at("yy_xx") == 20);
  Schedule wrong;
  wrong.merged = MergedAxes{{"ff", "yy"}};
  const Planned refused = plan_group("op", pointwise(), wrong, SearchedPlanner(), machine(), {});
  REQUIRE(std::holds_alternative<Decision>(refused));
  CHECK(std::get<Decision>(refused).rule == "schedule");
}

}  // namespace
}  // namespace stowage::merged_axes_test
