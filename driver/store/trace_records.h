// SPDX-License-Identifier: Apache-2.0
// Records of a trace as rows of trace.json (docs/plan-format.md), and their way back. What a planner recorded of fused
// operators that are planned alike stands once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/trace.h"
#include "driver/json/json.h"

namespace stowage {

using AddRow = std::function<void(const Json& row)>;

/// A row for every fused operator that records of planners are about.
void write_names(const std::vector<TraceRecord>& records, const AddRow& add);
/// All records; those of a plan that differs from an earlier one in nothing but words are one row.
void write_records(const std::vector<TraceRecord>& records, const AddRow& add);

/// Puts records together from the rows of a file in their order. Throws std::invalid_argument where a row cannot be,
/// and what the JSON library does.
class RecordReader {
 public:
  RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  void add_names(const Json& row);
  void add(const Json& row);
  /// A row with `same_as`.
  void repeat(const Json& row);
  /// A record of version 2.
  void add_text(const Json& row);

  [[nodiscard]] bool has_names() const { return !names_.empty(); }
  [[nodiscard]] bool is_empty() const { return records_.empty(); }
  [[nodiscard]] std::vector<TraceRecord> take() && { return std::move(records_); }

 private:
  /// Records of a plan, one behind the other.
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t events = 0;  ///< size of all their events
  };

  void append(TraceRecord record, std::size_t size);
  void replace(const Json& others, std::size_t first, const GroupNames& names);

  std::map<std::string, std::shared_ptr<const GroupNames>, std::less<>> names_;  ///< by fused operator
  std::vector<TraceRecord> records_;
  std::map<std::string, Range, std::less<>> plans_;  ///< of each fused operator the first range that is written out
  Range* open_ = nullptr;                            ///< which the last record ends; null if it is in none of these
  std::size_t repeated_ = 0;                         ///< size of all that was repeated
};

}  // namespace stowage
