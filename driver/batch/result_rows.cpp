// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/result_rows.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "core/quoting.h"
#include "driver/batch/stored_result.h"
#include "driver/json/damage.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

SourceLocation line_of_file(const std::string& file, int line) {
  SourceLocation location;
  location.file = file;
  location.line = line;
  return location;
}

/// Its origin is not shared yet.
ResultRow row_of(const StoredResult& stored) {
  ResultRow row;
  row.job = stored.job.name;
  row.state = stored.result.state;
  if (row.state != JobState::done) row.summary = stored.result.summary;
  const CompileRequest& request = stored.job.keys->request;
  row.origin = ResultOrigin{stored.version,
                            {{"network", stored.job.keys->network},
                             {"target", request.target},
                             {"fusion", request.fusion},
                             {"planner", request.planner},
                             {"layout", request.layout},
                             {"library", request.library.empty() ? "none" : request.library},
                             {"cost", request.cost},
                             {"model_hash", stored.model_hash}}};
  std::string swept;
  for (const SweptValue& value : stored.job.swept.values()) swept += fmt::format("{} = {}\n", value.key, value.toml);
  row.swept = parse_identity(hash_of(std::as_bytes(std::span(swept))));
  if (const auto& totals = stored.result.totals) {
    row.numbers = {totals->groups,         totals->cycles,      totals->dma_bytes,
                   totals->ldm_peak_bytes, stored.memory_bytes, totals->seconds};
  }
  return row;
}

/// The row of a line, or nothing and what is wrong with it.
std::optional<ResultRow> read_row(std::string_view line, bool is_whole, SourceLocation location,
                                  Diagnostics& diagnostics) {
  std::string reason;
  try {
    return row_of(result_of(line));
  } catch (const Json::parse_error& failure) {
    if (!is_whole) {
      diagnostics.error("cut-off", location,
                        "the file ends in the middle of this line: it was not copied or written whole",
                        "copy it again; without this line its job counts as new");
      return std::nullopt;
    }
    location.column = static_cast<int>(std::min<std::size_t>(failure.byte, INT32_MAX));
    reason = "it is not JSON";
  } catch (const Json::exception& failure) {
    reason = stowage::in_words(failure);
  } catch (const Damage& failure) {
    reason = failure.what();
  }
  diagnostics.error("wrong-line", std::move(location), "no line of a batch's results: " + shortened(reason, 300));
  return std::nullopt;
}

}  // namespace

void ResultReader::take(std::string_view line, bool has_break) {
  ++number_;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  auto row = read_row(line, has_break, line_of_file(path_, number_), *diagnostics_);
  if (!row) {
    good_ = false;
    return;
  }
  if (const auto [first, is_new] = lines_.emplace(row->job, number_); !is_new) {
    diagnostics_->error("duplicate-job", line_of_file(path_, number_),
                        fmt::format("line {} has the job '{}' already", first->second, line_text(row->job)),
                        "give the results of one run");
    good_ = false;
  }
  row->origin = origins_.try_emplace(*row->origin, row->origin).first->second;
  rows_.push_back(*std::move(row));
}

Result<std::vector<ResultRow>> ResultReader::rows() && {
  if (!good_) return Failed{};
  return std::move(rows_);
}

Result<std::vector<ResultRow>> parse_results(std::string_view text, const std::string& path, Diagnostics& diagnostics) {
  ResultReader reader(path, diagnostics);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    reader.take(text.substr(start, end - start), end < text.size());
    start = end + 1;
  }
  return std::move(reader).rows();
}

}  // namespace stowage
