// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/loaded_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/parallel.h"
#include "driver/report/nest_rows.h"
#include "lowering/program/different_nests.h"

namespace stowage::inspector {

namespace {

using StatementCycles = std::map<StatementId, std::int64_t>;

StepFacts facts_of(const Program& program, const EmittedProgram& emitted,
                   const std::map<NestKey, StatementCycles>& cycles_of_nest, StepId index) {
  StepFacts facts;
  facts.step = &program.steps[index];
  facts.plan = facts.step->plan();
  if (const StepPlan* planned = facts.step->step_plan()) {
    facts.flops = flops(planned->stages());
    facts.cycles = planned->cycles();
    facts.dma = planned->traffic();
  }
  if (facts.plan == nullptr) return facts;
  const Plan& plan = *facts.plan;
  facts.text = to_spanned_text(plan.nest);
  for (const StatementPosition& position : nest_outline(plan.nest)) {
    StatementFacts statement;
    static_cast<StatementPosition&>(statement) = position;
    facts.statements.push_back(std::move(statement));
  }
  auto at = facts.text.text.begin();
  int line = 0;
  for (const TextSpan& span : facts.text.spans) {  // in the order of the text
    const auto begin = facts.text.text.begin() + static_cast<std::ptrdiff_t>(span.begin);
    line += static_cast<int>(std::count(at, begin, '\n'));
    at = begin;
    facts.statements[span.statement].text_line = line;
  }
  const StatementCycles& cycles = cycles_of_nest.at(facts.step->nest_key());
  for (std::size_t number = facts.statements.size(); number-- > 0;) {
    const StatementId id(number);
    StatementFacts& statement = facts.statements[id];
    if (statement.statement == nullptr) continue;
    if (const auto cost = cycles.find(id); cost != cycles.end()) statement.own_cycles = cost->second;
    if (const auto dma = plan.counts.dma.find(id); dma != plan.counts.dma.end()) {
      statement.own_transfers = dma->second.transfers;
    }
    statement.inclusive_cycles += statement.own_cycles;  // those of its body were added already: they come later
    if (statement.parent) facts.statements[*statement.parent].inclusive_cycles += statement.inclusive_cycles;
  }
  const std::string source = emitted.kernel_of_step[index] + ".s.c";
  for (std::size_t f = 0; f < emitted.files.size(); ++f) {
    if (emitted.files[f].path != source) continue;
    facts.file = static_cast<int>(f);
    // Equal plans share one kernel, so the lines may name another step; the statements are the same.
    for (const LineOrigin& origin : emitted.files[f].origins) {
      if (facts.statements.contains(origin.statement)) {
        facts.statements[origin.statement].code_lines.push_back(origin.line);
      }
    }
  }
  return facts;
}

/// The subject's, if the plan has it.
std::optional<OpId> operator_of(const LoadedPlan& plan, const Subject& subject) {
  return subject.op && plan.step_of_operator.contains(*subject.op) ? subject.op : std::nullopt;
}

}  // namespace

const StatementFacts* StepFacts::find(std::optional<StatementId> statement) const {
  if (!statement || !statements.contains(*statement)) return nullptr;
  const StatementFacts& facts = statements[*statement];
  return facts.statement != nullptr ? &facts : nullptr;
}

const StepFacts* LoadedPlan::step(std::optional<StepId> step) const {
  return step && steps.contains(*step) ? &steps[*step] : nullptr;
}

PlanPtr make_loaded_plan(Compilation compilation, std::string origin, std::string folder, Diagnostics diagnostics,
                         std::stop_token stop, std::optional<SampleNetwork> network) {
  auto plan = std::make_shared<LoadedPlan>();
  plan->network = std::move(network);
  plan->compilation = std::move(compilation);
  plan->origin = std::move(origin);
  plan->folder = std::move(folder);
  plan->diagnostics = std::move(diagnostics);
  const Program& program = plan->program();
  plan->totals = totals_of(program);
  plan->step_of_operator.assign(plan->graph().operators().size(), StepId());
  plan->steps.assign(program.steps.size(), {});
  const EmittedProgram& emitted = plan->compilation.emitted;
  const auto cycles = of_different_nests<StatementCycles>(
      program, stop, [&](const Plan& kernel) { return cycles_by_statement(kernel, program.target); });
  parallel_for(program.steps.size(), 0, stop, [&](std::size_t i) {
    const StepId step(i);
    plan->steps[step] = facts_of(program, emitted, cycles, step);
  });
  if (stop.stop_requested()) return nullptr;
  for (const StepId i : program.steps.ids()) {
    for (const OpId op : program.steps[i].group.operators) plan->step_of_operator[op] = i;
  }
  return plan;
}

Evaluator evaluator_of(const LoadedPlan& plan) {
  Diagnostics diagnostics;
  auto evaluator =
      evaluator_for(plan.program().evaluated_by, plan.compilation.cost_model, plan.program().target, diagnostics);
  check(static_cast<bool>(evaluator), "a plan's evaluator was read when it was opened");
  return *std::move(evaluator);
}

Subject complete(const LoadedPlan& plan, Subject subject) {
  if (const auto op = operator_of(plan, subject)) {
    subject.step = plan.step_of_operator[*op];
  } else {
    subject.op.reset();
  }
  const StepFacts* step = plan.step(subject.step);
  if (step == nullptr) return {.op = subject.op};
  if (step->plan == nullptr) return {.step = subject.step, .op = subject.op};
  if (subject.buffer && !step->plan->nest.buffers.contains(*subject.buffer)) subject.buffer.reset();
  if (subject.line && !subject.statement && subject.file == step->file) {
    for (const StatementFacts& facts : step->statements) {
      if (std::binary_search(facts.code_lines.begin(), facts.code_lines.end(), *subject.line)) {
        subject.statement = facts.statement->id;
        break;
      }
    }
  }
  const StatementFacts* statement = step->find(subject.statement);
  if (statement == nullptr) {
    subject.statement.reset();
    return subject;
  }
  if (!subject.buffer) {
    if (const auto* dma = std::get_if<Dma>(&statement->statement->node)) subject.buffer = dma->buffer;
    if (const auto* fill = std::get_if<Fill>(&statement->statement->node)) subject.buffer = fill->buffer;
  }
  if (!subject.line && !statement->code_lines.empty()) {
    subject.file = step->file;
    subject.line = statement->code_lines.front();
  }
  return subject;
}

std::optional<Subject> find_named(const LoadedPlan& plan, const std::string& name) {
  for (const StepId i : plan.steps.ids()) {
    if (plan.steps[i].step->group.name == name) return step_subject(i);
  }
  if (const auto op = plan.graph().find_operator(name)) return complete(plan, {.op = op});
  return std::nullopt;
}

std::string statement_text(const StepFacts& step, StatementId statement) {
  return statement_line(step.text, statement);
}

Subject place_in(const LoadedPlan& plan, const LoadedPlan& other, const Subject& subject) {
  Subject found;
  if (const auto op = operator_of(other, subject)) {
    found.op = plan.graph().find_operator(other.graph().op(*op).name);
  }
  const StepFacts* from = other.step(subject.step);
  if (from == nullptr) return complete(plan, found);
  if (const auto anchor = plan.graph().find_operator(from->step->group.name)) {
    found.step = plan.step_of_operator[*anchor];
  }
  const StepFacts* to = plan.step(found.step);
  if (to != nullptr && from->find(subject.statement) != nullptr) {
    const std::string text = statement_text(*from, *subject.statement);
    for (const StatementFacts& facts : to->statements) {
      const bool same = facts.statement != nullptr && statement_text(*to, facts.statement->id) == text;
      if (same && (!found.statement || facts.statement->id == subject.statement)) found.statement = facts.statement->id;
    }
  } else if (to != nullptr && to->plan != nullptr && from->plan != nullptr && subject.buffer &&
             from->plan->nest.buffers.contains(*subject.buffer)) {
    const std::string& name = from->plan->nest.buffers[*subject.buffer].name;
    for (const BufferId b : to->plan->nest.buffers.ids()) {
      if (to->plan->nest.buffers[b].name == name) found.buffer = b;
    }
  }
  return complete(plan, found);
}

std::string describe(const LoadedPlan& plan, const Subject& subject) {
  const StepFacts* step = plan.step(subject.step);
  if (step != nullptr && step->plan != nullptr) {
    const LoopNest& nest = step->plan->nest;
    if (const StatementFacts* facts = step->find(subject.statement)) {
      const std::string words = statement_words(nest, *facts->statement);
      return words.empty() ? statement_text(*step, *subject.statement) : words;
    }
    if (subject.buffer) return "buffer " + nest.buffers[*subject.buffer].name;
    if (subject.line) return fmt::format("line {}", *subject.line);
  }
  if (subject.op) return plan.graph().op(*subject.op).name;
  if (step != nullptr) return step->step->group.name;
  return plan.compilation.network;
}

std::vector<Subject> ancestors(const LoadedPlan& plan, const Subject& subject) {
  std::vector<Subject> path = {network_subject()};
  const StepFacts* step = plan.step(subject.step);
  if (step == nullptr) return path;
  path.push_back(step_subject(subject.step));
  if (subject.op) path.push_back(op_subject(subject.step, *subject.op));
  std::vector<Subject> inner;
  for (const StatementFacts* facts = step->find(subject.statement); facts != nullptr;
       facts = step->find(facts->parent)) {
    inner.insert(inner.begin(), {.step = subject.step, .op = subject.op, .statement = facts->statement->id});
  }
  path.insert(path.end(), inner.begin(), inner.end());
  if (!subject.statement && subject.buffer) {
    path.push_back({.step = subject.step, .op = subject.op, .buffer = subject.buffer});
  } else if (!subject.statement && subject.line) {
    path.push_back(subject);
  }
  return path;
}

}  // namespace stowage::inspector
