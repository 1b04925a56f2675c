// SPDX-License-Identifier: Apache-2.0
// Arithmetic on lanes: one value for each of a block of points. Internal to the plain evaluation.
// Values of float types are held as doubles; integers and booleans as 64-bit integers that are in range of their type
// (u64 by its bit pattern).
#pragma once

#include <vector>

#include "core/stage.h"

namespace stowage {

using IntLane = std::vector<std::int64_t>;

struct Lane {
  explicit Lane(std::size_t points) : floats(points), integers(points) {}
  std::vector<double> floats;  ///< used by float types
  IntLane integers;            ///< used by all others
};

void fill(ElementType type, double value, Lane& target);
void fill(ElementType type, std::int64_t value, Lane& target);
void fill_identity(Reduction reduction, ElementType type, Lane& target);
/// Wraps 64-bit results to a narrower integer type; does nothing for floats.
void wrap(ElementType type, IntLane& lane, std::size_t points);

void load_elements(const Tensor& tensor, const IntLane& offset, std::int64_t shift, Lane& target, std::size_t points);
void store_lane(ElementType type, const Lane& lane, std::size_t points, std::byte* to);
void store_where(const std::vector<std::uint8_t>& mask, ElementType type, double value, Lane& target);

void convert(ElementType from, const Lane& source, ElementType to, Lane& target, std::size_t points);
void convert_integers(const IntLane& source, ElementType to, Lane& target, std::size_t points);
void apply(UnaryOp op, ElementType type, const Lane& a, Lane& target, std::size_t points);
/// `type` is the operands' type; comparisons yield 0 or 1.
void apply(BinaryOp op, ElementType type, const Lane& a, const Lane& b, Lane& target, std::size_t points);
void select(ElementType type, const Lane& condition, const Lane& a, const Lane& b, Lane& target, std::size_t points);
/// accumulator = accumulator (reduction) value; NaN wins in maximum and minimum.
void combine(Reduction reduction, ElementType type, Lane& accumulator, const Lane& value, std::size_t points);

}  // namespace stowage
