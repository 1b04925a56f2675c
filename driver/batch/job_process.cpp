// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/job_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/batch/identity.h"
#include "driver/batch/job_messages.h"
#include "driver/batch/job_run.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// Less than a whole second, within which Ctrl-C stops everything.
constexpr std::chrono::milliseconds grace_of_stopped(300);
/// A process that has closed its socket is on its way out, which may take as long as writing a core dump.
constexpr std::chrono::milliseconds grace_of_dying(10'000);

SourceLocation place_of(const Job& job) {
  SourceLocation location;
  location.file = source_of(job);
  return location;
}

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT ||
         signal == SIGSYS || signal == SIGTRAP;
}

std::string signal_text(int signal) {
  const char* const words = ::sigdescr_np(signal);
  return fmt::format("signal {}{}", signal, words != nullptr ? fmt::format(" ({})", words) : std::string());
}

/// What happened, and what helps.
Diagnostic death_of(const Job& job, const ProcessEnd& end, std::optional<std::int64_t> limit) {
  Diagnostic death;
  death.code = "job-died";
  death.location = place_of(job);
  const std::string under = limit ? fmt::format(", under a limit of {} of memory", bytes_text(*limit)) : std::string();
  if (end.signal != 0) {
    death.message = fmt::format("the job's process was ended by {}{}", signal_text(end.signal), under);
  } else {
    death.message =
        fmt::format("the job's process ended with exit code {} before the job{}", end.exit_code.value_or(-1), under);
  }
  if (end.signal == SIGKILL) {
    death.remedy =
        "the kernel does that where memory runs out: run fewer jobs side by side (-j), bound them with "
        "--memory-per-job, or use a machine with more memory; --retry-failed runs the job again";
  } else if (limit && is_crash(end.signal)) {
    death.remedy = "raise --memory-per-job and give --retry-failed; if that does not help, please report this";
  } else if (end.signal == 0 || is_crash(end.signal)) {
    death.remedy = "please report this; --retry-failed runs the job again";
  } else {
    death.remedy = "somebody ended it; --retry-failed runs the job again";
  }
  constexpr std::size_t most_lines = 5;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < end.printed.size();) {
    const std::size_t stop = std::min(end.printed.find('\n', at), end.printed.size());
    if (stop > at) lines.push_back("it printed: " + end.printed.substr(at, stop - at));
    at = stop + 1;
  }
  if (lines.size() > most_lines) lines.erase(lines.begin(), lines.end() - most_lines);
  death.notes = std::move(lines);
  return death;
}

bool has_run_out_of_memory(const JobResult& result) {
  const auto entries = result.diagnostics.entries();
  return std::any_of(entries.begin(), entries.end(), [](const Diagnostic& d) { return d.code == "out-of-memory"; });
}

}  // namespace

bool JobProcess::start(const std::stop_token& stop) {
  if (process_) return true;
  process_ = WorkerProcess::start(options_->program, {"stowage", std::string(job_worker_command)});
  is_used_ = false;
  if (!process_) return false;
  const WorkerSetup setup{*options_, options_->file, options_->text};
  if (process_->lines().send(to_line(setup))) process_->lines().receive(stop);  // the job's own line would fail
  return true;
}

JobResult JobProcess::run(const Job& job, bool replace, const std::stop_token& stop) {
  const bool was_used = process_ != nullptr && is_used_;
  JobResult result = run_once(job, replace, stop);
  // What earlier jobs left in the process is no reason to fail.
  if (is_doubtful_ && was_used && !stop.stop_requested()) result = run_once(job, replace, stop);
  return result;
}

JobResult JobProcess::run_once(const Job& job, bool replace, const std::stop_token& stop) {
  is_doubtful_ = false;
  NetworkFiles::Claim network = networks_->claim(job);
  Diagnostics diagnostics;
  if (stop.stop_requested()) return result_without_run(job, JobState::interrupted, {}, options_->folder);
  if (!start(stop)) {
    diagnostics.error("no-job-process", place_of(job),
                      fmt::format("no process could be started for the job: {}", std::strerror(errno)),
                      "run fewer jobs side by side (-j)");
    return result_without_run(job, JobState::failed, std::move(diagnostics), options_->folder);
  }
  LineSocket& lines = process_->lines();
  if (!lines.send(to_line(JobOrder{job.name, keys_hash(job), network.existing(), replace}))) return ended(job, stop);
  is_used_ = true;
  for (;;) {
    const auto answer = lines.receive(stop);
    if (!answer) return ended(job, stop);
    if (*answer == network_line) {
      network.written();
      continue;
    }
    JobResult result = result_of_answer(*answer);
    if (result.state == JobState::fault || has_run_out_of_memory(result)) {
      is_doubtful_ = has_run_out_of_memory(result);
      process_.reset();
    }
    return result;
  }
}

JobResult JobProcess::ended(const Job& job, const std::stop_token& stop) {
  const bool is_stopped = stop.stop_requested();
  if (is_stopped) process_->ask_to_stop();
  const ProcessEnd end = process_->end(is_stopped ? grace_of_stopped : grace_of_dying);
  process_.reset();
  // What it was writing has a hidden name beside the place, and goes with the next thing that is made there.
  { const HiddenTemporary next(options_->folder / job.name, HiddenTemporary::Kind::folder); }
  Diagnostics diagnostics;
  if (is_stopped) return result_without_run(job, JobState::interrupted, std::move(diagnostics), options_->folder);
  is_doubtful_ = true;
  diagnostics.add(death_of(job, end, options_->memory_bytes));
  const bool is_ours = end.signal == 0 || (is_crash(end.signal) && !options_->memory_bytes);
  return result_without_run(job, is_ours ? JobState::fault : JobState::failed, std::move(diagnostics),
                            options_->folder);
}

}  // namespace stowage
