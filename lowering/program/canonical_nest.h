// SPDX-License-Identifier: Apache-2.0
// Which nests are equal, so that they are verified, counted and emitted once.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Equal only for nests that differ in names, notes, values of constants and in where their tensors come from, and in
/// nothing else. What does not look at those is the same of all of them: rules of verify() and verify_results() but
/// that of names (verify_names()), counts, cycles, and their kernel, statement by statement.
std::string canonical_text(const LoopNest& nest);

/// A hash of that, so long that different nests of a program have different ones.
struct NestKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const NestKey&, const NestKey&) = default;
};
NestKey nest_key(const LoopNest& nest);

}  // namespace stowage
