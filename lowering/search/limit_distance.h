// SPDX-License-Identifier: Apache-2.0
// What the distance between a plan and its physical limit consists of: for each cause the cycles that the plan takes
// longer for it. Where a better plan, another layout or a better inner loop could help, and how much.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/target.h"
#include "lowering/nest/plan.h"
#include "lowering/search/physical_limit.h"

namespace stowage {

enum class LostTo : std::uint8_t {
  inner_loop,  ///< computation below the best rate on all cores: instructions that are no arithmetic, vectors not full,
               ///< cores with less to do, what is computed again, fills
  capacity,    ///< bytes that are moved more than once, as the LDM does not hold them
  layout,      ///< DMA below its best bandwidth: short blocks, parts of lines, what one core loads, start-up and calls
  overlap,     ///< the lesser of transfers and computation, as far as it does not pass beside the other
  barriers,
  launch
};
inline constexpr std::size_t losses = 6;

/// "inner loops", "bytes moved again", "short blocks and calls", "missing overlap", "barriers", "launches".
std::string_view name_of(LostTo cause);

/// In cycles; the limit and all that is lost are what the plan takes.
struct LimitDistance {
  std::int64_t limit = 0;  ///< PhysicalLimit::seconds(): nothing for a launch
  std::array<std::int64_t, losses> lost = {};

  [[nodiscard]] std::int64_t of(LostTo cause) const { return lost[static_cast<std::size_t>(cause)]; }
  LimitDistance& operator+=(const LimitDistance& other);
};

/// `limit` is that of the plan's stages. What a core does, computing and issuing calls, and what the DMA moves take as
/// long as the longer of the two would for itself, and more as far as they do not overlap. The longer one is longer
/// than the limit for its own causes; those of the shorter one cost nothing.
LimitDistance distance_to_limit(const Plan& plan, const PhysicalLimit& limit, const Target& target);

}  // namespace stowage
