// SPDX-License-Identifier: Apache-2.0
// Which fused operators a report tells in full: all of a network of usual size, of a larger one those that take the
// most time, so that the report stays of a size to read and to mail.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/program/program.h"

namespace stowage {

/// More than any sample network has.
constexpr std::size_t usual_details = 220;
constexpr std::size_t all_details = std::numeric_limits<std::size_t>::max();

/// What a person asks for: "all", or a number of at least 1.
std::optional<std::size_t> parse_details(std::string_view text);

/// By step: the `maximum` that take the most cycles, of equal ones the first.
IdVector<StepId, bool> steps_in_full(const Program& program, std::size_t maximum);

/// "3 that take the most time", "one that takes the most time".
std::string slowest_text(std::size_t count);

}  // namespace stowage
