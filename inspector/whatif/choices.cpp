// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/choices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "lowering/ir/launched_by.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/model/folded_stages.h"
#include "lowering/model/group_model.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/merged_axes.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/model/split_reductions.h"
#include "lowering/model/stage_form.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage::inspector {

namespace {

template <class Value>
void take(std::map<std::string, Value> Schedule::*part, const std::string& tensor, const Schedule& from, Schedule& to) {
  (to.*part).erase(tensor);
  if (const auto found = (from.*part).find(tensor); found != (from.*part).end()) (to.*part).insert(*found);
}

template <class Value>
void take(std::optional<Value> Schedule::*part, const std::string&, const Schedule& from, Schedule& to) {
  to.*part = from.*part;
}

/// Makes a part of `to` what it is in `from`.
void take_part(const ChoiceControl& control, const Schedule& from, Schedule& to) {
  const auto as = [&](auto part) { take(part, control.tensor, from, to); };
  switch (control.part) {
    case ChosenPart::slots: return as(&Schedule::slots);
    case ChosenPart::sharing: return as(&Schedule::sharing);
    case ChosenPart::resident: return as(&Schedule::resident);
    case ChosenPart::lanes: return as(&Schedule::lanes);
    case ChosenPart::merged: return as(&Schedule::merged);
    case ChosenPart::copied: return as(&Schedule::copied);
    case ChosenPart::folded: return as(&Schedule::folded);
    case ChosenPart::split: return as(&Schedule::split);
    case ChosenPart::launch: return as(&Schedule::launch);
  }
}

bool is_form(ChosenPart part) {
  return part != ChosenPart::slots && part != ChosenPart::sharing && part != ChosenPart::resident &&
         part != ChosenPart::launch;
}

/// Collects controls: those that have a choice.
class Choices {
 public:
  Choices(const Schedule& complete, const Schedule& fixed) : complete_(complete), fixed_(fixed) {}

  template <class Value>
  void of_tensor(ChosenPart part, const std::string& tensor, std::map<std::string, Value> Schedule::*member,
                 const std::vector<Value>& values) {
    ChoiceControl control{part, tensor, {}, 0};
    for (const Value& value : values) (control.options.emplace_back().*member)[tensor] = value;
    add(std::move(control));
  }

  template <class Value>
  void of_group(ChosenPart part, std::optional<Value> Schedule::*member, const std::vector<Value>& values) {
    ChoiceControl control{part, {}, {}, 0};
    for (const Value& value : values) {
      Schedule option;
      option.*member = value;
      if (!contains(control.options, option)) control.options.push_back(std::move(option));
    }
    add(std::move(control));
  }

  [[nodiscard]] std::vector<ChoiceControl> all() && { return std::move(controls_); }

 private:
  void add(ChoiceControl control) {
    const Schedule now = part_of(complete_, control);
    const Schedule wanted = part_of(fixed_, control);
    for (const Schedule& option : {now, wanted}) {
      if (option != Schedule{} && !contains(control.options, option)) control.options.push_back(option);
    }
    const auto at = std::find(control.options.begin(), control.options.end(), now);
    if (at != control.options.end()) control.chosen = static_cast<std::size_t>(at - control.options.begin());
    if (control.options.size() > 1 || wanted != Schedule{}) controls_.push_back(std::move(control));
  }

  static bool contains(const std::vector<Schedule>& options, const Schedule& option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  }

  const Schedule& complete_;
  const Schedule& fixed_;
  std::vector<ChoiceControl> controls_;
};

/// Nothing, along each iterator that may have a loop on a core, along all of these.
std::vector<std::set<std::string>> possible_residents(const GroupModel& model, BufferId buffer,
                                                      const IteratorSizes& ranges) {
  std::vector<std::set<std::string>> possible(1);
  std::set<std::string> all;
  for (const IteratorId i : model.iterators.ids()) {
    const std::string& name = model.iterators[i].name;
    if (ranges[i] == 1 || !why_not_resident(model, buffer, i).empty()) continue;
    possible.push_back({name});
    all.insert(name);
  }
  if (all.size() > 1) possible.push_back(all);
  return possible;
}

void add_transfers(Choices& choices, const StageList& formed, const Schedule& complete, const Target& target) {
  const GroupModel model = build_group_model(formed, target);
  const IteratorSizes ranges = core_ranges(model, complete.parallel.value_or(std::vector<ParallelSplit>()));
  std::vector<SharedBy> sharing = {SharedBy::core};
  if (target.cores.column_broadcast) sharing.push_back(SharedBy::column);
  if (target.dma.row_broadcast) sharing.insert(sharing.end(), {SharedBy::row, SharedBy::mesh});
  std::vector<int> slots;
  for (int s = 1; s <= max_slots; ++s) slots.push_back(s);
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    if (!complete.dma.contains(buffer.name)) continue;
    choices.of_tensor(ChosenPart::slots, buffer.name, &Schedule::slots, slots);
    if (buffer.kind != ModelBuffer::Kind::input) continue;
    choices.of_tensor(ChosenPart::sharing, buffer.name, &Schedule::sharing, sharing);
    choices.of_tensor(ChosenPart::resident, buffer.name, &Schedule::resident, possible_residents(model, b, ranges));
  }
}

void add_form(Choices& choices, StageList given, const Schedule& complete, const Schedule& fixed,
              const Target& target) {
  for (StageTensor& tensor : given.tensors) {
    if (!literal_of(tensor)) tensor.value.reset();  // which would be packed
  }
  const StageForm form = form_of(complete);
  const LaneBlocks lanes = possible_lane_blocks(given, {}, target);
  choices.of_group<LaneBlocks>(ChosenPart::lanes, &Schedule::lanes,
                               {{}, lanes, narrow_lane_blocks(given, lanes, target)});
  // Merged are axes that there are with the blocks.
  const auto blocked = block_lanes(given, form.lanes);
  const StageList& whole = std::holds_alternative<StageList>(blocked) ? std::get<StageList>(blocked) : given;
  choices.of_group<MergedAxes>(ChosenPart::merged, &Schedule::merged, {{}, mergeable_axes(whole, {})});
  choices.of_group<CopiedInputs>(ChosenPart::copied, &Schedule::copied, {{}, possible_copied_inputs(given)});
  if (may_fold(whole) || fixed.folded) choices.of_group<bool>(ChosenPart::folded, &Schedule::folded, {false, true});
  StageForm unsplit = form;
  unsplit.split.clear();
  const auto formed = in_form(given, unsplit);
  const auto split = std::holds_alternative<StageList>(formed)
                         ? possible_split_reduction(std::get<StageList>(formed), target)
                         : SplitReductions{};
  choices.of_group<SplitReductions>(ChosenPart::split, &Schedule::split, {{}, split});
  if (target.cores.barrier_cycles > 0 || fixed.launch) {
    choices.of_group<LaunchedBy>(ChosenPart::launch, &Schedule::launch, {LaunchedBy::spawn, LaunchedBy::barrier});
  }
}

/// "ff by 16, k by 8"
template <class Numbers>
std::string numbers_text(const Numbers& numbers) {
  std::vector<std::string> words;
  for (const auto& [name, number] : numbers) words.push_back(fmt::format("{} by {}", name, number));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string merged_text(const MergedAxes& merged) {
  std::vector<std::string> runs;
  for (const std::vector<std::string>& run : merged) runs.push_back(fmt::format("{}", fmt::join(run, "·")));
  return fmt::format("{}", fmt::join(runs, ", "));
}

}  // namespace

std::vector<ChoiceControl> schedule_choices(const StageList& given, const StageList& formed, const Schedule& complete,
                                            const Schedule& fixed, const Target& target) {
  Choices choices(complete, fixed);
  add_transfers(choices, formed, complete, target);
  add_form(choices, given, complete, fixed, target);
  return std::move(choices).all();
}

Schedule part_of(const Schedule& schedule, const ChoiceControl& control) {
  Schedule part;
  take_part(control, schedule, part);
  return part;
}

Schedule with_choice(Schedule fixed, const ChoiceControl& control, const Schedule& option) {
  const bool is_as_now = option == Schedule{} || option == control.options[control.chosen];
  if (is_form(control.part) && !is_as_now) {
    Schedule kept;
    kept.lanes = std::move(fixed.lanes);
    kept.merged = std::move(fixed.merged);
    kept.copied = std::move(fixed.copied);
    kept.folded = fixed.folded;
    kept.split = std::move(fixed.split);
    kept.launch = fixed.launch;
    fixed = std::move(kept);
  }
  take_part(control, option, fixed);
  return fixed;
}

std::string title_of(ChosenPart part) {
  switch (part) {
    case ChosenPart::slots: return "slots";
    case ChosenPart::sharing: return "loaded by";
    case ChosenPart::resident: return "kept along";
    case ChosenPart::lanes: return "blocks of lanes";
    case ChosenPart::merged: return "axes as one";
    case ChosenPart::copied: return "copied inputs";
    case ChosenPart::folded: return "folded stages";
    case ChosenPart::split: return "split sum";
    case ChosenPart::launch: return "launch";
  }
  fail_check("unknown part of a schedule");
}

std::string option_text(const ChoiceControl& control, const Schedule& option) {
  const auto or_none = [](std::string text) { return text.empty() ? std::string("none") : text; };
  switch (control.part) {
    case ChosenPart::slots: return fmt::format("{}", option.slots.at(control.tensor));
    case ChosenPart::sharing: return std::string(name_of(option.sharing.at(control.tensor)));
    case ChosenPart::resident: return or_none(fmt::format("{}", fmt::join(option.resident.at(control.tensor), ", ")));
    case ChosenPart::lanes: return or_none(numbers_text(option.lanes.value()));
    case ChosenPart::merged: return or_none(merged_text(option.merged.value()));
    case ChosenPart::copied: return or_none(fmt::format("{}", fmt::join(option.copied.value(), ", ")));
    case ChosenPart::folded: return option.folded.value() ? "yes" : "no";
    case ChosenPart::split: return or_none(numbers_text(option.split.value()));
    case ChosenPart::launch: return std::string(name_of(option.launch.value()));
  }
  fail_check("unknown part of a schedule");
}

}  // namespace stowage::inspector
