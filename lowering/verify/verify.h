// SPDX-License-Identifier: Apache-2.0
// Whether a nest keeps what the IR promises.
#pragma once

#include <optional>
#include <string>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// A rule that a nest breaks, and where.
struct BrokenPromise {
  std::string rule;                      ///< its name in docs/ir.md
  std::optional<StatementId> statement;  ///< nothing where it is about the nest as a whole
  std::string reason;                    ///< with its numbers (yo = 1, ko = 3)
};
/// "rule: statement 4 'get A[…] -> AA': what, with numbers".
std::string text_of(const BrokenPromise& broken);

/// Whether a variable, a tensor in memory or a buffer has a name that is taken or no C identifier.
std::optional<BrokenPromise> verify_names(const LoopNest& nest);

/// The first broken promise of a nest (bounds, LDM size, races between cores, waits), or nothing.
std::optional<BrokenPromise> broken_promise(const LoopNest& nest, const Target& target);
/// The same as text.
std::optional<std::string> verify(const LoopNest& nest, const Target& target);

}  // namespace stowage
