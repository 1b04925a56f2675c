// SPDX-License-Identifier: Apache-2.0
// How the two iterators are called that an iterator becomes when it is cut into blocks: those of "ff" are "ff_block",
// which counts the blocks, and "ff_lane", which counts what lies side by side in one. Operators on pictures whose
// channels lie in blocks (core/channel_blocks.h) and lowering, where it cuts one itself (lowering/model/lane_blocks.h),
// give and know these names; schedules of files hold them.
#pragma once

#include <string>
#include <string_view>

namespace stowage {

inline constexpr std::string_view block_suffix = "_block";
inline constexpr std::string_view lane_suffix = "_lane";

inline std::string block_iterator_name(const std::string& name) { return name + std::string(block_suffix); }
inline std::string lane_iterator_name(const std::string& name) { return name + std::string(lane_suffix); }

/// Whether an iterator is one of the two already.
inline bool is_half_of_block(std::string_view name) {
  return name.ends_with(block_suffix) || name.ends_with(lane_suffix);
}

}  // namespace stowage
