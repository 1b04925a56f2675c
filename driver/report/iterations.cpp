// SPDX-License-Identifier: Apache-2.0
#include "driver/report/iterations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"

namespace stowage {

namespace {

void visit_block(const Block& block, std::vector<const Loop*>& around,
                 const std::function<void(const Stmt&, const std::vector<const Loop*>&)>& visit) {
  for (const StmtPtr& statement : block) {
    visit(*statement, around);
    const Block* const body = body_of(*statement);
    if (body == nullptr) continue;
    const auto* const loop = std::get_if<Loop>(&statement->node);
    if (loop != nullptr) around.push_back(loop);
    visit_block(*body, around, visit);
    if (loop != nullptr) around.pop_back();
  }
}

std::vector<const Loop*> loops_around(const LoopNest& nest, StatementId statement) {
  std::vector<const Loop*> found;
  visit_in_loops(nest, [&](const Stmt& each, const std::vector<const Loop*>& loops) {
    if (each.id == statement) found = loops;
  });
  return found;
}

}  // namespace

void visit_in_loops(const LoopNest& nest,
                    const std::function<void(const Stmt&, const std::vector<const Loop*>&)>& visit) {
  std::vector<const Loop*> around;
  visit_block(nest.body, around, visit);
}

std::int64_t trip_count(const LoopNest& nest, const Loop& loop) {
  return nest.variables[loop.variable.index()].range.high + 1;
}

const std::string& name_of(const LoopNest& nest, const Loop& loop) {
  return nest.variables[loop.variable.index()].name;
}

std::string times_text(std::int64_t count) {
  return count == 1 ? std::string("once") : grouped_digits(count) + " times";
}

Iterations iterations_of(const Plan& plan, StatementId statement) {
  Iterations iterations;
  iterations.cores = plan.nest.cores_used();
  for (const Loop* loop : loops_around(plan.nest, statement)) {
    const std::int64_t count = trip_count(plan.nest, *loop);
    iterations.loops.emplace_back(name_of(plan.nest, *loop), count);
    iterations.on_a_core *= count;
    iterations.even = iterations.even && loop->extent.is_constant();
  }
  const auto counted = plan.counts.dma.find(statement);
  if (counted == plan.counts.dma.end()) return iterations;
  iterations.in_all = counted->second.transfers;
  // No core runs it more often than the product says, so the sum shows whether all run it as often.
  iterations.even = iterations.in_all == iterations.on_a_core * iterations.cores;
  return iterations;
}

std::string times_text(const Iterations& iterations) {
  const bool counted = iterations.in_all > 0;
  if (iterations.cores == 1) return times_text(counted ? iterations.in_all : iterations.on_a_core);
  if (iterations.even) {
    const std::string each = fmt::format("{} on each of {} cores", times_text(iterations.on_a_core), iterations.cores);
    return counted ? fmt::format("{} = {}", each, grouped_digits(iterations.in_all)) : each;
  }
  if (!counted)
    return fmt::format("at most {} on each of {} cores", times_text(iterations.on_a_core), iterations.cores);
  return fmt::format("{} on {} cores together, at most {} on one", times_text(iterations.in_all), iterations.cores,
                     grouped_digits(iterations.on_a_core));
}

std::string product_text(const Iterations& iterations) {
  if (iterations.loops.size() < 2 || !iterations.even) return times_text(iterations);
  std::vector<std::string> factors;
  for (const auto& [name, count] : iterations.loops) factors.push_back(fmt::format("{} {}", name, count));
  return fmt::format("{} = {}", fmt::join(factors, " × "), times_text(iterations));
}

std::string place_text(const Plan& plan, StatementId statement) {
  const std::vector<const Loop*> loops = loops_around(plan.nest, statement);
  if (!loops.empty()) return "inside " + name_of(plan.nest, *loops.back());
  const Stmt* found = find_statement(plan.nest, statement);
  const auto* dma = found != nullptr ? std::get_if<Dma>(&found->node) : nullptr;
  const bool put = dma != nullptr && dma->direction == DmaDirection::put;
  bool any_loop = false;
  visit_statements(plan.nest.body,
                   [&](const Stmt& each) { any_loop = any_loop || std::holds_alternative<Loop>(each.node); });
  if (!any_loop) return put ? "at the end" : "at the start";
  return put ? "after the last loop" : "before the first loop";
}

}  // namespace stowage
