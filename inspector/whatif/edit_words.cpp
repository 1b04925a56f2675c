// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/edit_words.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/text/listed.h"
#include "fusion/groups/group.h"
#include "inspector/whatif/regroup.h"
#include "lowering/model/sharing.h"

namespace stowage::inspector {

namespace {

std::string schedule_text(const Schedule& schedule) {
  std::vector<std::string> words;
  if (schedule.merged && schedule.merged->empty()) words.emplace_back("no axes as one");
  if (schedule.lanes && schedule.lanes->empty()) words.emplace_back("no blocks of lanes");
  if (schedule.copied && schedule.copied->empty()) words.emplace_back("no inputs copied");
  if (schedule.split && schedule.split->empty()) words.emplace_back("no sum split");
  for (const std::vector<std::string>& run : schedule.merged.value_or(MergedAxes{})) {
    words.push_back(listed(run) + " as one axis");
  }
  for (const auto& [iterator, block] : schedule.lanes.value_or(LaneBlocks{})) {
    words.push_back(fmt::format("lanes along {} in blocks of {}", iterator, block));
  }
  for (const std::string& input : schedule.copied.value_or(CopiedInputs{})) words.push_back(input + " copied");
  if (schedule.folded) words.push_back(*schedule.folded ? "stages folded" : "stages not folded");
  for (const auto& [iterator, parts] : schedule.split.value_or(SplitReductions{}))
    words.push_back(fmt::format("sums of {} parts of {}", parts, iterator));
  if (schedule.parallel) {
    std::vector<std::string> parts;
    for (const ParallelSplit& split : *schedule.parallel) {
      parts.push_back(fmt::format("{} over {}", split.iterator, split.parts));
    }
    words.push_back(parts.empty() ? "one core" : fmt::format("cores {}", fmt::join(parts, ", ")));
  }
  for (const auto& [iterator, size] : schedule.buffer) words.push_back(fmt::format("buffer {} {}", iterator, size));
  if (schedule.order) {
    words.push_back(schedule.order->empty() ? "no outer loop"
                                            : fmt::format("loops {}", fmt::join(*schedule.order, ", ")));
  }
  for (const auto& [tensor, loop] : schedule.dma) {
    words.push_back(fmt::format("{} {}", tensor, loop.empty() ? "outside of the loops" : "inside " + loop));
  }
  for (const auto& [tensor, slots] : schedule.slots) words.push_back(fmt::format("slots {} {}", tensor, slots));
  for (const auto& [tensor, shared] : schedule.sharing) {
    words.push_back(fmt::format("{} loaded by the {}", tensor, name_of(shared)));
  }
  for (const auto& [tensor, along] : schedule.resident) {
    words.push_back(
        fmt::format("{} kept along {}", tensor, along.empty() ? "nothing" : fmt::format("{}", fmt::join(along, ", "))));
  }
  if (schedule.launch) words.push_back(fmt::format("launch by a {}", name_of(*schedule.launch)));
  return words.empty() ? "nothing fixed" : fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

std::vector<EditEntry> edit_entries(const LoadedPlan& plan, const PlanEdit& edit) {
  const Graph& graph = plan.graph();
  std::vector<EditEntry> entries;
  std::set<OpId> seen;
  for (const std::vector<std::string>& group : edit.groups) {
    const auto op = graph.find_operator(group.front());
    if (!op || seen.contains(*op)) continue;
    const Regrouped around = regrouped_at(plan, edit, *op);
    Grouping planned;
    for (const StepId step : around.steps) {
      planned.push_back(plan.steps[step].step->group.operators);
    }
    for (const std::vector<OpId>& made : around.groups) seen.insert(made.begin(), made.end());
    const std::string name = groups_text(graph, around.groups);
    entries.push_back({name, fmt::format("groups {} instead of {}", name, groups_text(graph, planned)), *op});
  }
  for (const auto& [name, schedule] : edit.schedules) {
    entries.push_back({name, fmt::format("{}: {}", name, schedule_text(schedule)), graph.find_operator(name)});
  }
  if (!edit.target.empty()) {
    std::vector<std::string> keys;
    std::vector<std::string> settings;
    for (const auto& [key, value] : edit.target) {
      keys.push_back(key);
      settings.push_back(fmt::format("target.{} = {}", key, value));
    }
    entries.push_back(
        {fmt::format("target: {}", fmt::join(keys, ", ")), fmt::format("{}", fmt::join(settings, "\n")), std::nullopt});
  }
  return entries;
}

std::string edits_text(const LoadedPlan& plan, const PlanEdit& edit) {
  std::vector<std::string> names;
  for (const EditEntry& entry : edit_entries(plan, edit)) names.push_back(entry.op ? entry.name : "the target");
  if (names.empty()) return {};
  constexpr std::size_t maximum = 5;
  if (names.size() > maximum) {
    const std::size_t more = names.size() - maximum + 1;
    names.resize(maximum - 1);
    names.push_back(fmt::format("{} more", more));
  }
  return "the edits of " + listed(names);
}

}  // namespace stowage::inspector
