// SPDX-License-Identifier: Apache-2.0
// One step of a program: what is done for a fused operator, and what everybody may ask of that, whichever kind it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/ids.h"
#include "core/stage.h"
#include "core/target.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/nest/plan.h"
#include "lowering/program/canonical_nest.h"

namespace stowage {

/// What holds of every step of a kind. What shows or counts steps asks this, and so need not know the kinds.
struct StepKind {
  std::string_view by;            ///< what does the work, as tables and pictures call it; "" where there is none
  std::string_view key;           ///< what JSON calls the kind; "" of views and kernels, which it tells apart by itself
  bool is_kernel = false;         ///< runs on the computing cores, in a spawn, with a scratchpad
  std::string_view without_nest;  ///< what a step without loop nest is, behind "NAME is"
};

/// Nothing to do: the result lies in another tensor's memory, seen otherwise.
struct ViewStep {
  static constexpr StepKind kind = {"", "", false, "a view: its elements lie where they are wanted, nothing to do"};
};

/// The memory beside the arithmetic that one kernel uses, as its family calls it.
struct Scratchpad {
  std::string_view name;  ///< "LDM"
  std::int64_t peak_bytes = 0;
  std::int64_t room_bytes = 0;  ///< that a kernel's data may take
};

/// A part of the time of one plan, in cycles of the computing cores' clock.
struct PlanTerm {
  std::string name;
  std::int64_t cycles = 0;
  std::string formula;  ///< how it comes about, with its numbers
  std::string source;   ///< key of the target that says its rate
};

/// What one step does, as the family of its target plans it, in a kernel or otherwise: what everybody asks, whichever
/// family and kind it is. Plan is Athread's of a kernel.
class StepPlan {
 public:
  virtual ~StepPlan() = default;
  /// What it computes. Tensors that lie in main memory have a source in the graph or a value.
  [[nodiscard]] virtual const StageList& stages() const = 0;
  /// The tensors of stages() that it reads or writes in main memory, by id. Unless it says otherwise those that a stage
  /// names and that are no intermediate results.
  [[nodiscard]] virtual std::vector<StageTensorId> memory_tensors() const;
  [[nodiscard]] virtual std::int64_t cycles() const = 0;
  /// Between main memory and the scratchpad, by each statement that transfers; empty where nobody counts. Emulation has
  /// to count the same (driver/backend/count_errors.h).
  [[nodiscard]] virtual std::map<StatementId, DmaTotals> transfers() const { return {}; }
  [[nodiscard]] DmaTotals traffic() const;  ///< all of them
  /// Where cores wait for each other, by statement; emulation has to count the same.
  [[nodiscard]] virtual std::map<StatementId, TeamMeetings> meetings() const { return {}; }
  [[nodiscard]] virtual Scratchpad scratchpad(const Target& target) const = 0;
  /// What runs, for people: of Athread the loop nest.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Why it is done in this way, behind a colon, and what its cycles consist of; empty where nothing says so but what
  /// knows the plan itself.
  [[nodiscard]] virtual std::string reason() const { return ""; }
  [[nodiscard]] virtual std::vector<PlanTerm> terms() const { return {}; }
};

/// One kernel runs, on all cores that the target has.
struct KernelLaunch {
  static constexpr StepKind kind = {"cores", "", true, "a kernel of a family that has no loop nests"};
  std::shared_ptr<const StepPlan> plan;  ///< not null; copies of a program share it
};

class ManagementPlan;  // lowering/program/management_plan.h

/// The management core works, while the others wait.
struct ManagementStep {
  static constexpr StepKind kind = {"management core", "management", false,
                                    "computed by the management core, loop by loop on main memory"};
  std::shared_ptr<const ManagementPlan> plan;  ///< not null
};

class LibraryPlan;  // lowering/program/library_plan.h

/// The management core calls a vendor's library, which launches kernels of its own.
struct LibraryCall {
  static constexpr StepKind kind = {"library", "library", false,
                                    "computed by a function of a library, which launches kernels of its own"};
  std::shared_ptr<const LibraryPlan> plan;  ///< not null
};

/// What a step does. Each has its kind, and what runs has its plan; the compiler shows who else has to know a new one
/// (HACKING.md).
using StepWork = std::variant<ViewStep, KernelLaunch, ManagementStep, LibraryCall>;
/// What is done for a group, or why nothing can be.
using PlannedStep = std::variant<StepWork, Decision>;

/// One fused operator of a program with what is done for it.
struct ProgramStep {
  FusedOperator group;
  StepWork work;

  [[nodiscard]] const StepKind& kind() const;
  [[nodiscard]] const StepPlan* step_plan() const;  ///< null of a view, for which nothing runs
  [[nodiscard]] const Plan* plan() const;           ///< of what it launches, if Athread planned it; else null
  /// Of that plan's nest: steps with the same have equal nests.
  [[nodiscard]] NestKey nest_key() const;
  [[nodiscard]] const ManagementPlan* on_management_core() const;  ///< null where that core does not work
  [[nodiscard]] const LibraryPlan* by_library() const;             ///< null where no library is called
};

/// A kernel launch of Athread, and its plan back; null of another family's. `known` is the key of the plan's nest,
/// where it was made before.
StepWork launch_of(Plan plan, std::optional<NestKey> known = std::nullopt);
const Plan* plan_of(const StepPlan* planned);

}  // namespace stowage
