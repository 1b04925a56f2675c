// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/stage_form.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/block_names.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/model/folded_stages.h"
#include "lowering/model/group_model.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/merged_axes.h"
#include "lowering/model/split_reductions.h"

namespace stowage {
namespace {

/// The iterators and loops that a schedule speaks of.
std::set<std::string> named_in(const Schedule& schedule) {
  std::set<std::string> names;
  if (schedule.parallel) {
    for (const ParallelSplit& split : *schedule.parallel) names.insert(split.iterator);
  }
  for (const auto& [iterator, size] : schedule.buffer) names.insert(iterator);
  if (schedule.order) names.insert(schedule.order->begin(), schedule.order->end());
  for (const auto& [tensor, loop] : schedule.dma) names.insert(loop);
  for (const auto& [tensor, along] : schedule.resident) names.insert(along.begin(), along.end());
  for (const auto& [iterator, parts] : schedule.split.value_or(SplitReductions{})) names.insert(iterator);
  return names;
}

bool reads_tensor(const StageList& list, const std::string& name) {
  return std::any_of(list.stages.begin(), list.stages.end(), [&](const Stage& stage) {
    return std::any_of(stage.reads.begin(), stage.reads.end(),
                       [&](const Access& read) { return list.tensors[read.tensor].name == name; });
  });
}

/// Whether every tensor that a schedule speaks of is read in the folded stages too, where it is read before.
bool keeps_named_tensors(const StageList& list, const Schedule& schedule) {
  const StageList folded = fold_stages(list);
  const auto keeps = [&](const auto& by_tensor) {
    return std::all_of(by_tensor.begin(), by_tensor.end(), [&](const auto& entry) {
      return !reads_tensor(list, entry.first) || reads_tensor(folded, entry.first);
    });
  };
  return keeps(schedule.dma) && keeps(schedule.slots) && keeps(schedule.sharing) && keeps(schedule.resident);
}

/// Whether a schedule speaks of the blocks or lanes of an iterator.
bool names_block(const std::set<std::string>& named, const std::string& iterator) {
  const auto is_named = [&](const std::string& name) { return named.contains(name) || named.contains(name + "o"); };
  return is_named(block_iterator_name(iterator)) || is_named(lane_iterator_name(iterator));
}

/// To the forms without copies those with the reduction split that leaves most cores without work.
void add_split_forms(std::vector<StageForm>& forms, const StageList& stages, const Target& target) {
  for (std::size_t f = 0, unsplit = forms.size(); f < unsplit; ++f) {
    if (!forms[f].copied.empty()) continue;
    const auto shaped = in_form(stages, forms[f]);
    if (std::holds_alternative<Decision>(shaped)) continue;
    SplitReductions split = possible_split_reduction(std::get<StageList>(shaped), target);
    if (split.empty()) continue;
    forms.push_back(forms[f]);
    forms.back().split = std::move(split);
  }
}

}  // namespace

StageForm form_of(const Schedule& schedule) {
  return {schedule.lanes.value_or(LaneBlocks{}), schedule.merged.value_or(MergedAxes{}),
          schedule.copied.value_or(CopiedInputs{}), schedule.folded.value_or(false),
          schedule.split.value_or(SplitReductions{})};
}

Schedule with_form(Schedule schedule, const StageForm& form) {
  schedule.lanes = form.lanes;
  schedule.merged = form.merged;
  schedule.copied = form.copied;
  schedule.folded = form.folded;
  schedule.split = form.split;
  return schedule;
}

std::variant<StageList, Decision> in_form(StageList stages, const StageForm& form, FormRules rules) {
  auto blocked = block_lanes(std::move(stages), form.lanes, rules.followers);
  if (std::holds_alternative<Decision>(blocked)) return blocked;
  StageList folded = std::get<StageList>(std::move(blocked));
  if (form.folded) folded = fold_stages(std::move(folded));
  auto merged = merge_axes(std::move(folded), form.merged);
  if (std::holds_alternative<Decision>(merged)) return merged;
  auto copied = copy_inputs(std::get<StageList>(std::move(merged)), form.copied, rules.readers);
  if (std::holds_alternative<Decision>(copied)) return copied;
  return split_reductions(std::get<StageList>(std::move(copied)), form.split);
}

std::vector<StageForm> forms_to_plan(const Planner& planner, StageList stages, const Schedule& fixed,
                                     const Target& target) {
  for (StageTensor& tensor : stages.tensors) {
    if (!literal_of(tensor)) tensor.value.reset();  // which would be packed, and more than once
  }
  const bool chooses = planner.chooses_forms();
  const std::set<std::string> named = named_in(fixed);
  std::vector<LaneBlocks> lanes = {fixed.lanes.value_or(LaneBlocks{})};
  if (!fixed.lanes && chooses) {
    const LaneBlocks possible = possible_lane_blocks(stages, named, target);
    if (!possible.empty()) lanes.push_back(possible);
    if (LaneBlocks narrow = narrow_lane_blocks(stages, possible, target); !narrow.empty()) {
      lanes.push_back(std::move(narrow));
    }
    if (!possible.empty() && names_block(named, possible.begin()->first)) lanes.erase(lanes.begin());
  }
  std::vector<StageForm> forms;
  for (LaneBlocks& blocks : lanes) {
    StageForm form{std::move(blocks), fixed.merged.value_or(MergedAxes{}), fixed.copied.value_or(CopiedInputs{}),
                   fixed.folded.value_or(false), fixed.split.value_or(SplitReductions{})};
    auto blocked = block_lanes(stages, form.lanes);
    if (auto* list = std::get_if<StageList>(&blocked); list != nullptr && chooses) {
      if (!fixed.folded) form.folded = may_fold(*list) && keeps_named_tensors(*list, fixed);
      if (form.folded) *list = fold_stages(std::move(*list));
      if (!fixed.merged) form.merged = mergeable_axes(*list, named);
    }
    forms.push_back(std::move(form));
  }
  const CopiedInputs inputs = fixed.copied || !chooses ? CopiedInputs{} : possible_copied_inputs(stages);
  for (std::size_t f = 0, uncopied = forms.size(); !inputs.empty() && f < uncopied; ++f) {
    forms.push_back(forms[f]);
    forms.back().copied = inputs;
  }
  if (!fixed.split && chooses) add_split_forms(forms, stages, target);
  return forms;
}

void leave_out_published(std::vector<TraceRecord>& records, const StageForm& form) {
  if (form.lanes.empty() && form.copied.empty() && !form.folded && form.split.empty()) return;
  std::erase_if(records, [](const TraceRecord& record) {
    const auto* const split = std::get_if<SplitPlanned>(&record.what);
    return split != nullptr && split->published;
  });
  for (TraceRecord& record : records) {
    if (auto* const chosen = std::get_if<PlanChosen>(&record.what)) {
      chosen->is_published = false;
      chosen->published.reset();
    }
  }
}

void tell_form(TraceSink sink, const std::string& subject, const StageList& stages, const StageForm& form) {
  if (!sink.listening() || form == StageForm{}) return;
  const GroupModel model = model_of_no_target(stages);
  const GroupTrace trace = group_trace(sink, subject, model);
  for (const auto& [iterator, block] : form.lanes) {
    const auto lanes = model.iterator_named(lane_iterator_name(iterator));
    if (lanes) trace.add(LanesBlocked{*lanes, block});
  }
  for (const std::vector<std::string>& run : form.merged) {
    const auto iterator = model.iterator_named(fmt::format("{}", fmt::join(run, "_")));
    if (!iterator) continue;
    trace.add(AxesMerged{*iterator, model.iterators[*iterator].extent});
  }
  if (form.folded) trace.add(StagesFolded{});
  for (const auto& [iterator, parts] : form.split) {
    const auto found = model.iterator_named(part_iterator_name(iterator));
    if (found) trace.add(ReductionSplit{*found, parts});
  }
  for (const BufferId b : model.buffers.ids()) {
    if (form.copied.contains(model.buffers[b].name)) trace.add(InputCopied{b});
  }
}

}  // namespace stowage
