// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "driver/json.h"
#include "driver/plan_file.h"
#include "driver/report.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

/// The steps that --op asks for; all without it. An unknown name is reported.
std::vector<std::size_t> wanted_steps(const Program& program, const std::string& op, Diagnostics& diagnostics) {
  std::vector<std::size_t> steps;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    names.push_back(program.steps[i].group.name);
    if (op.empty() || names.back() == op) steps.push_back(i);
  }
  if (steps.empty() && !op.empty()) {
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}'", op), suggest_name(op, names));
  }
  return steps;
}

}  // namespace

int explain_command(const ExplainOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const auto compilation = read_compilation(options.folder, diagnostics);
  if (!compilation) return failed(context, diagnostics);
  const Program& program = compilation->program;
  const std::vector<std::size_t> steps = wanted_steps(program, options.op, diagnostics);
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  print_warnings(context, diagnostics);

  if (context.json) {
    Json json;
    json["command"] = compilation->command_line;
    json["network"] = compilation->network;
    json["totals"] = totals_json(program);
    json["fused_operators"] = Json::array();
    for (const std::size_t i : steps) {
      const FusedOperator& group = program.steps[i].group;
      Json row = {{"name", group.name}, {"template", group.template_name}};
      row["plan"] = step_text(program, i);
      if (options.steps) row["decisions"] = decisions_text(compilation->trace, group.name);
      json["fused_operators"].push_back(std::move(row));
    }
    context.out << dumped(json, 1);
    return exit_done;
  }

  context.out << reproducer_line(*compilation) << "\n\n";
  if (options.op.empty()) context.out << summary_text(*compilation) << "\n";
  for (const std::size_t i : steps) {
    context.out << step_text(program, i) << "\n";
    if (!options.op.empty() && program.steps[i].plan) {
      context.out << fmt::format("```\n{}```\n\n", to_text(program.steps[i].plan->nest));
    }
    if (options.steps) context.out << decisions_text(compilation->trace, program.steps[i].group.name) << "\n";
  }
  return exit_done;
}

}  // namespace stowage
