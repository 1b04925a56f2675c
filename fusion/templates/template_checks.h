// SPDX-License-Identifier: Apache-2.0
// What can be seen of a template by itself: parts with which no graph can have a group of it. A mistake of this sort
// would otherwise only show as a template that never does anything.
#pragma once

#include <string>
#include <vector>

#include "fusion/templates/template.h"

namespace stowage {

/// A part of a template that nothing can match, or of whose groups every one is refused.
struct ImpossiblePart {
  enum class Of : std::uint8_t { vertex, edge } of = Of::vertex;
  std::size_t index = 0;  ///< into the template's vertices or edges
  std::string key;        ///< of its table, "where.NAME" for a condition
  std::string code;
  std::string message;
  std::string remedy;
};

/// `fusion_template` has one anchor, hangs together and has no circle. Conditions on `fan_out`, and on `rank` together
/// with `shape`, are judged here; all others by themselves (can_hold).
/// Codes: role-and-place, role-and-kind, no-such-slot, taken-slot, too-many-operands, impossible-condition.
std::vector<ImpossiblePart> impossible_parts(const FusionTemplate& fusion_template);

}  // namespace stowage
