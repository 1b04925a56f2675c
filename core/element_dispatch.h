// SPDX-License-Identifier: Apache-2.0
// From an element type that is known when the program runs to a C++ type.
#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/element_type.h"

namespace stowage {

/// Calls f with a value of the C++ type that holds one element (a boolean is held by std::uint8_t) and returns what it
/// returns. The 16-bit floating-point types have none.
template <class F>
auto with_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::f32: return f(float{});
    case ElementType::f64: return f(double{});
    case ElementType::i8: return f(std::int8_t{});
    case ElementType::i16: return f(std::int16_t{});
    case ElementType::i32: return f(std::int32_t{});
    case ElementType::i64: return f(std::int64_t{});
    case ElementType::boolean:
    case ElementType::u8: return f(std::uint8_t{});
    case ElementType::u16: return f(std::uint16_t{});
    case ElementType::u32: return f(std::uint32_t{});
    case ElementType::u64: return f(std::uint64_t{});
    case ElementType::f16:
    case ElementType::bf16: break;
  }
  fail_check("element type cannot be computed with");
}

}  // namespace stowage
