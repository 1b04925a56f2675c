// SPDX-License-Identifier: Apache-2.0
// Reading batch files.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/toml_reader.h"
#include "driver/batch/batch.h"
#include "driver/files/files.h"
#include "driver/networks/networks.h"
#include "driver/session/schedule_toml.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::string beside(const fs::path& folder, const std::string& path) {
  return fs::path(path).is_absolute() ? path : (folder / path).lexically_normal().string();
}

/// "target.ldm.bytes" = 65536, or target = { ldm = { bytes = 65536 } }, as settings in TOML syntax.
void add_settings(TomlTable& table, const std::string& prefix, std::vector<std::string>& settings) {
  for (const std::string& key : table.keys()) {
    std::string value;
    if (table.is_table(key)) {
      TomlTable inner = *table.table(key);
      add_settings(inner, prefix + key + ".", settings);
    } else if (table.read_any(key, value)) {
      settings.push_back(fmt::format("{}{}={}", prefix, key, value));
    }
  }
}

/// What [defaults] and [[job]] have in common.
void read_common(TomlTable& table, const fs::path& folder, Job& job) {
  if (table.read("target", job.request.target)) {
    const std::vector<std::string> built_in = built_in_targets();
    if (std::find(built_in.begin(), built_in.end(), job.request.target) == built_in.end()) {
      // A misspelt name stays as it is, for a better message.
      const std::string path = beside(folder, job.request.target);
      if (std::error_code failure; fs::exists(path, failure)) job.request.target = path;
    }
  }
  table.read("fusion", job.request.fusion);
  table.read("planner", job.request.planner);
  if (table.read("templates", job.request.templates) && !job.request.templates.empty()) {
    job.request.templates = beside(folder, job.request.templates);
  }
  table.read("check", job.check);
  table.read("batch", job.network_batch, {1, largest_network_batch});
  table.read("seed", job.network_seed, {0, largest});
  if (auto settings = table.table("set")) {
    add_settings(*settings, "", job.request.settings);
  }
  if (auto dimensions = table.table("dim")) {
    for (const std::string& name : dimensions->keys()) {
      dimensions->read(name, job.request.import.dimensions[name], {0, largest});
    }
  }
  if (auto bindings = table.table("bind")) {
    for (const std::string& name : bindings->keys()) {
      if (std::string file; bindings->read(name, file)) job.request.bindings[name] = beside(folder, file);
    }
  }
}

/// Why no folder of a batch can have that name; empty where one can.
std::string why_no_folder(const std::string& name) {
  constexpr std::size_t longest = 255;
  if (name.empty()) return "it is empty";
  if (name == "networks" || name == results_name) return "the batch writes there itself";
  if (name.front() == '.') return "it begins with a '.'";
  if (name.find('/') != std::string::npos) return "it holds a '/'";
  if (name.size() > longest) return fmt::format("it is longer than {} bytes", longest);
  const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  return control ? "it holds control characters" : "";
}

void read_job(TomlTable& table, const fs::path& folder, Job& job) {
  if (table.read("name", job.name, Need::required)) {
    if (const std::string why = why_no_folder(job.name); !why.empty()) {
      table.error("wrong-job-name", "name",
                  fmt::format("'{}' cannot be the name of a folder for this job: {}", job.name, why),
                  "give the job another name");
    }
  }
  read_common(table, folder, job);
  const Backend& backend = backend_of(job.request);
  if (job.request.planner.empty()) job.request.planner = backend.default_planner();
  if (auto schedules = table.table("schedule")) job.request.fixed = read_schedules(*schedules, backend);
  job.request.fixed.groups = read_groups(table);
  const bool model = table.read("model", job.request.model);
  const bool network = table.read("network", job.network);
  if (model && job.request.model.empty()) table.error("missing-file", "model", "the path of the model is empty");
  if (model) job.request.model = beside(folder, job.request.model);
  if (table.has("model") && table.has("network")) {
    table.error("two-models", "network", "a job has either 'model' or 'network'");
  } else if (!table.has("model") && !table.has("network")) {
    table.error("missing-key", "name", "the job has neither 'model' (a file) nor 'network' (a sample network)");
  }
  const std::vector<std::string> known = network_names();
  if (network && std::find(known.begin(), known.end(), job.network) == known.end()) {
    table.error("unknown-network", "network", fmt::format("no sample network '{}'", job.network),
                suggest_name(job.network, known));
  }
  table.finish();
}

}  // namespace

Result<std::vector<Job>> load_jobs(const std::string& path, Diagnostics& diagnostics, const Backends& backends) {
  const auto text = read_text_file(path, diagnostics);
  if (!text) return Failed{};
  return parse_jobs(*text, path, diagnostics, backends);
}

Result<std::vector<Job>> parse_jobs(std::string_view text, const std::string& path, Diagnostics& diagnostics,
                                    const Backends& backends) {
  Diagnostics own;
  std::vector<Job> jobs;
  std::set<std::string> names;
  const fs::path folder = fs::path(path).parent_path();
  if (auto document = TomlTable::parse(text, path, own)) {
    Job defaults;
    defaults.request.backends = backends;
    if (auto table = document->table("defaults")) {
      read_common(*table, folder, defaults);
      table->finish();
    }
    for (TomlTable& table : document->tables("job", Need::required)) {
      Job job = defaults;
      read_job(table, folder, job);
      if (!job.name.empty() && !names.insert(job.name).second) {
        table.error("duplicate-job", "name", fmt::format("two jobs have the name '{}'", job.name));
      }
      jobs.push_back(std::move(job));
    }
    document->finish();
  }
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return jobs;
}

}  // namespace stowage
