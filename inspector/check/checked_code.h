// SPDX-License-Identifier: Apache-2.0
// A nest's text with what the checker found in its gutter, and faults in words.
#pragma once

#include <string>
#include <vector>

#include "inspector/code/code_text.h"
#include "lowering/check/check_nest.h"

namespace stowage::inspector {

/// Lines of a nest, those of statements standing for `step`'s. Faults are numbered from 1 in the gutter: where one
/// shows, and with an arrow what it collides with. None are told where `faults` is empty.
CodeText checked_code(const std::string& text, std::optional<StepId> step, const std::vector<Fault>& faults,
                      const Theme& theme);

/// What a list of faults says of one, by column: number, family, what, where, what it collides with.
struct FaultRow {
  QString number, family, what, where, other;
};
FaultRow fault_row(const std::vector<Fault>& faults, std::size_t fault);

}  // namespace stowage::inspector
