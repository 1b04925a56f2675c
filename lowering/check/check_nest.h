// SPDX-License-Identifier: Apache-2.0
// A checker of loop nests that looks at every core's every iteration. verify() shows by the form of expressions that a
// nest is sound, whatever its numbers; this plays it through and finds what goes wrong, where, and in which iteration.
// The two know nothing of each other, nor of planners and lowering.
//
// A core is followed through its statements in program order. Of every slot of a buffer it is known which elements are
// there, of which box of the tensor, with which terms of their sums, and which transfers are under way, that fill
// elements or send them; of every tensor that the nest writes, which core wrote each element. Elements have no values.
//
// Not looked at: reads whose place depends on the value of a tensor or leaps (a remainder over several quotients).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

enum class FaultFamily : std::uint8_t {
  capacity,       ///< buffers reach beyond the LDM, or begin where none may; cores that there are not
  bounds,         ///< an access outside of its tensor, buffer or slots
  race,           ///< what a transfer under way fills or sends is touched
  wait,           ///< for nothing, or never
  uninitialised,  ///< elements or numbers are read that nothing has put there, or those of another box
  overlap,        ///< two cores write one element
  sum,            ///< a result has not every term of its sum once
  message,        ///< cores of a team do not take part in the same transfers, in the same order
  incomplete      ///< no core writes an element of an output
};
std::string_view name_of(FaultFamily family);
/// What to do about faults of a family.
std::string_view remedy_of(FaultFamily family);

/// One execution of a statement.
struct Execution {
  StatementId statement;
  int core = 0;
  std::vector<std::pair<std::string, std::int64_t>> iteration;  ///< the loops around it, outermost first
  friend bool operator==(const Execution&, const Execution&) = default;
};

/// "statement 10 on core 3, ko = 2".
std::string text_of(const Execution& execution);

struct Fault {
  FaultFamily family = FaultFamily::bounds;
  std::optional<Execution> at;     ///< nothing: it is of the nest as a whole
  std::optional<Execution> other;  ///< that it collides with
  std::string what;                ///< with the elements
};

struct NestCheck {
  std::vector<Fault> faults;       ///< the first of each family for a pair of statements
  std::int64_t executions = 0;     ///< of statements that do something, by all cores
  std::int64_t transfers = 0;      ///< of them
  std::int64_t not_looked_at = 0;  ///< reads, see above
  bool complete = true;            ///< false: ended after `most` executions
};

/// Whatever the parser takes is checked. At most so many executions.
NestCheck check_nest(const LoopNest& nest, const Target& target, std::int64_t most = 20'000'000);

}  // namespace stowage
