// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "core/parallel.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/planner.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/plan_choices.h"
#include "lowering/program/plan_step.h"
#include "lowering/search/physical_limit.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {
namespace {

/// Chooses for one group of each kind of which nothing is fixed and nothing is known.
void choose_for_groups(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                       const Planner& planner, const Target& target, PlanChoices& choices, unsigned threads,
                       const std::stop_token& stop, const std::stop_token& over) {
  std::map<std::string, CanonicalStages> missing;
  for (const FusedOperator& group : fused.groups) {
    if (group.is_view || schedules.contains(group.name) || stop.stop_requested()) continue;
    CanonicalStages canonical = canonical_stages(group_stages(fused.graph, group));
    if (!choices.find(canonical.text)) missing.try_emplace(canonical.text, std::move(canonical));
  }
  std::vector<const CanonicalStages*> kinds;
  for (const auto& [text, canonical] : missing) kinds.push_back(&canonical);
  parallel_for(kinds.size(), threads, stop, [&](std::size_t k) {
    const auto known = improves(planner) ? choices.for_costs().find(kinds[k]->text) : nullptr;
    choices.add(kinds[k]->text, choose_plan(*kinds[k], planner, target, over, known.get()));
  });
}

/// `is_fixed`: a person fixed some of its schedule.
std::string remedy_for(const Decision& refused, bool is_fixed) {
  if (refused.rule == too_large_rule) return "split its tensors, or choose a target with more LDM";
  if (refused.rule == ldm_capacity_rule && (!is_fixed || refused.flip.empty()))
    return "choose a target with more LDM or another fusion";
  if (refused.rule == dma_alignment_rule) return "choose a target with a smaller dma.alignment";
  if (refused.rule == cycle_limit_rule) {
    return "give the target's clock_hz, dma_bandwidth, dma_startup_cycles, launch_seconds and flops per cycle values "
           "of a "
           "machine, or split the tensors";
  }
  return refused.flip.empty() ? "" : "it would take " + refused.flip;
}

void warn_of_unaligned(const ProgramStep& step, const Target& target, Diagnostics& diagnostics) {
  const auto unaligned = unaligned_transfers(step.plan()->nest, target);
  if (unaligned.empty()) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.code = "dma-alignment";
  warning.location.object = fmt::format("fused operator {}", step.group.name);
  warning.message = fmt::format(
      "{} of narrow elements cannot be kept to multiples of {} bytes: {} would refuse to carry {} out; the emulation "
      "moves {} byte by byte",
      counted(unaligned.size(), "transfer"), target.dma.alignment, target.name,
      for_number(unaligned.size(), "it", "them"), for_number(unaligned.size(), "it", "them"));
  warning.remedy =
      fmt::format("use elements of {0} bytes, or dimensions whose bytes are multiples of {0}", target.dma.alignment);
  for (const UnalignedTransfer& transfer : unaligned) warning.notes.push_back(transfer.reason);
  diagnostics.add(std::move(warning));
}

/// Planners plan each kernel as if another one came before it.
void spawn_first_kernels(Program& program, const std::map<std::string, Schedule>& schedules, const Planner& planner,
                         Diagnostics& diagnostics) {
  program.first_launch_cycles = first_launch_cycles(planner, program.target);
  for (const StepId first : first_kernels(program.steps)) {
    ProgramStep& step = program.steps[first];
    const auto fixed = schedules.find(step.group.name);
    if (fixed != schedules.end() && fixed->second.launch == LaunchedBy::barrier) {
      const bool first_of_all = first == first_kernels(program.steps).front();
      std::string_view by;  // of what has worked before it
      for (const StepId s : program.steps.ids()) {
        const StepKind& kind = program.steps[s].kind();
        if (s < first && program.steps[s].step_plan() != nullptr) by = kind.by;
      }
      SourceLocation location;
      location.object = fmt::format("fused operator {}", step.group.name);
      diagnostics.error("nothing-before", std::move(location),
                        fmt::format("its kernel shall begin behind a barrier, and is the first one {}",
                                    first_of_all ? "of the program" : fmt::format("after work of the {}", by)),
                        "leave out 'launch', or give \"spawn\"");
    }
    if (step.plan()->nest.launch == LaunchedBy::barrier)
      step.work = launch_of(launched_by(*step.plan(), LaunchedBy::spawn, program.target));
  }
}

/// One warning for all of them, with what they take.
void warn_of_management_core(const Program& program, Diagnostics& diagnostics) {
  const ProgramTotals totals = totals_of(program);
  const KindTotals managed = totals.of(ManagementStep::kind);
  if (managed.steps == 0) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.code = "management-core";
  warning.location.object = fmt::format("network {}", program.fused.graph.name());
  warning.message = fmt::format(
      "no plan of the LDM holds {}: the management core computes {}, in {:.1f} % of the time",
      counted(managed.steps, "operator"), for_number(managed.steps, "it", "them"),
      100 * static_cast<double>(managed.cycles) / static_cast<double>(std::max<std::int64_t>(totals.cycles, 1)));
  std::vector<std::string> remedies;
  for (const ProgramStep& step : program.steps) {
    const ManagementPlan* const plan = step.on_management_core();
    if (plan == nullptr) continue;
    warning.notes.push_back(fmt::format("{}, {} cycles: {} [{}]", step.group.name, grouped_digits(plan->cycles()),
                                        plan->refused().reason, plan->refused().rule));
    const std::string remedy = remedy_for(plan->refused(), false);
    if (!remedy.empty() && std::find(remedies.begin(), remedies.end(), remedy) == remedies.end())
      remedies.push_back(remedy);
  }
  warning.remedy = fmt::format("{}", fmt::join(remedies, "; "));
  diagnostics.add(std::move(warning));
}

/// A network that is too large for main memory wherever its tensors lie is refused here, with the numbers, rather than
/// failing on the machine.
void check_main_memory(const Program& program, Diagnostics& diagnostics) {
  const std::int64_t room = program.target.main_memory.bytes;
  const MemoryMap& memory = program.memory;
  std::int64_t beside = 0;  // what stages of the management core leave to the next
  for (const ProgramStep& step : program.steps) {
    if (const ManagementPlan* plan = step.on_management_core()) beside += plan->intermediate_bytes();
  }
  const std::int64_t needed = memory.parameter_bytes + memory.activation_bytes + beside;
  if (room == 0 || needed <= room) return;
  SourceLocation location;
  location.object = fmt::format("network {}", program.fused.graph.name());
  diagnostics.error(
      "main-memory-capacity", std::move(location),
      fmt::format("its tensors need {} of main memory, {} for parameters and {} for activations; {} has "
                  "{}",
                  counted(needed, "byte"), grouped_digits(memory.parameter_bytes),
                  grouped_digits(memory.activation_bytes + beside), program.target.name, grouped_digits(room)),
      "give the network a smaller batch, or choose a target with more 'main_memory.bytes'");
}

}  // namespace

std::int64_t searches_ended_by_time(const Program& program) {
  return std::count_if(program.steps.begin(), program.steps.end(), [](const ProgramStep& step) {
    const Plan* const plan = step.plan();
    return plan != nullptr && plan->certificate && plan->certificate->ended == Certificate::Ended::time;
  });
}

IdVector<StepId, StepLimit> limits_of(const Program& program) {
  IdVector<StepId, StepLimit> limits(program.steps.size());
  parallel_for(program.steps.size(), 0, {}, [&](std::size_t i) {
    const Plan* const plan = program.steps[StepId(i)].plan();
    if (plan == nullptr) return;
    const PhysicalLimit limit = physical_limit(plan->nest.stages, program.target);
    limits[StepId(i)] = {limit, distance_to_limit(*plan, limit, program.target)};
  });
  return limits;
}

Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop, const ProgressSink& progress, unsigned threads, PlanChoices* choices,
                             const std::stop_token& over) {
  std::vector<std::string> names;
  for (const FusedOperator& group : fused.groups) names.push_back(group.name);
  for (const auto& [name, schedule] : schedules) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      diagnostics.error("unknown-operator", {},
                        fmt::format("a schedule is given for '{}', which is no fused operator", name),
                        suggest_name(name, names));
    }
  }
  Program program;
  program.fused = fused;
  program.target = target;
  program.planner = planner.name();
  std::vector<std::optional<PlannedStep>> planned(fused.groups.size());  // nothing where it was stopped
  std::vector<Trace> traces(fused.groups.size());
  std::mutex reporting;
  std::size_t done = 0;
  if (progress) progress("plan", 0, fused.groups.size());
  PlanChoices own;
  if (choices == nullptr) choices = &own;
  const std::stop_token enough = improves(planner) ? over : std::stop_token();
  choose_for_groups(fused, schedules, planner, target, *choices, threads, stop, enough);
  parallel_for(fused.groups.size(), threads, stop, [&](std::size_t g) {
    const FusedOperator& group = fused.groups[g];
    const TraceSink sink = trace.listening() ? TraceSink(&traces[g]) : TraceSink();
    const auto fixed = schedules.find(group.name);
    planned[g] = plan_step(fused.graph, group, fixed != schedules.end() ? &fixed->second : nullptr, planner, target,
                           sink, choices, enough);
    const std::scoped_lock lock(reporting);
    if (progress) progress("plan", ++done, fused.groups.size());
  });
  if (stop.stop_requested()) return Failed{};
  for (std::size_t g = 0; g < fused.groups.size(); ++g) {
    const FusedOperator& group = fused.groups[g];
    for (TraceRecord& record : traces[g].records) trace.add(std::move(record));
    if (const auto* refused = std::get_if<Decision>(&*planned[g])) {
      SourceLocation location;
      location.object = fmt::format("fused operator {}", group.name);
      diagnostics.error(refused->rule, std::move(location), refused->reason,
                        remedy_for(*refused, schedules.contains(group.name)));
      continue;
    }
    program.steps.push_back({group, std::get<StepWork>(*std::move(planned[g]))});
    const ProgramStep& step = program.steps.back();
    if (step.plan() != nullptr) warn_of_unaligned(step, target, diagnostics);
  }
  spawn_first_kernels(program, schedules, planner, diagnostics);
  if (diagnostics.has_errors()) return Failed{};
  program.memory = plan_memory(fused, program.steps, target.main_memory.line_bytes);
  check_main_memory(program, diagnostics);
  warn_of_management_core(program, diagnostics);
  if (diagnostics.has_errors()) return Failed{};
  return program;
}

Scratchpad scratchpad_of(const Program& program) {
  Scratchpad all{"LDM", 0, program.target.ldm.available()};
  bool first = true;
  for (const ProgramStep& step : program.steps) {
    if (!step.kind().is_kernel) continue;
    const Scratchpad one = step.step_plan()->scratchpad(program.target);
    all = {one.name, std::max(all.peak_bytes, one.peak_bytes),
           first ? one.room_bytes : std::min(all.room_bytes, one.room_bytes)};
    first = false;
  }
  return all;
}

std::int64_t ldm_for_buffers(const Program& program) { return scratchpad_of(program).room_bytes; }

KindTotals ProgramTotals::of(const StepKind& kind) const {
  const auto found =
      std::find_if(by_kind.begin(), by_kind.end(), [&](const KindTotals& row) { return row.kind == &kind; });
  return found == by_kind.end() ? KindTotals{&kind} : *found;
}

ProgramTotals totals_of(const Program& program) {
  const IdVector<StepId, StepLimit> limits = limits_of(program);
  ProgramTotals sum;
  for (const StepId s : program.steps.ids()) {
    const ProgramStep& step = program.steps[s];
    ++sum.groups;
    sum.operators += static_cast<std::int64_t>(step.group.operators.size());
    const StepPlan* const planned = step.step_plan();
    KindTotals& of_kind = sum.by_kind.at(step.work.index());
    of_kind.kind = &step.kind();
    ++of_kind.steps;
    if (planned == nullptr) continue;
    of_kind.cycles += planned->cycles();
    sum.flops += flops(planned->stages());
    sum.multiply_adds += multiply_adds(planned->stages());
    sum.cycles += planned->cycles();
    if (!step.kind().is_kernel) continue;
    ++sum.kernels;
    if (step.plan() == nullptr || step.plan()->nest.launch == LaunchedBy::spawn) ++sum.spawns;
    const DmaTotals dma = planned->traffic();
    sum.dma.transfers += dma.transfers;
    sum.dma.operations += dma.operations;
    sum.dma.bytes += dma.bytes;
    sum.ldm_peak_bytes = std::max(sum.ldm_peak_bytes, planned->scratchpad(program.target).peak_bytes);
    if (step.plan() == nullptr) continue;  // of another family
    sum.least_bytes += limits[s].limit.bytes;
    sum.least_seconds += limits[s].limit.seconds();
    sum.distance += limits[s].distance;
  }
  if (sum.least_seconds > 0) {
    sum.least_seconds += program.target.cores.launch_seconds;
    const std::int64_t launch = cycles_of(launch_cost(LaunchedBy::spawn, program.target));
    sum.distance.limit += launch;
    sum.distance.lost[static_cast<std::size_t>(LostTo::launch)] -= launch;
  }
  sum.seconds = static_cast<double>(sum.cycles) / program.target.clock_hz;
  return sum;
}

std::vector<std::span<const std::byte>> parameter_pieces(const Program& program) {
  std::map<std::int64_t, std::span<const std::byte>> constants;  // by offset
  for (const MemoryAllocation& allocation : program.memory.allocations) {
    if (allocation.area != MemoryAllocation::Area::parameters || allocation.shares_with) continue;
    const auto& constant = program.fused.graph.tensor(allocation.tensor).constant;
    check(constant.has_value(), "a tensor among the parameters that is not constant");
    if (!constant->bytes().empty()) constants[allocation.offset] = constant->bytes();
  }
  for (const StageConstantAllocation& allocation : program.memory.stage_constants) {
    const StageList& stages = program.steps[allocation.step].step_plan()->stages();
    const auto value = stages.tensors[allocation.tensor].value->bytes();
    if (!value.empty()) constants[allocation.offset] = value;  // equal ones of several steps have one place
  }
  static constexpr std::array<std::byte, 4096> zeros = {};
  std::vector<std::span<const std::byte>> pieces;
  std::int64_t end = 0;
  const auto fill_to = [&](std::int64_t offset) {
    check(offset >= end, "a constant outside of its place in the parameter area");
    while (end < offset) {
      const std::int64_t size = std::min<std::int64_t>(offset - end, std::ssize(zeros));
      pieces.push_back(std::span(zeros).first(static_cast<std::size_t>(size)));
      end += size;
    }
  };
  for (const auto& [offset, bytes] : constants) {
    fill_to(offset);
    pieces.push_back(bytes);
    end += std::ssize(bytes);
  }
  fill_to(program.memory.parameter_bytes);
  return pieces;
}

std::vector<std::byte> parameter_bytes(const Program& program) {
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(program.memory.parameter_bytes));
  for (const auto piece : parameter_pieces(program)) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

}  // namespace stowage
