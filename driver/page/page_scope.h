// SPDX-License-Identifier: Apache-2.0
// What of a compilation the report page tells in full, and where it finds what belongs to a fused operator without
// looking through everything for each.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace.h"
#include "driver/session/session.h"

namespace stowage {

class PageScope {
 public:
  /// The compilation must live longer. Of more fused operators than `details` those that take the most time are told in
  /// full. It simulates them; of what is stopped nothing is simulated.
  PageScope(const Compilation& compilation, std::size_t details, const std::stop_token& stop = {});

  [[nodiscard]] const Compilation& compilation() const { return compilation_; }
  [[nodiscard]] const Program& program() const { return compilation_.program; }
  [[nodiscard]] bool is_whole() const { return count_ == in_full_.size(); }
  /// How many are told in full.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has(StepId step) const { return in_full_[step]; }
  /// Of a page that is not whole: read or written by a fused operator that is told in full.
  [[nodiscard]] bool has(TensorId tensor) const { return is_whole() || tensors_.contains(tensor); }
  /// About a fused operator that is told in full, or one of its operators.
  [[nodiscard]] bool has(const TraceRecord& record) const { return is_whole() || subjects_.contains(record.subject); }

  /// By step; empty where the family has no simulator.
  [[nodiscard]] const IdVector<StepId, SimulatedStep>& simulated() const { return simulated_; }

  /// Records of the trace with this subject, in their order.
  [[nodiscard]] const std::vector<const TraceRecord*>& records_about(std::string_view subject) const;
  /// Candidates that hold an operator of the group, in their order.
  [[nodiscard]] std::vector<const CandidateRecord*> candidates_around(const FusedOperator& group) const;
  /// Those around the fused operators that are told in full.
  [[nodiscard]] std::vector<const CandidateRecord*> candidates() const;

 private:
  [[nodiscard]] std::set<std::size_t> indices_around(const FusedOperator& group) const;

  const Compilation& compilation_;
  IdVector<StepId, bool> in_full_;
  std::size_t count_ = 0;
  std::set<TensorId> tensors_;
  std::set<std::string_view> subjects_;
  std::map<std::string_view, std::vector<const TraceRecord*>> records_;
  IdVector<StepId, SimulatedStep> simulated_;
  std::vector<std::vector<std::size_t>> candidates_of_;  ///< by operator, indices into the record
};

}  // namespace stowage
