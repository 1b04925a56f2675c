// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/job_form.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/target_settings.h"
#include "core/toml_reader.h"
#include "driver/athread/athread_schedule.h"
#include "driver/files/files.h"
#include "driver/session/prepared_graph.h"
#include "driver/session/schedule_toml.h"
#include "driver/text/shell_text.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

namespace {

namespace fs = std::filesystem;

/// Where the plan's file is now: relative paths are taken from the working folder, then from the folders around the
/// plan. Where none has these contents, the path as it stands, noted as missing.
std::string find_file(const FileIdentity& file, const std::string& folder, std::vector<std::string>& missing) {
  std::error_code failure;
  const fs::path path = file.path;
  std::vector<fs::path> candidates = {fs::absolute(path, failure)};
  if (!folder.empty()) {
    fs::path around = fs::absolute(folder, failure).lexically_normal();
    if (!around.has_filename()) around = around.parent_path();  // "plans/" is "plans"
    candidates.push_back(around.parent_path() / path.filename());
    for (; path.is_relative() && around != around.parent_path(); around = around.parent_path()) {
      candidates.push_back(around.parent_path() / path);
    }
  }
  Diagnostics ignored;
  for (const fs::path& candidate : candidates) {
    if (!fs::is_regular_file(candidate, failure)) continue;
    const auto hash = hash_of_file(candidate.string(), ignored);
    if (hash && *hash == file.hash) return candidate.lexically_normal().string();
  }
  missing.push_back(file.path);
  return file.path;
}

/// The built-in target of that name, or the first where there is none: with all differences as settings it is the same.
Target nearest_built_in(const std::string& name) {
  const std::vector<std::string> names = built_in_targets();
  Diagnostics diagnostics;
  const auto target =
      load_target(std::find(names.begin(), names.end(), name) != names.end() ? name : names.front(), {}, diagnostics);
  check(static_cast<bool>(target), "a built-in target cannot be read");
  return *target;
}

std::string remarks(const JobForm& job) {
  std::string text;
  for (const std::string& file : job.missing) {
    text += fmt::format("# {} was not found as the plan knows it: write down where it is\n", shell_quoted(file));
  }
  return text;
}

std::string inline_table(const std::vector<std::string>& entries) {
  return fmt::format("{{ {} }}", fmt::join(entries, ", "));
}

}  // namespace

JobForm job_form(const LoadedPlan& plan, const PlanEdit& edit) {
  off_window_thread("the files of a plan were looked for");
  const Compilation& compilation = plan.compilation;
  const Program& program = plan.program();
  JobForm job;
  job.network = plan.network;
  job.model = plan.network ? plan.network->name + ".onnx" : find_file(compilation.model, plan.folder, job.missing);
  const Target built_in = nearest_built_in(program.target.name);
  job.target = built_in.name;
  job.settings = settings_between(built_in, program.target);
  for (const auto& [key, value] : edit.target) job.settings[key] = value;
  job.fusion = program.fusion;
  job.planner = program.planner;
  if (program.layout != backend_of(compilation).default_layout(program.planner)) job.layout = program.layout;
  if (program.evaluated_by != EvaluatedBy::closed_form) job.cost = name_of(program.evaluated_by);
  if (compilation.cost_model) job.cost_model = find_file(compilation.cost_model->file, plan.folder, job.missing);
  if (compilation.templates) job.templates = find_file(compilation.templates->file, plan.folder, job.missing);
  job.dimensions = compilation.dimensions;
  for (const auto& [input, file] : compilation.bindings) {
    job.bindings[input] = find_file(file, plan.folder, job.missing);
  }
  return job;
}

std::string command_of(const JobForm& job) {
  std::string line = "stowage compile " + shell_quoted(job.model);
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_quoted(value));
  };
  add("--target", job.target);
  add("--fusion", job.fusion);
  add("--planner", job.planner);
  if (!job.layout.empty()) add("--layout", job.layout);
  if (!job.cost.empty()) add("--cost", job.cost);
  if (!job.cost_model.empty()) add("--cost-model", job.cost_model);
  if (!job.templates.empty()) add("--templates", job.templates);
  for (const auto& [name, size] : job.dimensions) add("--dim", fmt::format("{}={}", name, size));
  for (const auto& [input, path] : job.bindings) add("--bind", fmt::format("{}={}", input, path));
  for (const auto& [key, value] : job.settings) add("--set", fmt::format("target.{}={}", key, value));
  return line;
}

std::string command_of(const JobForm& job, const std::string& file) {
  return fmt::format("{} --schedule {}", command_of(job), shell_quoted(file));
}

std::string schedule_file(const PlanEdit& edit, const JobForm& job, const std::string& file) {
  std::string text;
  if (job.network) {
    text = fmt::format("# stowage network {} -o {} --batch {} --seed {}\n", job.network->name, job.model,
                       job.network->batch, job.network->seed);
  }
  text += fmt::format("# {}\n{}", command_of(job, file), remarks(job));
  for (const std::vector<std::string>& group : edit.groups) text += "\n" + group_toml(group);
  if (edit.schedules.empty()) text += "\n[schedule]\n";
  for (const auto& [name, schedule] : edit.schedules) text += "\n" + to_toml(name, schedule);
  return text;
}

std::string batch_file(const PlanEdit& edit, const JobForm& job) {
  std::string text = "# stowage batch THIS -o FOLDER\n" + remarks(job) + "\n[[job]]\n";
  const auto line = [&](const char* key, const std::string& value) { text += fmt::format("{} = {}\n", key, value); };
  line("name", quoted_toml(job.name));
  if (job.network) {
    line("network", quoted_toml(job.network->name));
    line("batch", std::to_string(job.network->batch));
    line("seed", std::to_string(job.network->seed));
  } else {
    line("model", quoted_toml(job.model));
  }
  line("target", quoted_toml(job.target));
  line("fusion", quoted_toml(job.fusion));
  line("planner", quoted_toml(job.planner));
  if (!job.layout.empty()) line("layout", quoted_toml(job.layout));
  if (!job.cost.empty()) line("cost", quoted_toml(job.cost));
  if (!job.cost_model.empty()) line("cost_model", quoted_toml(job.cost_model));
  if (!job.templates.empty()) line("templates", quoted_toml(job.templates));
  std::vector<std::string> entries;
  const auto table = [&](const char* key) {
    if (!entries.empty()) line(key, inline_table(entries));
    entries.clear();
  };
  for (const auto& [key, value] : job.settings) entries.push_back(fmt::format("\"target.{}\" = {}", key, value));
  table("set");
  for (const auto& [name, size] : job.dimensions) entries.push_back(fmt::format("{} = {}", quoted_toml(name), size));
  table("dim");
  for (const auto& [input, path] : job.bindings) {
    entries.push_back(fmt::format("{} = {}", quoted_toml(input), quoted_toml(path)));
  }
  table("bind");
  for (const std::vector<std::string>& group : edit.groups) {
    std::string group_table = group_toml(group);
    group_table.insert(2, "job.");  // "[[group]]" of a schedule file
    text += "\n" + group_table;
  }
  for (const auto& [name, schedule] : edit.schedules) {
    std::string schedule_table = to_toml(name, schedule);
    schedule_table.insert(1, "job.");  // "[schedule.…]" of a schedule file
    text += "\n" + schedule_table;
  }
  return text;
}

}  // namespace stowage::inspector
