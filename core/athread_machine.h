// SPDX-License-Identifier: Apache-2.0
// What the language of Athread's kernels fixes: its vector type, and what the emitted loops keep in registers. No key
// of a target changes these, as the emitter has no other forms; everything else about a machine is in its file.
#pragma once

#include <cstdint>
#include <string_view>

namespace stowage {

/// Elements and bytes of a floatv4, the vector of float32; it is loaded and stored at addresses of whole vectors.
inline constexpr std::int64_t lanes_of_floatv4 = 4;
inline constexpr std::int64_t bytes_of_floatv4 = 16;

/// Of a whole vector register, which is what goes from core to core: a doublev4. It is sent to one of 8 rows by its
/// number, and by the number behind these to all.
inline constexpr std::int64_t bytes_of_register = 32;
inline constexpr int rows_of_register_communication = 8;

/// A register block: vectors of its lane axis, times rows of its block axis, that are summed in registers at once.
/// 16 sums are half of the 32 vector registers of an SW26010's core; the operands have the others.
inline constexpr std::int64_t register_block_vectors = 4;
inline constexpr std::int64_t register_block_sums = 16;
/// With one row each vector is loaded for a single sum: more than 12 such pairs fill the registers, of which addresses
/// and the row's own value need some.
inline constexpr std::int64_t register_block_one_row_vectors = 12;

/// A barrier of all cores. Of the two halves of the mask, which name rows and columns, only this one is in use in code
/// for the machine, so it stands for all cores of a mesh of any size.
inline constexpr std::string_view barrier_of_all_cores = "athread_syn(ARRAY_SCOPE, 0xffff)";

}  // namespace stowage
