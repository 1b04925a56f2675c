// SPDX-License-Identifier: Apache-2.0
// A rate of an engine of a target (core/target.h).
#pragma once

#include <map>

#include "core/element_type.h"

namespace stowage {

/// Operations that one core does in a cycle in an inner loop, by the type of the elements that it computes.
class Rate {
 public:
  explicit Rate(double of_all = 1) : of_all_(of_all) {}

  [[nodiscard]] double of(ElementType type) const {
    const auto own = of_type_.find(type);
    return own == of_type_.end() ? of_all_ : own->second;
  }
  [[nodiscard]] double of_others() const { return of_all_; }  ///< types that have no rate of their own
  [[nodiscard]] const std::map<ElementType, double>& own() const { return of_type_; }
  void set(ElementType type, double operations_per_cycle) { of_type_[type] = operations_per_cycle; }

 private:
  double of_all_;
  std::map<ElementType, double> of_type_;
};

}  // namespace stowage
