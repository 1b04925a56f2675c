// SPDX-License-Identifier: Apache-2.0
// Nests of random operators, and changes of them by chance.
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "slots_draw.h"

namespace stowage::fixtures {

/// A planned operator with the values that its nest gets.
struct SampleNest {
  LoopNest nest;
  std::map<StageTensorId, Tensor> inputs;
  std::map<std::string, Tensor> constants;
  Target target;
};

/// By planner swtvm, with two slots for most of what moves in loops.
inline std::optional<SampleNest> drawn_sample(std::uint64_t seed) {
  OperatorDraw draw(seed);
  const auto drawn = draw.draw();
  if (!drawn) return std::nullopt;
  SampleNest sample;
  sample.target = draw.machine();
  Planned plan = plan_group("op", drawn->stages, {}, SwtvmPlanner(), sample.target, {});
  if (!std::holds_alternative<Plan>(plan)) return std::nullopt;
  const GroupModel model = build_group_model(drawn->stages);
  const Schedule fixed = random_slots(draw, model, std::get<Plan>(plan).schedule);
  Planned slotted = plan_group("op", drawn->stages, fixed, SwtvmPlanner(), sample.target, {});
  sample.nest = std::get<Plan>(std::holds_alternative<Plan>(slotted) ? std::move(slotted) : std::move(plan)).nest;
  std::size_t input = 0;
  for (const StageTensorId t : sample.nest.stages.tensors.ids()) {
    const StageTensor& tensor = sample.nest.stages.tensors[t];
    if (tensor.role == TensorRole::input) sample.inputs[t] = drawn->inputs[input++];
    if (tensor.value) {
      sample.inputs[t] = *tensor.value;
      sample.constants.emplace(tensor.name, *tensor.value);
    }
  }
  return sample;
}

/// The text with one of its transfers or waits changed: left out, exchanged with the statement behind it, or with one
/// number that is larger or smaller by one. Empty where that is none.
inline std::string changed(const std::string& text, std::mt19937& random) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const std::regex moves("^ *[0-9]+  (get|put|wait) .*");
  std::vector<std::size_t> candidates;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (std::regex_match(lines[l], moves)) candidates.push_back(l);
  }
  if (candidates.empty()) return "";
  const std::size_t at = candidates[random() % candidates.size()];
  switch (random() % 3) {
    case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 1:
      if (lines[at + 1].find('{') != std::string::npos || lines[at + 1].find('}') != std::string::npos) return "";
      std::swap(lines[at], lines[at + 1]);
      break;
    default: {
      const std::string line = lines[at].substr(0, lines[at].find("//"));
      const std::regex number("[0-9]+");
      const std::size_t behind_id = line.find_first_of("gpw");
      std::vector<std::pair<std::size_t, std::size_t>> numbers;
      for (std::sregex_iterator n(line.begin() + static_cast<std::ptrdiff_t>(behind_id), line.end(), number), end;
           n != end; ++n) {
        const auto begin = behind_id + static_cast<std::size_t>(n->position());
        const bool of_name = std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_';
        if (!of_name) numbers.emplace_back(begin, static_cast<std::size_t>(n->length()));
      }
      if (numbers.empty()) return "";
      const auto [begin, length] = numbers[random() % numbers.size()];
      const std::int64_t value = std::stoll(line.substr(begin, length)) + (random() % 2 == 0 ? 1 : -1);
      if (value < 0) return "";
      lines[at] = line.substr(0, begin) + std::to_string(value) + line.substr(begin + length);
    }
  }
  std::string made;
  for (const std::string& line : lines) made += line + "\n";
  return made;
}

}  // namespace stowage::fixtures
