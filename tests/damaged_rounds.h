// SPDX-License-Identifier: Apache-2.0
// The rounds of every test that damages a plan folder. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.
#pragma once

#include <chrono>
#include <iostream>

#include <catch2/catch.hpp>

#include "tests/damaged_folder.h"
#include "tests/random_runs.h"

namespace stowage::test {

/// Nobody waits longer for an answer about a damaged folder; the longest takes a tenth of a second.
constexpr std::chrono::seconds longest_wait{5};

/// Damages each part of the folder again and again. `look`, called with a seed, tries its readers and says whether they
/// took it.
template <class Look>
void damage_by_chance(const DamagedFolder& folder, const Look& look) {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 75);
  std::cout << "STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << "\n";
  for (const DamagedPart& part : folder.parts()) {
    std::uint64_t refused = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      folder.damage(part, seed + round);
      INFO(part.name << ", STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
      if (!look(seed + round)) ++refused;
    }
    folder.mend(part);
    std::cout << part.name << ": " << refused << " of " << rounds << " were refused\n";
    CHECK((rounds < 50 || refused > rounds / 4));
  }
}

}  // namespace stowage::test
