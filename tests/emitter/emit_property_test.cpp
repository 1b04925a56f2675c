// SPDX-License-Identifier: Apache-2.0
// Random operators on random machines: emitted, compiled and run, they give the definition's values and the predicted
// counts. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "../lowering/operator_draw.h"
#include "core/evaluate.h"
#include "emitted_program.h"
#include "tests/random_runs.h"

using namespace stowage;
using test::number_from;

TEST_CASE("random operators on random machines: emitted, compiled and run, they give the definition's values") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20250117);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 6);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    fixtures::OperatorDraw draw(seed + round);
    Target target = draw.machine();
    target.name = "random";
    constexpr std::size_t operators_a_program = 12;
    std::vector<StageList> lists;
    std::vector<std::vector<Tensor>> values;
    std::string text;
    while (lists.size() < operators_a_program) {
      auto drawn = draw.draw();
      if (!drawn) continue;
      text += fmt::format("{}: {}\n", lists.size(), drawn->text);
      lists.push_back(std::move(drawn->stages));
      values.push_back(std::move(drawn->inputs));
    }
    std::vector<std::size_t> refused;
    const Program program = fixtures::program_of(fmt::format("random_{}", seed + round), lists, target, refused);
    INFO(text << "on " << target.cores.count << " cores with " << target.ldm.available() << " bytes, " << refused.size()
              << " refused");
    std::vector<Tensor> inputs;
    std::vector<Tensor> expected;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (std::find(refused.begin(), refused.end(), i) != refused.end()) continue;
      inputs.insert(inputs.end(), values[i].begin(), values[i].end());
      const auto all = evaluate(lists[i], values[i]);
      expected.push_back(all[lists[i].stages.back().output]);
    }
    fixtures::check_program(program, inputs, expected);
  }
}
