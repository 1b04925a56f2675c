// SPDX-License-Identifier: Apache-2.0
// Random scalar expressions over reads of every element type, and values that arithmetic trips over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/scalar_expr.h"
#include "core/tensor.h"

namespace stowage::fixtures {

inline constexpr std::array drawn_types = {ElementType::f32, ElementType::f64, ElementType::i8,     ElementType::i16,
                                           ElementType::i32, ElementType::i64, ElementType::u8,     ElementType::u16,
                                           ElementType::u32, ElementType::u64, ElementType::boolean};

inline constexpr std::size_t special_count = 34;
inline constexpr std::size_t drawn_points = special_count * special_count;

/// Of floats, computed by the C library; besides them it computes powers.
inline constexpr std::array library_functions = {UnaryOp::exp,  UnaryOp::log, UnaryOp::erf,
                                                 UnaryOp::tanh, UnaryOp::sin, UnaryOp::cos};

/// Two tensors of each type, in the order of drawn_types, that together hold every pair of special values.
std::vector<Tensor> special_inputs(std::mt19937_64& random);

/// Index of the first or second tensor of a type among them.
ReadId read_of(ElementType type, bool second);

/// Draws trees whose value at every node is exactly determined, whatever precision float32 is computed in: the plain
/// evaluation holds float32 in double until an element is stored, so that what rounds a float32 may stand at the root
/// only.
class ScalarDraw {
 public:
  explicit ScalarDraw(std::uint64_t seed) : random_(seed) {}

  ScalarExpr draw();

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  ScalarExpr leaf(ElementType type);
  ScalarExpr unary(ElementType type, int depth);
  ScalarExpr binary(ElementType type, int depth);
  ScalarExpr exact(ElementType type, int depth);

  std::mt19937_64 random_;
};

}  // namespace stowage::fixtures
