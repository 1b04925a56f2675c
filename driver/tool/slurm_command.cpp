// SPDX-License-Identifier: Apache-2.0
// `stowage batch --slurm`.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/batch/batch_file.h"
#include "driver/batch/journal.h"
#include "driver/batch/resume.h"
#include "driver/batch/slurm.h"
#include "driver/batch/stored_result.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/text/listed.h"
#include "driver/tool/batch_command.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// The shards' numbers by how far they are.
struct ShardsByState {
  std::vector<int> done, running, stopped, missing;
  [[nodiscard]] std::vector<int> left() const {
    std::vector<int> all = stopped;
    all.insert(all.end(), missing.begin(), missing.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

/// Why what stands in a shard's folder is not of this batch, which goes on there; empty where it is.
std::string why_another(const ShardNote& there, const ShardNote& wanted) {
  if (there.stowage != wanted.stowage) return fmt::format("stowage {} ran this shard", there.stowage);
  if (there.command != wanted.command) return fmt::format("is of '{}'", there.command);
  if (there.shard.of != wanted.shard.of) return fmt::format("is a shard of {}", there.shard.of);
  return there.batch != wanted.batch ? "the batch file, or a file that one of its jobs reads, was another then" : "";
}

/// Whether a shard that ended has a job to which the limit of now gives more time. What cannot be read, merging
/// reports.
bool has_cut_short(const fs::path& results, std::optional<double> search_seconds) {
  Diagnostics ignored;
  const auto text = read_text_file(results.string(), ignored);
  if (!text) return false;
  std::istringstream lines(*text);
  try {
    for (std::string line; std::getline(lines, line);) {
      if (is_cut_short(result_of(line).result, search_seconds)) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

ShardsByState look(const ShardNote& wanted, const fs::path& folder, std::optional<double> search_seconds,
                   Diagnostics& diagnostics) {
  ShardsByState shards;
  for (int number = 1; number <= wanted.shard.of; ++number) {
    const fs::path path = folder / shard_folder_name({number, wanted.shard.of});
    std::error_code failure;
    if (!fs::exists(path / shard_note_name, failure)) {
      (is_batch_running(path) ? shards.running : shards.missing).push_back(number);
      continue;
    }
    const auto note = read_shard_note(path, diagnostics);
    if (!note) continue;
    if (const std::string why = why_another(*note, wanted); !why.empty()) {
      diagnostics.error("other-batch", place_of(path), why, "choose another folder (-o), or delete this one");
    } else if (!note->results.empty() && fs::exists(path / results_name, failure) &&
               !has_cut_short(path / results_name, search_seconds)) {
      shards.done.push_back(number);
    } else {
      (is_batch_running(path) ? shards.running : shards.stopped).push_back(number);
    }
  }
  return shards;
}

/// "jobs.sbatch", "jobs-2.sbatch" …
fs::path script_path(const std::string& wanted, std::size_t index) {
  if (index == 0) return wanted;
  const fs::path path = wanted;
  return path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), index + 1, path.extension().string());
}

/// Of an array job: what of a file's name can stand there.
std::string job_name_of(const std::string& file) {
  std::string name = fs::path(file).stem().string();
  for (char& c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!is_plain) c = '_';
  }
  return name.empty() ? "stowage" : name;
}

std::vector<std::string> command_of(const BatchCommandOptions& options) {
  std::vector<std::string> command = {"batch", options.file};
  const auto add = [&](const char* option, std::string value) {
    command.emplace_back(option);
    command.push_back(std::move(value));
  };
  if (options.timeout) add("--timeout", fmt::format("{}", *options.timeout));
  if (!options.memory_per_job.empty()) add("--memory-per-job", options.memory_per_job);
  if (options.cost_cache) add("--cost-cache", *options.cost_cache);
  return command;
}

/// Whether there stands a script that this command wrote and nobody edited.
bool has_own_script(const fs::path& path) {
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(path, failure))) return false;
  Diagnostics ignored;
  const auto there = read_text_file(path.string(), ignored);
  return there && is_own_script(*there);
}

/// What was written before and nobody edited may be replaced, and what `options` say.
bool write_script(const fs::path& path, const std::string& script, const BatchCommandOptions& options,
                  Diagnostics& diagnostics) {
  const std::vector<fs::path> inputs = {options.file};
  const bool replace = options.force || has_own_script(path);
  return may_write_file(path, replace, inputs, diagnostics) &&
         write_file_whole(path, script, replace ? Existing::replace : Existing::keep, diagnostics);
}

bool make_folder(const fs::path& folder, Diagnostics& diagnostics) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) diagnostics.error("file-error", place_of(folder), "the folder cannot be made: " + failure.message());
  return !failure;
}

void print_state(const ShardsByState& shards, const std::vector<fs::path>& scripts, const fs::path& folder,
                 const std::string& command_line, ToolContext& context) {
  const std::size_t all = shards.done.size() + shards.running.size() + shards.stopped.size() + shards.missing.size();
  // Shards of another division may lie beside these.
  const std::string merge = fmt::format("stowage batch --merge {}/*-of-{} -o {}",
                                        shell_quoted((folder / "shards").string()), all, shell_quoted(folder.string()));
  if (context.json) {
    Json json{{"command", command_line},
              {"done", shards.done},
              {"running", shards.running},
              {"stopped", shards.stopped},
              {"missing", shards.missing},
              {"scripts", Json::array()},
              {"merge", merge}};
    for (const fs::path& script : scripts) json["scripts"].push_back(script.string());
    context.out << dumped(json, 1);
    return;
  }
  std::vector<std::string> parts;
  const auto tell = [&](const std::vector<int>& numbers, std::string_view state) {
    if (!numbers.empty()) parts.push_back(fmt::format("{} {} ({})", numbers.size(), state, ranges_text(numbers)));
  };
  tell(shards.done, "done");
  tell(shards.running, "running");
  tell(shards.stopped, "stopped before the end");
  tell(shards.missing, "not begun");
  context.out << fmt::format("stowage {} | {}\n\n{} in {}: {}\n", stowage_version(), command_line,
                             counted(all, "shard"), (folder / "shards").string(), listed(parts));
  if (!scripts.empty()) context.out << "run what is left by\n";
  for (const fs::path& script : scripts) context.out << fmt::format("  sbatch {}\n", shell_quoted(script.string()));
  context.out << fmt::format(
      "{}\n  {}\n", shards.done.size() == all ? "put them together by" : "and then put all together by", merge);
}

}  // namespace

int slurm_command(const BatchCommandOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const auto text = read_text_file(options.file, diagnostics);
  if (!text) return failed(context, diagnostics);
  const auto file = parse_batch_file(*text, options.file, diagnostics, context.backends);
  if (!file) return failed(context, diagnostics);
  const SlurmSettings& settings = file->slurm;
  const int of = slurm_shards(settings, file->jobs.size());
  auto wanted = shard_of(file->jobs, {1, of}, context.interrupt.token());
  if (!wanted) return failed(context, diagnostics);
  wanted->command = "stowage batch " + shell_quoted(options.file);
  const fs::path folder = options.output.empty() ? batch_folder_of(options.file) : options.output;
  SlurmWork work;
  work.name = job_name_of(options.file);
  std::error_code failure;
  work.working_folder = fs::current_path(failure).string();
  if (const std::string why = why_no_slurm_text(work.working_folder); !why.empty()) {
    diagnostics.error("slurm-value", place_of(work.working_folder),
                      fmt::format("this folder cannot be named in a script for Slurm: {}", why),
                      "give the command from a folder with another name");
  }
  if (const std::string why = why_no_slurm_text(folder.string()); !why.empty()) {
    diagnostics.error("slurm-value", place_of(folder),
                      fmt::format("this folder cannot be named in a script for Slurm: {}", why),
                      "choose another folder (-o)");
  }
  const ShardsByState shards = look(*wanted, folder / "shards", options.timeout, diagnostics);
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  work.program = context.program.empty() ? "" : fs::canonical(context.program, failure).string();
  if (work.program.empty()) work.program = "stowage";
  work.command = command_of(options);
  if (settings.cpus > 0) work.command.insert(work.command.end(), {"-j", fmt::format("{}", settings.cpus)});
  work.of = of;
  work.shards_folder = (folder / "shards").string();
  work.logs_folder = (folder / "logs").string();

  std::vector<fs::path> scripts;
  const std::vector<int> left = shards.left();
  if (!left.empty() && !(make_folder(folder / "shards", diagnostics) && make_folder(folder / "logs", diagnostics))) {
    return failed(context, diagnostics);
  }
  for (const SlurmArray& array : slurm_arrays(left, settings.max_array)) {
    scripts.push_back(script_path(options.slurm, scripts.size()));
    if (!write_script(scripts.back(), slurm_script(settings, array, work), options, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  // Further parts of a longer array would run shards again that have ended.
  for (std::size_t i = std::max<std::size_t>(1, scripts.size()); has_own_script(script_path(options.slurm, i)); ++i) {
    fs::remove(script_path(options.slurm, i), failure);
  }
  print_state(shards, scripts, folder, fmt::format("{} --slurm {}", wanted->command, shell_quoted(options.slurm)),
              context);
  return exit_done;
}

}  // namespace stowage
