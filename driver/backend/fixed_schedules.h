// SPDX-License-Identifier: Apache-2.0
// What a person fixes of a plan.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnostics.h"
#include "driver/backend/number_keys.h"

namespace stowage {

/// A group of operators that a person fixed: it is fused just so, or left alone if it is one operator.
struct FixedGroup {
  std::vector<std::string> operators;  ///< names in the fused graph, in any order
  Diagnostic location;                 ///< where it was written; only location and source line count
};

/// What is fixed of one fused operator's plan; only the family that read it knows what stands in it.
class FixedSchedule {
 public:
  virtual ~FixedSchedule() = default;
};

/// What is fixed by a family whose schedules are numbers (Backend::schedule_keys), by key.
class NumberSchedule final : public FixedSchedule {
 public:
  explicit NumberSchedule(Numbers numbers) : numbers_(std::move(numbers)) {}
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }

 private:
  Numbers numbers_;
};

/// Of a schedule that such a family has read.
const Numbers& numbers_of(const FixedSchedule& fixed);

/// Groups and schedules that a person fixed, the schedules by fused operator's name, and where each name in them was
/// written. What is left out the strategy and the planner choose.
struct FixedSchedules {
  std::vector<FixedGroup> groups;
  std::map<std::string, std::shared_ptr<const FixedSchedule>> schedules;  ///< none of them null
  /// By path of names: "matmul", "matmul/buffer/y", "matmul/order", "matmul/dma/A" …; only location and source line
  /// count.
  std::map<std::string, Diagnostic> locations;
};

}  // namespace stowage
