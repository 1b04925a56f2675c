// SPDX-License-Identifier: Apache-2.0
// Random operators and machines for property tests: equal seeds draw equal ones.
#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/operators.h"
#include "core/target.h"

namespace stowage::fixtures {

/// Draws an operator of some kind with random shapes and attributes.
class OperatorDraw {
 public:
  explicit OperatorDraw(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return between(0, 1) == 1; }

  struct Drawn {
    StageList stages;
    std::string text;
    std::vector<Tensor> inputs;
  };

  /// Nothing where the drawn attributes are not a legal operator.
  std::optional<Drawn> draw() {
    switch (between(0, 13)) {
      case 0: return convolution("Conv");
      case 1: return convolution("ConvTranspose");
      case 2: return pool(coin() ? "MaxPool" : "AveragePool");
      case 3: return matmul();
      case 4: return normalisation();
      case 5: return concat();
      case 6: return slice();
      case 7: return pad();
      case 8: return transpose();
      case 9: return reduce();
      case 10: return resize();
      case 11: return gather();
      case 12: return reshape();
      default: return element_wise();
    }
  }

  Target machine() {
    Target target;
    target.cores.count = static_cast<int>(between(1, 64));
    target.ldm.reserved = 0;
    target.ldm.bytes = std::int64_t{1} << between(9, 15);
    target.ldm.alignment = coin() ? 4 : 32;
    target.dma.good_block_bytes = std::int64_t{4} << between(0, 6);
    target.dma.bandwidth = {{64, 1e10}};
    return target;
  }

 private:
  Shape shape(int rank, std::int64_t maximum = 9) {
    Shape drawn;
    for (int d = 0; d < rank; ++d) drawn.push_back(between(1, maximum));
    return drawn;
  }

  Tensor floats(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(between(-64, 64)) / 32.0F;
    return Tensor::of_floats(shape, values);
  }

  std::optional<Drawn> make(const std::string& kind, Attributes attributes, std::vector<Tensor> inputs) {
    GraphBuilder builder("drawn");
    Diagnostics diagnostics;
    std::vector<std::optional<TensorId>> operands;
    std::string text = kind;
    for (const Tensor& input : inputs) {
      operands.push_back(builder.add_input("in" + std::to_string(operands.size()), input.type(), input.shape()));
      text += " " + to_text(input.shape());
    }
    const auto output = append_operator(builder, kind, "op", attributes, operands, "out", {}, {}, diagnostics);
    if (!output) return std::nullopt;
    const Graph graph = std::move(builder).build();
    return Drawn{define_operator(graph, OpId(0)).list, text, std::move(inputs)};
  }

  std::optional<Drawn> convolution(const std::string& kind) {
    const int spatial = static_cast<int>(between(1, 3));
    const std::int64_t group = coin() ? 1 : between(1, 3);
    const std::int64_t in = group * between(1, 4);
    const std::int64_t out = group * between(1, 4);
    Shape x = {between(1, 2), in};
    Shape w = kind == "Conv" ? Shape{out, in / group} : Shape{in, out / group};
    Attributes attributes;
    std::vector<std::int64_t> kernel;
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> dilations;
    std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * spatial));
    for (int d = 0; d < spatial; ++d) {
      kernel.push_back(between(1, 3));
      strides.push_back(between(1, 3));
      dilations.push_back(between(1, 2));
      x.push_back(between(5, spatial == 1 ? 40 : 11));
      w.push_back(kernel.back());
    }
    for (auto& p : pads) p = between(0, 2);
    attributes["kernel_shape"] = kernel;
    attributes["strides"] = strides;
    attributes["dilations"] = dilations;
    attributes["pads"] = pads;
    attributes["group"] = group;
    std::vector<Tensor> inputs = {floats(x), floats(w)};
    if (coin()) inputs.push_back(floats({out}));
    return make(kind, std::move(attributes), std::move(inputs));
  }

  std::optional<Drawn> pool(const std::string& kind) {
    Attributes attributes;
    attributes["kernel_shape"] = std::vector<std::int64_t>{between(1, 3), between(1, 3)};
    attributes["strides"] = std::vector<std::int64_t>{between(1, 3), between(1, 3)};
    attributes["pads"] = std::vector<std::int64_t>{between(0, 1), between(0, 1), between(0, 1), between(0, 1)};
    attributes["ceil_mode"] = between(0, 1);
    if (kind == "AveragePool") attributes["count_include_pad"] = between(0, 1);
    return make(kind, std::move(attributes), {floats({between(1, 2), between(1, 5), between(4, 13), between(4, 20)})});
  }

  std::optional<Drawn> matmul() {
    const std::int64_t m = between(1, 20);
    const std::int64_t n = between(1, 70);
    const std::int64_t k = between(1, 70);
    if (coin()) {
      Attributes attributes;
      attributes["transA"] = between(0, 1);
      attributes["transB"] = between(0, 1);
      attributes["alpha"] = coin() ? 1.0 : 0.5;
      const bool a = std::get<std::int64_t>(attributes["transA"]) == 1;
      const bool b = std::get<std::int64_t>(attributes["transB"]) == 1;
      return make("Gemm", attributes,
                  {floats(a ? Shape{k, m} : Shape{m, k}), floats(b ? Shape{n, k} : Shape{k, n}), floats({n})});
    }
    return make("MatMul", {}, {floats({between(1, 3), 1, m, k}), floats({between(1, 3), k, n})});
  }

  std::optional<Drawn> normalisation() {
    const Shape x = shape(4, 8);
    switch (between(0, 3)) {
      case 0: return make("Softmax", {{"axis", between(-4, 3)}}, {floats(x)});
      case 1:
        return make("LayerNormalization", {{"axis", std::int64_t{-1}}}, {floats(x), floats({x[3]}), floats({x[3]})});
      case 2: return make("LRN", {{"size", between(1, 4)}}, {floats(x)});
      default:
        return make("BatchNormalization", {},
                    {floats(x), floats({x[1]}), floats({x[1]}), floats({x[1]}),
                     Tensor::of_floats({x[1]}, std::vector<float>(static_cast<std::size_t>(x[1]), 1.5F))});
    }
  }

  std::optional<Drawn> concat() {
    const Shape base = shape(3);
    const std::int64_t axis = between(0, 2);
    std::vector<Tensor> inputs;
    for (std::int64_t i = between(1, 4); i > 0; --i) {
      Shape one = base;
      one[static_cast<std::size_t>(axis)] = between(1, 6);
      inputs.push_back(floats(one));
    }
    return make("Concat", {{"axis", axis}}, std::move(inputs));
  }

  std::optional<Drawn> slice() {
    const Shape x = shape(3, 12);
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> steps;
    for (const std::int64_t extent : x) {
      const std::int64_t a = between(0, extent - 1);
      const std::int64_t b = between(0, extent - 1);
      const std::int64_t step = between(1, 3);
      if (coin()) {
        starts.push_back(std::min(a, b));
        ends.push_back(std::max(a, b) + 1);
        steps.push_back(step);
      } else {
        starts.push_back(std::max(a, b));
        ends.push_back(std::min(a, b) - 1 - extent);
        steps.push_back(-step);
      }
    }
    return make("Slice", {{"starts", starts}, {"ends", ends}, {"steps", steps}}, {floats(x)});
  }

  std::optional<Drawn> pad() {
    static constexpr const char* modes[] = {"constant", "reflect", "edge", "wrap"};
    std::vector<std::int64_t> pads;
    for (int i = 0; i < 6; ++i) pads.push_back(between(-1, 3));
    return make("Pad", {{"pads", pads}, {"mode", std::string(modes[between(0, 3)])}, {"value", 0.25}},
                {floats({between(4, 9), between(4, 9), between(4, 9)})});
  }

  std::optional<Drawn> transpose() {
    std::vector<std::int64_t> permutation = {0, 1, 2, 3};
    std::shuffle(permutation.begin(), permutation.end(), random_);
    return make("Transpose", {{"perm", permutation}}, {floats(shape(4))});
  }

  std::optional<Drawn> reduce() {
    static constexpr const char* kinds[] = {"ReduceMean", "ReduceSum", "ReduceMax"};
    std::vector<std::int64_t> axes;
    for (std::int64_t d = 0; d < 3; ++d) {
      if (coin()) axes.push_back(d);
    }
    return make(kinds[between(0, 2)], {{"axes", axes}, {"keepdims", between(0, 1)}}, {floats(shape(3, 20))});
  }

  std::optional<Drawn> resize() {
    static constexpr const char* modes[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
    return make("Resize",
                {{"mode", std::string(coin() ? "nearest" : "linear")},
                 {"coordinate_transformation_mode", std::string(modes[between(0, 3)])},
                 {"sizes", std::vector<std::int64_t>{1, 2, between(1, 20), between(1, 20)}}},
                {floats({1, 2, between(1, 9), between(1, 9)})});
  }

  std::optional<Drawn> gather() {
    const Shape data = shape(3);
    const std::int64_t axis = between(0, 2);
    const std::int64_t bound = data[static_cast<std::size_t>(axis)];
    const Shape at = shape(static_cast<int>(between(0, 2)), 5);
    std::vector<std::int64_t> indices(static_cast<std::size_t>(element_count(at)));
    for (auto& index : indices) index = between(-bound, bound - 1);
    return make("Gather", {{"axis", axis}}, {floats(data), Tensor::of_int64s(at, indices)});
  }

  std::optional<Drawn> reshape() {
    const Shape x = shape(3, 8);
    return make("Reshape", {{"shape", std::vector<std::int64_t>{x[1] * x[0], x[2]}}}, {floats(x)});
  }

  std::optional<Drawn> element_wise() {
    const Shape a = shape(3, 20);
    Shape b = a;
    for (auto& extent : b) extent = coin() ? extent : 1;
    if (coin()) b.erase(b.begin());
    static constexpr const char* kinds[] = {"Add", "Sub", "Mul", "Div"};
    if (coin()) return make(kinds[between(0, 3)], {}, {floats(a), floats(b)});
    static constexpr const char* unary[] = {"Relu", "Sigmoid", "Tanh", "Exp", "HardSwish", "Identity"};
    return make(unary[between(0, 5)], {}, {floats(a)});
  }

  std::mt19937_64 random_;
};

}  // namespace stowage::fixtures
