// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_progress.h"

#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/batch/estimate.h"

namespace stowage {

namespace {

using Clock = std::chrono::steady_clock;

/// "40 s", "12 min", "3 h 20 min".
std::string rough_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  const std::int64_t minutes = (whole + 59) / 60;
  if (minutes < 100) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string rate_text(double per_second) {
  if (per_second >= 10) return fmt::format("{:.0f} jobs/s", per_second);
  if (per_second >= 1) return fmt::format("{:.1f} jobs/s", per_second);
  if (per_second * 60 >= 1) return fmt::format("{:.1f} jobs/min", per_second * 60);
  return fmt::format("{:.1f} jobs/h", per_second * 3600);
}

}  // namespace

std::string pace_text(const BatchPace& pace) {
  std::string text =
      fmt::format("{} of {}", grouped_digits(static_cast<std::int64_t>(pace.ended)), counted(pace.jobs, "job"));
  if (pace.failed > 0) text += fmt::format(", {} failed", pace.failed);
  if (pace.ended == 0 || pace.ended == pace.jobs || pace.seconds <= 0) return text;
  text += ", " + rate_text(static_cast<double>(pace.ended) / pace.seconds);
  if (pace.work_done <= 0) return text;
  const double left =
      pace.seconds * static_cast<double>(pace.work - pace.work_done) / static_cast<double>(pace.work_done);
  return text + fmt::format(", {} left", rough_time(left));
}

BatchProgress::BatchProgress(const std::vector<Job>& jobs, const std::vector<JobStart>& starts,
                             const ToolContext& context)
    : context_(&context), begin_(Clock::now()), drawn_(begin_) {
  if (context.terminal == nullptr) return;
  std::vector<Job> left;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!starts[i].kept) left.push_back(jobs[i]);
  }
  const std::vector<std::int64_t> work = estimated_work(left);
  for (std::size_t i = 0; i < left.size(); ++i) {
    work_.emplace(left[i].name, work[i]);
    pace_.work += work[i];
  }
  pace_.jobs = left.size();
  if (!left.empty()) draw();
}

BatchProgress::~BatchProgress() { wipe(); }

void BatchProgress::ended(const JobResult& result) {
  const bool is_bad = result.state == JobState::failed || result.state == JobState::fault;
  const bool is_told = !result.diagnostics.entries().empty();
  if (context_->terminal != nullptr && (is_bad || is_told)) {
    wipe();
    context_->err << fmt::format("{}: {}\n", result.name, name_of(result.state));
  }
  print_warnings(*context_, result.diagnostics);
  context_->err << std::flush;
  if (context_->terminal == nullptr) return;
  ++pace_.ended;
  pace_.failed += is_bad ? 1 : 0;
  pace_.work_done += work_.at(result.name);
  constexpr std::chrono::milliseconds refresh(100);
  if (is_drawn_ && Clock::now() - drawn_ < refresh) return;
  draw();
}

void BatchProgress::draw() {
  drawn_ = Clock::now();
  pace_.seconds = std::chrono::duration<double>(drawn_ - begin_).count();
  is_drawn_ = true;
  *context_->terminal << fmt::format("\r\033[K{}", pace_text(pace_)) << std::flush;
}

void BatchProgress::wipe() {
  if (is_drawn_) *context_->terminal << "\r\033[K" << std::flush;
  is_drawn_ = false;
}

}  // namespace stowage
