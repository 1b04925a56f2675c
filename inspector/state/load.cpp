// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/temporary_folder.h"
#include "driver/batch/batch.h"
#include "driver/networks/networks.h"
#include "driver/store/plan_file.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

namespace {

namespace fs = std::filesystem;

void compile_request(const CompileRequest& request, const std::string& origin, Loading& loading,
                     const std::stop_token& stop, const ProgressSink& progress,
                     const std::optional<SampleNetwork>& network = {}) {
  auto compilation = compile(request, loading.diagnostics, stop, progress);
  if (!compilation) return;
  loading.plan = make_loaded_plan(std::move(*compilation), origin, "", loading.diagnostics, stop, network);
}

void load_folder(const fs::path& folder, Loading& loading, const std::stop_token& stop, const ProgressSink& progress) {
  if (progress) progress("read", 0, 0);
  std::error_code failure;
  if (!fs::exists(folder / "plan.json", failure)) {
    SourceLocation location;
    location.file = folder.string();
    loading.diagnostics.error("no-plan", location, "this is no compiled folder: there is no plan.json in it",
                              "choose a folder that `stowage compile MODEL -o FOLDER` or `stowage exercise` wrote");
    return;
  }
  auto compilation = read_compilation(folder, loading.diagnostics, stop);
  if (!compilation && !stop.stop_requested()) {
    // Somebody may have edited it, and wants to know what is wrong with its nests. Whatever else is, was told already.
    Diagnostics ignored;
    loading.checked = check_file(folder.string(), ignored, stop);
    const auto is_good = [](const FileNest& nest) { return nest.checked.is_good(); };
    if (loading.checked && std::all_of(loading.checked->nests.begin(), loading.checked->nests.end(), is_good))
      loading.checked.reset();
  }
  if (!compilation || stop.stop_requested()) return;
  loading.plan = make_loaded_plan(std::move(*compilation), folder.string(), folder.string(), loading.diagnostics, stop);
}

void load_job(const std::string& path, const std::string& name, Loading& loading, const std::stop_token& stop,
              const ProgressSink& progress) {
  const auto jobs = load_jobs(path, loading.diagnostics);
  if (!jobs) return;
  const Job* chosen = jobs->size() == 1 && name.empty() ? &jobs->front() : nullptr;
  for (const Job& job : *jobs) {
    if (job.name == name) chosen = &job;
  }
  if (chosen == nullptr && name.empty() && !jobs->empty()) {
    for (const Job& job : *jobs) loading.jobs.push_back(job.name);
    return;
  }
  if (chosen == nullptr) {
    SourceLocation location;
    location.file = path;
    loading.diagnostics.error("unknown-job", location, fmt::format("it has no job '{}'", name));
    return;
  }
  CompileRequest request = request_of(*chosen);  // with what a sweep gave the job
  request.command_line = fmt::format("stowage batch {} --only {}", path, chosen->name);
  std::optional<TemporaryFolder> scratch;
  std::optional<SampleNetwork> network;
  const JobKeys& keys = chosen->keys;
  if (!keys.network.empty()) {
    try {
      scratch.emplace();
    } catch (const fs::filesystem_error& failure) {
      loading.diagnostics.error("temporary-files", {failure.path1().string()}, failure.what(),
                                "check free space and rights of the temporary folder (TMPDIR)");
      return;
    }
    network = {keys.network, keys.network_batch, keys.network_seed};
    NetworkOptions options;
    options.batch = keys.network_batch;
    options.seed = static_cast<std::uint64_t>(keys.network_seed);
    const std::string file = (scratch->path() / (keys.network + ".onnx")).string();
    const auto model = write_network(keys.network, options, file, loading.diagnostics, stop);
    if (!model) return;
    request.model = *model;
  }
  compile_request(request, fmt::format("{} › {}", path, chosen->name), loading, stop, progress, network);
}

}  // namespace

Loading load(const std::string& path, const std::string& job, const std::stop_token& stop,
             const ProgressSink& progress) {
  off_window_thread("a plan was loaded");
  Loading loading;
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    if (!fs::exists(fs::path(path) / "plan.json", failure) && holds_exercises(path)) {
      loading.checked = check_file(path, loading.diagnostics, stop);
    } else {
      load_folder(path, loading, stop, progress);
    }
  } else if (fs::path(path).extension() == ".nest") {
    loading.checked = check_file(path, loading.diagnostics, stop);
  } else if (fs::path(path).filename() == "plan.json") {
    load_folder(fs::path(path).parent_path(), loading, stop, progress);
  } else if (fs::path(path).extension() == ".toml") {
    load_job(path, job, loading, stop, progress);
  } else {
    CompileRequest request;
    request.model = path;
    request.command_line = "stowage compile " + path;
    compile_request(request, path, loading, stop, progress);
  }
  return loading;
}

}  // namespace stowage::inspector
