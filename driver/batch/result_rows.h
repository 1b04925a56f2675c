// SPDX-License-Identifier: Apache-2.0
// Lines of results.jsonl, as far as batches are compared by them (driver/batch/baseline.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/shared.h"
#include "driver/batch/batch.h"
#include "driver/batch/identity.h"

namespace stowage {

/// What is compared of a job that has a plan.
struct ResultNumbers {
  std::int64_t groups = 0;
  std::int64_t cycles = 0;
  std::int64_t dma_bytes = 0;
  std::int64_t ldm_bytes = 0;     ///< peak of one core
  std::int64_t memory_bytes = 0;  ///< parameters and activations
  double seconds = 0;
  friend bool operator==(const ResultNumbers&, const ResultNumbers&) = default;
};

/// What many rows have in common.
struct ResultOrigin {
  std::string version;  ///< of the Stowage that wrote them; "" where they do not say
  /// What was compiled: keys as in the file, with their values.
  std::vector<std::pair<std::string, std::string>> given;
  friend bool operator==(const ResultOrigin&, const ResultOrigin&) = default;
  friend bool operator<(const ResultOrigin& a, const ResultOrigin& b) {
    return std::tie(a.version, a.given) < std::tie(b.version, b.given);
  }
};

/// A line of results.jsonl, as far as it is compared: a batch may have a million.
struct ResultRow {
  std::string job;
  JobState state = JobState::interrupted;
  std::string summary;  ///< of a job that is not done
  Shared<ResultOrigin> origin;
  Identity swept;  ///< its swept values
  std::optional<ResultNumbers> numbers;
};

/// Takes the lines of a file of results one by one. Every line that is none is reported (codes: wrong-line, cut-off,
/// duplicate-job).
class ResultReader {
 public:
  /// `path` is what messages call the file.
  ResultReader(std::string path, Diagnostics& diagnostics) : path_(std::move(path)), diagnostics_(&diagnostics) {}
  /// Without its line break; the file's last one may not have any.
  void take(std::string_view line, bool has_break = true);
  /// Nothing after a reported error.
  Result<std::vector<ResultRow>> rows() &&;

 private:
  std::string path_;
  Diagnostics* diagnostics_;
  int number_ = 0;
  bool good_ = true;
  std::vector<ResultRow> rows_;
  std::unordered_map<std::string, int> lines_;
  std::map<ResultOrigin, Shared<ResultOrigin>> origins_;
};
/// The rows of a text.
Result<std::vector<ResultRow>> parse_results(std::string_view text, const std::string& path, Diagnostics& diagnostics);

}  // namespace stowage
