// SPDX-License-Identifier: Apache-2.0
// What the language of Athread's kernels fixes: its vector type, and what the emitted loops keep in registers. No key
// of a target changes these, as the emitter has no other forms; everything else about a machine is in its file.
#pragma once

#include <cstdint>

namespace stowage {

/// Elements and bytes of a floatv4, the vector of float32; it is loaded and stored at addresses of whole vectors.
inline constexpr std::int64_t lanes_of_floatv4 = 4;
inline constexpr std::int64_t bytes_of_floatv4 = 16;

/// A register block: vectors of its lane axis, times rows of its block axis, that are summed in registers at once.
/// 16 sums are half of the 32 vector registers of an SW26010's core; the operands have the others.
inline constexpr std::int64_t register_block_vectors = 4;
inline constexpr std::int64_t register_block_sums = 16;

}  // namespace stowage
