// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <ostream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "driver/files/output_folder.h"
#include "driver/json/certificate_json.h"
#include "driver/json/json.h"
#include "driver/report/report.h"
#include "driver/session/compile_within.h"
#include "driver/session/schedule_toml.h"
#include "driver/store/fusion_file.h"
#include "driver/store/pass_dump.h"
#include "driver/store/plan_file.h"
#include "driver/store/plan_json.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

/// The command line that leads to the same plan: what only says where results go is left out, so that the same input
/// gives the same bytes wherever they are written.
std::string reproducing_command(const CompileOptions& options, const std::string& planner) {
  std::string line = "stowage compile " + shell_quoted(options.model);
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_quoted(value));
  };
  add("--target", options.target);
  if (!options.library.empty()) add("--library", options.library);
  add("--fusion", options.fusion);
  add("--planner", planner);
  if (!options.layout.empty()) add("--layout", options.layout);
  if (options.cost != CompileRequest{}.cost) add("--cost", options.cost);
  if (!options.cost_model.empty()) add("--cost-model", options.cost_model);
  if (!options.templates.empty()) add("--templates", options.templates);
  for (const std::string& dimension : options.dimensions) add("--dim", dimension);
  for (const std::string& binding : options.bindings) add("--bind", binding);
  if (!options.schedule.empty()) add("--schedule", options.schedule);
  for (const std::string& setting : options.settings) add("--set", setting);
  return line;
}

Result<CompileRequest> request_of(const CompileOptions& options, const Backends& backends, Diagnostics& diagnostics) {
  Diagnostics own;
  CompileRequest request;
  request.model = options.model;
  request.target = options.target;
  request.library = options.library;
  request.fusion = options.fusion;
  request.layout = options.layout;
  request.cost = options.cost;
  request.cost_model = options.cost_model;
  request.templates = options.templates;
  request.settings = options.settings;
  request.backends = backends;
  const Backend& backend = backend_of(request);
  request.planner = options.planner;
  request.planner = planner_of(request, backend);
  request.costs = {options.threads, cost_cache_of(options.cost_cache, own)};
  request.command_line = reproducing_command(options, request.planner);
  request.import.dimensions = sizes_of(options.dimensions, own);
  request.bindings = named_values(options.bindings, "--bind", own);
  if (!options.schedule.empty()) {
    if (auto fixed = load_schedules(options.schedule, backend, own)) request.fixed = *std::move(fixed);
  }
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return request;
}

int print_config(const CompileRequest& request, ToolContext& context) {
  Diagnostics diagnostics;
  const auto target = target_of(request, diagnostics);
  if (!target) return failed(context, diagnostics);
  if (context.json) {
    context.out << dumped(Json{{"command", request.command_line},
                               {"stowage", stowage_version()},
                               {"fusion", request.fusion},
                               {"planner", request.planner},
                               {"layout", layout_of(request, backend_of(request))},
                               {"cost", request.cost},
                               {"target", to_toml(*target)}},
                          1);
    return exit_done;
  }
  context.out << fmt::format("# stowage {}: {}\n# fusion = {}, planner = {}, layout = {}, cost = {}\n{}",
                             stowage_version(), request.command_line, request.fusion, request.planner,
                             layout_of(request, backend_of(request)), request.cost, to_toml(*target));
  return exit_done;
}

Json compilation_json(const Compilation& compilation, const Diagnostics& diagnostics) {
  Json json;
  json["command"] = compilation.command_line;
  json["stowage"] = stowage_version();
  json["model"] = {{"path", compilation.model.path}, {"hash", compilation.model.hash}};
  json["network"] = compilation.network;
  json["target"] = compilation.program.target.name;
  json["fusion"] = compilation.program.fusion;
  json["planner"] = compilation.program.planner;
  json["layout"] = compilation.program.layout;
  json["cost"] = name_of(compilation.program.evaluated_by);
  if (compilation.evaluated_cycles) json["evaluated_cycles"] = *compilation.evaluated_cycles;
  json.update(totals_json(compilation.program));
  if (Json limits = limits_json(compilation.program); !limits.empty()) json["limits"] = std::move(limits);
  if (compilation.fusion.search) json["search"] = search_json(compilation.fusion);
  if (Json certificates = certificates_json(compilation.program); !certificates.empty()) {
    json["certificates"] = std::move(certificates);
  }
  json["others"] = others_json(compilation);
  json["diagnostics"] = to_json(diagnostics);
  return json;
}

/// True if one of the folders is the other or lies in it, by whatever links.
bool overlap(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto real = [](const std::filesystem::path& folder) {
    std::error_code failure;
    const auto path = std::filesystem::weakly_canonical(without_slash(folder), failure);
    return failure ? without_slash(folder) : path;
  };
  const auto inside = [](const std::filesystem::path& inner, const std::filesystem::path& outer) {
    const auto path = inner.lexically_relative(outer);
    return !path.empty() && *path.begin() != "..";
  };
  return inside(real(a), real(b)) || inside(real(b), real(a));
}

bool may_write_outputs(const CompileOptions& options, std::span<const std::filesystem::path> inputs,
                       Diagnostics& diagnostics) {
  if (!options.output.empty() &&
      !may_write_folder(options.output, FolderContent::plan, options.force, inputs, diagnostics)) {
    return false;
  }
  if (options.dump_passes.empty()) return true;
  if (!options.output.empty() && overlap(options.output, options.dump_passes)) {
    SourceLocation location;
    location.file = options.dump_passes;
    diagnostics.error("output-in-use", location, fmt::format("the plan's folder is '{}'", options.output),
                      "choose a folder of its own for --dump-passes");
    return false;
  }
  return may_write_folder(options.dump_passes, FolderContent::passes, options.force, inputs, diagnostics);
}

}  // namespace

std::string cost_cache_of(const std::optional<std::string>& option, Diagnostics& diagnostics) {
  namespace fs = std::filesystem;
  if (!option) return default_cost_cache();
  if (*option == "none") return {};
  std::error_code failure;
  fs::create_directories(*option, failure);
  if (!failure && ::access(option->c_str(), W_OK | X_OK) != 0) failure.assign(errno, std::generic_category());
  if (!failure && !fs::is_directory(*option)) failure = std::make_error_code(std::errc::not_a_directory);
  if (!failure) return *option;
  SourceLocation location;
  location.file = *option;
  diagnostics.warning("cost-cache", location,
                      fmt::format("costs are not kept, the folder cannot be used: {}", failure.message()),
                      "name another folder, or 'none'");
  return {};
}

std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& dimensions, Diagnostics& diagnostics) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, text] : named_values(dimensions, "--dim", diagnostics)) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error == std::errc() && end == text.data() + text.size() && size >= 0) {
      sizes[name] = size;
      continue;
    }
    SourceLocation location;
    location.file = "--dim " + name + "=" + text;
    diagnostics.error("wrong-option", location,
                      fmt::format("'{}' is no size, an integer of at least 0 was wanted", text));
  }
  return sizes;
}

std::vector<std::filesystem::path> files_read(const CompileRequest& request) {
  std::vector<std::filesystem::path> files = {request.model, request.templates, request.cost_model};
  const std::vector<std::string> built_in = built_in_targets();
  if (std::find(built_in.begin(), built_in.end(), request.target) == built_in.end()) files.emplace_back(request.target);
  for (const auto& [input, file] : request.bindings) files.emplace_back(file);
  return files;
}

int compile_command(const CompileOptions& options, ToolContext& context) {
  if (options.force && options.output.empty() && options.dump_passes.empty()) {
    return usage_error(context, "compile", "--force has no meaning without -o or --dump-passes",
                       "name a folder to write to, or leave --force out");
  }
  Diagnostics diagnostics;
  const auto request = request_of(options, context.backends, diagnostics);
  if (!request) return failed(context, diagnostics);
  if (options.print_config) return print_config(*request, context);
  std::vector<std::filesystem::path> inputs = files_read(*request);
  inputs.emplace_back(options.schedule);
  if (!may_write_outputs(options, inputs, diagnostics)) return failed(context, diagnostics);

  const std::stop_token stop = context.interrupt.token();
  const auto compilation = [&] {
    ProgressLine progress(context);
    if (!options.seconds) return compile(*request, diagnostics, stop, progress.sink());
    const SearchTime time{*options.seconds, fmt::format("{} --time-limit {}", request->command_line, *options.seconds)};
    bool has_decided = false;  // which is a warning, and in the command line
    return compile_within(time, *request, has_decided, diagnostics, stop, progress.sink());
  }();
  if (!compilation) return failed(context, diagnostics);
  if (!options.dump_passes.empty()) {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_pass_dump(compilation->program, options.dump_passes, options.force, diagnostics, stop)) {
      return failed(context, diagnostics);
    }
  }
  if (!options.output.empty()) {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_compilation(*compilation, options.output, options.force, diagnostics, stop)) {
      return failed(context, diagnostics);
    }
  }
  print_warnings(context, diagnostics);
  if (context.json) {
    context.out << dumped(compilation_json(*compilation, diagnostics), 1);
    return exit_done;
  }
  context.out << reproducer_line(*compilation) << "\n\n" << summary_text(*compilation);
  if (!options.output.empty()) {
    context.out << fmt::format("\nwritten to {}: plan.json, trace.json, report.md, src/\n", options.output);
  }
  if (!options.dump_passes.empty()) {
    context.out << fmt::format("\nwritten to {}: the nest of every kernel after each pass that changed it\n",
                               options.dump_passes);
  }
  return exit_done;
}

}  // namespace stowage
