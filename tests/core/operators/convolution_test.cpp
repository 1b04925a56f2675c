// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

Tensor random_floats(Shape shape, std::mt19937& generator) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = static_cast<float>(generator() % 2001) / 1000.0f - 1;
  return floats(std::move(shape), values);
}

struct Geometry {
  Ints kernel, stride, dilation, pads;
  std::int64_t groups = 1;
};

/// Convolution of [n,c,h,w] written independently, by scattering or gathering over explicit coordinates.
std::vector<double> convolve(const Tensor& x, const Tensor& w, const Geometry& g, const Shape& out) {
  const Shape& in = x.shape();
  std::vector<double> result;
  const std::int64_t per_group = out[1] / g.groups;
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t f = 0; f < out[1]; ++f)
      for (std::int64_t oy = 0; oy < out[2]; ++oy)
        for (std::int64_t ox = 0; ox < out[3]; ++ox) {
          double sum = 0;
          for (std::int64_t c = 0; c < w.shape()[1]; ++c)
            for (std::int64_t ky = 0; ky < g.kernel[0]; ++ky)
              for (std::int64_t kx = 0; kx < g.kernel[1]; ++kx) {
                const std::int64_t iy = oy * g.stride[0] + ky * g.dilation[0] - g.pads[0];
                const std::int64_t ix = ox * g.stride[1] + kx * g.dilation[1] - g.pads[1];
                if (iy < 0 || ix < 0 || iy >= in[2] || ix >= in[3]) continue;
                const std::int64_t channel = f / per_group * w.shape()[1] + c;
                sum += x.as_double(((n * in[1] + channel) * in[2] + iy) * in[3] + ix) *
                       w.as_double(((f * w.shape()[1] + c) * g.kernel[0] + ky) * g.kernel[1] + kx);
              }
          result.push_back(sum);
        }
  return result;
}

/// Transposed convolution of [n,c,h,w] by scattering every input element.
std::vector<double> scatter(const Tensor& x, const Tensor& w, const Geometry& g, const Shape& out) {
  const Shape& in = x.shape();
  std::vector<double> result(static_cast<std::size_t>(element_count(out)), 0);
  const std::int64_t channels = in[1] / g.groups;
  const std::int64_t features = w.shape()[1];
  for (std::int64_t n = 0; n < in[0]; ++n)
    for (std::int64_t c = 0; c < in[1]; ++c)
      for (std::int64_t f = 0; f < features; ++f)
        for (std::int64_t iy = 0; iy < in[2]; ++iy)
          for (std::int64_t ix = 0; ix < in[3]; ++ix)
            for (std::int64_t ky = 0; ky < g.kernel[0]; ++ky)
              for (std::int64_t kx = 0; kx < g.kernel[1]; ++kx) {
                const std::int64_t oy = iy * g.stride[0] + ky * g.dilation[0] - g.pads[0];
                const std::int64_t ox = ix * g.stride[1] + kx * g.dilation[1] - g.pads[1];
                if (oy < 0 || ox < 0 || oy >= out[2] || ox >= out[3]) continue;
                const std::int64_t feature = c / channels * features + f;
                result[static_cast<std::size_t>(((n * out[1] + feature) * out[2] + oy) * out[3] + ox)] +=
                    x.as_double(((n * in[1] + c) * in[2] + iy) * in[3] + ix) *
                    w.as_double(((c * features + f) * g.kernel[0] + ky) * g.kernel[1] + kx);
              }
  return result;
}

Attributes attributes_of(const Geometry& g) {
  return {{"kernel_shape", g.kernel},
          {"strides", g.stride},
          {"dilations", g.dilation},
          {"pads", g.pads},
          {"group", g.groups}};
}

}  // namespace

TEST_CASE("Conv sums the window and adds the bias", "[Conv]") {
  const Tensor x = counting({1, 1, 3, 3});
  const Tensor w = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  check_floats(run("Conv", {}, {x, w, floats({1}, {100})}), {1, 1, 2, 2}, {127, 137, 157, 167});
}

TEST_CASE("Conv pads by auto_pad: the odd element goes behind or before", "[Conv]") {
  const Tensor x = floats({1, 1, 3}, {1, 2, 3});
  const Tensor w = floats({1, 1, 2}, {10, 1});
  check_floats(run("Conv", {{"auto_pad", "SAME_UPPER"}}, {x, w}), {1, 1, 3}, {12, 23, 30});
  check_floats(run("Conv", {{"auto_pad", "SAME_LOWER"}}, {x, w}), {1, 1, 3}, {1, 12, 23});
  check_floats(run("Conv", {{"auto_pad", "VALID"}}, {x, w}), {1, 1, 2}, {12, 23});
}

TEST_CASE("Conv of three dimensions", "[Conv]") {
  const Tensor x = counting({1, 1, 2, 2, 2});
  const Tensor w = floats({1, 1, 2, 1, 2}, {1, 1, 1, 1});
  check_floats(run("Conv", {}, {x, w}), {1, 1, 1, 2, 1}, {0 + 1 + 4 + 5, 2 + 3 + 6 + 7});
}

TEST_CASE("Conv agrees with plain loops on random geometries", "[Conv]") {
  const auto seed = static_cast<std::mt19937::result_type>(20250101);
  WARN("seed " << seed);
  std::mt19937 generator(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 40; ++round) {
    Geometry g;
    g.groups = draw(1, 3);
    const std::int64_t channels = draw(1, 3);
    const std::int64_t features = draw(1, 3) * g.groups;
    g.kernel = {draw(1, 4), draw(1, 4)};
    g.stride = {draw(1, 3), draw(1, 3)};
    g.dilation = {draw(1, 2), draw(1, 2)};
    g.pads = {draw(0, 2), draw(0, 2), draw(0, 2), draw(0, 2)};
    const Shape in = {draw(1, 2), channels * g.groups, draw(8, 12), draw(8, 12)};
    Shape out = {in[0], features};
    for (std::size_t k = 0; k < 2; ++k) {
      out.push_back((in[k + 2] + g.pads[k] + g.pads[k + 2] - (g.kernel[k] - 1) * g.dilation[k] - 1) / g.stride[k] + 1);
    }
    const Tensor x = random_floats(in, generator);
    const Tensor w = random_floats({features, channels, g.kernel[0], g.kernel[1]}, generator);
    check_floats(run("Conv", attributes_of(g), {x, w}), out, convolve(x, w, g, out));
  }
}

TEST_CASE("Conv defines itself in the names of the papers", "[Conv]") {
  const auto definition =
      define("Conv", {{"pads", Ints{1, 1, 1, 1}}}, {counting({1, 2, 4, 4}), counting({3, 2, 3, 3})});
  CHECK(to_text(definition.list) ==
        "input X f32[1,2,4,4]\n"
        "input W f32[3,2,3,3]\n"
        "output Y f32[1,3,4,4]\n"
        "conv: Y[n<1, ff<3, yy<4, xx<4] = sum_{rc<2, ry<3, rx<3} "
        "(X[n, rc, yy + ry - 1, xx + rx - 1 else 0] * W[ff, rc, ry, rx])\n");
  CHECK(fusion_kind(definition.list) == FusionKind::anchor);
  CHECK(multiply_adds(definition.list) == 3 * 4 * 4 * 2 * 3 * 3);
}

TEST_CASE("Conv refuses what does not fit", "[Conv]") {
  const Tensor x = counting({1, 4, 5, 5});
  CHECK(refusal("Conv", {}, {x, counting({2, 3, 3, 3})}) ==
        "[shape-mismatch] input [1,4,5,5] and weights [2,3,3,3] do not fit 1 group");
  CHECK(refusal("Conv", {}, {x, counting({2, 4, 6, 6})}) ==
        "[shape-mismatch] a window of 6 does not fit into 5 elements with padding 0 and 0");
  CHECK(refusal("Conv", {{"strides", Ints{0, 1}}}, {x, counting({2, 4, 3, 3})}) ==
        "[bad-attribute] attribute strides has a 0, at least 1 was wanted");
  CHECK(refusal("Conv", {{"stride", Ints{1, 1}}}, {x, counting({2, 4, 3, 3})}) ==
        "[unknown-attribute] Conv has no attribute stride");
  CHECK(refusal("Conv", {}, {x}) == "[missing-operand] Conv needs operand W");
  CHECK(refusal("Conv", {}, {x, counting({2, 4, 3, 3}), counting({3})}) ==
        "[shape-mismatch] bias of shape [3] for 2 features");
}

TEST_CASE("ConvTranspose spreads every element over a window", "[ConvTranspose]") {
  const Tensor x = floats({1, 1, 2}, {1, 10});
  const Tensor w = floats({1, 1, 3}, {1, 2, 3});
  check_floats(run("ConvTranspose", {}, {x, w}), {1, 1, 4}, {1, 12, 23, 30});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}}, {x, w}), {1, 1, 5}, {1, 2, 13, 20, 30});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"output_padding", Ints{1}}}, {x, w, floats({1}, {5})}),
               {1, 1, 6}, {6, 7, 18, 25, 35, 5});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"pads", Ints{1, 1}}}, {x, w}), {1, 1, 3}, {2, 13, 20});
}

TEST_CASE("ConvTranspose cuts to output_shape and by auto_pad", "[ConvTranspose]") {
  const Tensor x = floats({1, 1, 2}, {1, 10});
  const Tensor w = floats({1, 1, 3}, {1, 2, 3});
  // Of the five elements 1 2 13 20 30 one is cut: behind for SAME_UPPER, before otherwise.
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"auto_pad", "SAME_UPPER"}}, {x, w}), {1, 1, 4},
               {1, 2, 13, 20});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"auto_pad", "SAME_LOWER"}}, {x, w}), {1, 1, 4},
               {2, 13, 20, 30});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"output_shape", Ints{4}}}, {x, w}), {1, 1, 4},
               {2, 13, 20, 30});
  check_floats(run("ConvTranspose", {{"strides", Ints{2}}, {"output_shape", Ints{6}}}, {x, w}), {1, 1, 6},
               {1, 2, 13, 20, 30, 0});
}

TEST_CASE("ConvTranspose agrees with scattering on random geometries", "[ConvTranspose]") {
  const auto seed = static_cast<std::mt19937::result_type>(20250102);
  WARN("seed " << seed);
  std::mt19937 generator(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 40; ++round) {
    Geometry g;
    g.groups = draw(1, 2);
    const std::int64_t features = draw(1, 3);
    g.kernel = {draw(1, 4), draw(1, 4)};
    g.stride = {draw(1, 3), draw(1, 3)};
    g.dilation = {draw(1, 2), draw(1, 2)};
    g.pads = {draw(0, 1), draw(0, 1), draw(0, 1), draw(0, 1)};
    const Shape in = {draw(1, 2), draw(1, 3) * g.groups, draw(3, 5), draw(3, 5)};
    Shape out = {in[0], features * g.groups};
    for (std::size_t k = 0; k < 2; ++k) {
      out.push_back(g.stride[k] * (in[k + 2] - 1) + (g.kernel[k] - 1) * g.dilation[k] + 1 - g.pads[k] - g.pads[k + 2]);
    }
    const Tensor x = random_floats(in, generator);
    const Tensor w = random_floats({in[1], features, g.kernel[0], g.kernel[1]}, generator);
    check_floats(run("ConvTranspose", attributes_of(g), {x, w}), out, scatter(x, w, g, out));
  }
}

TEST_CASE("an element of a ConvTranspose that is no number reaches the outputs of its window and no others",
          "[ConvTranspose]") {
  std::mt19937 generator(17);
  for (const Geometry& g :
       {Geometry{{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}}, Geometry{{3, 2}, {2, 3}, {1, 1}, {1, 0, 0, 1}},
        Geometry{{5, 3}, {3, 2}, {1, 1}, {1, 1, 1, 1}}, Geometry{{4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        Geometry{{3, 3}, {2, 2}, {2, 2}, {0, 0, 0, 0}}}) {
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Tensor x = random_floats({1, 2, 4, 4}, generator);
      const Tensor w = random_floats({2, 2, g.kernel[0], g.kernel[1]}, generator);
      std::vector<float> values(static_cast<std::size_t>(x.size()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(x.as_double(static_cast<std::int64_t>(i)));
      values[1 * 4 + 2] = odd;
      x = floats({1, 2, 4, 4}, values);
      const Tensor y = run("ConvTranspose", attributes_of(g), {x, w});
      const auto expected = scatter(x, w, g, y.shape());
      INFO("kernel " << to_text(Shape(g.kernel)) << " strides " << to_text(Shape(g.stride)));
      int odd_elements = 0;
      for (std::int64_t i = 0; i < y.size(); ++i) {
        const double wanted = expected[static_cast<std::size_t>(i)];
        odd_elements += std::isfinite(wanted) ? 0 : 1;
        CHECK(std::isfinite(y.as_double(i)) == std::isfinite(wanted));
      }
      CHECK(odd_elements > 0);
      CHECK(odd_elements < y.size());
    }
  }
}

TEST_CASE("ConvTranspose multiplies as often as the convolution whose gradient it is", "[ConvTranspose]") {
  // A layer of DCGAN's generator: 4x4 windows of stride 2 from 4x4 to 8x8.
  const auto definition = define("ConvTranspose", {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
                                 {counting({1, 8, 4, 4}), counting({8, 3, 4, 4})});
  CHECK(to_text(definition.list) ==
        "input X f32[1,8,4,4]\n"
        "input W f32[8,3,4,4]\n"
        "output Y f32[1,3,8,8]\n"
        "conv_transpose: Y[n<1, ff<3, yy<8, xx<8] = sum_{rc<8, ry<2, rx<2} "
        "(X[n, rc, ((yy + 1) / 2) - ry, ((xx + 1) / 2) - rx else 0] * "
        "W[rc, ff, 2*ry + ((yy + 1) % 2), 2*rx + ((xx + 1) % 2)])\n");
  CHECK(multiply_adds(definition.list) == (8 * 4 * 4) * (4 * 4) * 3);
}

TEST_CASE("ConvTransposePhases puts elements of phases side by side", "[ConvTransposePhases]") {
  const Tensor x = floats({1, 1, 2}, {1, 10});
  // Taps 1 2 3 of stride 2: phase 0 has 3 and 1, phase 1 has 2. So ConvTranspose gives 1 2 13 20 30 and, padded, 0.
  const Tensor w = floats({1, 2, 1, 2}, {3, 1, 0, 2});
  check_floats(run("ConvTransposePhases", {{"extents", Ints{3}}}, {x, w}), {1, 1, 3, 2}, {1, 2, 13, 20, 30, 0});
  // One element cut off in front, the phases are the others: 2 13 20 30.
  const Tensor cut = floats({1, 2, 1, 2}, {0, 2, 3, 1});
  check_floats(run("ConvTransposePhases", {{"extents", Ints{2}}, {"offsets", Ints{1}}}, {x, cut}), {1, 1, 2, 2},
               {2, 13, 20, 30});
  check_floats(run("ConvTransposePhases", {{"extents", Ints{2}}, {"offsets", Ints{1}}}, {x, cut, floats({1}, {100})}),
               {1, 1, 2, 2}, {102, 113, 120, 130});
}

TEST_CASE("ConvTransposePhases defines itself as a convolution and a move", "[ConvTransposePhases]") {
  const auto definition = define("ConvTransposePhases", {{"extents", Ints{4, 4}}, {"offsets", Ints{1, 2}}},
                                 {counting({1, 2, 4, 4}), counting({3, 2, 2, 2, 2, 2})});
  CHECK(to_text(definition.list) ==
        "input X f32[1,2,4,4]\n"
        "input W f32[3,2,2,2,2,2]\n"
        "intermediate phases f32[1,3,2,2,4,4]\n"
        "output Y f32[1,3,4,2,4,2]\n"
        "phases: phases[n<1, ff<3, py<2, px<2, yy<4, xx<4] = sum_{rc<2, ry<2, rx<2} "
        "(X[n, rc, yy + ry + ((py + 1) / 2) - 1, xx + rx else 0] * W[ff, py, px, rc, ry, rx])\n"
        "side_by_side: Y[n<1, ff<3, yy<4, py<2, xx<4, px<2] = phases[n, ff, py, px, yy, xx]\n");
  CHECK(fusion_kind(definition.list) == FusionKind::anchor);
  CHECK(multiply_adds(definition.list) == 3 * 8 * 8 * 2 * 2 * 2);
}

TEST_CASE("ConvTransposePhases refuses what does not fit", "[ConvTransposePhases]") {
  const Tensor x = counting({1, 4, 5});
  const Attributes extents = {{"extents", Ints{5}}};
  CHECK(refusal("ConvTransposePhases", extents, {x, counting({2, 2, 3, 2})}) ==
        "[shape-mismatch] input [1,4,5] and weights [2,2,3,2] do not fit 1 group");
  CHECK(refusal("ConvTransposePhases", extents, {x, counting({2, 0, 4, 2})}) ==
        "[shape-mismatch] weights [2,0,4,2] without phases or taps");
  CHECK(refusal("ConvTransposePhases", {{"extents", Ints{5, 5}}}, {x, counting({2, 2, 4, 2})}) ==
        "[bad-attribute] extents or offsets does not have 1 numbers");
  CHECK(refusal("ConvTransposePhases", {{"extents", Ints{-1}}}, {x, counting({2, 2, 4, 2})}) ==
        "[bad-attribute] extents or offsets has a -1");
  CHECK(refusal("ConvTransposePhases", {}, {x, counting({2, 2, 4, 2})}) ==
        "[missing-attribute] ConvTransposePhases needs attribute extents");
  CHECK(refusal("ConvTransposePhases", extents, {counting({4, 5}), counting({2, 2, 4, 2})}) ==
        "[shape-mismatch] operand X has shape [4,5], 3 to 5 dimensions were wanted");
}
