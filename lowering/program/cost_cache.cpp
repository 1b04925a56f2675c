// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/cost_cache.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stowage {
namespace {

constexpr char between = '\x1f';  ///< fields; names in reasons are canonical ones, which have none

/// Cycles, rule, reason and flip; the rule of an allowed group is empty.
std::string text_of(const GroupCost::Answer& answer) {
  return fmt::format("{}{}{}{}{}{}{}", answer.cycles, between, answer.decision.rule, between, answer.decision.reason,
                     between, answer.decision.flip);
}

std::optional<GroupCost::Answer> answer_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(between, from), text.size());
    fields.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  if (fields.size() != 4) return std::nullopt;
  GroupCost::Answer answer;
  const auto [end, error] = std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), answer.cycles);
  if (error != std::errc() || end != fields[0].data() + fields[0].size() || answer.cycles < 0) return std::nullopt;
  if (!fields[1].empty())
    answer.decision = Decision::refuse(std::string(fields[1]), std::string(fields[2]), std::string(fields[3]));
  return answer;
}

}  // namespace

CostCache::CostCache(std::filesystem::path folder, const std::string& conditions)
    : file_(std::move(folder), costs_of_groups, conditions) {
  for (const std::string& key : file_.keys()) {
    const auto text = file_.find(key);
    auto answer = text ? answer_of(*text) : std::nullopt;
    if (answer) answers_.emplace(key, *std::move(answer));
  }
}

const GroupCost::Answer* CostCache::find(const std::string& key) const {
  const auto found = answers_.find(key);
  return found != answers_.end() ? &found->second : nullptr;
}

void CostCache::add(const std::string& key, GroupCost::Answer answer) {
  if (!answers_.contains(key)) file_.add(key, text_of(answer));
  answers_.try_emplace(key, std::move(answer));
}

}  // namespace stowage
