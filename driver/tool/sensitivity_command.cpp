// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/sensitivity_command.h"

#include <filesystem>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/sensitivity/curve.h"
#include "driver/sensitivity/curve_page.h"
#include "driver/sensitivity/curve_tables.h"
#include "driver/session/schedule_toml.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

/// The command line that gives the same curve.
std::string command_of(const SensitivityOptions& options, const std::string& key) {
  std::string line = fmt::format("stowage sensitivity {} --key {}", shell_quoted(options.folder), shell_quoted(key));
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) line += fmt::format(" {} {}", option, shell_quoted(value));
  };
  add("--from", options.range.from);
  add("--to", options.range.to);
  add("--step", options.range.step);
  add("--factor", options.range.factor);
  add("--schedule", options.schedule);
  return line;
}

/// What the curve is asked for; what is wrong with the options is reported together.
Result<CurveRequest> request_of(const SensitivityOptions& options, const Compilation& plan, Diagnostics& diagnostics) {
  Diagnostics own;
  CurveRequest request;
  const auto key = curve_key(options.key, plan.program.target, own);
  auto values = curve_values(key ? *key : options.key, options.range, own);
  if (!options.schedule.empty()) {
    if (auto fixed = load_schedules(options.schedule, backend_of(plan), own)) request.fixed = *std::move(fixed);
  }
  request.costs = {options.threads, cost_cache_of(options.cost_cache, own)};
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  request.key = *key;
  request.values = *std::move(values);
  return request;
}

bool write_curve(const SensitivityOptions& options, const Curve& curve, const std::string& command,
                 const std::string& reproducer, Diagnostics& diagnostics) {
  const std::string text = options.output.ends_with(".csv") ? curve_csv(curve) : curve_page(curve, command, reproducer);
  return write_file_whole(options.output, text, options.force ? Existing::replace : Existing::keep, diagnostics);
}

/// Nothing could be planned: that is no curve.
void report_no_plan(const SensitivityOptions& options, const Curve& curve, Diagnostics& diagnostics) {
  SourceLocation location;
  location.file = options.folder;
  const CurvePoint& last = curve.points.back();
  diagnostics.error("no-plan", location,
                    fmt::format("there is no plan for any value of {}; of the last one, {}: {}", curve.key,
                                last.value.toml, last.refusal),
                    "take values around that of the folder's own plan");
}

}  // namespace

int sensitivity_command(const SensitivityOptions& options, ToolContext& context) {
  if (!options.output.empty() && !options.output.ends_with(".csv") && !options.output.ends_with(".html")) {
    return usage_error(context, "sensitivity", fmt::format("'{}' ends neither in .html nor in .csv", options.output),
                       "name a page or a table");
  }
  Diagnostics diagnostics;
  const std::vector<std::filesystem::path> read = {options.folder, options.schedule};
  if (!options.output.empty() && !may_write_file(options.output, options.force, read, diagnostics)) {
    return failed(context, diagnostics);
  }
  const std::stop_token stop = context.interrupt.token();
  auto plan = read_compilation(options.folder, diagnostics, stop, context.backends);
  if (!plan) return failed(context, diagnostics);
  const auto request = request_of(options, *plan, diagnostics);
  if (!request) return failed(context, diagnostics);
  const auto curve = [&] {
    ProgressLine progress(context);
    const ProgressSink sink = progress.sink();
    if (sink) sink("read", 0, request->values.size());
    read_model_again(*plan, options.folder);
    return sensitivity(*plan, *request, diagnostics, stop, sink);
  }();
  if (!curve) return failed(context, diagnostics);
  if (!curve->has_plan()) {
    report_no_plan(options, *curve, diagnostics);
    return failed(context, diagnostics);
  }
  const std::string command = command_of(options, request->key);
  const std::string reproducer = reproducer_line(*plan);
  if (!options.output.empty()) {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (stop.stop_requested() || !write_curve(options, *curve, command, reproducer, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  print_warnings(context, diagnostics);
  if (context.json) {
    Json json = {{"command", command}, {"stowage", stowage_version()}, {"compiled_by", plan->command_line}};
    json.update(to_json(*curve));
    if (!options.output.empty()) json["file"] = options.output;
    json["diagnostics"] = to_json(diagnostics);
    context.out << dumped(json, 1);
    return exit_done;
  }
  context.out << fmt::format("stowage {} | {} | {}\n\n{}", stowage_version(), command, reproducer, curve_text(*curve));
  if (!options.output.empty()) context.out << fmt::format("\nwritten to {}\n", options.output);
  return exit_done;
}

}  // namespace stowage
