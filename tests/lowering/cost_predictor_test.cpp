// SPDX-License-Identifier: Apache-2.0
// The learned evaluator: trees, features of plans, what is held out, and samples.
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "fusion/groups/group.h"
#include "fusion/strategies/candidates.h"
#include "lowering/evaluate/cost_predictor.h"
#include "lowering/evaluate/evaluator.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/cost_samples.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planners.h"
#include "lowering/simulate/simulate.h"
#include "tests/fusion/net.h"
#include "tests/places.h"
#include "tests/sunway.h"

namespace stowage::cost_predictor_test {

using stowage::testing::Net;

namespace {

using fixtures::sunway;

RequestSequences requests_of(const Plan& plan, const Target& target) {
  return request_sequences(plan.nest, ExecutionCosts(plan.nest, target), Sharing::equal);
}

/// The convolution with what a template takes along with it, if any.
CanonicalStages convolution(std::int64_t channels, std::int64_t size) {
  Net net("one");
  const TensorId x = net.input("x", {1, channels, size, size});
  const Graph graph = net.done({net.conv("conv", x, 2 * channels, 3)});
  return canonical_stages(group_stages(graph, make_single(GraphFacts(graph), OpId(0))));
}

/// Ten samples of each of so many groups whose ratio is a function of two features.
std::vector<CostSample> invented_samples(std::size_t groups) {
  std::mt19937_64 random(7);
  const auto drawn = [&] { return static_cast<double>(random() % 1000) / 1000; };
  std::vector<CostSample> samples;
  for (std::size_t g = 0; g < groups; ++g) {
    for (int i = 0; i < 10; ++i) {
      CostSample sample;
      sample.group = g;
      sample.is_chosen = i == 0;
      sample.features.launch_cycles = 100;
      sample.features.closed_cycles = 1'000'000;
      sample.features.base_cycles = 1'000'000;
      sample.features.values.assign(plan_feature_table().size(), 0);
      double& a = sample.features.values[1] = drawn();
      double& b = sample.features.values[3] = drawn();
      const double ratio = 1 + (a > 0.5 ? 0.2 : 0) + (a > 0.5 && b > 0.3 ? 0.1 : 0);
      sample.simulated_cycles = 100 + std::llround(1'000'000 * ratio);
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("boosted trees learn a function of steps, the same each time") {
  std::vector<std::vector<double>> samples;
  std::vector<double> wanted;
  for (int i = 0; i < 400; ++i) {
    const double a = i % 20;
    const double b = i / 20;
    samples.push_back({a, b, 5});
    wanted.push_back((a > 7 ? 3 : 0) + (b > 11 && a > 3 ? 2 : 0));
  }
  const BoostedTrees trees = boosted_trees(samples, wanted, {});
  CHECK(is_sound(trees, 3));
  CHECK(trees == boosted_trees(samples, wanted, {}));
  for (std::size_t i = 0; i < samples.size(); ++i) CHECK(std::abs(trees.value(samples[i]) - wanted[i]) < 0.01);
  // Between samples a tree goes on as beside them.
  CHECK(std::abs(trees.value(std::vector<double>{8.4, 2, 5}) - 3) < 0.01);
}

TEST_CASE("trees whose nodes lead nowhere are noticed") {
  const auto sound = [](std::vector<RegressionTree::Node> nodes) {
    return is_sound(BoostedTrees{0, {RegressionTree{std::move(nodes)}}}, 2);
  };
  const RegressionTree::Node leaf{std::nullopt, 0, 0, 0, 1};
  CHECK(sound({leaf}));
  CHECK(sound({{1, 0.5, 1, 2, 0}, leaf, leaf}));
  CHECK_FALSE(sound({}));
  CHECK_FALSE(sound({{2, 0.5, 1, 2, 0}, leaf, leaf}));  // no such feature
  CHECK_FALSE(sound({{1, 0.5, 1, 3, 0}, leaf, leaf}));  // no such node
  CHECK_FALSE(sound({{1, 0.5, 0, 1, 0}, leaf, leaf}));  // for ever
}

TEST_CASE("a fifth of the groups is held out, with all of their samples") {
  const std::vector<CostSample> samples = invented_samples(40);
  const CostPredictor predictor = train_predictor(samples, 3);
  CHECK(predictor.held_out.groups == 8);
  CHECK(predictor.held_out.samples == 80);
  CHECK(predictor.never_asked.samples == 80);
  CHECK(predictor.never_asked.predicted == 80);
  CHECK(predictor.held_out_chosen.samples == 8);
  CHECK(predictor.trained_with.groups == 32);
  CHECK(predictor.trained_with.samples == 320);
  CHECK(predictor.closed_form.samples == 80);
  CHECK(predictor.closed_form.largest == Approx(0.3 / 1.3).epsilon(0.001));
  CHECK(predictor.held_out.median < 0.001);
  CHECK(predictor.held_out.median <= predictor.held_out.of_95_percent);
  CHECK(predictor.held_out.of_95_percent <= predictor.held_out.largest);
  CHECK(predictor == train_predictor(samples, 3));
  CHECK_FALSE(predictor == train_predictor(samples, 4));
}

TEST_CASE("what is held out is not learned from") {
  std::vector<CostSample> samples = invented_samples(40);
  const CostPredictor before = train_predictor(samples, 3);
  // The same but for one group that is held out, whose times are nonsense now.
  for (std::size_t g = 0; g < 40; ++g) {
    std::vector<CostSample> other = samples;
    for (CostSample& sample : other) sample.simulated_cycles *= sample.group == g ? 3 : 1;
    const CostPredictor after = train_predictor(other, 3);
    if (after.trained_with == before.trained_with) {
      CHECK(after.ratio == before.ratio);
      CHECK(after.doubt == before.doubt);
      CHECK(after.doubted_from == before.doubted_from);
      CHECK(after.never_asked.largest > 0.5);
    } else {
      CHECK_FALSE(after.ratio == before.ratio);
    }
  }
}

TEST_CASE("a predictor doubts what it cannot know, and is right where it does not") {
  // Where the third feature is large the ratio follows nothing.
  std::mt19937_64 random(5);
  std::vector<CostSample> samples = invented_samples(80);
  const auto knows = [](const CostSample& sample) { return sample.features.values[5] < 0.5; };
  for (CostSample& sample : samples) {
    sample.features.values[5] = static_cast<double>(random() % 400) / 1000 + (random() % 2 == 0 ? 0.6 : 0.0);
    if (!knows(sample)) sample.simulated_cycles += static_cast<std::int64_t>(random() % 200'000) - 100'000;
  }
  const CostPredictor predictor = train_predictor(samples, 3);
  std::int64_t trusted = 0;
  for (const CostSample& sample : samples) {
    if (is_doubtful(predictor, sample.features)) continue;
    CHECK(knows(sample));
    ++trusted;
  }
  CHECK(trusted > 50);  // of some 400: trust ends at the first disappointment
  CHECK(predictor.held_out.predicted > 5);
  CHECK(predictor.held_out.predicted < 100);
  CHECK(predictor.held_out.largest < error_limit);
  CHECK(predictor.never_asked.predicted == 160);
  CHECK(predictor.never_asked.largest > error_limit);
}

TEST_CASE("samples of a group are plans with their simulated time, the planner's own first") {
  const Target target = sunway();
  const Planner& planner = *find_planner("searched");
  const CanonicalStages group = convolution(16, 14);
  const std::vector<CostSample> samples = cost_samples(group, planner, target, 6, 1);
  REQUIRE(samples.size() > 2);
  const Planned planned = plan_group("group", group.stages, {}, planner, target, {});
  const auto& plan = std::get<Plan>(planned);
  CHECK(samples.front().is_chosen);
  CHECK(samples.front().simulated_cycles == std::get<Simulation>(simulate(plan.nest, target)).cycles);
  CHECK(samples.front().features.values == features_of(plan, target, requests_of(plan, target)).values);
  CHECK(samples.front().features.closed_cycles + samples.front().features.launch_cycles == plan.time.cycles);
  std::set<std::int64_t> times;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    CHECK(samples[i].is_chosen == (i == 0));
    CHECK(samples[i].features.values.size() == plan_feature_table().size());
    for (const double value : samples[i].features.values) CHECK(std::isfinite(value));
    times.insert(samples[i].simulated_cycles);
  }
  CHECK(times.size() > 2);  // variants are other plans
  const std::vector<CostSample> again = cost_samples(group, planner, target, 6, 1);
  REQUIRE(again.size() == samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) CHECK(again[i].features.values == samples[i].features.values);
}

TEST_CASE("a learned evaluator says its base's cycles times what it has learned") {
  const Target target = sunway();
  const CanonicalStages group = convolution(16, 14);
  const Planned planned = plan_group("group", group.stages, {}, *find_planner("swtvm"), target, {});
  const auto& plan = std::get<Plan>(planned);
  CostPredictor predictor;
  const auto said = [&] {
    const Evaluator evaluator{EvaluatedBy::learned, std::make_shared<const CostPredictor>(predictor), "xxh64:0"};
    return std::get<std::int64_t>(evaluated_cycles(plan, target, evaluator));
  };
  const PlanFeatures features = features_of(plan, target, requests_of(plan, target));
  CHECK(features.base_cycles >= features.closed_cycles);
  CHECK(said() == features.launch_cycles + features.base_cycles);
  predictor.ratio.start = std::log(1.5);
  CHECK(said() == features.launch_cycles + std::llround(1.5 * static_cast<double>(features.base_cycles)));
  // What it doubts is simulated.
  predictor.doubt.start = predictor.doubted_from = -1;
  CHECK(said() == std::get<Simulation>(simulate(plan.nest, target)).cycles);
}

TEST_CASE("docs/simulation.md has a row for each feature") {
  std::ifstream file(test::source_folder() / "docs/simulation.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const PlanFeatureRow& row : plan_feature_table()) {
    CAPTURE(row.name);
    CHECK(page.find("| `" + std::string(row.name) + "` | " + std::string(row.meaning) + " |\n") != std::string::npos);
  }
}

TEST_CASE("evaluators have names of their own, and learned ones that of their file") {
  for (const std::string& name : evaluator_names()) CHECK(name_of(*find_evaluator(name)) == name);
  CHECK_FALSE(find_evaluator("oracle"));
  CHECK(identity_of({EvaluatedBy::closed_form}) != identity_of({EvaluatedBy::simulation}));
  CHECK(identity_of({EvaluatedBy::learned, nullptr, "xxh64:1"}) !=
        identity_of({EvaluatedBy::learned, nullptr, "xxh64:2"}));
}

}  // namespace stowage::cost_predictor_test
