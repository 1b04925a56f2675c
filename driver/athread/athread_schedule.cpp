// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/athread_schedule.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/block_names.h"
#include "core/check.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_model.h"
#include "lowering/model/sharing.h"
#include "lowering/model/split_reductions.h"
#include "lowering/model/stage_form.h"

namespace stowage {

namespace {

class AthreadSchedule final : public FixedSchedule {
 public:
  explicit AthreadSchedule(Schedule schedule) : schedule_(std::move(schedule)) {}
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

 private:
  Schedule schedule_;
};

/// Reads a table of integers or strings whose keys are the user's names.
template <class Value, class Read>
void read_names(TomlTable& table, const std::string& name, const std::string& key, std::map<std::string, Value>& to,
                FixedSchedules& fixed, const Read& read) {
  auto names = table.table(key);
  if (!names) return;
  for (const std::string& entry : names->keys()) {
    Value value{};
    if (read(*names, entry, value)) to[entry] = value;
    fixed.locations[fmt::format("{}/{}/{}", name, key, entry)] = names->located(entry);
  }
}

/// A list of lists of iterators.
void read_merged(TomlTable& table, const std::string& name, FixedSchedules& fixed, Schedule& schedule) {
  MergedAxes merged;
  if (!table.has("merged")) return;
  fixed.locations[name + "/merged"] = table.located("merged");
  if (table.read("merged", merged)) schedule.merged = std::move(merged);
}

Schedule schedule_of(TomlTable& table, const std::string& name, FixedSchedules& fixed) {
  Schedule schedule;
  read_merged(table, name, fixed, schedule);
  if (table.has("lanes")) {
    fixed.locations[name + "/lanes"] = table.located("lanes");
    schedule.lanes.emplace();
    read_names(table, name, "lanes", *schedule.lanes, fixed,
               [](TomlTable& names, const std::string& key, std::int64_t& to) {
                 return names.read(key, to, {1, largest_integer});
               });
  }
  if (std::vector<std::string> copied; table.read("copied", copied)) {
    fixed.locations[name + "/copied"] = table.located("copied");
    schedule.copied.emplace(copied.begin(), copied.end());
  }
  if (bool folded = false; table.read("folded", folded)) schedule.folded = folded;
  if (table.has("split_reductions")) {
    fixed.locations[name + "/split_reductions"] = table.located("split_reductions");
    schedule.split.emplace();
    read_names(table, name, "split_reductions", *schedule.split, fixed,
               [](TomlTable& names, const std::string& key, std::int64_t& to) {
                 return names.read(key, to, {1, largest_integer});
               });
  }
  if (table.has("parallel")) {
    fixed.locations[name + "/parallel"] = table.located("parallel");
    schedule.parallel.emplace();
    for (TomlTable& row : table.tables("parallel")) {
      ParallelSplit split;
      row.read("iterator", split.iterator, Need::required);
      row.read("parts", split.parts, {1, largest_integer}, Need::required);
      row.finish();
      schedule.parallel->push_back(std::move(split));
    }
  }
  read_names(table, name, "buffer", schedule.buffer, fixed,
             [](TomlTable& names, const std::string& key, std::int64_t& to) {
               return names.read(key, to, {1, largest_integer});
             });
  if (std::vector<std::string> order; table.read("order", order)) {
    fixed.locations[name + "/order"] = table.located("order");
    schedule.order = std::move(order);
  }
  read_names(table, name, "dma", schedule.dma, fixed,
             [](TomlTable& names, const std::string& key, std::string& to) { return names.read(key, to); });
  read_names(table, name, "slots", schedule.slots, fixed, [](TomlTable& names, const std::string& key, int& to) {
    return names.read(key, to, {1, max_slots});
  });
  read_names(
      table, name, "sharing", schedule.sharing, fixed, [](TomlTable& names, const std::string& key, SharedBy& to) {
        std::string text;
        if (!names.read(key, text)) return false;
        const auto named = sharing_named(text);
        to = named.value_or(SharedBy::core);
        if (named) return true;
        names.error("wrong-value", key,
                    fmt::format("'{}' is {}, not who loads it together: \"core\", \"row\", \"column\" or \"mesh\"", key,
                                quoted_toml(text)),
                    suggest_name(text, std::vector<std::string>{"core", "row", "column", "mesh"}));
        return false;
      });
  read_names(table, name, "resident", schedule.resident, fixed,
             [](TomlTable& names, const std::string& key, std::set<std::string>& to) {
               std::vector<std::string> iterators;
               if (!names.read(key, iterators)) return false;
               to.insert(iterators.begin(), iterators.end());
               return true;
             });
  if (std::string text; table.read("launch", text)) {
    schedule.launch = launch_named(text);
    if (!schedule.launch) {
      table.error("wrong-value", "launch",
                  fmt::format("{} is not how a kernel begins: \"spawn\" or \"barrier\"", quoted_toml(text)),
                  suggest_name(text, std::vector<std::string>{"spawn", "barrier"}));
    }
  }
  table.finish();
  return schedule;
}

/// Reports names of one schedule against what its fused operator has.
class NameCheck {
 public:
  NameCheck(std::string name, const FixedSchedules& fixed, Diagnostics& diagnostics)
      : name_(std::move(name)), fixed_(&fixed), diagnostics_(&diagnostics) {}

  void expect(const std::string& path, const std::string& what, const std::string& given,
              const std::vector<std::string>& known) const {
    if (std::find(known.begin(), known.end(), given) != known.end()) return;
    const auto found = fixed_->locations.find(path.empty() ? name_ : name_ + "/" + path);
    Diagnostic diagnostic = found != fixed_->locations.end() ? found->second : Diagnostic{};
    diagnostic.code = "unknown-" + what;
    diagnostic.message = path.empty() ? fmt::format("no fused operator '{}'", given)
                                      : fmt::format("fused operator '{}' has no {} '{}'", name_, what, given);
    const auto is_known = [&](const std::string& name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    };
    const bool is_in_blocks = is_known(block_iterator_name(given)) && is_known(lane_iterator_name(given));
    diagnostic.remedy = is_in_blocks ? fmt::format(
                                           "these channels lie in blocks, as {1} and {2}; with --layout given they "
                                           "are '{0}'",
                                           given, block_iterator_name(given), lane_iterator_name(given))
                                     : suggest_name(given, known);
    diagnostics_->add(std::move(diagnostic));
  }

 private:
  std::string name_;
  const FixedSchedules* fixed_;
  Diagnostics* diagnostics_;
};

struct NamesToUse {
  std::vector<GroupIterator> iterators;
  std::vector<std::string> tensors;
};

/// What a schedule may speak of: iterators and tensors of the stages in all forms that they may get. Where it leaves
/// the form to the planner, axes that it speaks of stay as they are.
NamesToUse names_to_use(const Schedule& schedule, const StageList& stages, const Planner& planner,
                        const Target& target) {
  std::vector<StageForm> forms = forms_to_plan(planner, stages, schedule, target);
  if (!schedule.merged || !schedule.lanes || !schedule.copied || !schedule.folded || !schedule.split)
    forms.push_back(form_of(schedule));
  NamesToUse names;
  for (const StageTensor& tensor : stages.tensors) names.tensors.push_back(tensor.name);
  for (const StageForm& form : forms) {
    const auto shaped = in_form(stages, form);
    if (!std::holds_alternative<StageList>(shaped)) continue;
    const auto& list = std::get<StageList>(shaped);
    for (GroupIterator& iterator : group_iterators(list)) {
      const bool known = std::any_of(names.iterators.begin(), names.iterators.end(),
                                     [&](const GroupIterator& other) { return other.name == iterator.name; });
      if (!known) names.iterators.push_back(std::move(iterator));
    }
    for (const StageTensor& tensor : list.tensors) {
      if (std::find(names.tensors.begin(), names.tensors.end(), tensor.name) == names.tensors.end())
        names.tensors.push_back(tensor.name);
    }
  }
  return names;
}

void check_names(const Schedule& schedule, const StageList& stages, const Planner& planner, const Target& target,
                 const NameCheck& check) {
  std::vector<std::string> iterators;
  std::vector<std::string> spatial;
  std::vector<std::string> loops;  // as schedules name outer loops
  const NamesToUse names = names_to_use(schedule, stages, planner, target);
  for (const GroupIterator& iterator : names.iterators) {
    iterators.push_back(iterator.name);
    const bool is_part =
        schedule.split && std::any_of(schedule.split->begin(), schedule.split->end(),
                                      [&](const auto& s) { return part_iterator_name(s.first) == iterator.name; });
    if (iterator.spatial || is_part) spatial.push_back(iterator.name);
    loops.push_back(iterator.name);
    loops.push_back(iterator.name + "o");
  }
  const std::vector<std::string>& tensors = names.tensors;

  if (schedule.parallel) {
    for (const ParallelSplit& split : *schedule.parallel) check.expect("parallel", "iterator", split.iterator, spatial);
  }
  for (const auto& [iterator, size] : schedule.buffer)
    check.expect("buffer/" + iterator, "iterator", iterator, iterators);
  if (schedule.order) {
    for (const std::string& loop : *schedule.order) check.expect("order", "loop", loop, loops);
  }
  for (const auto& [tensor, loop] : schedule.dma) {
    check.expect("dma/" + tensor, "tensor", tensor, tensors);
    if (!loop.empty()) check.expect("dma/" + tensor, "loop", loop, loops);
  }
  for (const auto& [iterator, parts] : schedule.split.value_or(SplitReductions{}))
    check.expect("split_reductions/" + iterator, "iterator", iterator, iterators);
  for (const std::string& tensor : schedule.copied.value_or(CopiedInputs{}))
    check.expect("copied", "tensor", tensor, tensors);
  for (const auto& [tensor, slots] : schedule.slots) check.expect("slots/" + tensor, "tensor", tensor, tensors);
  for (const auto& [tensor, shared] : schedule.sharing) check.expect("sharing/" + tensor, "tensor", tensor, tensors);
  for (const auto& [tensor, along] : schedule.resident) {
    check.expect("resident/" + tensor, "tensor", tensor, tensors);
    for (const std::string& iterator : along) check.expect("resident/" + tensor, "iterator", iterator, iterators);
  }
}

}  // namespace

std::shared_ptr<const FixedSchedule> fixed_schedule(Schedule schedule) {
  return std::make_shared<const AthreadSchedule>(std::move(schedule));
}

const Schedule& schedule_of(const FixedSchedule& fixed) {
  const auto* const athread = dynamic_cast<const AthreadSchedule*>(&fixed);
  check(athread != nullptr, "a schedule of another family");
  return athread->schedule();
}

std::map<std::string, Schedule> schedules_of(const FixedSchedules& fixed) {
  std::map<std::string, Schedule> schedules;
  for (const auto& [name, schedule] : fixed.schedules) schedules.emplace(name, schedule_of(*schedule));
  return schedules;
}

void read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) {
  fixed.schedules[name] = fixed_schedule(schedule_of(table, name, fixed));
}

bool check_schedules(const FusedGraph& fused, const FixedSchedules& fixed, const Planner& planner, const Target& target,
                     Diagnostics& diagnostics) {
  Diagnostics own;
  std::vector<std::string> names;
  for (const FusedOperator& group : fused.groups) names.push_back(group.name);
  for (const auto& [name, schedule] : schedules_of(fixed)) {
    const NameCheck check(name, fixed, own);
    const auto group = std::find(names.begin(), names.end(), name);
    if (group == names.end()) {
      check.expect("", "fused-operator", name, names);
    } else {
      check_names(schedule, group_stages(fused.graph, fused.groups[static_cast<std::size_t>(group - names.begin())]),
                  planner, target, check);
    }
  }
  diagnostics.append(own);
  return !own.has_errors();
}

std::string to_toml(const std::string& name, const Schedule& schedule) {
  std::vector<std::string> entries;
  const auto pair = [](const std::string& key, const std::string& value) {
    return fmt::format("{} = {}", quoted_toml(key), value);
  };
  std::string text = fmt::format("[schedule.{}]\n", quoted_toml(name));
  const auto line = [&](std::string_view key, std::string_view open, std::string_view close) {
    text += fmt::format("{} = {}{}{}\n", key, open, fmt::join(entries, ", "), close);
    entries.clear();
  };
  if (schedule.merged) {
    for (const std::vector<std::string>& run : *schedule.merged) {
      std::vector<std::string> names;
      for (const std::string& iterator : run) names.push_back(quoted_toml(iterator));
      entries.push_back(fmt::format("[{}]", fmt::join(names, ", ")));
    }
    line("merged", "[", "]");
  }
  if (schedule.lanes) {
    for (const auto& [iterator, block] : *schedule.lanes) entries.push_back(pair(iterator, std::to_string(block)));
    line("lanes", "{ ", " }");
  }
  if (schedule.copied) {
    for (const std::string& input : *schedule.copied) entries.push_back(quoted_toml(input));
    line("copied", "[", "]");
  }
  if (schedule.folded) text += fmt::format("folded = {}\n", *schedule.folded);
  for (const auto& [iterator, parts] : schedule.split.value_or(SplitReductions{}))
    entries.push_back(pair(iterator, std::to_string(parts)));
  if (schedule.split) line("split_reductions", "{ ", " }");
  if (schedule.parallel) {
    for (const ParallelSplit& split : *schedule.parallel) {
      entries.push_back(fmt::format("{{ iterator = {}, parts = {} }}", quoted_toml(split.iterator), split.parts));
    }
    line("parallel", "[", "]");
  }
  for (const auto& [iterator, size] : schedule.buffer) entries.push_back(pair(iterator, std::to_string(size)));
  if (!entries.empty()) line("buffer", "{ ", " }");
  if (schedule.order) {
    for (const std::string& loop : *schedule.order) entries.push_back(quoted_toml(loop));
    line("order", "[", "]");
  }
  for (const auto& [tensor, loop] : schedule.dma) entries.push_back(pair(tensor, quoted_toml(loop)));
  if (!entries.empty()) line("dma", "{ ", " }");
  for (const auto& [tensor, slots] : schedule.slots) entries.push_back(pair(tensor, std::to_string(slots)));
  if (!entries.empty()) line("slots", "{ ", " }");
  for (const auto& [tensor, shared] : schedule.sharing) entries.push_back(pair(tensor, quoted_toml(name_of(shared))));
  if (!entries.empty()) line("sharing", "{ ", " }");
  for (const auto& [tensor, along] : schedule.resident) {
    std::vector<std::string> names;
    for (const std::string& iterator : along) names.push_back(quoted_toml(iterator));
    entries.push_back(pair(tensor, fmt::format("[{}]", fmt::join(names, ", "))));
  }
  if (!entries.empty()) line("resident", "{ ", " }");
  if (schedule.launch) text += fmt::format("launch = {}\n", quoted_toml(name_of(*schedule.launch)));
  return text;
}

}  // namespace stowage
