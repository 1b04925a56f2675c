// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/improve_plan.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/check.h"
#include "lowering/model/stage_form.h"

namespace stowage {
namespace {

/// Those that are looked at, that of the plan first.
std::vector<StageForm> forms_from(const StageForm& first, std::vector<StageForm> forms) {
  forms.erase(std::remove(forms.begin(), forms.end(), first), forms.end());
  forms.insert(forms.begin(), first);
  return forms;
}

}  // namespace

ImprovedPlan improve_plan(const std::string& name, const StageList& stages, const Schedule& fixed,
                          const Planner& planner, const Target& target, const Plan& before,
                          const std::stop_token& over) {
  const StageForm own = form_of(before.schedule);
  const Schedule given = with_launch(fixed, planner, target);
  std::int64_t least = before.time.cycles;
  ImprovedPlan best;
  for (const StageForm& form : forms_from(own, forms_to_plan(planner, stages, fixed, target))) {
    const bool is_own = form == own;
    const auto shaped = in_form(stages, form);
    check(std::holds_alternative<StageList>(shaped), "a form that was to be planned is none of the stages");
    const StageList& list = std::get<StageList>(shaped);
    Trace told;
    if (!is_own) tell_form(TraceSink(&told), name, list, form);
    Chosen found = planner.improve(name, list, with_form(given, form), target, TraceSink(&told),
                                   is_own ? &before.schedule : nullptr, least, over);
    if (!found.certificate) return {};  // a plan that the DMA cannot carry out
    best.certificate = together(best.certificate, found.certificate);
    if (is_own) best.records = told.records;
    if (!found.schedule) continue;
    least = found.certificate->cycles;
    if (!is_own) leave_out_published(told.records, form);
    best.schedule = with_form(*std::move(found.schedule), form);
    best.records = std::move(told.records);
    best.has_other_form = !is_own;
  }
  return best;
}

}  // namespace stowage
