// SPDX-License-Identifier: Apache-2.0
// oneDNN against the plain evaluation of the definitions: two implementations that share nothing but the attributes.
#include <catch2/catch.hpp>
#include <cmath>

#include "core/reference/onednn.h"
#include "core/reference/reference.h"
#include "random_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

constexpr std::uint32_t seed = 20250103;
using Ints = std::vector<std::int64_t>;

struct Agreement {
  int by_onednn = 0;
  int cases = 0;
};

/// NaN and infinities among the first operand's elements must come out where the definition has them. The definition of
/// ConvTranspose multiplies elements that a stride passes over by zero, which oneDNN does not: there oneDNN is right.
void compare_not_finite(Case c) {
  if (c.kind == "ConvTranspose") return;
  std::vector<float> values(c.operands[0]->as<float>().begin(), c.operands[0]->as<float>().end());
  constexpr float not_finite[] = {NAN, INFINITY, -INFINITY};
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = not_finite[i % 3];
  c.operands[0] = Tensor::of_floats(c.operands[0]->shape(), values);
  const Graph graph = graph_of(c);
  const Tensor fast = run_operator(graph, OpId(0), c.operands, ReferenceMode::onednn).front();
  const Tensor slow = run_operator(graph, OpId(0), c.operands, ReferenceMode::plain).front();
  INFO("with NaN and infinities: " << to_text(c));
  int misplaced = 0;
  for (std::int64_t i = 0; i < slow.size(); ++i) {
    const double a = fast.as_double(i);
    const double b = slow.as_double(i);
    if (!std::isfinite(a) || !std::isfinite(b)) misplaced += a == b || (std::isnan(a) && std::isnan(b)) ? 0 : 1;
  }
  CHECK(misplaced == 0);
}

/// Compares both to 1e-5 of the largest magnitude; a case that oneDNN does not take is only counted.
void compare(const Case& c, Agreement& agreement) {
  compare_not_finite(c);
  const Graph graph = graph_of(c);
  const GraphTensor& output = graph.tensor(graph.outputs()[0]);
  ++agreement.cases;
  const auto fast = reference::run_by_onednn({graph.op(OpId(0)), c.operands, output.type, output.shape});
  if (!fast) return;
  ++agreement.by_onednn;
  const Tensor slow = run_operator(graph, OpId(0), c.operands, ReferenceMode::plain).front();
  INFO(to_text(c));
  REQUIRE(fast->shape() == slow.shape());
  double largest = 1;
  double error = 0;
  for (std::int64_t i = 0; i < slow.size(); ++i) {
    largest = std::max(largest, std::abs(slow.as_double(i)));
    const double difference = std::abs(slow.as_double(i) - fast->as_double(i));
    error = std::isnan(difference) ? INFINITY : std::max(error, difference);
  }
  CHECK(error <= 1e-5 * largest);
}

/// Runs `make` for many random cases and demands that oneDNN took at least `share` of them.
template <class Make>
void check_agreement(double share, Make&& make, int rounds = 60) {
  Random random(seed);
  Agreement agreement;
  for (int round = 0; round < rounds; ++round) compare(make(random), agreement);
  WARN("seed " << seed << ", " << agreement.by_onednn << " of " << agreement.cases << " cases by oneDNN");
  CHECK(agreement.by_onednn >= share * agreement.cases);
}

/// Strides, dilations, and pads or auto_pad for windows of `kernel`.
Attributes random_window(Random& random, const Ints& kernel, bool dilate) {
  Ints stride;
  Ints dilation;
  Ints pads(2 * kernel.size());
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    stride.push_back(random.draw(1, 3));
    dilation.push_back(dilate ? random.draw(1, 2) : 1);
    pads[k] = random.draw(0, kernel[k] - 1);
    pads[kernel.size() + k] = random.draw(0, kernel[k] - 1);
  }
  Attributes attributes = {{"kernel_shape", kernel}, {"strides", stride}, {"dilations", dilation}};
  switch (random.draw(0, 4)) {
    case 0: attributes["auto_pad"] = "SAME_UPPER"; break;
    case 1: attributes["auto_pad"] = "SAME_LOWER"; break;
    case 2: attributes["auto_pad"] = "VALID"; break;
    default: attributes["pads"] = pads; break;
  }
  return attributes;
}

Shape spatial(Random& random, std::size_t dimensions) {
  Shape shape;
  for (std::size_t k = 0; k < dimensions; ++k) shape.push_back(random.draw(7, dimensions == 3 ? 8 : 12));
  return shape;
}

Shape joined(Shape front, const Shape& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

}  // namespace

TEST_CASE("oneDNN and the definition of Conv agree") {
  check_agreement(1, [](Random& random) {
    const auto dimensions = static_cast<std::size_t>(random.draw(1, 3));
    const Ints kernel = random.shape(static_cast<int>(dimensions), 4);
    const std::int64_t groups = random.draw(1, 3);
    const std::int64_t channels = random.draw(1, 4);
    const std::int64_t features = random.draw(1, 4) * groups;
    Case c{"Conv", random_window(random, kernel, true), {}};
    c.attributes["group"] = groups;
    c.operands = {random.tensor(joined({random.draw(1, 2), channels * groups}, spatial(random, dimensions))),
                  random.tensor(joined({features, channels}, kernel))};
    if (random.flip()) c.operands.push_back(random.tensor({features}));
    return c;
  });
}

TEST_CASE("oneDNN and the definition of ConvTranspose agree") {
  check_agreement(0.7, [](Random& random) {
    const auto dimensions = static_cast<std::size_t>(random.draw(1, 3));
    const Ints kernel = random.shape(static_cast<int>(dimensions), 4);
    const std::int64_t groups = random.draw(1, 3);
    const std::int64_t features = random.draw(1, 4);
    Case c{"ConvTranspose", random_window(random, kernel, true), {}};
    c.attributes["group"] = groups;
    Ints output_padding;
    for (const std::int64_t s : std::get<Ints>(c.attributes["strides"]))
      output_padding.push_back(random.draw(0, s - 1));
    if (random.flip()) c.attributes["output_padding"] = output_padding;
    if (random.draw(0, 3) == 0) {
      c.attributes.erase("pads");
      Ints out;
      for (std::size_t k = 0; k < dimensions; ++k) out.push_back(random.draw(12, 24));
      c.attributes["output_shape"] = out;
    }
    const Shape in = spatial(random, dimensions);
    const std::int64_t channels = random.draw(1, 3) * groups;
    c.operands = {random.tensor(joined({random.draw(1, 2), channels}, in)),
                  random.tensor(joined({channels, features}, kernel))};
    if (random.flip()) c.operands.push_back(random.tensor({features * groups}));
    return c;
  });
}

TEST_CASE("oneDNN and the definitions of MaxPool and AveragePool agree") {
  for (const std::string kind : {"MaxPool", "AveragePool"}) {
    check_agreement(0.4, [&](Random& random) {
      const auto dimensions = static_cast<std::size_t>(random.draw(1, 3));
      const Ints kernel = random.shape(static_cast<int>(dimensions), 3);
      Case c{kind, random_window(random, kernel, random.flip()), {}};
      c.attributes["ceil_mode"] = random.draw(0, 1);
      if (kind == "AveragePool") c.attributes["count_include_pad"] = random.draw(0, 1);
      c.operands = {random.tensor(joined(random.shape(2, 3), spatial(random, dimensions)))};
      return c;
    });
  }
}

TEST_CASE("oneDNN and the definitions of global pools agree") {
  for (const std::string kind : {"GlobalMaxPool", "GlobalAveragePool"}) {
    check_agreement(
        1,
        [&](Random& random) {
          return Case{kind, {}, {random.tensor(random.shape(static_cast<int>(random.draw(3, 5))))}};
        },
        20);
  }
}

TEST_CASE("oneDNN and the definition of MatMul agree") {
  check_agreement(1, [](Random& random) {
    const std::int64_t depth = random.draw(1, 20);
    Shape batch_a = random.shape(static_cast<int>(random.draw(0, 2)), 3);
    Shape batch_b = batch_a;
    for (auto& extent : random.flip() ? batch_a : batch_b) extent = random.flip() ? 1 : extent;
    if (random.flip() && !batch_b.empty()) batch_b.erase(batch_b.begin());
    const bool vector_a = random.draw(0, 5) == 0;
    const bool vector_b = random.draw(0, 5) == 0;
    return Case{"MatMul",
                {},
                {random.tensor(vector_a ? Shape{depth} : joined(batch_a, {random.draw(1, 9), depth})),
                 random.tensor(vector_b ? Shape{depth} : joined(batch_b, {depth, random.draw(1, 9)}))}};
  });
}

TEST_CASE("oneDNN and the definition of Gemm agree") {
  check_agreement(1, [](Random& random) {
    const std::int64_t m = random.draw(1, 9);
    const std::int64_t n = random.draw(1, 9);
    const std::int64_t k = random.draw(1, 20);
    const bool trans_a = random.flip();
    const bool trans_b = random.flip();
    Case c{"Gemm",
           {},
           {random.tensor(trans_a ? Shape{k, m} : Shape{m, k}), random.tensor(trans_b ? Shape{n, k} : Shape{k, n})}};
    c.attributes["transA"] = std::int64_t{trans_a};
    c.attributes["transB"] = std::int64_t{trans_b};
    if (random.flip()) c.attributes["alpha"] = 0.5;
    if (random.flip()) c.attributes["beta"] = static_cast<double>(random.draw(0, 2));
    const std::vector<Shape> shapes = {{}, {1}, {n}, {1, n}, {m, 1}, {m, n}};
    if (random.flip()) c.operands.push_back(random.tensor(shapes[static_cast<std::size_t>(random.draw(0, 5))]));
    return c;
  });
}

TEST_CASE("oneDNN and the definitions of element-wise operators agree") {
  struct Range {
    std::string kind;
    double low, high;
  };
  for (const Range& r : {Range{"Abs", -2, 2},
                         {"Exp", -4, 4},
                         {"HardSwish", -6, 6},
                         {"LeakyRelu", -2, 2},
                         {"Log", 0.1, 4},
                         {"Relu", -2, 2},
                         {"Sigmoid", -8, 8},
                         {"Sqrt", 0.1, 4},
                         {"Tanh", -4, 4}}) {
    INFO(r.kind);
    check_agreement(
        1,
        [&](Random& random) {
          Case c{r.kind, {}, {random.tensor(random.shape(static_cast<int>(random.draw(0, 5))), r.low, r.high)}};
          if (r.kind == "LeakyRelu" && random.flip()) c.attributes["alpha"] = 0.25;
          return c;
        },
        10);
  }
  check_agreement(
      0.9,
      [](Random& random) {
        Case c{"Clip", {}, {random.tensor(random.shape(3))}};
        if (random.flip()) c.operands.push_back(Tensor::scalar(ElementType::f32, -0.5));
        if (random.flip()) c.attributes["max"] = 0.25;
        return c;
      },
      20);
}

TEST_CASE("oneDNN and the definitions of binary operators agree") {
  for (const std::string kind : {"Add", "Sub", "Mul", "Div", "Sum", "Max", "Min"}) {
    INFO(kind);
    check_agreement(
        0.4,
        [&](Random& random) {
          const Shape shape = random.shape(static_cast<int>(random.draw(0, 4)));
          Shape small = shape;
          for (auto& extent : small) extent = random.draw(0, 2) == 0 ? 1 : extent;
          while (!small.empty() && random.draw(0, 3) == 0) small.erase(small.begin());
          Case c{kind, {}, {random.tensor(shape), random.tensor(small, 0.5, 2)}};
          if (random.draw(0, 3) == 0) std::swap(c.operands[0], c.operands[1]);
          return c;
        },
        20);
  }
}

TEST_CASE("oneDNN and the definition of PRelu agree") {
  check_agreement(
      0.5,
      [](Random& random) {
        const Shape shape = random.shape(4);
        const std::vector<Shape> slopes = {{shape[1], 1, 1}, {1}, shape, {shape[3]}};
        return Case{
            "PRelu", {}, {random.tensor(shape), random.tensor(slopes[static_cast<std::size_t>(random.draw(0, 3))])}};
      },
      20);
}

TEST_CASE("oneDNN and the definitions of normalisations agree") {
  check_agreement(1, [](Random& random) {
    const Shape shape = random.shape(static_cast<int>(random.draw(2, 5)));
    const Shape channels = {shape[1]};
    return Case{"BatchNormalization",
                {{"epsilon", 1e-3}},
                {random.tensor(shape), random.tensor(channels), random.tensor(channels), random.tensor(channels),
                 random.tensor(channels, 0.5, 2)}};
  });
  check_agreement(1, [](Random& random) {
    const Shape shape = random.shape(static_cast<int>(random.draw(1, 4)));
    const std::int64_t axis = random.draw(0, static_cast<std::int64_t>(shape.size()) - 1);
    const Shape normalised(shape.begin() + axis, shape.end());
    Case c{"LayerNormalization", {{"axis", axis}}, {random.tensor(shape), random.tensor(normalised)}};
    if (random.flip()) c.operands.push_back(random.tensor(normalised));
    return c;
  });
  check_agreement(
      0.9,
      [](Random& random) {
        return Case{"LRN",
                    {{"size", 2 * random.draw(0, 3) + 1}, {"alpha", 0.25}, {"beta", 0.5}, {"bias", 2.0}},
                    {random.tensor(random.shape(static_cast<int>(random.draw(3, 5))))}};
      },
      20);
}

TEST_CASE("oneDNN and the definition of Softmax agree") {
  check_agreement(0.9, [](Random& random) {
    const auto rank = random.draw(1, 4);
    Case c{"Softmax", {}, {random.tensor(random.shape(static_cast<int>(rank)), -5, 5)}};
    const std::int64_t axis = random.draw(-rank, rank - 1);
    if (random.flip()) {
      c.attributes["axis"] = axis;
    } else {
      Ints axes;
      for (std::int64_t k = axis < 0 ? axis + rank : axis; k < rank; ++k) axes.push_back(k);
      c.attributes["axes"] = axes;
    }
    return c;
  });
}

TEST_CASE("oneDNN and the definitions of reductions agree") {
  for (const std::string kind : {"ReduceSum", "ReduceMean", "ReduceMax"}) {
    check_agreement(
        0.5,
        [&](Random& random) {
          const auto rank = random.draw(1, 4);
          Case c{kind, {{"keepdims", random.draw(0, 1)}}, {random.tensor(random.shape(static_cast<int>(rank)))}};
          Ints axes;
          for (std::int64_t k = 0; k < rank; ++k) {
            if (random.flip()) axes.push_back(random.flip() ? k : k - rank);
          }
          if (random.draw(0, 3) != 0 && !axes.empty()) c.attributes["axes"] = axes;
          return c;
        },
        30);
  }
}
