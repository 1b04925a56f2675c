// SPDX-License-Identifier: Apache-2.0
// What arithmetic on elements means where C leaves it undefined or C++ would compute in another type. Plain evaluation
// and the interpreter use it; emitted C says the same with the helpers of sw_rt.h. docs/operators.md tells it to users.
//
// Integers and booleans are held as 64-bit integers in range of their type (u64 by its bit pattern), floats as double.
#pragma once

#include <cstdint>
#include <limits>

#include "core/element_type.h"

namespace stowage {

/// Keeps the low bits; of a boolean whether it is not 0.
inline std::int64_t wrapped(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::i8: return static_cast<std::int8_t>(value);
    case ElementType::i16: return static_cast<std::int16_t>(value);
    case ElementType::i32: return static_cast<std::int32_t>(value);
    case ElementType::u8: return static_cast<std::uint8_t>(value);
    case ElementType::u16: return static_cast<std::uint16_t>(value);
    case ElementType::u32: return static_cast<std::uint32_t>(value);
    case ElementType::boolean: return value != 0 ? 1 : 0;
    default: return value;
  }
}

/// `value` as an element of a floating-point type holds it.
inline double rounded(ElementType type, double value) {
  return type == ElementType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Towards zero; beyond the range of the type the nearest of its values, 0 for NaN. ONNX leaves the latter two open.
template <class T>
T to_integer(double value) {
  using Limits = std::numeric_limits<T>;
  if (!(value == value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<T>(value);
}

/// The same by element type; a boolean is whether the value is not 0, so that NaN is true.
inline std::int64_t to_integer(ElementType type, double value) {
  switch (type) {
    case ElementType::i8: return to_integer<std::int8_t>(value);
    case ElementType::i16: return to_integer<std::int16_t>(value);
    case ElementType::i32: return to_integer<std::int32_t>(value);
    case ElementType::u8: return to_integer<std::uint8_t>(value);
    case ElementType::u16: return to_integer<std::uint16_t>(value);
    case ElementType::u32: return to_integer<std::uint32_t>(value);
    case ElementType::u64: return static_cast<std::int64_t>(to_integer<std::uint64_t>(value));
    case ElementType::boolean: return value != 0 ? 1 : 0;
    default: return to_integer<std::int64_t>(value);
  }
}

/// An integer as the nearest value of a floating-point type: rounded once, not first to double.
inline double to_float(ElementType to, ElementType from, std::int64_t value) {
  const bool is_unsigned = from == ElementType::u64;
  if (to == ElementType::f32) {
    return is_unsigned ? static_cast<float>(static_cast<std::uint64_t>(value)) : static_cast<float>(value);
  }
  return is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
}

/// NaN where either is NaN, `a` where they are equal (zeros of both signs are).
inline double minimum_of(double a, double b) { return b < a || b != b ? b : a; }
inline double maximum_of(double a, double b) { return a < b || b != b ? b : a; }

/// Truncates towards zero; by 0 it gives 0.
inline std::int64_t integer_quotient(ElementType type, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const auto bits = static_cast<std::uint64_t>(a);
  if (type == ElementType::u64) return static_cast<std::int64_t>(bits / static_cast<std::uint64_t>(b));
  return b == -1 ? static_cast<std::int64_t>(0 - bits) : a / b;
}

/// Wraps around. Negative exponents give 0 but for the bases 1 and -1.
inline std::int64_t integer_power(ElementType type, std::int64_t base, std::int64_t exponent) {
  if (is_signed(type) && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::uint64_t result = 1;
  auto factor = static_cast<std::uint64_t>(base);
  for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<std::int64_t>(result);
}

}  // namespace stowage
