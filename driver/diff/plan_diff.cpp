// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/plan_diff.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/number_text.h"
#include "core/target_settings.h"
#include "driver/diff/form_changes.h"
#include "lowering/model/sharing.h"

namespace stowage {

namespace {

void add(PlanNumbers& sum, const ProgramStep& step, const Target& target) {
  ++sum.groups;
  const StepPlan* const planned = step.step_plan();
  if (planned == nullptr) return;
  if (step.kind().is_kernel) ++sum.kernels;
  const DmaTotals dma = planned->traffic();
  sum.transfers += dma.transfers;
  sum.operations += dma.operations;
  sum.bytes += dma.bytes;
  sum.ldm_bytes = std::max(sum.ldm_bytes, planned->scratchpad(target).peak_bytes);
  sum.cycles += planned->cycles();
  sum.seconds = static_cast<double>(sum.cycles) / target.clock_hz;
}

std::vector<std::string> operator_names(const Program& program, const FusedOperator& group) {
  std::vector<std::string> names;
  for (const OpId op : group.operators) names.push_back(program.fused.graph.op(op).name);
  return names;
}

GroupSide side_of(const Program& program, StepId step) {
  const FusedOperator& group = program.steps[step].group;
  return {step, group.name, group.template_name, operator_names(program, group)};
}

/// What a group is apart from names: kinds of its operators, and types and shapes of what it reads and writes.
std::string contents_of(const Program& program, const FusedOperator& group) {
  const Graph& graph = program.fused.graph;
  std::string text;
  for (const OpId op : group.operators) text += graph.op(op).kind + " ";
  const auto add_tensor = [&](TensorId id) {
    text += fmt::format("{}{} ", name_of(graph.tensor(id).type), to_text(graph.tensor(id).shape));
  };
  for (const TensorId input : group.inputs) add_tensor(input);
  for (const TensorId tensor : stored_by(group)) add_tensor(tensor);
  return text;
}

/// Sets of indices that are joined.
class Components {
 public:
  explicit Components(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t j) {
    i = find(i);
    j = find(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// Steps of both programs that stand for the same operators; a component's index is steps of the first program, then
/// those of the second.
Components matched_steps(const Program& before, const Program& after) {
  const std::size_t first = before.steps.size();
  Components components(first + after.steps.size());
  std::map<std::string, StepId> step_of;  // operator's name → step of the first program
  for (const StepId i : before.steps.ids()) {
    for (const std::string& name : operator_names(before, before.steps[i].group)) step_of[name] = i;
  }
  std::set<StepId> known;  // steps of the first program that share a name with the second
  std::vector<StepId> foreign;
  for (const StepId j : after.steps.ids()) {
    bool found = false;
    for (const std::string& name : operator_names(after, after.steps[j].group)) {
      const auto step = step_of.find(name);
      if (step == step_of.end()) continue;
      found = true;
      known.insert(step->second);
      components.join(step->second.index(), first + j.index());
    }
    if (!found) foreign.push_back(j);
  }
  std::multimap<std::string, StepId> by_contents;
  for (const StepId i : before.steps.ids()) {
    if (!known.contains(i)) by_contents.emplace(contents_of(before, before.steps[i].group), i);
  }
  for (const StepId j : foreign) {
    const auto found = by_contents.find(contents_of(after, after.steps[j].group));  // the first of equal ones
    if (found == by_contents.end()) continue;
    components.join(found->second.index(), first + j.index());
    by_contents.erase(found);
  }
  return components;
}

// Schedules.

std::string split_text(const std::vector<ParallelSplit>& splits) {
  if (splits.empty()) return "one core";
  std::vector<std::string> parts;
  for (const ParallelSplit& split : splits) parts.push_back(fmt::format("{} over {}", split.iterator, split.parts));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string order_text(const std::vector<std::string>& order) {
  return order.empty() ? "no outer loop" : fmt::format("{}", fmt::join(order, ", "));
}

/// What is written leaves when the loops are done.
std::string place_text(const LoopNest& nest, const std::string& tensor, const std::string& loop) {
  if (!loop.empty()) return "inside " + loop;
  const bool written = std::any_of(nest.stages.tensors.begin(), nest.stages.tensors.end(), [&](const StageTensor& one) {
    return one.name == tensor && one.role == TensorRole::output;
  });
  return written ? "after the loops" : "before the loops";
}

/// How deep a place is: 0 before all loops. Schedules of kernels are complete.
std::size_t depth_of(const Schedule& schedule, const std::string& loop) {
  if (loop.empty()) return 0;
  const auto at = std::find(schedule.order->begin(), schedule.order->end(), loop);
  return static_cast<std::size_t>(at - schedule.order->begin()) + 1;
}

/// "its weights W", "its parameter b", "its input x", "its output y".
std::string tensor_words(const LoopNest& nest, const std::string& name) {
  for (const StageTensor& tensor : nest.stages.tensors) {
    if (tensor.name != name) continue;
    switch (tensor.role) {
      case TensorRole::constant: return (tensor.shape.size() > 1 ? "its weights " : "its parameter ") + name;
      case TensorRole::input: return "its input " + name;
      case TensorRole::output: return "its output " + name;
      case TensorRole::intermediate: return "its intermediate " + name;
    }
  }
  return name;
}

/// The second plan's names of tensors in those of the first, where they differ but stand at the same place.
std::map<std::string, std::string> renamed_tensors(const LoopNest& before, const LoopNest& after) {
  std::map<std::string, std::string> names;
  const auto& from = after.stages.tensors;
  const auto& to = before.stages.tensors;
  if (from.size() != to.size()) return names;
  for (const StageTensorId i : from.ids()) names[from[i].name] = to[i].name;
  return names;
}

template <class Value>
std::map<std::string, Value> renamed(const std::map<std::string, Value>& values,
                                     const std::map<std::string, std::string>& names) {
  std::map<std::string, Value> result;
  for (const auto& [name, value] : values) {
    const auto other = names.find(name);
    result[other != names.end() ? other->second : name] = value;
  }
  return result;
}

/// Calls compare(key, value before or null, value after or null) for every key where they differ.
template <class Value, class Compare>
void for_each_difference(const std::map<std::string, Value>& before, const std::map<std::string, Value>& after,
                         const Compare& compare) {
  std::set<std::string> keys;
  for (const auto& [key, value] : before) keys.insert(key);
  for (const auto& [key, value] : after) keys.insert(key);
  for (const std::string& key : keys) {
    const auto a = before.find(key);
    const auto b = after.find(key);
    const Value* const from = a != before.end() ? &a->second : nullptr;
    const Value* const to = b != after.end() ? &b->second : nullptr;
    if (from != nullptr && to != nullptr && *from == *to) continue;
    compare(key, from, to);
  }
}

std::string place_words(const Plan& before, const Plan& after, const std::string& tensor, const std::string& from,
                        const std::string& to) {
  const std::string subject = tensor_words(before.nest, tensor);
  if (to.empty()) return fmt::format("moves the DMA of {} from {} out of all loops", subject, from);
  if (from.empty()) return fmt::format("moves the DMA of {} from outside of all loops into {}", subject, to);
  const bool outwards = depth_of(after.schedule, to) < depth_of(before.schedule, from);
  return fmt::format("moves the DMA of {} from {} {} {}", subject, from, outwards ? "out to" : "into", to);
}

std::string resident_text(const std::set<std::string>* along) {
  return along == nullptr ? "" : fmt::format("{}", fmt::join(*along, ", "));
}

}  // namespace

std::vector<ScheduleChange> schedule_changes(const Plan& before, const Plan& after) {
  using What = ScheduleChange::What;
  std::vector<ScheduleChange> changes;
  const Schedule& a = before.schedule;
  const Schedule& b = after.schedule;
  const auto names = renamed_tensors(before.nest, after.nest);
  check(a.order && b.order && a.parallel && b.parallel, "the schedule of a kernel is not complete");
  add_form_changes(changes, a, b);
  if (*a.parallel != *b.parallel) {
    const int cores = after.nest.cores_used();
    changes.push_back({What::split, "", split_text(*a.parallel), split_text(*b.parallel),
                       cores == before.nest.cores_used()
                           ? fmt::format("splits {} instead of {}", split_text(*b.parallel), split_text(*a.parallel))
                           : fmt::format("uses {} instead of {}", counted(cores, "core"), before.nest.cores_used())});
  }
  for_each_difference(
      a.buffer, b.buffer, [&](const std::string& key, const std::int64_t* from, const std::int64_t* to) {
        const std::string x = from != nullptr ? std::to_string(*from) : "";
        const std::string y = to != nullptr ? std::to_string(*to) : "";
        changes.push_back({What::buffer, key, x, y,
                           to == nullptr     ? fmt::format("has no iterator {}", key)
                           : from == nullptr ? fmt::format("buffers {} of {}", y, key)
                                             : fmt::format("buffers {} of {} instead of {}", y, key, x)});
      });
  if (*a.order != *b.order) {
    changes.push_back({What::order, "", order_text(*a.order), order_text(*b.order),
                       b.order->empty() ? "needs no outer loop"
                                        : fmt::format("loops over {} instead of {}", order_text(*b.order),
                                                      a.order->empty() ? "nothing" : order_text(*a.order))});
  }
  for_each_difference(
      a.dma, renamed(b.dma, names), [&](const std::string& key, const std::string* from, const std::string* to) {
        changes.push_back({What::place, key, from != nullptr ? place_text(before.nest, key, *from) : "",
                           to != nullptr ? place_text(before.nest, key, *to) : "",
                           to == nullptr     ? fmt::format("keeps {} on chip", key)
                           : from == nullptr ? fmt::format("transfers {}", tensor_words(after.nest, key))
                                             : place_words(before, after, key, *from, *to)});
      });
  for_each_difference(a.slots, renamed(b.slots, names), [&](const std::string& key, const int* from, const int* to) {
    changes.push_back(
        {What::slots, key, from != nullptr ? std::to_string(*from) : "", to != nullptr ? std::to_string(*to) : "",
         fmt::format("has {} slots for {} instead of {}", to != nullptr ? *to : 0, key, from != nullptr ? *from : 0)});
  });
  for_each_difference(a.sharing, renamed(b.sharing, names),
                      [&](const std::string& key, const SharedBy* from, const SharedBy* to) {
                        const std::string x(name_of(from != nullptr ? *from : SharedBy::core));
                        const std::string y(name_of(to != nullptr ? *to : SharedBy::core));
                        if (x != y) {
                          changes.push_back({What::sharing, key, x, y,
                                             y == "core" ? fmt::format("loads {} on each core for itself", key)
                                                         : fmt::format("loads {} once for {}", key,
                                                                       y == "row"      ? "a row of cores"
                                                                       : y == "column" ? "a column of cores"
                                                                                       : "all cores")});
                        }
                      });
  for_each_difference(a.resident, renamed(b.resident, names),
                      [&](const std::string& key, const std::set<std::string>* from, const std::set<std::string>* to) {
                        const std::string x = resident_text(from), y = resident_text(to);
                        changes.push_back({What::resident, key, x, y,
                                           y.empty() ? fmt::format("does not keep {} in the LDM", key)
                                                     : fmt::format("keeps {} in the LDM along {}", key, y)});
                      });
  const LaunchedBy from = before.nest.launch, to = after.nest.launch;
  if (from != to) {
    changes.push_back(
        {What::launch, "", std::string(name_of(from)), std::string(name_of(to)),
         to == LaunchedBy::spawn ? "is spawned by itself" : "begins behind a barrier, in the spawn before it"});
  }
  return changes;
}

namespace {

std::vector<ScheduleChange> step_changes(const ProgramStep& before, const ProgramStep& after) {
  std::vector<ScheduleChange> changes;
  if (before.group.template_name != after.group.template_name) {
    changes.push_back(
        {ScheduleChange::What::fused_by, "", before.group.template_name, after.group.template_name,
         fmt::format("comes from template {} instead of {}", after.group.template_name, before.group.template_name)});
  }
  if (before.plan() != nullptr && after.plan() != nullptr) {
    const std::vector<ScheduleChange> schedule = schedule_changes(*before.plan(), *after.plan());
    changes.insert(changes.end(), schedule.begin(), schedule.end());
  }
  return changes;
}

/// Tensors of main memory of which one buffer of each core holds every element.
std::map<std::string, std::string> whole_tensors(const Plan& plan) {
  std::map<std::string, std::string> whole;
  for (const Buffer& buffer : plan.nest.buffers) {
    const StageTensor& tensor = plan.nest.stages.tensors[buffer.tensor];
    if (tensor.role == TensorRole::intermediate || tensor.shape.empty()) continue;
    bool holds_all = buffer.extents.size() == tensor.shape.size();
    for (std::size_t d = 0; holds_all && d < tensor.shape.size(); ++d) holds_all = buffer.extents[d] >= tensor.shape[d];
    if (holds_all) whole.emplace(tensor.name, tensor_words(plan.nest, tensor.name));
  }
  return whole;
}

/// Tensors that the second one holds whole and the first one does not, in words.
std::vector<std::string> newly_whole(const Plan& before, const Plan& after) {
  const auto was = whole_tensors(before);
  std::vector<std::string> words;
  for (const auto& [name, text] : whole_tensors(after)) {
    if (!was.contains(name)) words.push_back(text);
  }
  return words;
}

GroupChange::Kind kind_of(const GroupChange& change) {
  if (change.after.empty()) return GroupChange::Kind::only_before;
  if (change.before.empty()) return GroupChange::Kind::only_after;
  if (change.before.size() > 1 || change.after.size() > 1) return GroupChange::Kind::regrouped;
  // Operators of other names can only have come together by their contents.
  std::set<std::string> a(change.before[0].operators.begin(), change.before[0].operators.end());
  std::size_t shared = 0;
  for (const std::string& name : change.after[0].operators) shared += a.count(name);
  if (shared > 0 && (shared != a.size() || shared != change.after[0].operators.size()))
    return GroupChange::Kind::regrouped;
  const bool same_schedule =
      std::all_of(change.schedule.begin(), change.schedule.end(), [](const ScheduleChange& entry) {
        return entry.what == ScheduleChange::What::fused_by;  // another template's name alone changes nothing
      });
  return same_schedule && change.numbers_before == change.numbers_after ? GroupChange::Kind::same
                                                                        : GroupChange::Kind::planned;
}

/// What of a target can make plans differ.
std::map<std::string, std::string> compared_settings(const Target& target) {
  std::map<std::string, std::string> settings = settings_of(target);
  settings.erase("name");
  settings.erase("summary");
  return settings;
}

DiffSide diff_side(const Program& program) {
  DiffSide side{program.fused.graph.name(),
                program.target.name,
                program.fusion,
                program.planner,
                program.layout,
                std::string(name_of(program.evaluated_by)),
                "",
                {}};
  for (const ProgramStep& step : program.steps) add(side.totals, step, program.target);
  return side;
}

}  // namespace

bool PlanDiff::is_comparable() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const GroupChange& change) { return !change.before.empty() && !change.after.empty(); });
}

bool PlanDiff::is_same() const {
  return target.empty() && std::all_of(groups.begin(), groups.end(), [](const GroupChange& change) {
           return change.kind == GroupChange::Kind::same;
         });
}

bool PlanDiff::names_cost() const {
  const std::string_view usual = name_of(EvaluatedBy::closed_form);
  return before.cost != usual || after.cost != usual;
}

PlanDiff diff_programs(const Program& before, const Program& after) {
  PlanDiff diff{diff_side(before), diff_side(after), {}, {}};
  for_each_difference(compared_settings(before.target), compared_settings(after.target),
                      [&](const std::string& key, const std::string* from, const std::string* to) {
                        diff.target.push_back({key, from != nullptr ? *from : "", to != nullptr ? *to : ""});
                      });

  Components components = matched_steps(before, after);
  const std::size_t first = before.steps.size();
  std::map<std::size_t, std::size_t> change_of;  // component → index into diff.groups
  const auto change_at = [&](std::size_t index) -> GroupChange& {
    const auto [entry, is_new] = change_of.emplace(components.find(index), diff.groups.size());
    if (is_new) diff.groups.emplace_back();
    return diff.groups[entry->second];
  };
  for (const StepId i : before.steps.ids()) {
    GroupChange& change = change_at(i.index());
    change.before.push_back(side_of(before, i));
    add(change.numbers_before, before.steps[i], before.target);
  }
  for (const StepId j : after.steps.ids()) {
    GroupChange& change = change_at(first + j.index());
    change.after.push_back(side_of(after, j));
    add(change.numbers_after, after.steps[j], after.target);
  }
  for (GroupChange& change : diff.groups) {
    if (change.before.size() == 1 && change.after.size() == 1) {
      const ProgramStep& from = before.steps[change.before[0].step];
      const ProgramStep& to = after.steps[change.after[0].step];
      change.schedule = step_changes(from, to);
      if (from.plan() != nullptr && to.plan() != nullptr) {
        change.held = newly_whole(*from.plan(), *to.plan());
        change.released = newly_whole(*to.plan(), *from.plan());
      }
    }
    change.kind = kind_of(change);
    if (change.kind == GroupChange::Kind::same) change.schedule.clear();
  }
  return diff;
}

PlanDiff diff_compilations(const Compilation& before, const Compilation& after) {
  PlanDiff diff = diff_programs(before.program, after.program);
  diff.before.model_hash = before.model.hash;
  diff.after.model_hash = after.model.hash;
  return diff;
}

}  // namespace stowage
