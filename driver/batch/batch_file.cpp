// SPDX-License-Identifier: Apache-2.0
// Reading batch files.
#include "driver/batch/batch_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/toml_reader.h"
#include "driver/files/files.h"
#include "driver/networks/networks.h"
#include "driver/session/schedule_toml.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

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

/// A job as its table says it, until it is shared out.
struct JobDraft : JobKeys {
  std::string name;
};

/// What [defaults] and [[job]] have in common.
void read_common(TomlTable& table, const fs::path& folder, JobDraft& job) {
  if (table.read("target", job.request.target)) {
    const std::vector<std::string> built_in = built_in_targets();
    if (std::find(built_in.begin(), built_in.end(), job.request.target) == built_in.end()) {
      // A misspelt name stays as it is, for a better message.
      const std::string path = beside(folder, job.request.target);
      if (std::error_code failure; fs::exists(path, failure)) job.request.target = path;
    }
  }
  table.read("library", job.request.library);
  table.read("fusion", job.request.fusion);
  table.read("planner", job.request.planner);
  table.read("layout", job.request.layout);
  table.read("cost", job.request.cost);
  if (table.read("cost_model", job.request.cost_model) && !job.request.cost_model.empty()) {
    job.request.cost_model = beside(folder, job.request.cost_model);
  }
  if (table.read("templates", job.request.templates) && !job.request.templates.empty()) {
    job.request.templates = beside(folder, job.request.templates);
  }
  table.read("check", job.check);
  table.read("batch", job.network_batch, {1, largest_network_batch});
  table.read("seed", job.network_seed, {0, largest_integer});
  if (auto settings = table.table("set")) {
    add_settings(*settings, "", job.request.settings);
  }
  if (auto dimensions = table.table("dim")) {
    for (const std::string& name : dimensions->keys()) {
      dimensions->read(name, job.request.import.dimensions[name], {0, largest_integer});
    }
  }
  if (auto bindings = table.table("bind")) {
    for (const std::string& name : bindings->keys()) {
      if (std::string file; bindings->read(name, file)) job.request.bindings[name] = beside(folder, file);
    }
  }
}

/// What the job compiles.
void read_source(TomlTable& table, const fs::path& folder, JobDraft& job) {
  if (table.read("model", job.request.model)) {
    if (job.request.model.empty()) table.error("missing-file", "model", "the path of the model is empty");
    job.request.model = beside(folder, job.request.model);
  }
  const std::vector<std::string> known = network_names();
  if (table.read("network", job.network) && std::find(known.begin(), known.end(), job.network) == known.end()) {
    table.error("unknown-network", "network", fmt::format("no sample network '{}'", job.network),
                suggest_name(job.network, known));
  }
}

using Combinations = std::vector<Combination>;

class BatchReader {
 public:
  BatchReader(const Backends& backends, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    defaults_.request.backends = backends;
  }

  /// Files that are included come first: their jobs, and their defaults, over which this file's lie.
  void read(std::string_view text, const fs::path& path) {
    auto document = TomlTable::parse(text, path.string(), diagnostics_);
    if (!document) return;
    const fs::path folder = path.parent_path();
    open_.push_back(fs::weakly_canonical(path));
    std::vector<std::string> included;
    document->read("include", included);
    for (const std::string& file : included) include(*document, beside(folder, file));
    if (auto table = document->table("defaults")) {
      read_common(*table, folder, defaults_);
      table->finish();
    }
    if (auto slurm = document->table("slurm")) read_slurm(*slurm, slurm_);
    if (auto presets = document->table("preset")) read_presets(*presets, folder);
    // What is included may hold no more than what jobs have in common.
    const bool is_included = open_.size() > 1;
    const Need jobs = included.empty() && !is_included ? Need::required : Need::optional;
    for (TomlTable& table : document->tables("job", jobs)) read_job(table, folder);
    document->finish();
    open_.pop_back();
    if (is_included || !jobs_.empty() || diagnostics_.has_errors()) return;
    document->error("missing-key", "include", "neither the file nor those that it includes have a job",
                    "add a table [[job]]");
  }

  [[nodiscard]] BatchFile take() { return {std::move(jobs_), std::move(slurm_)}; }

 private:
  struct Preset {
    TomlTable table;
    fs::path folder;
  };

  void include(TomlTable& document, const std::string& file) {
    std::error_code failure;
    const fs::path place = fs::weakly_canonical(file, failure);
    if (std::find(open_.begin(), open_.end(), place) != open_.end()) {
      document.error("include-cycle", "include", fmt::format("'{}' includes itself, by itself or by others", file));
      return;
    }
    Diagnostics unreadable;
    // A pipe would be waited for, and a device read without end.
    if (fs::exists(file, failure) && !fs::is_regular_file(file, failure)) {
      document.error("unreadable-file", "include", fmt::format("'{}' is no file", file), "include another batch file");
      return;
    }
    const auto text = read_text_file(file, unreadable);
    if (text) return read(*text, file);
    for (const Diagnostic& diagnostic : unreadable.entries()) {
      document.error(diagnostic.code, "include", fmt::format("'{}': {}", file, diagnostic.message));
    }
  }

  /// A preset that has a mistake is known, so that a job that names it is not one more mistake.
  void read_presets(TomlTable& presets, const fs::path& folder) {
    for (const std::string& name : presets.keys()) {
      auto table = presets.table(name);
      if (!table) continue;
      JobDraft scratch = defaults_;
      read_common(*table, folder, scratch);
      table->finish();
      presets_.insert_or_assign(name, Preset{*std::move(table), folder});
    }
  }

  void apply_preset(TomlTable& table, JobDraft& job) {
    std::string name;
    if (!table.read("preset", name)) return;
    const auto found = presets_.find(name);
    if (found != presets_.end()) {
      if (!diagnostics_.has_errors()) read_common(found->second.table, found->second.folder, job);
      return;
    }
    std::vector<std::string> names;
    for (const auto& [known, preset] : presets_) names.push_back(known);
    table.error("unknown-preset", "preset", fmt::format("no preset '{}'", name), suggest_name(name, names));
  }

  void read_job(TomlTable& table, const fs::path& folder) {
    JobDraft job = defaults_;
    table.read("name", job.name, Need::required);
    apply_preset(table, job);
    read_common(table, folder, job);
    read_source(table, folder, job);
    std::optional<Combinations> combinations;
    std::optional<TomlTable> sweep = table.table("sweep");
    if (sweep) {
      combinations = read_sweep(*sweep, diagnostics_);
      if (combinations) combinations = without_mistakes(*sweep, folder, job, *std::move(combinations));
    }
    check_source(table, combinations);
    const Backend& backend = backend_of(job.request);
    if (auto schedules = table.table("schedule")) job.request.fixed = read_schedules(*schedules, backend);
    job.request.fixed.groups = read_groups(table);
    for (const std::string key : {"schedule", "group"}) {
      std::string text;
      if (!diagnostics_.has_errors() && table.read_any(key, text)) job.fixed += fmt::format("{} = {}\n", key, text);
    }
    table.finish();
    if (!sweep) {
      set_planner(job.request);
      add(table, {job.name, JobKeys(job), {}});
    } else if (combinations) {
      add_swept(table, folder, job, *std::move(combinations));
    }
  }

  static bool sweeps(const std::optional<Combinations>& combinations, std::string_view key) {
    return combinations && combinations->front().value(key) != nullptr;
  }

  static void check_source(TomlTable& table, const std::optional<Combinations>& combinations) {
    const bool has_model = table.has("model") || sweeps(combinations, "model");
    const bool has_network = table.has("network") || sweeps(combinations, "network");
    const bool unknown = table.has("sweep") && !combinations;  // the sweep has a mistake, and may have had the key
    if (has_model && has_network) {
      table.error("two-models", "network", "a job has either 'model' or 'network'");
    } else if (!has_model && !has_network && !unknown) {
      table.error("missing-key", "name", "the job has neither 'model' (a file) nor 'network' (a sample network)");
    }
  }

  /// Lays swept values over a job; what is wrong with them goes to `diagnostics`.
  static void lay_over(const SweptValues& values, const fs::path& folder, JobDraft& job, Diagnostics& diagnostics) {
    auto table = TomlTable::parse(swept_table(values), "sweep", diagnostics);
    if (!table) return;
    read_common(*table, folder, job);
    read_source(*table, folder, job);
    table->finish();
  }

  /// Tries every value of every key once and reports what is wrong with it; nothing where anything is.
  static std::optional<Combinations> without_mistakes(TomlTable& sweep, const fs::path& folder, const JobDraft& job,
                                                      Combinations combinations) {
    std::set<std::pair<std::string, std::string>> seen;
    bool right = true;
    for (const Combination& combination : combinations) {
      for (const SweptValue& swept : combination.values()) {
        if (!seen.emplace(swept.key, swept.toml).second) continue;
        JobDraft scratch = job;
        Diagnostics own;
        lay_over({swept}, folder, scratch, own);
        for (const Diagnostic& diagnostic : own.entries()) {
          sweep.error(diagnostic.code, swept.key, fmt::format("{} (value {})", diagnostic.message, swept.toml),
                      diagnostic.remedy);
        }
        right = right && !own.has_errors();
      }
    }
    if (!right) return std::nullopt;
    return combinations;
  }

  void add_swept(TomlTable& table, const fs::path& folder, const JobDraft& job, Combinations combinations) {
    // Settings of the target aside, jobs differ in few of the swept values.
    std::map<std::string, Shared<JobKeys>> shared;
    jobs_.reserve(jobs_.size() + combinations.size());
    for (Combination& combination : combinations) {
      const SweptValues values = combination.values();
      JobDraft swept = job;
      Diagnostics together;  // each value has been tried by itself
      lay_over(values, folder, swept, together);
      if (together.has_errors()) {
        diagnostics_.append(together);
        return;
      }
      set_planner(swept.request);
      swept.request.settings = job.request.settings;  // request_of() has the others
      SweptValues others = values;
      std::erase_if(others, [](const SweptValue& value) { return value.key.starts_with("target."); });
      const std::string sort = swept_table(others) + swept.request.planner;
      const auto found = shared.try_emplace(sort, JobKeys(std::move(swept))).first;
      if (!add(table, {swept_name(job.name, values), found->second, std::move(combination)})) return;
    }
  }

  /// All sweeps of a file together.
  bool has_room(TomlTable& table) {
    if (jobs_.size() < max_swept_jobs) return true;
    table.error("too-many-jobs", "name",
                fmt::format("the batch has more than {} jobs, which are the most that are allowed", max_swept_jobs),
                "take fewer values, or divide the file");
    return false;
  }

  static void set_planner(CompileRequest& request) {
    const Backend& backend = backend_of(request);
    request.planner = planner_of(request, backend);
    request.layout = layout_of(request, backend);
  }

  bool add(TomlTable& table, Job job) {
    if (!has_room(table)) return false;
    if (table.has("name")) {
      if (const std::string why = why_no_folder(job.name); !why.empty()) {
        table.error("wrong-job-name", "name",
                    fmt::format("'{}' cannot be the name of a folder for this job: {}", job.name, why),
                    "give the job another name");
        return false;
      }
    }
    if (!job.name.empty() && !names_.insert(job.name).second) {
      std::string keys;
      for (const SweptValue& swept : job.swept.values()) keys += (keys.empty() ? "{" : "-{") + swept.key + "}";
      table.error("duplicate-job", "name", fmt::format("two jobs have the name '{}'", job.name),
                  keys.empty() ? "give one of them another name"
                               : fmt::format("name all swept keys whose values differ in it, for instance '{}'", keys));
      return false;
    }
    jobs_.push_back(std::move(job));
    return true;
  }

  Diagnostics& diagnostics_;
  JobDraft defaults_;
  std::map<std::string, Preset> presets_;
  std::vector<fs::path> open_;  ///< files that are being read, each included by the one before
  std::set<std::string> names_;
  std::vector<Job> jobs_;
  SlurmSettings slurm_;
};

}  // namespace

std::string why_no_folder(const std::string& name) {
  constexpr std::size_t longest = 255;
  if (name.empty()) return "it is empty";
  constexpr std::string_view own[] = {"networks", results_name, summary_csv_name, summary_page_name, shard_note_name};
  if (std::find(std::begin(own), std::end(own), name) != std::end(own)) return "the batch writes there itself";
  if (name.front() == '.') return "it begins with a '.'";
  if (name.find('/') != std::string::npos) return "it holds a '/'";
  if (name.size() > longest) return fmt::format("it is longer than {} bytes", longest);
  const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  return control ? "it holds control characters" : "";
}

Result<std::vector<Job>> load_jobs(const std::string& path, Diagnostics& diagnostics, const Backends& backends) {
  const auto text = read_text_file(path, diagnostics);
  if (!text) return Failed{};
  return parse_jobs(*text, path, diagnostics, backends);
}

Result<std::vector<Job>> parse_jobs(std::string_view text, const std::string& path, Diagnostics& diagnostics,
                                    const Backends& backends) {
  auto file = parse_batch_file(text, path, diagnostics, backends);
  if (!file) return Failed{};
  return std::move(file->jobs);
}

Result<BatchFile> parse_batch_file(std::string_view text, const std::string& path, Diagnostics& diagnostics,
                                   const Backends& backends) {
  Diagnostics own;
  BatchReader reader(backends, own);
  reader.read(text, path);
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return reader.take();
}

}  // namespace stowage
