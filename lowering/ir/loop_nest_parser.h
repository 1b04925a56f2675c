// SPDX-License-Identifier: Apache-2.0
// Reads the text of a loop nest (docs/ir.md has the grammar): to_text(*parse_loop_nest(to_text(nest))) ==
// to_text(nest).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/diagnostics.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Hashes by index into StageList::tensors.
using UnknownValues = std::map<StageTensorId, std::string>;

/// Every name is resolved and every number within bounds; whether the nest is sound says verify(). Constants that print
/// as a hash come as `constants` gives them by the stage tensor's name (their hash must be that of the text), or
/// zero-filled, up to `max_zero_bytes` of them: a text may promise any shape. `file` names the text in diagnostics.
/// `unknown` gets the hashes of those, by stage tensor.
Result<LoopNest> parse_loop_nest(std::string_view text, Diagnostics& diagnostics,
                                 const std::map<std::string, Tensor>& constants = {}, const std::string& file = "nest",
                                 UnknownValues* unknown = nullptr, std::int64_t max_zero_bytes = std::int64_t{4} << 30);

/// The text of a nest whose constants are zeros in the place of values of which only the hash is known.
std::string to_text(const LoopNest& nest, const UnknownValues& unknown);

}  // namespace stowage
