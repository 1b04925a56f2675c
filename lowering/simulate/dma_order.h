// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stowage {

/// How the DMA engine shares its time among transfers whose data could move. Nobody has measured which of the two a
/// machine does; what differs between them shows how much hangs on that.
enum class DmaOrder : std::uint8_t {
  shared,  ///< every transfer gets an equal share
  queued   ///< every core gets an equal share, and serves its transfers one after another, as they were started
};

}  // namespace stowage
