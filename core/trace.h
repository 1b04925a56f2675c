// SPDX-License-Identifier: Apache-2.0
// Flat, ordered records of every decision: what was considered, taken or refused, by which rule, with which numbers.
// Algorithms write to a nullable TraceSink and never ask whether anybody listens.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stowage {

enum class TraceOutcome : std::uint8_t { step, accepted, refused };

struct TraceRecord {
  std::string algorithm;  ///< "fusion", "alg1" … "alg5", "parallel", "memory-map", "placement", "branches"
  std::string subject;    ///< fused operator or template it is about
  std::string place;      ///< line of the published algorithm or name of the rule
  TraceOutcome outcome = TraceOutcome::step;
  std::string message;                                      ///< one sentence with its numbers
  std::vector<std::pair<std::string, std::string>> values;  ///< state after the step, in order: ("buffer y", "128")
};

struct Trace {
  std::vector<TraceRecord> records;
};

/// Appends to a trace if there is one.
class TraceSink {
 public:
  TraceSink() = default;
  explicit TraceSink(Trace* trace) : trace_(trace) {}
  void add(TraceRecord record) const {
    if (trace_ != nullptr) trace_->records.push_back(std::move(record));
  }
  [[nodiscard]] bool listening() const { return trace_ != nullptr; }

 private:
  Trace* trace_ = nullptr;
};

}  // namespace stowage
