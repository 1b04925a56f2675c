// SPDX-License-Identifier: Apache-2.0
// Nests of random operators, and changes of them by chance.
#pragma once

#include <cctype>
#include <cstdint>
#include <iterator>
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
  const GroupModel model = build_group_model(drawn->stages, sample.target);
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

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// One of the numbers behind `begin` that are part of no name, one larger or smaller, or (`leaps`) half or twice as
/// large. Empty where there is none.
inline std::string with_other_number(const std::string& line, std::size_t begin, bool leaps, std::mt19937& random) {
  const std::regex number("[0-9]+");
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
  for (std::sregex_iterator n(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), number), end; n != end;
       ++n) {
    const auto at = begin + static_cast<std::size_t>(n->position());
    const bool of_name = std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0 || line[at - 1] == '_';
    if (!of_name) numbers.emplace_back(at, static_cast<std::size_t>(n->length()));
  }
  if (numbers.empty()) return "";
  const auto [at, length] = numbers[random() % numbers.size()];
  const std::int64_t before = std::stoll(line.substr(at, length));
  const std::int64_t beside = before + (random() % 2 == 0 ? 1 : -1);
  const std::int64_t value = leaps && random() % 2 == 0 ? (beside > before ? 2 * before : before / 2) : beside;
  if (value < 0 || value == before) return "";
  return line.substr(0, at) + std::to_string(value) + line.substr(at + length);
}

inline std::vector<std::size_t> lines_like(const std::vector<std::string>& lines, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::size_t> found;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (std::regex_match(lines[l], wanted)) found.push_back(l);
  }
  return found;
}

/// The text with one of its transfers or waits changed: left out, exchanged with the statement behind it, or with one
/// number that is larger or smaller by one. Empty where that is none.
inline std::string changed(const std::string& text, std::mt19937& random) {
  std::vector<std::string> lines = lines_of(text);
  const std::vector<std::size_t> candidates = lines_like(lines, "^ *[0-9]+  (get|put|wait) .*");
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
      lines[at] = with_other_number(line, line.find_first_of("gpw"), false, random);
      if (lines[at].empty()) return "";
    }
  }
  return text_of(lines);
}

/// The text as if somebody had edited the schedule without planning anew: another size, address or number of slots of a
/// buffer, other parts of the cores, other trips of a loop or places of a tile, another box, or a transfer or wait in
/// the loop around its own or behind it. Empty where that is none.
inline std::string with_edited_schedule(const std::string& text, std::mt19937& random) {
  std::vector<std::string> lines = lines_of(text);
  if (random() % 4 == 0) {
    // Over the end or the beginning of a loop.
    const std::vector<std::size_t> moves = lines_like(lines, "^ *[0-9]+  (get|put|wait) .*");
    if (moves.empty()) return "";
    const std::size_t at = moves[random() % moves.size()];
    std::size_t to = at;
    const bool down = random() % 2 == 0;
    while (to > 0 && to + 1 < lines.size() && lines[to].find_first_of("{}") == std::string::npos) to += down ? 1 : -1;
    if (to == 0 || to + 2 >= lines.size() || lines[to].find("body") != std::string::npos) return "";
    const std::string moved = lines[at];
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), moved);
    return text_of(lines);
  }
  const char* const patterns[] = {"^ *buffer .*", "^ *core .*", "^ *[0-9]+  for .*", "^ *[0-9]+  let .*",
                                  "^ *[0-9]+  compute .*"};
  const std::vector<std::size_t> candidates = lines_like(lines, patterns[random() % std::size(patterns)]);
  if (candidates.empty()) return "";
  const std::size_t at = candidates[random() % candidates.size()];
  const std::string line = lines[at].substr(0, lines[at].find("//"));
  const std::size_t word = line.find_first_not_of(" 0123456789");
  lines[at] = with_other_number(line, word, true, random);
  if (lines[at].empty()) return "";
  return text_of(lines);
}

}  // namespace stowage::fixtures
