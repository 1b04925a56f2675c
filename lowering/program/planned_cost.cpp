// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/planned_cost.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/parallel.h"
#include "lowering/nest/group_work.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/cost_cache.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/smallest_ldm.h"
#include "lowering/program/unaligned_parts.h"

namespace stowage {
namespace {

/// An operator alone may be planned with transfers that the machine would refuse (plan_group.cpp), and so may several
/// that would make the same ones alone.
GroupCost::Answer answer_of(Planned planned, const Graph& graph, const FusedOperator& group, const Planner& planner,
                            const Target& target, PlanChoices& choices, const Evaluator& evaluator,
                            const std::stop_token& stop) {
  if (group.operators.size() == 1 && !target.use_library.empty()) {
    const std::int64_t launch = first_launch_cycles(planner, target);
    const auto call = plan_by_library(group_stages(graph, group), cycles_of_nest(planned), launch, target);
    if (const auto* plan = std::get_if<LibraryPlan>(&call)) return {Decision::allow(), plan->cycles() + launch};
  }
  if (auto* refused = std::get_if<Decision>(&planned)) {
    if (group.operators.size() > 1) return {std::move(*refused), 0};
    auto managed = plan_without_ldm(group_stages(graph, group), std::move(*refused), target);
    if (auto* decision = std::get_if<Decision>(&managed)) return {std::move(*decision), 0};
    return {Decision::allow(), std::get<ManagementPlan>(managed).cycles()};
  }
  const Plan& plan = std::get<Plan>(planned);
  if (group.operators.size() > 1) {
    if (const auto added = added_unaligned(graph, group, plan.nest, planner, target, choices)) {
      return {
          Decision::refuse(dma_alignment_rule, fmt::format("{}, which its operators alone do not make", added->reason)),
          0};
    }
  }
  Evaluated cycles = evaluated_cycles(plan, target, evaluator, stop);
  if (auto* refused = std::get_if<Decision>(&cycles)) {
    // Without an operator alone there is no plan at all; the closed form says at once what that takes.
    if (refused->rule == stopped_rule && group.operators.size() == 1) return {Decision::allow(), plan.time.cycles};
    return {std::move(*refused), 0};
  }
  return {Decision::allow(), std::get<std::int64_t>(cycles)};
}

/// The note with the build id among the notes of one loaded object.
std::string build_id_in(const char* notes, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
    const std::size_t name = at + sizeof header;
    const std::size_t content = name + padded(header.n_namesz);
    if (content + header.n_descsz > size) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + i]));
      }
      return id;
    }
    at = content + padded(header.n_descsz);
  }
  return {};
}

struct BuildIdSearch {
  ElfW(Addr) inside = 0;  ///< an address in the object that is wanted
  std::string id;
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<BuildIdSearch*>(data);
  const std::span<const ElfW(Phdr)> headers(object->dlpi_phdr, object->dlpi_phnum);
  const bool holds_it = std::any_of(headers.begin(), headers.end(), [&](const ElfW(Phdr) & header) {
    const ElfW(Addr) begin = object->dlpi_addr + header.p_vaddr;
    return header.p_type == PT_LOAD && search.inside >= begin && search.inside < begin + header.p_memsz;
  });
  if (!holds_it) return 0;
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type != PT_NOTE || !search.id.empty()) continue;
    search.id = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  BuildIdSearch search;
  search.inside = reinterpret_cast<ElfW(Addr)>(&visit_object);
  dl_iterate_phdr(&visit_object, &search);
  return search.id;
}

std::string planning_conditions(const Planner& planner, const Target& target) {
  return fmt::format("build {}\nplanner {}\n{}", build_id(), planner.name(), to_toml(target));
}

std::string PlannedGroupCost::conditions() const {
  return fmt::format("costs 3\nevaluator {}\n{}", identity_of(options_.evaluator),
                     planning_conditions(*planner_, *target_));
}

GroupCost::Answer PlannedGroupCost::cost(const Graph& graph, const FusedOperator& group) const {
  return costs(graph, {&group, 1}, {}).front();
}

std::vector<GroupCost::Answer> PlannedGroupCost::costs(const Graph& graph, std::span<const FusedOperator> groups,
                                                       const std::stop_token& stop) const {
  std::vector<CanonicalStages> canonical(groups.size());
  std::vector<std::string> keys(groups.size());
  parallel_for(groups.size(), options_.threads, stop, [&](std::size_t i) {
    StageList stages = group_stages(graph, groups[i]);
    std::string parts;
    if (groups[i].operators.size() > 1) {
      parts = "several operators\n" + parts_text(graph, groups[i], stages, *target_);
    }
    canonical[i] = canonical_stages(std::move(stages));
    keys[i] = hash128_of(canonical[i].text + parts);
  });

  // Without a build id nothing on disk can be believed.
  CostCache cache(build_id().empty() ? std::filesystem::path() : options_.cache, conditions());
  std::vector<std::size_t> missing;  // the first group of each kind that is not known yet
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < groups.size() && !stop.stop_requested(); ++i) {
    if (first.try_emplace(keys[i], i).second && cache.find(keys[i]) == nullptr) missing.push_back(i);
  }
  // Operators alone first: with them there is a plan, should time run out.
  std::stable_partition(missing.begin(), missing.end(), [&](std::size_t i) { return groups[i].operators.size() == 1; });
  PlanChoices own;
  PlanChoices& choices = options_.choices != nullptr ? *options_.choices : own;
  std::vector<Answer> planned(missing.size());
  enum class Search : char { not_begun, cut_short, done };
  std::vector<Search> searches(missing.size(), Search::not_begun);  // bytes, so that threads do not share one
  parallel_for(missing.size(), options_.threads, stop, [&](std::size_t m) {
    const CanonicalStages& group = canonical[missing[m]];
    auto choice = choices.find(group.text);
    if (!choice) choice = std::make_shared<const PlanChoice>(choose_plan(group, *planner_, *target_, stop));
    // Without an operator alone there is no plan, so that the best one so far is welcome; another group has to be
    // looked at to its end.
    if (stop.stop_requested() && groups[missing[m]].operators.size() > 1) return;
    planned[m] = answer_of(plan_chosen("group", group.stages, choice->schedule, *planner_, *target_, {}), graph,
                           groups[missing[m]], *planner_, *target_, choices, options_.evaluator, stop);
    if (options_.choices != nullptr) options_.choices->add(group.text, *choice);
    searches[m] = stop.stop_requested() ? Search::cut_short : Search::done;
  });
  std::map<std::string, Answer> cut_short;
  for (std::size_t m = 0; m < missing.size(); ++m) {
    const std::string& key = keys[missing[m]];
    if (searches[m] == Search::done) cache.add(key, std::move(planned[m]));
    if (searches[m] != Search::cut_short || !planned[m].decision) continue;
    planned[m].cut_short = true;
    cut_short.emplace(key, std::move(planned[m]));
  }
  cache.save();

  std::vector<Answer> answers(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Answer* known = cache.find(keys[i]);
    const auto cut = cut_short.find(keys[i]);
    answers[i] = known != nullptr         ? *known
                 : cut != cut_short.end() ? cut->second
                                          : Answer{{false, stopped_rule, "stopped", {}}, 0};
    Decision& decision = answers[i].decision;
    decision.reason = with_original_names(decision.reason, canonical[i]);
    decision.flip = with_original_names(decision.flip, canonical[i]);
  }
  return answers;
}

std::string PlannedGroupCost::change_that_allows(const Graph& graph, const FusedOperator& group) const {
  const StageList stages = group_stages(graph, group);
  const auto decision = [&](const Target& target) {
    PlanChoices choices;
    return answer_of(plan_group("group", stages, {}, *planner_, target, {}), graph, group, *planner_, target, choices,
                     {}, {})
        .decision;
  };
  if (decision(*target_).rule == dma_alignment_rule) {
    Target target = *target_;
    while (target.dma.alignment > 1) {
      target.dma.alignment /= 2;
      if (decision(target)) {
        return fmt::format("target.dma.alignment = {} (instead of {})", target.dma.alignment, target_->dma.alignment);
      }
    }
    return {};
  }
  const auto bytes = smallest_ldm(*target_, [&](const Target& target) { return decision(target).allowed; });
  if (!bytes) return {};
  return fmt::format("target.ldm.bytes = {} ({} more)", *bytes, *bytes - target_->ldm.bytes);
}

std::string PlannedGroupCost::plan_text(const Graph& graph, const FusedOperator& group) const {
  const Planned planned = plan_group("group", group_stages(graph, group), {}, *planner_, *target_, {});
  const auto* plan = std::get_if<Plan>(&planned);
  return plan == nullptr ? "" : work_text(*plan, *target_);
}

}  // namespace stowage
