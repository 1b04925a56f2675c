// SPDX-License-Identifier: Apache-2.0
// What a batch found, as tables and as a page that can be mailed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"
#include "driver/batch/sweep_page.h"
#include "driver/report/table.h"
#include "driver/text/text_sink.h"

namespace stowage {

/// The line of a job's result; empty where it has none.
using ResultLine = std::function<std::string(std::size_t job)>;

/// What a batch found; nothing of it is copied, and all of it must outlive what looks at it. `results` belong to
/// `jobs`; `comparison` may be null.
struct ResultsView {
  const std::vector<Job>& jobs;
  const std::vector<JobEnd>& results;
  ResultLine line;
  const Comparison* comparison = nullptr;
};

/// Whether there is a column of the keys over which a job is on the front. There is none where no job is on any.
enum class FrontColumn : std::uint8_t { left_out, shown };

/// A row a job, in their order, with a column for every key that a sweep gave values; a comparison gives columns of its
/// own. Rows are made when they are asked for: a batch may have a million.
class ResultRows {
 public:
  ResultRows(const ResultsView& view, FrontColumn fronts);
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] PlanRow row(std::size_t job) const;

 private:
  void add_fronts();  ///< before the columns of a comparison

  const std::vector<Job>* jobs_;
  const std::vector<JobEnd>* results_;
  std::optional<ComparedCells> compared_;
  std::vector<std::string> keys_;    ///< swept, that have a column of their own
  std::vector<std::string> fronts_;  ///< by job; empty: there is no such column
  std::vector<Column> columns_;
};

/// The final table of the command.
void results_text(const ResultsView& view, const TextSink& sink);

/// What results.jsonl holds: a line for each job that has come to an end.
void results_lines(const ResultsView& view, const TextSink& sink);

/// For spreadsheets (RFC 4180).
void results_csv(const ResultsView& view, const TextSink& sink);

/// A page that needs nothing else: the table, which sorts and is filtered and leads to the jobs' reports, and for every
/// key that was swept over numbers the time against its values, with the value in words from which on more gains
/// nothing, and which jobs are best of time and value together. `words` tell what plans do otherwise at knees.
void results_page(const ResultsView& view, const std::string& command_line, const KneeWords& words,
                  const TextSink& sink);

}  // namespace stowage
