// SPDX-License-Identifier: Apache-2.0
// Random groups of several stages: emitted, compiled and run, they give the operators' values and the predicted counts.
// The same seeds as in tests/lowering/group_plans_test.cpp, every tenth of them. STOWAGE_SEED repeats a run,
// STOWAGE_ROUNDS lengthens it.
#include <cmath>
#include <cstdlib>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "emitted_program.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/random_partition.h"
#include "tests/random_runs.h"

using namespace stowage;
using test::number_from;

namespace {

/// Every tenth graph of so many from a seed on, ten in one program.
void check_groups(std::uint64_t seed, std::uint64_t rounds) {
  constexpr std::uint64_t graphs_a_program = 10;
  for (std::uint64_t first = 0; first < rounds; first += 10 * graphs_a_program) {
    Target target = testing::RandomPartition(static_cast<unsigned>(seed + first)).machine();
    std::vector<StageList> lists;
    std::vector<std::vector<Tensor>> operands;
    std::vector<Tensor> results;
    std::string text;
    for (std::uint64_t round = first; round < std::min(rounds, first + 10 * graphs_a_program); round += 10) {
      const auto graph_seed = static_cast<unsigned>(seed + round);
      const FusedGraph fused = testing::RandomPartition(graph_seed).make();
      const testing::Values values =
          testing::run_operators(fused.graph, testing::random_inputs(fused.graph, graph_seed));
      const auto value = [&](TensorId tensor) { return values.at(fused.graph.tensor(tensor).name); };
      for (const FusedOperator& group : fused.groups) {
        StageList stages = group_stages(fused.graph, group);
        if (group.is_view || stages.stages.size() < 2) continue;
        text += fmt::format("{}: seed {}, {}\n{}", lists.size(), graph_seed, group.name, to_text(stages));
        results.push_back(testing::stored_value(fused.graph, group, values));
        operands.emplace_back();
        for (StageTensor& tensor : stages.tensors) {
          if (tensor.role == TensorRole::input) operands.back().push_back(value(*tensor.source));
          tensor.source.reset();
          tensor.strides.clear();  // here every tensor has memory of its own
        }
        lists.push_back(std::move(stages));
      }
    }
    std::vector<std::size_t> refused;
    const Program program = fixtures::program_of(fmt::format("groups_{}", seed + first), lists, target, refused);
    INFO(text << "on " << target.cores.count << " cores with " << target.ldm.available() << " bytes, " << refused.size()
              << " refused");
    std::vector<Tensor> inputs;
    std::vector<Tensor> expected;
    std::vector<double> made_of;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (std::find(refused.begin(), refused.end(), i) != refused.end()) continue;
      inputs.insert(inputs.end(), operands[i].begin(), operands[i].end());
      expected.push_back(results[i]);
      // At least 1, as in group_plans_test: what an activation adds to is of that size.
      double largest = 1;
      for (const Tensor& operand : operands[i]) {
        for (std::int64_t e = 0; e < operand.size(); ++e) largest = std::max(largest, std::abs(operand.as_double(e)));
      }
      made_of.push_back(largest);
    }
    fixtures::check_program(program, inputs, expected, made_of);
  }
}

}  // namespace

TEST_CASE("random groups of several stages: emitted, compiled and run, they give what their operators give") {
  check_groups(number_from("STOWAGE_SEED", 20260101), number_from("STOWAGE_ROUNDS", 300));
}

TEST_CASE("three lanes of a buffer that is wider because of its padding are no vector") {
  // The last vector began before the row: it read garbage, and in the first row it overwrote another buffer.
  check_groups(1010200, 100);
  check_groups(1012600, 100);
}
