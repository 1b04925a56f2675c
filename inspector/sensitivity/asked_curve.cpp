// SPDX-License-Identifier: Apache-2.0
#include "inspector/sensitivity/asked_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "driver/sensitivity/curve_tables.h"
#include "driver/store/plan_file.h"
#include "inspector/state/background.h"
#include "inspector/state/told.h"
#include "inspector/tables/placed.h"
#include "inspector/whatif/job_form.h"

namespace stowage::inspector {

namespace {

std::string sentences(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (!text.empty()) text += "\n";
    text += told(diagnostic);
  }
  return text;
}

/// With the network as it was imported, where that can be had.
Compilation with_network(const LoadedPlan& plan) {
  Compilation compilation = plan.compilation;
  if (!compilation.imported && !plan.folder.empty()) read_model_again(compilation, plan.folder);
  return compilation;
}

/// A file that the plan's groups or costs come from and that cannot be read as it was; "" where there is none. A curve
/// is of what the plan holds of them, so that a plan by another file would not be one of its points.
std::string changed_file(const LoadedPlan& plan, const JobForm& job) {
  const auto is_missing = [&](const std::string& path) {
    return std::find(job.missing.begin(), job.missing.end(), path) != job.missing.end();
  };
  const Compilation& compilation = plan.compilation;
  if (compilation.templates && is_missing(compilation.templates->file.path)) return compilation.templates->file.path;
  if (compilation.cost_model && is_missing(compilation.cost_model->file.path)) return compilation.cost_model->file.path;
  return "";
}

/// That of the plan with one value of its target changed.
CompileRequest request_with(const LoadedPlan& plan, JobForm job, const SweptValue& value) {
  constexpr std::string_view prefix = "target.";
  job.settings[value.key.substr(prefix.size())] = value.toml;
  CompileRequest request;
  request.model = plan.compilation.model.path;
  request.target = job.target;
  for (const auto& [key, setting] : job.settings)
    request.settings.push_back(fmt::format("{}{}={}", prefix, key, setting));
  request.fusion = job.fusion;
  request.planner = job.planner;
  if (!job.layout.empty()) request.layout = job.layout;
  if (!job.cost.empty()) request.cost = job.cost;
  request.cost_model = job.cost_model;
  request.templates = job.templates;
  request.costs.cache = default_cost_cache();
  request.command_line = command_of(job);
  return request;
}

}  // namespace

AskedCurve ask_curve(const LoadedPlan& plan, const std::string& key, const RangeText& range,
                     const std::stop_token& stop, const ProgressSink& progress) {
  off_window_thread("a curve was calculated");
  Diagnostics diagnostics;
  CurveRequest request;
  request.key = key;
  auto values = curve_values(key, range, diagnostics);
  if (!values) return {nullptr, sentences(diagnostics)};
  request.values = *std::move(values);
  request.costs.cache = default_cost_cache();
  auto curve = sensitivity(with_network(plan), request, diagnostics, stop, progress);
  if (!curve) return {nullptr, sentences(diagnostics)};
  return {std::make_shared<const Curve>(*std::move(curve)), sentences(diagnostics)};
}

PlanAtValue plan_at(const LoadedPlan& plan, const SweptValue& value, const std::stop_token& stop,
                    const ProgressSink& progress) {
  off_window_thread("a network was compiled");
  JobForm job = job_form(plan, {});
  if (const std::string file = changed_file(plan, job); !file.empty())
    return {nullptr, fmt::format("{} is not there as it was when the plan was made: put it back to compare", file)};
  const Compilation before = with_network(plan);
  Diagnostics diagnostics;
  // As curves are made: without the model from the network as it was placed for the plan's target.
  const Graph& network = before.imported ? *before.imported : before.program.fused.graph;
  auto made = compile_graph(network, request_with(plan, std::move(job), value), diagnostics, stop, progress);
  if (stop.stop_requested()) return {};
  if (!made) return {nullptr, sentences(diagnostics)};
  made->imported = before.imported;
  made->model = before.model;
  made->dimensions = before.dimensions;
  made->bindings = before.bindings;
  made->emitted = emit_signed(*made);  // the sources name the model that they are made of
  const std::string origin = fmt::format("{} with {} = {}", plan.origin, value.key,
                                         value_words(value, is_in_bytes(plan.program().target, value)));
  return {make_loaded_plan(*std::move(made), origin, "", diagnostics, stop, plan.network), ""};
}

RangeText usual_range(const LoadedPlan& plan, const std::string& key) {
  const auto keys = curve_keys(plan.program().target);
  const auto own = keys.find(key);
  if (own == keys.end() || own->second <= 0) return {"0", "1", "1", ""};
  const double value = own->second;
  constexpr double exact = 9e15;  // whole numbers up to there are themselves as doubles
  const bool is_whole = value == std::floor(value) && value < exact;
  if (!is_whole) return {fmt::format("{}", value / 4), fmt::format("{}", value * 2), "", "2"};
  const auto whole = static_cast<std::int64_t>(value);
  return {std::to_string(whole >= 4 ? whole / 4 : 1), std::to_string(2 * whole), "", "2"};
}

Table values_table(const Curve& curve) {
  // Sentences stand beside the table, and on a small screen it has little room.
  constexpr std::array<std::string_view, 6> shown = {"value",  "dma_bytes", "ldm_peak_bytes",
                                                     "cycles", "time_s",    "knee"};
  Table table = placed(curve_table(curve));
  for (Column& column : table.columns) {
    if (column.kind == ColumnKind::cycles) column.kind = ColumnKind::count;
    column.shown = std::find(shown.begin(), shown.end(), column.key) != shown.end();
  }
  return table;
}

}  // namespace stowage::inspector
