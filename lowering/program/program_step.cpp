// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/program_step.h"

#include <algorithm>

#include "core/check.h"
#include "core/overloaded.h"
#include "lowering/model/ldm_room.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/time/dma_totals.h"

namespace stowage {
namespace {

/// A plan of Athread with what everybody asks of it.
class NestKernel final : public StepPlan {
 public:
  NestKernel(Plan plan, std::optional<NestKey> known)
      : plan_(std::move(plan)), key_(known ? *known : stowage::nest_key(plan_.nest)) {}
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] NestKey key() const { return key_; }

  [[nodiscard]] const StageList& stages() const override { return plan_.nest.stages; }
  [[nodiscard]] std::vector<StageTensorId> memory_tensors() const override {
    std::vector<StageTensorId> tensors;
    for (const NestTensor& tensor : plan_.nest.tensors) tensors.push_back(tensor.tensor);
    return tensors;
  }
  [[nodiscard]] std::int64_t cycles() const override { return plan_.time.cycles; }
  [[nodiscard]] std::map<StatementId, DmaTotals> transfers() const override { return plan_.counts.dma; }
  [[nodiscard]] std::map<StatementId, TeamMeetings> meetings() const override { return plan_.counts.meetings; }
  [[nodiscard]] Scratchpad scratchpad(const Target& target) const override {
    return {"LDM", plan_.nest.ldm_bytes, ldm_for_buffers(plan_.nest, target)};
  }
  [[nodiscard]] std::string text() const override { return to_text(plan_.nest); }

 private:
  Plan plan_;
  NestKey key_;
};

}  // namespace

std::vector<StageTensorId> StepPlan::memory_tensors() const {
  const StageList& list = stages();
  std::vector<StageTensorId> tensors;
  for (const StageTensorId t : list.tensors.ids()) {
    const bool named = std::any_of(list.stages.begin(), list.stages.end(),
                                   [&](const Stage& stage) { return stage.output == t || reads(stage, t); });
    if (named && list.tensors[t].role != TensorRole::intermediate) tensors.push_back(t);
  }
  return tensors;
}

DmaTotals StepPlan::traffic() const { return dma_totals(transfers()); }

const StepKind& ProgramStep::kind() const {
  return std::visit([](const auto& of_kind) -> const StepKind& { return of_kind.kind; }, work);
}

const StepPlan* ProgramStep::step_plan() const {
  return std::visit(Overloaded{[](const ViewStep&) -> const StepPlan* { return nullptr; },
                               [](const auto& runs) -> const StepPlan* { return runs.plan.get(); }},
                    work);
}

const ManagementPlan* ProgramStep::on_management_core() const {
  const auto* step = std::get_if<ManagementStep>(&work);
  return step == nullptr ? nullptr : step->plan.get();
}

const LibraryPlan* ProgramStep::by_library() const {
  const auto* step = std::get_if<LibraryCall>(&work);
  return step == nullptr ? nullptr : step->plan.get();
}

const Plan* ProgramStep::plan() const { return plan_of(step_plan()); }

const Plan* plan_of(const StepPlan* planned) {
  const auto* nest = dynamic_cast<const NestKernel*>(planned);
  return nest == nullptr ? nullptr : &nest->plan();
}

NestKey ProgramStep::nest_key() const {
  const auto* nest = dynamic_cast<const NestKernel*>(step_plan());
  check(nest != nullptr, "a step without a loop nest has no key of one");
  return nest->key();
}

StepWork launch_of(Plan plan, std::optional<NestKey> known) {
  return KernelLaunch{std::make_shared<const NestKernel>(std::move(plan), known)};
}

}  // namespace stowage
