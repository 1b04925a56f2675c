// SPDX-License-Identifier: Apache-2.0
// A compilation with everything the panes look up again and again, computed once on the worker thread. Immutable and
// shared: panes hold a PlanPtr and never ask a session.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "driver/report/nest_outline.h"
#include "driver/session/session.h"
#include "inspector/state/subject.h"

namespace stowage::inspector {

/// One statement of a nest with its share of the time.
struct StatementFacts : StatementPosition {
  int text_line = 0;                  ///< line of the nest's text where it starts, from 0
  std::int64_t own_cycles = 0;        ///< of a DMA or computation; 0 for others
  std::int64_t inclusive_cycles = 0;  ///< with everything inside
  std::int64_t own_transfers = 0;     ///< of a DMA, all cores
  std::vector<int> code_lines;        ///< of the step's compute-core source, ascending, from 1
};

/// One fused operator. A view has no plan and therefore no nest, text or statements.
struct StepFacts {
  const ProgramStep* step = nullptr;
  const Plan* plan = nullptr;
  SpannedText text;  ///< of the nest
  IdVector<StatementId, StatementFacts> statements;
  DmaTotals dma;
  std::int64_t flops = 0;
  std::int64_t cycles = 0;
  std::optional<int> file;  ///< its compute-core source: index into EmittedProgram::files
  /// Null of none, and where there is no such statement.
  [[nodiscard]] const StatementFacts* find(std::optional<StatementId> statement) const;
};

/// A network that was written for the plan alone and is gone since; written anew it is the same.
struct SampleNetwork {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t seed = 1;
};

struct LoadedPlan {
  Compilation compilation;
  std::string origin;                    ///< what was opened: a folder, a model, a job
  std::string folder;                    ///< of the plan, empty if it was compiled here and not written
  std::optional<SampleNetwork> network;  ///< the model, where a job named that instead of a file
  Diagnostics diagnostics;               ///< warnings of loading or compiling
  ProgramTotals totals;
  IdVector<StepId, StepFacts> steps;
  IdVector<OpId, StepId> step_of_operator;  ///< every operator is in a step

  [[nodiscard]] const Program& program() const { return compilation.program; }
  [[nodiscard]] const Graph& graph() const { return compilation.program.fused.graph; }
  /// Null of none, and where there is no such step.
  [[nodiscard]] const StepFacts* step(std::optional<StepId> step) const;
};
using PlanPtr = std::shared_ptr<const LoadedPlan>;

/// Takes minutes off nobody: a few milliseconds for ResNet-50. Null when stopped.
PlanPtr make_loaded_plan(Compilation compilation, std::string origin, std::string folder, Diagnostics diagnostics,
                         std::stop_token stop = {}, std::optional<SampleNetwork> network = {});

/// By what the plan's groups were compared, to price others with.
Evaluator evaluator_of(const LoadedPlan& plan);

/// The subject with what follows from it filled in (step of an operator, statement of a line, line of a statement);
/// parts that this plan does not have are dropped.
Subject complete(const LoadedPlan& plan, Subject subject);

/// Subject of a fused operator or operator by its name.
std::optional<Subject> find_named(const LoadedPlan& plan, const std::string& name);

/// What stands in `plan` for a subject of another plan of the same network: the same operator, the group that has the
/// group's anchor, in it the statement of the same text. What it has not is dropped.
Subject place_in(const LoadedPlan& plan, const LoadedPlan& other, const Subject& subject);

/// "res2a", "get A", "for ko < 16", "line 40": the most exact part of a subject in a few words.
std::string describe(const LoadedPlan& plan, const Subject& subject);

/// The subject's ancestors, the network first, itself last.
std::vector<Subject> ancestors(const LoadedPlan& plan, const Subject& subject);

/// First line of a statement as the nest's text has it, without its number.
std::string statement_text(const StepFacts& step, StatementId statement);

}  // namespace stowage::inspector
