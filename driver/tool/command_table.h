// SPDX-License-Identifier: Apache-2.0
// The commands of the tool: what each is called, which options it takes, and what runs it.
#pragma once

#include <span>

#include "driver/tool/batch_command.h"
#include "driver/tool/check_command.h"
#include "driver/tool/commands.h"
#include "driver/tool/exercise_command.h"
#include "driver/tool/manual_commands.h"
#include "driver/tool/pass_command.h"
#include "driver/tool/sensitivity_command.h"
#include "driver/tool/simulate_command.h"
#include "driver/tool/train_command.h"

namespace CLI {
class App;
}

namespace stowage {

/// All options of all commands; one command is run.
struct Options {
  CompileOptions compile;
  RunOptions run;
  ExplainOptions explain;
  SimulateOptions simulate;
  TrainCostOptions train_cost;
  DiffOptions diff;
  GraphOptions graph;
  ReportOptions report;
  BatchCommandOptions batch;
  NetworkCommandOptions network;
  TargetsOptions targets;
  TemplatesOptions templates;
  CoverageOptions coverage;
  CheckOptions check;
  ExerciseOptions exercise;
  PassOptions pass;
  SensitivityOptions sensitivity;
  CompletionsOptions completions;
  ManOptions man;
  bool json = false;
};

/// A command of the tool: how it is declared and what runs it.
struct CommandRow {
  const char* name;
  const char* summary;
  const char* examples;
  void (*declare)(CLI::App& app, Options& options);
  int (*run)(const Options& options, ToolContext& context);
};

std::span<const CommandRow> command_table();

}  // namespace stowage
