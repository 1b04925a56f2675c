// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "driver/json/json.h"
#include "driver/report/report.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"
#include "fusion/explain/why_not.h"

namespace stowage {

namespace {

/// The steps that --op asks for; all without it. An unknown name is reported.
std::vector<StepId> wanted_steps(const Program& program, const std::string& op, Diagnostics& diagnostics) {
  std::vector<StepId> steps;
  std::vector<std::string> names;
  for (const StepId i : program.steps.ids()) {
    names.push_back(program.steps[i].group.name);
    if (op.empty() || names.back() == op) steps.push_back(i);
  }
  if (steps.empty() && !op.empty()) {
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}'", op), suggest_name(op, names));
  }
  return steps;
}

/// A name without the blanks around it: "a, b" names a and b. A name that has them keeps them.
std::string without_blanks(const Graph& graph, const std::string& name) {
  Diagnostics ignored;
  if (find_named_operator(graph, name, ignored)) return name;
  const auto first = name.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return name.substr(first, name.find_last_not_of(' ') + 1 - first);
}

/// The operators that --why-not names; an ONNX node's name stands for the operator that it became.
Result<std::vector<OpId>> asked_operators(const Graph& graph, const std::vector<std::string>& names,
                                          Diagnostics& diagnostics) {
  Diagnostics own;
  std::vector<OpId> operators;
  for (const std::string& asked : names) {
    const std::string name = without_blanks(graph, asked);
    const auto op = find_named_operator(graph, name, own);
    if (!op) continue;
    const auto same = std::find(operators.begin(), operators.end(), *op);
    if (same == operators.end()) {
      operators.push_back(*op);
    } else {
      own.error("same-operator", {},
                fmt::format("'{}' and '{}' are one operator, {}",
                            names[static_cast<std::size_t>(same - operators.begin())], name, graph.op(*op).name),
                "nodes that fold into parameters have no operator of their own");
    }
  }
  if (!own.has_errors() && operators.size() < 2) {
    own.error("one-operator", {}, "--why-not wants at least two operators", "separate their names by commas");
  }
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return operators;
}

Json to_json(const WhyNot& answer, const Graph& graph, const FusionRecord& record) {
  const auto names = [&](const std::vector<OpId>& operators) {
    Json list = Json::array();
    for (const OpId op : operators) list.push_back(graph.op(op).name);
    return list;
  };
  Json json = {{"asked", names(answer.asked)}, {"answer", name_of(answer.answer)}, {"group", names(answer.group)}};
  if (answer.candidate) {
    const CandidateRecord& candidate = record.candidates[*answer.candidate];
    json["templates"] = candidate.templates;
    if (candidate.fate != CandidateFate::refused) json["cycles"] = candidate.cycles;
    if (candidate.loss) json["loss"] = *candidate.loss;
    for (const std::size_t holder : candidate.outbid_by) {
      json["outbid_by"].push_back({{"operators", names(record.candidates[holder].operators)},
                                   {"templates", record.candidates[holder].templates},
                                   {"cycles", record.candidates[holder].cycles}});
    }
    json["other_candidates"] = answer.other_candidates;
  }
  for (const Decision& refusal : answer.refusals) {
    json["refusals"].push_back({{"rule", refusal.rule}, {"reason", refusal.reason}, {"flip", refusal.flip}});
  }
  if (!answer.views.empty()) json["views"] = names(answer.views);
  if (answer.nearest) {
    json["nearest"] = {{"template", answer.nearest->name},
                       {"vertices", answer.nearest->vertices},
                       {"differences", answer.nearest->differences}};
  }
  if (!answer.flip.empty()) json["flip"] = answer.flip;
  if (!answer.no_flip.empty()) json["no_flip"] = answer.no_flip;
  if (!answer.plan_text.empty()) json["plan"] = answer.plan_text;
  return json;
}

int explain_why_not(const Compilation& compilation, const std::vector<std::string>& names, ToolContext& context) {
  Diagnostics diagnostics;
  const Graph& graph = compilation.program.fused.graph;
  const auto operators = asked_operators(graph, names, diagnostics);
  const auto templates = fusion_templates(compilation.templates, diagnostics);
  if (!operators || !templates) return failed(context, diagnostics);
  // None for a plan by a planner that this build lacks.
  const auto cost = backend_of(compilation).group_cost(compilation.program.planner, compilation.program.target, {});
  const WhyNot answer = why_not(GraphFacts(graph), *templates, compilation.fusion, *operators, cost.get());
  if (context.json) {
    Json json = {{"command", compilation.command_line}, {"network", compilation.network}};
    json["fusion"] = compilation.program.fusion;
    json.update(to_json(answer, graph, compilation.fusion));
    context.out << dumped(json, 1);
  } else {
    context.out << reproducer_line(compilation) << "\n\n" << to_text(answer, graph, compilation.fusion);
  }
  return exit_done;
}

}  // namespace

int explain_command(const ExplainOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const auto compilation = read_compilation(options.folder, diagnostics, {}, context.backends);
  if (!compilation) return failed(context, diagnostics);
  if (!options.why_not.empty()) return explain_why_not(*compilation, options.why_not, context);
  const Program& program = compilation->program;
  const std::vector<StepId> steps = wanted_steps(program, options.op, diagnostics);
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  print_warnings(context, diagnostics);

  if (context.json) {
    Json json;
    json["command"] = compilation->command_line;
    json["network"] = compilation->network;
    json["totals"] = totals_json(program);
    json["fused_operators"] = Json::array();
    for (const StepId i : steps) {
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
  for (const StepId i : steps) {
    context.out << step_text(program, i) << "\n";
    if (const StepPlan* planned = program.steps[i].step_plan(); planned != nullptr && !options.op.empty()) {
      context.out << fmt::format("```\n{}```\n\n", planned->text());
    }
    if (options.steps) context.out << decisions_text(compilation->trace, program.steps[i].group.name) << "\n";
  }
  return exit_done;
}

}  // namespace stowage
