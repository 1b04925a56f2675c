// SPDX-License-Identifier: Apache-2.0
#include "driver/report/report.h"

#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quoting.h"
#include "driver/report/details.h"
#include "driver/report/plan_tables.h"
#include "driver/report/table_text.h"
#include "driver/text/text_table.h"
#include "fusion/strategies/fuse_candidates.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/sharing.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "lowering/search/limit_distance.h"
#include "lowering/search/physical_limit.h"
#include "lowering/time/cost_table.h"

namespace stowage {

namespace {

/// "operator (Kind, role)".
std::string members_text(const Graph& graph, const FusedOperator& group) {
  std::vector<std::string> members;
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    const Operator& op = graph.op(group.operators[i]);
    members.push_back(i < group.roles.size() && !group.roles[i].empty()
                          ? fmt::format("{} ({}, {})", markdown_text(op.name), op.kind, group.roles[i])
                          : fmt::format("{} ({})", markdown_text(op.name), op.kind));
  }
  return fmt::format("{}", fmt::join(members, ", "));
}

std::string tensor_text(const Graph& graph, TensorId id) {
  const GraphTensor& tensor = graph.tensor(id);
  return fmt::format("{} {}{}", markdown_text(tensor.name), name_of(tensor.type), to_text(tensor.shape));
}

std::string split_text(const LoopNest& nest) {
  if (nest.core_grid.empty()) return "one core";
  std::vector<std::string> axes;
  for (const CoreAxis& axis : nest.core_grid) axes.push_back(fmt::format("{} over {}", axis.iterator, axis.parts));
  return fmt::format("{} on {} cores", fmt::join(axes, ", "), nest.cores_used());
}

std::string order_text(const Schedule& schedule) {
  if (!schedule.order || schedule.order->empty()) return "no outer loop: everything is buffered whole";
  return fmt::format("{}", fmt::join(*schedule.order, ", "));
}

std::string buffer_sizes_text(const Schedule& schedule) {
  std::vector<std::string> sizes;
  for (const auto& [iterator, size] : schedule.buffer) sizes.push_back(fmt::format("{} = {}", iterator, size));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::string loaded_together(const Schedule& schedule) {
  std::vector<std::string> loads;
  for (const auto& [tensor, by] : schedule.sharing) {
    if (by == SharedBy::core) continue;
    loads.push_back(fmt::format("{} by {}", markdown_text(tensor), cores_text(by)));
  }
  return fmt::format("{}", fmt::join(loads, ", "));
}

std::string kept_inputs(const Schedule& schedule) {
  std::vector<std::string> kept;
  for (const auto& [tensor, along] : schedule.resident) {
    kept.push_back(fmt::format("{} along {}", markdown_text(tensor), fmt::join(along, ", ")));
  }
  return fmt::format("{}", fmt::join(kept, "; "));
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string certificate_text(const Certificate& certificate) {
  if (certificate.is_proved()) return "no schedule of the stated space takes less";
  return fmt::format("none of the stated space takes less, {:.1f} % below the plan; ended by {}",
                     100 * certificate.gap(),
                     certificate.ended == Certificate::Ended::time ? "time" : "its limit of schedules");
}

/// "12 of 20, all at most 3.1 % above what is possible"; empty where nothing was to be proved.
std::string proved_plans(const Program& program) {
  std::int64_t all = 0, proved = 0, cycles = 0, least = 0;
  for (const ProgramStep& step : program.steps) {
    const Plan* const plan = step.plan();
    if (plan == nullptr || !plan->certificate) continue;
    ++all;
    proved += plan->certificate->is_proved() ? 1 : 0;
    cycles += plan->certificate->cycles;
    least += plan->certificate->least_cycles;
  }
  if (all == 0) return {};
  std::string text = fmt::format("{} of {}", proved, all);
  if (proved < all) text += fmt::format(", together at most {} above the optimum", percent_of(cycles - least, least));
  return text;
}

std::string time_table(const Plan& plan, const Target& target) {
  TextTable table({"time", ">cycles", "formula", "source"});
  for (const TimeTerm& term : plan.time.terms) {
    table.add({name_of(term.cost), grouped_digits(term.cycles), formula_text(term.cost), source_of(term.cost)});
  }
  table.add({"all", grouped_digits(plan.time.cycles), seconds_text(plan.time.seconds), ""});
  const PhysicalLimit limit = physical_limit(plan.nest.stages, target);
  const auto launch = static_cast<double>(cycles_of(launch_cost(plan.nest.launch, target)));
  const double least = limit.seconds() + launch / target.clock_hz;
  table.add({"physical limit", grouped_digits(static_cast<std::int64_t>(least * target.clock_hz)),
             fmt::format("max({} bytes at the best bandwidth {}, all computed at the best rate {}, a load, then a "
                         "store {}) + launch: {:.2f} times that",
                         grouped_digits(limit.bytes), seconds_text(limit.moving_seconds),
                         seconds_text(limit.computing_seconds), seconds_text(limit.critical_path_seconds),
                         plan.time.seconds / least),
             ""});
  if (plan.certificate) {
    table.add({"optimum", grouped_digits(plan.certificate->least_cycles), certificate_text(*plan.certificate), ""});
  }
  const LimitDistance distance = distance_to_limit(plan, limit, target);
  for (std::size_t i = 0; i < losses; ++i) {
    const auto cause = static_cast<LostTo>(i);
    if (cause == LostTo::launch || distance.of(cause) == 0) continue;
    table.add({fmt::format("lost to {}", name_of(cause)), grouped_digits(distance.of(cause)),
               percent_of(distance.of(cause), plan.time.cycles), ""});
  }
  return table.text();
}

/// Of plans without loop nest: what each of them knows, whatever kind of step they are of.
std::string own_plan_text(const ProgramStep& step, const Target& target) {
  const StepPlan& plan = *step.step_plan();
  std::string text;
  if (step.kind().is_kernel) {
    const Scratchpad scratchpad = plan.scratchpad(target);
    const DmaTotals traffic = plan.traffic();
    text += fmt::format("- {}: {} of {} bytes.\n- Moved: {} bytes in {}.\n- Time: {} cycles.\n", scratchpad.name,
                        grouped_digits(scratchpad.peak_bytes), grouped_digits(scratchpad.room_bytes),
                        grouped_digits(traffic.bytes), counted(traffic.transfers, "transfer"),
                        grouped_digits(plan.cycles()));
  } else {
    text += "- " + without_nest_text(step) + "\n";
  }
  const std::vector<PlanTerm> terms = plan.terms();
  if (terms.empty()) return text;
  TextTable table({"time", ">cycles", "formula", "source"});
  for (const PlanTerm& term : terms) table.add({term.name, grouped_digits(term.cycles), term.formula, term.source});
  table.add({"all", grouped_digits(plan.cycles()), "", ""});
  return text + "\n" + table.text();
}

}  // namespace

namespace {

std::string who_says_cycles(const Program& program) {
  const Planner* const planner = find_planner(program.planner);  // null of another family's
  const std::string_view asked = planner == nullptr ? std::string_view(program.planner) : planner->for_costs().name();
  if (program.evaluated_by == EvaluatedBy::closed_form) return fmt::format("planner {} finds", asked);
  return fmt::format("{} tells of the plan that planner {} finds", text_of(program.evaluated_by), asked);
}

}  // namespace

std::string summary_text(const Compilation& compilation) {
  const Program& program = compilation.program;
  const ProgramTotals totals = totals_of(program);
  TextTable sums({markdown_text(compilation.network), ">" + markdown_text(program.target.name)});
  sums.add({"fusion, planner, layout", fmt::format("{}, {}, {}", program.fusion, program.planner, program.layout)});
  std::string meanings;  // sentences below the table
  if (compilation.fusion.search) {
    // A fixed schedule, or another target since, makes the plan another than the one that was chosen.
    const std::int64_t chosen = compilation.fusion.totals.front().cycles;
    const bool is_chosen = chosen == compilation.evaluated_cycles.value_or(totals.cycles);
    sums.add({"fusion search", !is_chosen                      ? "of another plan"
                               : is_proved(compilation.fusion) ? "proved best"
                                                               : "not proved best"});
    meanings += is_chosen ? fmt::format("Choice of groups: {}, at the cycles that {} for each.\n",
                                        proof_text(compilation.fusion, chosen), who_says_cycles(program))
                          : fmt::format("Choice of groups: made for a plan of {} cycles.\n", grouped_digits(chosen));
  }
  if (const std::int64_t late = groups_out_of_time(compilation.fusion); late > 0) {
    sums.add({"time limit", fmt::format("{} not looked at to the end", counted(late, "group"))});
  }
  if (const std::string proved = proved_plans(program); !proved.empty()) sums.add({"plans proved optimal", proved});
  sums.add({"operators in fused operators", fmt::format("{} in {}", totals.operators, totals.groups)});
  sums.add(
      {"kernels launched", fmt::format("{} in {}", grouped_digits(totals.kernels), counted(totals.spawns, "spawn"))});
  for (const KindTotals& of_kind : totals.by_kind) {
    if (of_kind.steps == 0 || of_kind.kind->key.empty()) continue;
    sums.add(
        {fmt::format("by the {}", of_kind.kind->by),
         fmt::format("{}, {} of the time", counted(of_kind.steps, "step"), percent_of(of_kind.cycles, totals.cycles))});
  }
  sums.add({"operations (flop)", grouped_digits(totals.flops)});
  sums.add({"multiply-adds", grouped_digits(totals.multiply_adds)});
  sums.add({"parameters", bytes_text(program.memory.parameter_bytes)});
  sums.add({"activations", bytes_text(program.memory.activation_bytes)});
  sums.add({"DMA transfers", grouped_digits(totals.dma.transfers)});
  sums.add({"DMA operations", grouped_digits(totals.dma.operations)});
  sums.add({"DMA bytes", grouped_digits(totals.dma.bytes)});
  const Scratchpad scratchpad = scratchpad_of(program);
  sums.add({fmt::format("{} peak", scratchpad.name),
            fmt::format("{} of {}", grouped_digits(scratchpad.peak_bytes), grouped_digits(scratchpad.room_bytes))});
  sums.add({"time", fmt::format("{} cycles, {}", grouped_digits(totals.cycles), seconds_text(totals.seconds))});
  if (const auto cycles = compilation.evaluated_cycles) {
    sums.add({fmt::format("time by {}", text_of(program.evaluated_by)),
              fmt::format("{} cycles, {}", grouped_digits(*cycles),
                          seconds_text(static_cast<double>(*cycles) / program.target.clock_hz))});
    meanings += fmt::format(
        "Groups were compared by the cycles that {} tells; figures that do not name it are of the closed form.\n",
        text_of(program.evaluated_by));
  }
  if (totals.least_seconds > 0) {
    sums.add({"physical limit",
              fmt::format("{} bytes, {}: the plan takes {:.2f} times that", grouped_digits(totals.least_bytes),
                          seconds_text(totals.least_seconds), totals.seconds / totals.least_seconds)});
    for (std::size_t i = 0; i < losses; ++i) {
      const auto cause = static_cast<LostTo>(i);
      const std::int64_t lost = totals.distance.of(cause);
      if (lost == 0) continue;
      sums.add({fmt::format("lost to {}", name_of(cause)),
                fmt::format("{}, {}", seconds_text(static_cast<double>(lost) / program.target.clock_hz),
                            percent_of(lost, totals.cycles))});
    }
    meanings +=
        "Physical limit: what each fused operator has to move at the best bandwidth, or computed at the best "
        "rate, or a load and then a store, whichever takes longest, and one launch. The rows \"lost to\" add up to "
        "what the plan takes beyond it.\n";
  }
  for (const OtherPlanText& other : texts_of_others(compilation)) {
    sums.add({other.title, other.result});
    if (!other.meaning.empty()) meanings += other.meaning + "\n";
  }

  const TextTable steps = report_table(
      plan_groups_table(program), {"step", "fused operator", "template", "operators", "dma_transfers", "dma_operations",
                                   "dma_bytes", "bytes_times_limit", "ldm_bytes", "cycles", "share", "times_limit"});
  std::string limits;
  for (const SearchLimit& limit : compilation.fusion.limits) limits += markdown_text(text_of(limit)) + "\n\n";
  if (!meanings.empty()) meanings = "\n" + meanings;
  return sums.text() + meanings + "\n" + limits + steps.text();
}

std::string without_nest_text(const ProgramStep& step) {
  std::string text(step.kind().without_nest);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  const std::string reason = step.step_plan() == nullptr ? "" : step.step_plan()->reason();
  return text + (reason.empty() ? "" : ": ") + reason + ".";
}

std::string step_text(const Program& program, StepId step) {
  const FusedOperator& group = program.steps[step].group;
  const Plan* const plan = program.steps[step].plan();
  const Graph& graph = program.fused.graph;
  std::string text = fmt::format("## {}\n\n", markdown_text(group.name));
  text += fmt::format("Template {}: {}.\n\n", markdown_text(group.template_name), members_text(graph, group));
  for (const TensorId input : group.inputs) {
    text += fmt::format("- {} {}\n", graph.tensor(input).constant ? "parameter" : "input", tensor_text(graph, input));
  }
  for (const TensorId tensor : stored_by(group)) text += fmt::format("- output {}\n", tensor_text(graph, tensor));
  std::vector<TensorStack> stacks = group.parameters;
  stacks.insert(stacks.end(), group.results.begin(), group.results.end());
  for (const TensorStack& stack : stacks) {
    if (!stack.joins()) continue;
    std::vector<std::string> parts;
    for (const TensorId part : stack.parts) parts.push_back(markdown_text(graph.tensor(part).name));
    text += fmt::format("- {} is {}, one behind the other along dimension {}\n",
                        markdown_text(graph.tensor(stack.whole).name), fmt::join(parts, ", "), stack.axis);
  }
  text += "\n";
  const StepPlan* const planned = program.steps[step].step_plan();
  if (planned == nullptr) return text + without_nest_text(program.steps[step]) + "\n";
  text += fmt::format("```\n{}```\n\n", to_text(planned->stages()));
  if (plan == nullptr) return text + own_plan_text(program.steps[step], program.target);
  text += fmt::format("- Split: {}.\n- Loop order, outermost first: {}.\n- Buffered elements: {}.\n\n",
                      split_text(plan->nest), order_text(plan->schedule), buffer_sizes_text(plan->schedule));
  if (const std::string together = loaded_together(plan->schedule); !together.empty()) {
    text.insert(text.size() - 1, fmt::format("- Loaded together: {}.\n", together));
  }
  if (const std::string kept = kept_inputs(plan->schedule); !kept.empty()) {
    text.insert(text.size() - 1, fmt::format("- Kept in the LDM: {}.\n", kept));
  }
  if (plan->nest.launch == LaunchedBy::barrier)
    text.insert(text.size() - 1, "- Launch: behind a barrier, in the spawn of the kernel before it.\n");
  text += report_table(step_buffers_table(program, step),
                       {"buffer", "tensor", "shares_with", "extents", "slots", "address", "bytes"})
              .text();
  text += fmt::format("\nLDM: {} of {} bytes.\n\n", grouped_digits(plan->nest.ldm_bytes),
                      grouped_digits(ldm_for_buffers(plan->nest, program.target)));
  text +=
      report_table(step_dma_table(program, step),
                   {"statement", "direction", "tensor", "inside loop", "elements", "transfers", "operations", "bytes"},
                   Sums::yes)
          .text();
  text += "\n" + time_table(*plan, program.target);
  return text;
}

std::string views_text(const Compilation& compilation) {
  TextTable table({"operator", "kind", "", "why"});
  const Graph& graph = compilation.program.fused.graph;
  std::int64_t views = 0;
  std::int64_t all = 0;
  for (const TraceRecord& record : compilation.trace.records) {
    if (algorithm_of(record) != TraceAlgorithm::placement) continue;
    const auto op = graph.find_operator(record.subject);
    const bool is_view = heading_of(record).outcome == TraceOutcome::accepted;
    ++all;
    if (is_view) ++views;
    table.add({markdown_text(record.subject), op ? graph.op(*op).kind : "", is_view ? "view" : "copy",
               markdown_text(sentence(record))});
  }
  if (all == 0) return "";
  return fmt::format("{} of {} operators that might be views are: nothing is launched for them.\n\n{}", views, all,
                     table.text());
}

std::string branches_text(const Trace& trace) {
  TextTable table({"first of them", "", "where"});
  bool any = false;
  for (const TraceRecord& record : trace.records) {
    if (algorithm_of(record) != TraceAlgorithm::branches) continue;
    any = true;
    const bool is_placed = heading_of(record).outcome == TraceOutcome::accepted;
    table.add({markdown_text(record.subject), is_placed ? "placed" : "apart", markdown_text(sentence(record))});
  }
  if (!any) return "";
  return "Alike operators that read one tensor. Where their results lie side by side, they may be one operator.\n\n" +
         table.text();
}

std::string report_markdown(const Compilation& compilation) {
  std::string text = fmt::format("{}\n\n# {} on {}\n\n", markdown_code(reproducer_line(compilation)),
                                 markdown_text(compilation.network), markdown_text(compilation.program.target.name));
  if (compilation.program.target.family == athread_family) {
    text +=
        "Counts are sums over all cores. A transfer is one filling or emptying of an LDM buffer; an operation is one\n"
        "Athread call. Fetching a kernel's parameters is not counted.\n\n";
  }
  text += summary_text(compilation);
  if (const std::string views = views_text(compilation); !views.empty()) text += "\n## Views and copies\n\n" + views;
  if (const std::string branches = branches_text(compilation.trace); !branches.empty()) {
    text += "\n## Horizontal fusion\n\n" + branches;
  }
  const Program& program = compilation.program;
  const IdVector<StepId, bool> in_full = steps_in_full(program, usual_details);
  if (program.steps.size() > usual_details) {
    text += fmt::format("\nOf {} fused operators the {} follow. `stowage explain DIR --op NAME` prints any other.\n",
                        program.steps.size(), slowest_text(usual_details));
  }
  for (const StepId i : program.steps.ids()) {
    if (in_full[i]) text += "\n" + step_text(program, i);
  }
  return text;
}

std::string algorithm_title(const std::string& algorithm) {
  static const std::map<std::string, std::string> titles = {{"alg1", "algorithm 1, LDM management"},
                                                            {"alg2", "algorithm 2, loop reordering"},
                                                            {"alg3", "algorithm 3, DMA insertion"},
                                                            {"alg4", "algorithm 4, correlation of iterators"},
                                                            {"alg5", "algorithm 5, classification"},
                                                            {"parallel", "split over the cores"},
                                                            {"search", "the plan of fewest cycles"},
                                                            {"placement", "views and copies"},
                                                            {"branches", "horizontal fusion: places of branches"}};
  const auto title = titles.find(algorithm);
  return title != titles.end() ? title->second : algorithm;
}

std::string decisions_text(const Trace& trace, const std::string& subject) {
  std::string text;
  std::string heading;
  for (const TraceRecord& record : trace.records) {
    if (!subject.empty() && record.subject != subject) continue;
    const TraceHeading at = heading_of(record);
    const std::string now = fmt::format("{}: {}", record.subject, algorithm_title(at.algorithm));
    if (now != heading) {
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", now);
      heading = now;
    }
    const std::string_view outcome = at.outcome == TraceOutcome::accepted  ? "accepted: "
                                     : at.outcome == TraceOutcome::refused ? "refused: "
                                                                           : "";
    text += fmt::format("  {:<14} {}{}\n", at.rule, outcome, sentence(record));
  }
  return text;
}

}  // namespace stowage
