// SPDX-License-Identifier: Apache-2.0
// What is known of the LDM at one point of the walk of verify_flow().
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"

namespace stowage {

enum class Holds : std::uint8_t {
  nothing,  ///< never written, or overwritten through another buffer
  filled,   ///< one value everywhere: where a reduction starts
  partial,  ///< a reduction that its finish has still to complete
  complete
};

inline std::string_view text(Holds holds) {
  static constexpr std::array<std::string_view, 4> texts = {"nothing was put there", "it is only filled",
                                                            "its reduction is not finished", "it is complete"};
  return texts[static_cast<std::size_t>(holds)];
}

/// What a slot holds. Of a buffer that is not followed it is the box of the trip, without a number.
struct Content {
  Holds holds = Holds::nothing;
  int box = 0;                        ///< SlotWalk::box
  std::optional<StatementId> writer;  ///< get or computation
  bool has_several_writers = false;   ///< on one path this statement, on another one that
  friend auto operator<=>(const Content&, const Content&) = default;
};

/// What a transfer under way does to one slot: it fills it, or takes from it. A broadcast does both, to two slots.
struct Flight {
  StatementId statement;
  SlotId cell;
  SlotId into;  ///< the slot that tells executions of the statement apart: the one filled, if there is one
  bool fills = false;
  int box = 0;          ///< -1: one of another trip
  std::string started;  ///< " (ko = 1)", of followed buffers
  friend auto operator<=>(const Flight&, const Flight&) = default;
};

struct State {
  std::vector<Content> contents;  ///< by cell
  std::set<Flight> in_flight;
  friend auto operator<=>(const State&, const State&) = default;
};

inline bool is_under_way(const State& state, const Flight& flight) {
  return std::any_of(state.in_flight.begin(), state.in_flight.end(), [&](const Flight& other) {
    return other.statement == flight.statement && other.cell == flight.cell && other.into == flight.into;
  });
}

/// A loop as it was entered.
struct LoopEntry {
  StatementId statement;
  std::vector<std::int64_t> values;  ///< of the variables that decide inside
  State before;
  friend auto operator<=>(const LoopEntry&, const LoopEntry&) = default;
};

/// A slot of a buffer.
struct Cell {
  BufferId buffer;
  int slot = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

}  // namespace stowage
