// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "lowering/time/cycle_limit.h"

namespace stowage {

/// Cycles that pass at least, by what passes them.
struct LeastParts {
  double blocking = 0;  ///< launch, transfers that block, and what cores that load together wait for each other
  double hideable = 0;  ///< transfers that may run beside the computation, what they move
  double starting = 0;  ///< their start-up, which may pass beside what others of them move
  double issuing = 0;   ///< their calls, beside which others of them may move
  double computed = 0;
  [[nodiscard]] std::int64_t one_after_the_other() const {
    return whole(blocking + hideable + starting + issuing + computed);
  }
  [[nodiscard]] std::int64_t overlapped() const { return whole(blocking + std::max(hideable, computed + issuing)); }

 private:
  static std::int64_t whole(double cycles) { return static_cast<std::int64_t>(std::min(cycles, double{cycle_limit})); }
};

}  // namespace stowage
