// SPDX-License-Identifier: Apache-2.0
#include "driver/session/session.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/npy.h"
#include "core/operators.h"
#include "core/parallel.h"
#include "core/time_limit.h"
#include "core/trace/of_planner.h"
#include "driver/files/files.h"
#include "driver/session/compile_way.h"
#include "driver/session/compile_within.h"
#include "driver/session/cost_model.h"
#include "driver/session/fixed_operators.h"
#include "driver/session/limited_search.h"
#include "driver/session/model_hash.h"
#include "driver/session/prepared_graph.h"
#include "driver/session/program_on.h"
#include "fusion/explain/record_as_planned.h"
#include "fusion/facts/views.h"
#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/fuse_candidates.h"
#include "lowering/program/launches.h"
#include "lowering/program/plan_choices.h"
#include "lowering/program/program.h"

namespace stowage {

namespace {

constexpr std::string_view target_prefix = "target.";

/// The part of the settings that is about the target; others are reported.
std::vector<std::string> target_settings(const std::vector<std::string>& settings, Diagnostics& diagnostics) {
  std::vector<std::string> result;
  for (const std::string& setting : settings) {
    if (setting.starts_with(target_prefix)) {
      result.push_back(setting.substr(target_prefix.size()));
      continue;
    }
    SourceLocation location;
    location.file = "--set " + setting;
    diagnostics.error("unknown-setting", location, "a setting is TABLE.KEY=VALUE, and the only table is 'target'",
                      "for instance --set target.cores.count=1");
  }
  return result;
}

void report(const ProgressSink& progress, const std::string& stage, std::size_t done, std::size_t total) {
  if (progress) progress(stage, done, total);
}

}  // namespace

Result<Target> target_of(const CompileRequest& request, Diagnostics& diagnostics) {
  Diagnostics own;
  const std::vector<std::string> settings = target_settings(request.settings, own);
  auto target = load_target(request.target, settings, own, families_of(request.backends));
  if (target && !request.library.empty()) use_library(*target, request.library, own);
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return target;
}

const Backend& backend_of(const CompileRequest& request) {
  check(!request.backends.empty(), "a request that nobody can compile");
  Diagnostics ignored;
  const auto target = target_of(request, ignored);
  const Backend* const found = target ? find_backend(request.backends, target->family) : nullptr;
  return found != nullptr ? *found : *request.backends.front();
}

std::string planner_of(const CompileRequest& request, const Backend& backend) {
  return request.planner.empty() ? backend.default_planner() : request.planner;
}

std::string layout_of(const CompileRequest& request, const Backend& backend) {
  return request.layout.empty() ? backend.default_layout(planner_of(request, backend)) : request.layout;
}

const Backend& backend_of(const Compilation& compilation) {
  check(compilation.backend != nullptr, "a compilation without a family");
  return *compilation.backend;
}

Result<std::optional<UserTemplates>> read_user_templates(const std::string& path, Diagnostics& diagnostics) {
  if (path.empty()) return std::optional<UserTemplates>{};
  auto text = read_text_file(path, diagnostics);
  if (!text) return Failed{};
  const std::string hash = hash_of(std::as_bytes(std::span(*text)));
  return std::optional(UserTemplates{{path, hash}, *std::move(text)});
}

Result<std::vector<FusionTemplate>> fusion_templates(const std::optional<UserTemplates>& user,
                                                     Diagnostics& diagnostics) {
  const std::vector<FusionTemplate>& built_in = built_in_templates();
  if (!user) return built_in;
  auto templates = parse_templates(user->text, user->file.path, diagnostics, built_in);
  if (templates) templates->insert(templates->end(), built_in.begin(), built_in.end());
  return templates;
}

namespace {

/// What follows when a network is fused; the rest of `compilation` is filled in.
Result<Compilation> plan_and_emit(Compilation compilation, const FusedGraph& fused, const FixedSchedules& fixed,
                                  const CompileWay& way, const std::string& fusion, const CostOptions& costs,
                                  Diagnostics& diagnostics, const std::stop_token& stop, const ProgressSink& progress,
                                  LimitedSearch* limited = nullptr) {
  auto program = way.backend->plan(fused, fixed, way.planner, way.target, costs, TraceSink(&compilation.trace),
                                   {diagnostics, stop, progress});
  if (!program || stop.stop_requested()) return Failed{};
  if (limited != nullptr) {
    limited->ended = searches_ended_by_time(*program);
    if (limited->has_decided()) note_limit(compilation, *limited, diagnostics);
  }
  compilation.backend = way.backend;
  compilation.program = *std::move(program);
  compilation.program.fusion = fusion;
  compilation.program.planner = way.planner;
  compilation.program.layout = way.layout;
  compilation.program.evaluated_by = way.evaluator.by;
  const auto evaluated =
      way.backend->evaluate(compilation.program, way.evaluator, costs.threads, {diagnostics, stop, progress});
  if (!evaluated) return Failed{};
  if (!way.evaluator.is_closed_form()) {
    compilation.evaluated_cycles = std::accumulate(evaluated->begin(), evaluated->end(), std::int64_t{0});
  }
  for (const StepId first : first_kernels(compilation.program.steps)) {
    count_first_launch(compilation.fusion, compilation.program.steps[first].group.operators.front(),
                       compilation.program.first_launch_cycles);
  }
  GroupCycles cycles;
  for (const StepId i : compilation.program.steps.ids()) {
    const ProgramStep& step = compilation.program.steps[i];
    if (step.step_plan() == nullptr) continue;
    cycles[step.group.operators] = (*evaluated)[i];
  }
  count_as_planned(compilation.fusion, cycles);

  report(progress, "emit", 0, 1);
  compilation.emitted = emit_signed(compilation);
  if (stop.stop_requested()) return Failed{};
  return compilation;
}

/// The fused graph; the record of it goes into the compilation. `limited` may be null.
Result<FusedGraph> fuse(Compilation& compilation, const Graph& graph, const CompileWay& way,
                        const std::vector<FixedGroup>& groups, const CostOptions& costs, Diagnostics& diagnostics,
                        const std::stop_token& stop, const ProgressSink& progress, LimitedSearch* limited = nullptr) {
  const auto fixed = find_groups(graph, groups, diagnostics);
  if (!fixed) return Failed{};
  report(progress, "fuse", 0, 1);
  const auto cost = way.backend->group_cost(way.planner, way.target, costs);
  check(cost != nullptr, "the planner is one of the family's");
  const TraceSink trace(&compilation.trace);
  CandidateSet candidates =
      find_candidate_groups(graph, way.templates, cost.get(), trace, limited != nullptr ? limited->over : stop);
  if (limited != nullptr && !stop.stop_requested()) {
    // Also for a strategy that takes operators alone: the trace and the other plans tell of groups.
    limited->left_out = refuse_out_of_time(candidates);
    limited->is_cut_short = limited->left_out > 0 || !candidates.all_matched;
  }
  // Then groups may not even have been matched.
  const bool is_over = limited != nullptr && limited->over.stop_requested();
  Fusion fusion = fuse_candidates(candidates, *way.strategy, trace, stop, *fixed);
  if (stop.stop_requested()) return Failed{};
  for (const FixedRefusal& refused : fusion.refused) {
    const FixedGroup& group = groups[refused.group];
    for (const Decision& decision : refused.refusals) {
      Diagnostic diagnostic = group.location;
      diagnostic.code = "group-refused";
      diagnostic.message = fmt::format("{} cannot be one group: {} ({})", fmt::join(group.operators, " + "),
                                       decision.reason, decision.rule);
      diagnostic.remedy = decision.flip.empty() ? "" : "it would take " + decision.flip;
      if (decision.rule == out_of_time || (is_over && decision.rule == fixed_rule)) {
        diagnostic.code = out_of_time;
        diagnostic.message =
            fmt::format("{} were not planned as one group within the time limit", fmt::join(group.operators, " + "));
        diagnostic.remedy = more_time;
      }
      diagnostics.add(std::move(diagnostic));
    }
  }
  if (!fusion.refused.empty()) return Failed{};
  if (const auto broken = verify(fusion.fused)) fail_check("fusion broke the graph: " + *broken);
  compilation.fusion = std::move(fusion.record);
  if (!has_plan_in_time(compilation.fusion, diagnostics)) return Failed{};
  const std::vector<FusionTemplate>& built_in = built_in_templates();
  std::set<std::string> cut_off;  // built-in templates: their users cannot change them
  for (const SearchLimit& limit : compilation.fusion.limits) {
    if (limit.of_repeat) continue;
    const bool ours = std::any_of(built_in.begin(), built_in.end(),
                                  [&](const FusionTemplate& row) { return row.name == limit.template_name; });
    if (ours) {
      cut_off.insert(limit.template_name);
      continue;
    }
    const auto of = std::find_if(way.templates.begin(), way.templates.end(),
                                 [&](const FusionTemplate& row) { return row.name == limit.template_name; });
    const SourceLocation location = of != way.templates.end() ? of->location : SourceLocation{};
    diagnostics.warning("search-limit", location, text_of(limit), "repeat less, or give its vertices conditions");
  }
  if (!cut_off.empty()) {
    diagnostics.warning(
        "groups-left-out", {},
        fmt::format(
            "the plan is right but may not be the fastest: operators of this network can be fused in so many ways "
            "that not all were compared (template{} {}; report.md has the numbers)",
            cut_off.size() == 1 ? "" : "s", fmt::join(cut_off, ", ")));
  }
  return std::move(fusion.fused);
}

bool same_groups(const FusedGraph& a, const FusedGraph& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const FusedOperator& x, const FusedOperator& y) { return x.operators == y.operators; });
}

/// Fuses, plans and emits; `compilation` holds what is known of the request and the model so far.
Result<Compilation> compile_imported(Compilation compilation, const Graph& graph, const CompileWay& way,
                                     const CompileRequest& request, Diagnostics& diagnostics,
                                     const std::stop_token& stop, const ProgressSink& progress,
                                     LimitedSearch* limited = nullptr) {
  compilation.command_line = request.command_line;
  compilation.imported = graph;
  compilation.network = graph.name();
  compilation.templates = way.user_templates;
  compilation.cost_model = way.cost_model;
  const TraceSink trace(&compilation.trace);

  PlanChoices choices;
  CostOptions costs = request.costs;
  costs.choices = &choices;
  costs.evaluator = way.evaluator;
  const Graph folded = fold_intrinsics(graph, trace);
  const Graph placed = laid_out_graph(folded, way.layout, way.target, trace);
  auto fused = fuse(compilation, placed, way, request.fixed.groups, costs, diagnostics, stop, progress, limited);
  if (!fused) return Failed{};
  const bool is_cut_short = limited != nullptr && limited->is_cut_short;
  if (limited != nullptr) costs.over = limited->over;
  if (request.fixed.schedules.empty() && !is_cut_short) {
    compilation.others = other_plans({folded, placed, request.fixed.groups}, way, request.fusion,
                                     compilation.fusion.totals.front().cycles, costs, stop);
  }
  return plan_and_emit(std::move(compilation), *fused, request.fixed, way, request.fusion, costs, diagnostics, stop,
                       progress, limited);
}

}  // namespace

Result<Graph> import_network(const CompileRequest& request, Compilation& compilation, Diagnostics& diagnostics,
                             const std::stop_token& stop) {
  compilation.dimensions = request.import.dimensions;
  ImportOptions import = request.import;
  Diagnostics files;
  for (const auto& [input, file] : request.bindings) {
    const auto value = read_npy(file, files);
    if (!value) continue;
    const auto hash = hash_of_file(file, files, stop);
    if (!hash) continue;
    import.bindings[input] = *value;
    compilation.bindings[input] = {file, *hash};
  }
  // The file is hashed and read at once, and read only once: large networks consist of little but their weights.
  Result<std::string> own_hash = Failed{};
  Result<Graph> graph = Failed{};
  Diagnostics of_network;
  std::set<std::string> external_files;
  parallel_for(2, request.costs.threads, stop, [&](std::size_t i) {
    if (i == 0) {
      own_hash = hash_of_file(request.model, files, stop);
    } else {
      graph = import_onnx(request.model, import, of_network, stop, &external_files);
    }
  });
  Result<std::string> hash = Failed{};
  if (own_hash) hash = hash_with_external_files(*own_hash, request.model, external_files, files, stop);
  diagnostics.append(files);
  if (files.has_errors() || !hash) return Failed{};
  diagnostics.append(of_network);
  compilation.model = {request.recorded_model.empty() ? request.model : request.recorded_model, *hash};
  return graph;
}

Result<Compilation> compile(const CompileRequest& request, Diagnostics& diagnostics, std::stop_token stop,
                            const ProgressSink& progress) {
  const auto way = compile_way(request, diagnostics);
  if (!way) return Failed{};

  report(progress, "read", 0, 1);
  Compilation compilation;
  const auto graph = import_network(request, compilation, diagnostics, stop);
  if (!graph || stop.stop_requested()) return Failed{};
  return compile_imported(std::move(compilation), *graph, *way, request, diagnostics, stop, progress);
}

Result<Compilation> compile_within(const SearchTime& time, const CompileRequest& request, bool& has_decided,
                                   Diagnostics& diagnostics, const std::stop_token& stop,
                                   const ProgressSink& progress) {
  const TimeLimit limit(time.seconds, stop);
  has_decided = false;
  const auto way = compile_way(request, diagnostics);
  if (!way) return Failed{};
  report(progress, "read", 0, 1);
  Compilation compilation;
  const auto graph = import_network(request, compilation, diagnostics, limit.token());
  if (stop.stop_requested()) return Failed{};
  if (!graph) {
    has_decided = limit.token().stop_requested() && !diagnostics.has_errors();
    if (has_decided) tell_not_read(request.model, diagnostics);
    return Failed{};
  }
  LimitedSearch limited{limit.token(), time.command_line};
  auto compiled =
      compile_imported(std::move(compilation), *graph, *way, request, diagnostics, stop, progress, &limited);
  has_decided = limited.has_decided();
  return compiled;
}

Result<Compilation> compile_graph(const Graph& graph, const CompileRequest& request, Diagnostics& diagnostics,
                                  std::stop_token stop, const ProgressSink& progress) {
  const auto way = compile_way(request, diagnostics);
  if (!way) return Failed{};
  return compile_imported({}, graph, *way, request, diagnostics, stop, progress);
}

Result<Compilation> plan_again(const Compilation& before, const Target& target, const FixedSchedules& fixed,
                               Diagnostics& diagnostics, std::stop_token stop, const ProgressSink& progress,
                               const CostOptions& cost_options) {
  auto found = way_of(before, target, diagnostics);
  if (!found) return Failed{};
  CompileWay way = *std::move(found);
  PlanChoices choices;
  CostOptions costs = cost_options;
  costs.choices = &choices;
  costs.evaluator = way.evaluator;
  Compilation again = before;
  std::erase_if(again.trace.records, &is_of_planner);
  const bool same_target = to_toml(target) == to_toml(before.program.target);
  if (!same_target || !fixed.groups.empty() || !fixed.schedules.empty()) again.others.clear();  // of another question
  if (fixed.groups.empty() && same_target) {
    return plan_and_emit(std::move(again), before.program.fused, fixed, way, before.program.fusion, costs, diagnostics,
                         stop, progress);
  }
  std::erase_if(again.trace.records, [&](const TraceRecord& record) {
    const TraceAlgorithm algorithm = algorithm_of(record);
    return algorithm == TraceAlgorithm::fusion || algorithm == TraceAlgorithm::exact;
  });
  auto templates = fusion_templates(before.templates, diagnostics);
  if (!templates) return Failed{};
  way.templates = *std::move(templates);
  const auto fused_with = [&](const std::vector<FixedGroup>& groups) {
    return fuse(again, before.program.fused.graph, way, groups, costs, diagnostics, stop, progress);
  };
  const Trace kept = again.trace;
  auto fused = fused_with(fixed.groups);
  if (fused && fixed.groups.empty() && !same_groups(*fused, before.program.fused)) {
    again.trace = kept;
    fused = fused_with(groups_of(before.program.fused));
  }
  if (!fused) return Failed{};
  return plan_and_emit(std::move(again), *fused, fixed, way, before.program.fusion, costs, diagnostics, stop, progress);
}

Result<Program> program_on(const Compilation& before, const Target& target, const FixedSchedules& fixed,
                           const CostOptions& costs, Diagnostics& diagnostics, const std::stop_token& stop,
                           const ProgressSink& progress) {
  auto found = way_of(before, target, diagnostics);
  if (!found) return Failed{};
  CompileWay way = *std::move(found);
  auto templates = fusion_templates(before.templates, diagnostics);
  if (!templates) return Failed{};
  way.templates = *std::move(templates);
  PlanChoices choices;
  CostOptions options = costs;
  options.choices = &choices;
  options.evaluator = way.evaluator;
  Compilation made;  // its trace and its record of the fusion are not asked for
  const TraceSink trace(&made.trace);
  const Graph graph =
      before.imported ? prepared_graph(*before.imported, way.layout, target, trace) : before.program.fused.graph;
  const auto fused = fuse(made, graph, way, fixed.groups, options, diagnostics, stop, progress);
  if (!fused || stop.stop_requested()) return Failed{};
  auto program = way.backend->plan(*fused, fixed, way.planner, target, options, trace, {diagnostics, stop, progress});
  if (!program || stop.stop_requested()) return Failed{};
  program->fusion = before.program.fusion;
  program->planner = way.planner;
  program->layout = way.layout;
  program->evaluated_by = before.program.evaluated_by;
  return program;
}

EmittedProgram emit_signed(const Compilation& compilation) {
  return backend_of(compilation).emit(compilation.program, reproducer_line(compilation));
}

}  // namespace stowage
