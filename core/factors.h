// SPDX-License-Identifier: Apache-2.0
// Sums of products: matrix products and convolutions, whatever their indices.
#pragma once

#include <optional>
#include <utility>

#include "core/ids.h"
#include "core/stage.h"

namespace stowage {

/// The two reads, of different numbers, whose products a stage sums; nothing where its body does
/// anything else. A square (LRN's sum) is none.
std::optional<std::pair<ReadId, ReadId>> factors_of(const Stage& stage);

}  // namespace stowage
