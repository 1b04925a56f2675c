// SPDX-License-Identifier: Apache-2.0
// Vectors side by side: what a row of a register block has of accumulators, or of an operand along its lanes. Two to
// four of them whose lanes follow each other are a strip, which sw_vectors.h computes with by one macro.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

/// First lanes of a row's vectors, from the first of them all.
using LaneOffsets = std::vector<std::int64_t>;

/// Vectors that cover so many lanes, at least four: the last one overlaps its neighbour where the number is odd. Lanes
/// in two vectors are computed twice from the same start and stored twice with the same value.
LaneOffsets offsets_of_lanes(std::int64_t count);

struct VectorStrip {
  std::size_t first = 0;  ///< of the row's vectors
  std::size_t count = 1;
  [[nodiscard]] bool is_one() const { return count == 1; }
};

/// Cuts a row into strips, or, one by one, into its vectors.
std::vector<VectorStrip> strips_of(const LaneOffsets& offsets, bool one_by_one);

/// Variable of a strip of the row "acc0": "acc0" itself, "acc0_4" of what begins behind the first strip, or of one
/// vector its own.
std::string strip_name(std::string_view row, const VectorStrip& strip);

/// The row's vector "acc02", as the macros name it.
std::string vector_name(std::string_view row, std::span<const VectorStrip> strips, std::size_t vector);

/// "SW_LOAD4"
std::string strip_macro(std::string_view name, const VectorStrip& strip);

/// "SW_LOADU4(b_v, &ldm->W[k][1]);", of one vector "simd_loadu(b0_, …);"
std::string strip_move(bool store, bool is_aligned, const VectorStrip& strip, std::string_view name,
                       std::string_view address);

}  // namespace stowage
