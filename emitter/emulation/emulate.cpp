// SPDX-License-Identifier: Apache-2.0
#include "emitter/emulation/emulate.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/index.h"
#include "emitter/athread/kernel.h"
#include "emitter/emulation/emulated_sources.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/memory_image.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {
namespace {

constexpr std::int64_t least_red_zone_bytes = 64;
constexpr std::string_view red_zone_name = "red_zone";

/// Which launch a step is, and which step a launch. One that the management core computes counts as one, of no core.
struct Launches {
  std::vector<StepId> step_of;  ///< by launch
  IdVector<StepId, int>
      last_before;  ///< by step: its launch, or for a view the last one before it; -1 where there is none
};

Launches find_launches(const Program& program, const EmittedProgram& emitted) {
  check(emitted.kernel_of_step.size() == program.steps.size(), "the emitted sources are of another program");
  Launches launches;
  for (const StepId s : program.steps.ids()) {
    if (!emitted.kernel_of_step[s].empty()) launches.step_of.push_back(s);
    launches.last_before.push_back(static_cast<int>(launches.step_of.size()) - 1);
  }
  return launches;
}

std::int64_t up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// DMA moves whole units: the last one may reach past the end of a tensor, to which those bytes belong.
EmulatedRange range_of(const Program& program, StepId step, StageTensorId id, bool written) {
  const std::int64_t unit = program.target.dma.alignment;
  const StageTensor& tensor = program.steps[step].step_plan()->stages().tensors[id];
  const MemoryRange range = memory_range(program, step, id);
  return {tensor.name, range.area == MemoryAllocation::Area::parameters ? 0 : 1, range.offset, up(range.bytes, unit),
          written};
}

/// What lies between the buffers; what follows the last one is the kernel's (parameters and reply words). A buffer that
/// is sent register by register has its last register whole.
std::vector<EmulatedGap> gaps_of(const LoopNest& nest, std::int64_t dma_unit) {
  std::set<BufferId> sent;
  for (const auto& [statement, box] : team_barriers(nest).sent_at) sent.insert({box.from.buffer, box.to.buffer});
  std::vector<std::pair<std::int64_t, std::int64_t>> owned;
  std::int64_t end_of_all = 0;
  for (const BufferId b : nest.buffers.ids()) {
    const Buffer& buffer = nest.buffers[b];
    end_of_all = std::max(end_of_all, buffer.offset + buffer.bytes());
    const std::int64_t unit = sent.contains(b) ? std::max<std::int64_t>(dma_unit, bytes_of_register) : dma_unit;
    if (!buffer.name.starts_with(red_zone_name))
      owned.emplace_back(buffer.offset, buffer.offset + up(buffer.bytes(), unit));
  }
  std::sort(owned.begin(), owned.end());
  std::vector<EmulatedGap> gaps;
  std::int64_t end = 0;
  for (const auto& [from, to] : owned) {
    if (from > end) gaps.push_back({end, from - end});
    end = std::max(end, to);
  }
  if (end_of_all > end) gaps.push_back({end, end_of_all - end});
  return gaps;
}

/// Lines of transfers that the machine would refuse, of which compile has warned (lowering/time/dma_alignment.h).
std::vector<EmulatedLine> unaligned_lines(const Program& program, const EmittedProgram& emitted) {
  std::map<StepId, std::set<StatementId>> statements;
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() == nullptr) continue;
    for (const UnalignedTransfer& transfer : unaligned_transfers(program.steps[s].plan()->nest, program.target))
      statements[s].insert(transfer.statement);
  }
  std::vector<EmulatedLine> lines;
  for (const EmittedFile& file : emitted.files) {
    for (const LineOrigin& origin : file.origins) {
      const auto of_step = statements.find(origin.step);
      if (of_step != statements.end() && of_step->second.contains(origin.statement))
        lines.push_back({file.path, origin.line});
    }
  }
  return lines;
}

EmulatedDump dump_of(const Program& program, TensorId tensor, int after_launch) {
  const MemoryAllocation* allocation = program.memory.find(tensor);
  check(allocation != nullptr, "the output of a step has no place in main memory");
  return {after_launch, allocation->area == MemoryAllocation::Area::parameters ? 0 : 1, allocation->offset,
          allocation->bytes};
}

EmulationJob job_of(const Program& program, const EmittedProgram& emitted, const Launches& launches,
                    bool keep_outputs) {
  EmulationJob job;
  for (const EmittedFile& file : emitted.files) job.sources.push_back({file.path, file.text});
  for (const StepId step : launches.step_of) {
    EmulatedLaunch launch;
    launch.name = program.steps[step].group.name;
    if (const Plan* plan = program.steps[step].plan()) {
      for (const NestTensor& tensor : plan->nest.tensors)
        launch.ranges.push_back(range_of(program, step, tensor.tensor, tensor.written));
      launch.gaps = gaps_of(plan->nest, program.target.dma.alignment);
    } else {
      const StepPlan& planned = *program.steps[step].step_plan();
      for (const StageTensorId tensor : planned.memory_tensors()) {
        const bool written = planned.stages().tensors[tensor].role == TensorRole::output;
        launch.ranges.push_back(range_of(program, step, tensor, written));
      }
    }
    job.launches.push_back(std::move(launch));
  }
  for (const StepId s : program.steps.ids()) {
    if (!keep_outputs) break;
    for (const TensorId tensor : stored_by(program.steps[s].group))
      job.dumps.push_back(dump_of(program, tensor, launches.last_before[s]));
  }
  job.cores = threads_of_launch(program.target);
  job.columns = program.target.cores.mesh_columns;
  job.ldm_bytes = program.target.ldm.bytes;
  job.line_bytes = program.target.main_memory.line_bytes;
  job.dma_alignment = program.target.dma.alignment;
  job.unaligned = unaligned_lines(program, emitted);
  return job;
}

/// Changed sources may write less or more than the tensor has.
bool are_whole(const Program& program, const std::vector<std::vector<std::byte>>& results, Diagnostics& diagnostics) {
  const Graph& graph = program.fused.graph;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const MemoryAllocation* allocation = program.memory.find(graph.outputs()[i]);
    check(allocation != nullptr, "an output of the network has no place in main memory");
    if (static_cast<std::int64_t>(results[i].size()) == allocation->bytes) continue;
    diagnostics.error("emulation-failed", {},
                      fmt::format("the emulated program wrote {} bytes of output '{}', which has {}", results[i].size(),
                                  graph.tensor(graph.outputs()[i]).name, allocation->bytes));
    return false;
  }
  return true;
}

/// DMA that nobody can count: its line belongs to a statement that transfers nothing.
void report_misplaced(const std::set<std::pair<std::string, int>>& lines, Diagnostics& diagnostics) {
  for (const auto& [file, number] : lines) {
    SourceLocation location;
    location.file = file;
    location.line = number;
    diagnostics.error("emulation-misplaced-dma", location,
                      "DMA in the line of a statement that transfers nothing: it cannot be said whose it is",
                      "put its calls and its wait into lines of their own");
  }
}

/// By path and line.
using StatementLines = std::map<std::pair<std::string, int>, StatementId>;

StatementLines statement_lines(const EmittedProgram& emitted) {
  StatementLines statements;
  for (const EmittedFile& file : emitted.files)
    for (const LineOrigin& origin : file.origins) statements[{file.path, origin.line}] = origin.statement;
  return statements;
}

std::vector<StatementMeetings> meetings_by_step(const StatementLines& statement_at, const Launches& launches,
                                                const EmulationRun& run, bool changed_sources) {
  std::map<std::tuple<int, std::string, int>, TeamMeetings> of_lines;
  for (const LineMeetings& call : run.meetings) {
    TeamMeetings& line = of_lines[{call.launch, call.file, call.line}];
    line.times += call.meetings.times;
    line.registers += call.meetings.registers;
  }
  std::map<std::pair<StepId, std::optional<StatementId>>, TeamMeetings> most;
  for (const auto& [where, line] : of_lines) {
    const auto& [launch, file, number] = where;
    const auto found = statement_at.find({file, number});
    check(found != statement_at.end() || changed_sources, "cores meet in a line that belongs to no statement");
    const auto statement = found == statement_at.end() ? std::nullopt : std::optional(found->second);
    // A team that leaves rows out meets in its columns and then in its rows, in a line each: that is one meeting.
    TeamMeetings& here = most[{launches.step_of.at(at(launch)), statement}];
    here.times = std::max(here.times, line.times);
    here.registers = std::max(here.registers, line.registers);
  }
  std::vector<StatementMeetings> meetings;
  for (const auto& [where, here] : most) meetings.push_back({where.first, where.second, here});
  return meetings;
}

Result<std::vector<StatementCount>> statement_counts(const Program& program, const StatementLines& statement_at,
                                                     const Launches& launches, const EmulationRun& run,
                                                     bool changed_sources, Diagnostics& diagnostics) {
  std::map<std::pair<StepId, StatementId>, StatementCount> counts;
  for (const StepId step : launches.step_of) {
    if (program.steps[step].plan() == nullptr) continue;
    visit_statements(program.steps[step].plan()->nest.body, [&](const Stmt& stmt) {
      if (std::holds_alternative<Dma>(stmt.node)) counts[{step, stmt.id}] = {step, stmt.id, 0, 0, 0};
    });
  }
  std::set<std::pair<std::string, int>> misplaced;
  for (const LineCount& line : run.counts) {
    const StepId step = launches.step_of.at(at(line.launch));
    const auto statement = statement_at.find({line.file, line.line});
    if (statement == statement_at.end()) continue;  // the fetch of the parameters
    const auto count = counts.find({step, statement->second});
    if (count == counts.end()) {
      check(changed_sources, "DMA in a line that belongs to no DMA statement");
      misplaced.emplace(line.file, line.line);
      continue;
    }
    count->second.transfers += line.transfers;
    count->second.operations += line.operations;
    count->second.bytes += line.bytes;
  }
  if (!misplaced.empty()) {
    report_misplaced(misplaced, diagnostics);
    return Failed{};
  }
  std::vector<StatementCount> result;
  for (const auto& [key, count] : counts) result.push_back(count);
  return result;
}

IdVector<StepId, std::int64_t> peaks_by_step(const Program& program, const Launches& launches,
                                             const EmulationRun& run) {
  const std::int64_t unit = program.target.ldm.alignment;
  IdVector<StepId, std::int64_t> peaks(program.steps.size(), 0);
  check(run.ldm_peak_bytes.size() == launches.step_of.size(), "the emulated program launched other kernels");
  for (std::size_t launch = 0; launch < launches.step_of.size(); ++launch)
    peaks[launches.step_of[launch]] = up(run.ldm_peak_bytes[launch], unit);
  return peaks;
}

}  // namespace

Result<EmulationResult> emulate(const Program& program, const EmittedProgram& emitted, std::span<const Tensor> inputs,
                                const EmulationOptions& options, const StepObserver& on_output,
                                Diagnostics& diagnostics, const std::stop_token& stop) {
  const Graph& graph = program.fused.graph;
  check(inputs.size() == graph.inputs().size(), "emulation needs one value for each input of the network");
  const Launches launches = find_launches(program, emitted);
  const bool keep_outputs = options.keep_outputs_of_steps && on_output != nullptr;
  EmulationJob job = job_of(program, emitted, launches, keep_outputs);
  job.options = options;
  job.data.push_back({"params.bin", [&program] { return parameter_bytes(program); }});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const GraphTensor& wanted = graph.tensor(graph.inputs()[i]);
    check(inputs[i].type() == wanted.type && inputs[i].shape() == wanted.shape, "an input of another type or shape");
    job.data.push_back({"input_" + std::to_string(i) + ".bin", [&value = inputs[i]] {
                          return std::vector<std::byte>(value.bytes().begin(), value.bytes().end());
                        }});
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    job.results.push_back("output_" + std::to_string(i) + ".bin");

  auto run = run_emulated_sources(job, diagnostics, std::move(stop));
  if (!run || !are_whole(program, run->results, diagnostics)) return Failed{};
  auto dump = run->dumps.begin();
  for (const StepId s : program.steps.ids()) {
    if (!keep_outputs) break;
    std::vector<Tensor> stored;
    for (const TensorId tensor : stored_by(program.steps[s].group))
      stored.push_back(value_in_memory(graph, tensor, std::move(*dump++)));
    on_output(s, stored);
  }
  EmulationResult result;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    result.outputs.push_back(value_in_memory(graph, graph.outputs()[i], std::move(run->results[i])));
  const StatementLines statement_at = statement_lines(emitted);
  auto counts = statement_counts(program, statement_at, launches, *run, options.changed_sources, diagnostics);
  if (!counts) return Failed{};
  result.counts = *std::move(counts);
  result.meetings = meetings_by_step(statement_at, launches, *run, options.changed_sources);
  result.ldm_peak_bytes = peaks_by_step(program, launches, *run);
  result.parameter_fetches = run->parameter_fetches;
  result.build_seconds = run->build_seconds;
  result.run_seconds = run->run_seconds;
  return result;
}

Program with_red_zones(Program program) {
  const std::int64_t unit = program.target.ldm.alignment;
  const std::int64_t red_zone_bytes = std::max<std::int64_t>(least_red_zone_bytes, unit);  // what follows stays aligned
  std::int64_t added = 0;
  for (ProgramStep& step : program.steps) {
    if (step.plan() == nullptr) continue;
    Plan plan = *step.plan();
    IdVector<BufferId, Buffer>& buffers = plan.nest.buffers;
    const auto ids = buffers.ids();
    std::vector<BufferId> order(ids.begin(), ids.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](BufferId a, BufferId b) { return buffers[a].offset < buffers[b].offset; });
    std::int64_t shift = 0;
    std::int64_t end = 0;  // of the buffers so far, where they were
    std::vector<Buffer> zones;
    const auto add_zone = [&](const Buffer& like) {
      Buffer zone = like;
      zone.name = std::string(red_zone_name) + "_" + std::to_string(zones.size());
      zone.offset = (end + unit - 1) / unit * unit + shift;
      zone.extents.assign(like.extents.size(), 1);
      if (!zone.extents.empty()) zone.extents.back() = red_zone_bytes / byte_size(like.type);
      zone.shares_with.reset();
      zone.slots = 1;
      zone.pitch = 0;
      shift += red_zone_bytes;
      zones.push_back(std::move(zone));
    };
    for (const BufferId b : order) {
      Buffer& buffer = buffers[b];
      if (end > 0 && buffer.offset >= end) add_zone(buffer);
      end = std::max(end, buffer.offset + buffer.bytes());
      buffer.offset += shift;
    }
    if (!buffers.empty()) add_zone(buffers[order.back()]);
    for (Buffer& zone : zones) buffers.push_back(std::move(zone));
    std::int64_t& all = plan.nest.ldm_bytes;
    for (const Buffer& buffer : buffers) all = std::max(all, (buffer.offset + buffer.bytes() + unit - 1) / unit * unit);
    step.work = launch_of(std::move(plan));
    added = std::max(added, shift);
  }
  program.target.ldm.bytes += added;
  return program;
}

}  // namespace stowage
