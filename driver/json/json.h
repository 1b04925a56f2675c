// SPDX-License-Identifier: Apache-2.0
// JSON that the driver prints: objects keep the order in which they were filled.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "core/diagnostics.h"
#include "driver/json/json_forward.h"
#include "lowering/program/program.h"

namespace stowage {

/// The totals of a program, as `compile --json`, plan files and batch results show them: groups, kernels, flops,
/// multiply_adds, dma_transfers, dma_operations, dma_bytes, ldm_peak_bytes, cycles, time_s and so on.
Json totals_json(const Program& program);
/// Of each kernel that Athread planned what it takes, the least that it could take, and what the difference consists
/// of: op, cycles, dma_bytes, dma_bytes_bound, time_s, time_bound_s with its two parts moving_s and computing_s, and
/// time_lost_s by cause.
Json limits_json(const Program& program);
Json to_json(const Diagnostics& diagnostics);
/// What is wrong with a JSON file that this tool wrote, in words for its user.
std::string in_words(const Json::exception& failure);
/// A whole number of a file that may have been edited; throws std::invalid_argument where it is none, or out of range.
std::int64_t whole_number(const Json& entry, std::int64_t low, std::int64_t high);
/// No plan takes more cycles than this, so that sums of a great many stay in range.
inline constexpr std::int64_t max_cycles = std::int64_t{1} << 50;
/// Longer texts are arrays of lines, so that files can be read and compared by people; and such an array as a text.
Json lines_of(const std::string& text);
std::string joined(const Json& lines);
/// What a step of a plan file is instead of a kernel (StepKind::key); empty of kernels and views. Steps of the
/// management core had their `schedule` alone to say it before there was `kind`.
std::string kind_of_step(const Json& step);
/// Names that are no UTF-8 print with replacement characters.
std::string dumped(const Json& json, int indent = -1);

}  // namespace stowage
