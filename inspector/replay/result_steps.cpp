// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/result_steps.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/report/iterations.h"
#include "driver/report/model_buffers.h"
#include "driver/report/nest_rows.h"
#include "driver/report/plan_reasons.h"
#include "inspector/replay/finished_nest.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage::inspector {

namespace {

std::string order_text(const NestState& state) {
  if (state.loops.empty()) return "no outer loops";
  std::vector<std::string> names;
  for (const OuterLoop& loop : state.loops) names.push_back(loop.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The state of the finished schedule.
void finish_state(StepMaker& maker) {
  const Schedule& schedule = maker.plan().schedule;
  const std::vector<ParallelSplit> parallel = schedule.parallel.value_or(std::vector<ParallelSplit>{});
  maker.state.parallel = parallel;
  maker.state.ranges = core_ranges(maker.model(), parallel);
  LdmState buffers;
  for (const ModelIterator& iterator : maker.model().iterators) {
    const auto size = schedule.buffer.find(iterator.name);
    buffers.sizes.push_back(size == schedule.buffer.end() ? 1 : size->second);
  }
  maker.state.sizes = buffers.sizes;
  const auto read = read_schedule(maker.model(), schedule);
  if (const auto* complete = std::get_if<ReadSchedule>(&read)) maker.state.loops = complete->order;
  maker.state.open = 0;
  maker.state.ordering = false;
  for (const auto& [tensor, loop] : schedule.dma) maker.place(tensor, loop);
}

/// What the finished plan holds, in place of what the algorithms knew.
void finish(StepMaker& maker, ReplayStep& step, std::optional<StatementId> lit) {
  const LoopNest& nest = maker.plan().nest;
  step.nest = finished_nest(maker.plan(), maker.model(), lit);
  step.ldm_bytes = nest.ldm_bytes;
  maker.add_variable(step, "loop order", order_text(maker.state));
  visit_statements(nest.body, [&](const Stmt& statement) {
    const auto* const dma = std::get_if<Dma>(&statement.node);
    if (dma == nullptr) return;
    const std::string& name = name_of_buffer(nest, maker.model(), dma->buffer);
    step.variables.push_back({fmt::format("{} {}", dma->direction == DmaDirection::get ? "get" : "put", name),
                              fmt::format("{}: {}", place_text(maker.plan(), statement.id),
                                          product_text(iterations_of(maker.plan(), statement.id))),
                              statement.id == lit});
  });
}

}  // namespace

void add_result_steps(StepMaker& maker, const std::vector<TraceRecord>& records) {
  finish_state(maker);
  const PlanReasons reasons = reasons_of(maker.plan(), maker.target(), records);
  const std::size_t first = maker.replay().steps.size();
  for (const NestRow& row : nest_rows(maker.plan(), maker.target())) {
    const auto reason = std::find_if(reasons.transfers.begin(), reasons.transfers.end(),
                                     [&](const TransferReason& r) { return r.statement == row.statement; });
    if (reason == reasons.transfers.end()) continue;
    ReplayStep& step = maker.add("result", reason->get ? "get" : "put", TraceOutcome::step, reason->where);
    step.why = reason->why;
    finish(maker, step, row.statement);
  }
  const StepFacts& facts = maker.facts();
  ReplayStep& step =
      maker.add("result", "all", TraceOutcome::accepted,
                fmt::format("All together: {}, {}; the LDM holds {} of {}.", counted(facts.dma.transfers, "transfer"),
                            bytes_text(facts.dma.bytes), bytes_text(maker.plan().nest.ldm_bytes),
                            bytes_text(maker.replay().capacity)));
  step.why = fmt::format("Predicted to take {} cycles.", grouped_digits(facts.cycles));
  finish(maker, step, std::nullopt);
  ReplayRemarks& moved = step.remarks.emplace_back(ReplayRemarks{"Where each tensor is moved, how often, and why", {}});
  for (const TransferReason& reason : reasons.transfers) moved.texts.push_back(reason.where + " " + reason.why);
  step.remarks.push_back({"Why the buffers have these sizes", reasons.sizes});
  maker.compare_loops_from(first, reasons.rounds);
}

}  // namespace stowage::inspector
