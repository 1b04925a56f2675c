// SPDX-License-Identifier: Apache-2.0
// What files call the values of a trace's enumerations, in their order (driver/json/trace_row.cpp).
#pragma once

#include <array>
#include <string_view>

#include "core/trace.h"

namespace stowage {

/// Stands for a type where a function is chosen by it.
template <class T>
struct Of {};

constexpr auto values_of(Of<TraceOutcome>) { return std::to_array<std::string_view>({"step", "accepted", "refused"}); }
constexpr auto values_of(Of<OperatorFolded::What>) {
  return std::to_array<std::string_view>({"transposed", "pad", "scale", "phases"});
}
constexpr auto values_of(Of<ViewStored::Rule>) {
  return std::to_array<std::string_view>({"concat", "slice", "reshape"});
}
constexpr auto values_of(Of<ViewStored::How>) {
  return std::to_array<std::string_view>({"written", "beside", "boxed", "all"});
}
constexpr auto values_of(Of<SplitBy>) {
  return std::to_array<std::string_view>({"published", "schedule", "search", "alignment"});
}
constexpr auto values_of(Of<IteratorClass>) {
  return std::to_array<std::string_view>({"num", "size", "comp", "whole"});
}
constexpr auto values_of(Of<IteratorsClassified::When>) {
  return std::to_array<std::string_view>({"first", "after-start", "after-whole"});
}
constexpr auto values_of(Of<SizeTried::Step>) {
  return std::to_array<std::string_view>({"fixed", "whole", "start", "exceeds", "halved", "grown"});
}
constexpr auto values_of(Of<TransferPlaced::What>) {
  return std::to_array<std::string_view>({"load", "computation", "store", "sum"});
}
constexpr auto values_of(Of<SplitsLeftOut::Why>) {
  return std::to_array<std::string_view>({"given-up", "unaligned", "unplanned", "too-slow", "work-again"});
}

}  // namespace stowage
