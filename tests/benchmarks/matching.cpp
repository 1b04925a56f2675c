// SPDX-License-Identifier: Apache-2.0
// All built-in templates on graphs of 1,000, 10,000 and 100,000 operators (promised: under 10 seconds at 100,000,
// growing linearly). Timed is everything from the graph to the embeddings: facts of its operators, candidates of every
// template vertex, embeddings of every pattern, symmetric ones removed. "per_op" is that divided by the operators.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "core/operators.h"
#include "fusion/match/match.h"

namespace stowage {
namespace {

/// Appends operators; weights are shared, so that large graphs stay small.
class Appender {
 public:
  explicit Appender(std::int64_t channels) : builder_("large"), channels_(channels) {
    weights_1_ =
        builder_.add_constant("w1", Tensor::of_floats({8, channels, 1, 1}, std::vector<float>(8 * size(channels))));
    weights_3_ = builder_.add_constant("w3", Tensor::of_floats({8, 8, 3, 3}, std::vector<float>(8 * 8 * 9)));
  }

  TensorId input() { return builder_.add_input("x", ElementType::f32, {1, channels_, 8, 8}); }

  TensorId add(const std::string& kind, std::vector<std::optional<TensorId>> inputs, Attributes attributes = {}) {
    const std::string name = "op" + std::to_string(count_++);
    Diagnostics diagnostics;
    const auto made = append_operator(builder_, kind, name, std::move(attributes), std::move(inputs), name + "_out", {},
                                      {}, diagnostics);
    check(static_cast<bool>(made), format_diagnostics(diagnostics));
    return *made;
  }

  TensorId conv_1(TensorId x) { return add("Relu", {add("Conv", {x, weights_1_})}); }
  TensorId conv_3(TensorId x) {
    return add("Relu", {add("Conv", {x, weights_3_}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})});
  }

  [[nodiscard]] int count() const { return count_; }
  Graph done(TensorId output) {
    builder_.mark_output(output);
    return std::move(builder_).build();
  }

 private:
  static std::size_t size(std::int64_t channels) { return static_cast<std::size_t>(channels); }

  GraphBuilder builder_;
  std::int64_t channels_;
  TensorId weights_1_;
  TensorId weights_3_;
  int count_ = 0;
};

/// Blocks of four branches that share an input and end in a concatenation, with a residual add around it.
Graph inception_like(int size) {
  Appender net(32);
  TensorId x = net.input();
  while (net.count() < size) {
    const TensorId pooled =
        net.add("MaxPool", {x},
                {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    const TensorId joined = net.add(
        "Concat", {net.conv_1(x), net.conv_3(net.conv_1(x)), net.conv_3(net.conv_3(net.conv_1(x))), net.conv_1(pooled)},
        {{"axis", std::int64_t{1}}});
    x = net.add("Add", {joined, x});
  }
  return net.done(x);
}

/// Every operator reads one or two of the last few results.
Graph random_wired(int size) {
  Appender net(8);
  std::mt19937 random(1);
  std::vector<TensorId> tensors = {net.input()};
  const auto any = [&] { return tensors[tensors.size() - 1 - random() % std::min<std::size_t>(tensors.size(), 8)]; };
  while (net.count() < size) {
    const TensorId x = any();
    switch (random() % 8) {
      case 0: tensors.push_back(net.conv_1(x)); break;
      case 1: tensors.push_back(net.conv_3(x)); break;
      case 2:
        tensors.push_back(net.add(
            "MaxPool", {x},
            {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}));
        break;
      case 3:
      case 4: tensors.push_back(net.add("Add", {x, any()})); break;
      case 5: tensors.push_back(net.add("Mul", {x, any()})); break;
      case 6: tensors.push_back(net.add("Sigmoid", {x})); break;
      default: tensors.push_back(net.add("Softmax", {x})); break;
    }
  }
  return net.done(tensors.back());
}

void match_all(benchmark::State& state, Graph (*make)(int)) {
  const Graph graph = make(static_cast<int>(state.range(0)));
  std::size_t embeddings = 0;
  std::size_t given_up = 0;
  std::size_t patterns = 0;
  for (auto _ : state) {
    embeddings = given_up = patterns = 0;
    const GraphFacts facts(graph);
    for (const FusionTemplate& fusion_template : built_in_templates()) {
      const VertexCandidates candidates = find_candidates(facts, fusion_template);
      for (const Pattern& pattern : expand(fusion_template)) {
        Embeddings found = find_embeddings(graph, pattern, candidates);
        embeddings += without_symmetric(std::move(found.found)).size();
        given_up += found.given_up.size();
        ++patterns;
      }
    }
  }
  const auto operators = static_cast<double>(graph.operators().size());
  state.counters["operators"] = operators;
  state.counters["patterns"] = static_cast<double>(patterns);
  state.counters["embeddings"] = static_cast<double>(embeddings);
  state.counters["given_up"] = static_cast<double>(given_up);
  state.counters["per_op"] =
      benchmark::Counter(operators, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(match_all, inception_like, inception_like)
    ->RangeMultiplier(10)
    ->Range(1'000, 100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match_all, random_wired, random_wired)
    ->RangeMultiplier(10)
    ->Range(1'000, 100'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stowage
