// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/slurm.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <span>

#include <fmt/format.h>

#include "driver/session/session.h"
#include "driver/text/shell_text.h"

namespace stowage {

namespace {

constexpr std::string_view hash_sign = "# end, ";

constexpr std::size_t longest_value = 1000;  ///< the library's matcher recurses for every character

bool matches(const std::string& text, const char* form) {
  return text.size() <= longest_value && std::regex_match(text, std::regex(form));
}

/// What stands in a message of a value that may be of any length.
std::string shown(const std::string& text) {
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Whether an option of sbatch is one that the script gives; sbatch takes beginnings of names too.
bool is_of_script(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  constexpr std::size_t shortest = 3;  // "--a"
  if (name.size() < shortest) return false;
  for (const char* own : {"--array", "--output", "--error", "--open-mode", "--chdir", "--wrap"}) {
    if (std::string_view(own).starts_with(name)) return true;
  }
  return false;
}

/// A text of the table that has to have a form.
void read_formed(TomlTable& table, const char* key, const char* form, const char* wanted, std::string& to) {
  std::string text;
  if (!table.read(key, text)) return;
  if (!matches(text, form)) {
    table.error("slurm-value", key, fmt::format("'{}' is no {}", shown(text), wanted));
    return;
  }
  to = text;
}

}  // namespace

void read_slurm(TomlTable& table, SlurmSettings& settings) {
  constexpr const char* name_form = "[A-Za-z0-9_][A-Za-z0-9_.,:@+-]*";
  table.read("shards", settings.shards, {1, max_shards});
  table.read("max_array", settings.max_array, {1, 4'000'000});
  table.read("limit", settings.limit, {1, max_shards});
  table.read("cpus", settings.cpus, {1, 1024});
  read_formed(table, "partition", name_form, "name of a partition", settings.partition);
  read_formed(table, "account", name_form, "name of an account", settings.account);
  read_formed(table, "qos", name_form, "name of a quality of service", settings.qos);
  read_formed(table, "time", R"(\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+|\d+-\d+:\d\d|\d+-\d+:\d\d:\d\d|UNLIMITED)",
              "time as Slurm has it: minutes, \"HOURS:MINUTES:SECONDS\" or \"DAYS-HOURS\" were wanted", settings.time);
  read_formed(table, "memory", "\\d+[KMGT]?", "size as Slurm has it: a whole number with K, M, G or T was wanted",
              settings.memory);
  std::vector<std::string> options;
  if (table.read("options", options)) {
    settings.options.clear();
    for (const std::string& option : options) {
      const bool is_ours = is_of_script(option);
      if (is_ours || !matches(option, "--[a-z][a-z0-9-]*(=[^\\x00-\\x20\"'\\\\#]+)?")) {
        table.error("slurm-value", "options",
                    fmt::format("'{}' {}", shown(option),
                                is_ours ? "is set by the script itself"
                                        : "is no option of sbatch: --NAME or --NAME=VALUE without spaces was wanted"));
        continue;
      }
      settings.options.push_back(option);
    }
  }
  table.finish();
}

int slurm_shards(const SlurmSettings& settings, std::size_t jobs) {
  if (settings.shards > 0) return settings.shards;
  return static_cast<int>(std::clamp<std::size_t>(jobs, 1, usual_slurm_shards));
}

std::string why_no_slurm_text(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "it holds control characters";
    if (c == '%' || c == '"' || c == '\\') return fmt::format("it holds a '{}'", c);
  }
  return "";
}

std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", numbers[begin]);
    if (end - begin > 1) text += fmt::format("-{}", numbers[end - 1]);
    begin = end;
  }
  return text;
}

std::vector<SlurmArray> slurm_arrays(const std::vector<int>& shards, int max_array) {
  std::vector<SlurmArray> arrays;
  for (const int shard : shards) {
    const int offset = (shard - 1) / max_array * max_array;
    if (arrays.empty() || arrays.back().offset != offset) arrays.push_back({{}, offset});
    arrays.back().shards.push_back(shard);
  }
  return arrays;
}

std::string shard_folder_name(const Shard& shard) { return fmt::format("{}-of-{}", shard.number, shard.of); }

std::string slurm_script(const SlurmSettings& settings, const SlurmArray& array, const SlurmWork& work) {
  std::vector<int> tasks;
  for (const int shard : array.shards) tasks.push_back(shard - array.offset);
  std::string text = "#!/bin/bash\n";
  const auto set = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", option, value);
  };
  set("job-name", fmt::format("\"{}\"", work.name));
  set("array", ranges_text(tasks) + (settings.limit > 0 ? fmt::format("%{}", settings.limit) : ""));
  set("chdir", fmt::format("\"{}\"", work.working_folder));
  // What Slurm itself says: that a task took too long, say. The task's own output goes beside it, named after its
  // shard, whose number may not be the task's.
  const std::string logs = (std::filesystem::path(work.working_folder) / work.logs_folder).string();
  set("output", fmt::format("\"{}/slurm-%A_%a.out\"", logs));
  set("open-mode", "append");
  set("partition", settings.partition);
  set("account", settings.account);
  set("qos", settings.qos);
  set("time", settings.time);
  set("mem", settings.memory);
  if (settings.cpus > 0) set("cpus-per-task", fmt::format("{}", settings.cpus));
  for (const std::string& option : settings.options) text += fmt::format("#SBATCH {}\n", option);
  std::string command = shell_quoted(work.program);
  for (const std::string& argument : work.command) command += " " + shell_quoted(argument);
  text += fmt::format(
      "# Written by stowage {}: shards {} of {}. A task that is run again goes on where it stopped.\n"
      "shard=$((SLURM_ARRAY_TASK_ID + {}))\n"
      "exec >> {}/\"$shard.log\" 2>&1\n"
      "exec {} --shard \"$shard/{}\" -o {}/\"$shard-of-{}\"\n",
      stowage_version(), ranges_text(array.shards), work.of, array.offset, shell_quoted(work.logs_folder), command,
      work.of, shell_quoted(work.shards_folder), work.of);
  return text + fmt::format("{}{}\n", hash_sign, hash_of(std::as_bytes(std::span(text))));
}

bool is_own_script(std::string_view text) {
  if (text.empty() || text.back() != '\n') return false;
  const auto before = text.rfind('\n', text.size() - 2);
  if (before == std::string_view::npos) return false;
  const std::string_view all = text.substr(0, before + 1);
  return text.substr(before + 1) == fmt::format("{}{}\n", hash_sign, hash_of(std::as_bytes(std::span(all))));
}

}  // namespace stowage
