// SPDX-License-Identifier: Apache-2.0
// Element types of tensors. float16 and bfloat16 are named so that messages can say what was refused;
// no operator computes in them yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stowage {

enum class ElementType : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean, f16, bf16 };

inline constexpr ElementType all_element_types[] = {
    ElementType::f32,     ElementType::f64, ElementType::i8,  ElementType::i16, ElementType::i32,
    ElementType::i64,     ElementType::u8,  ElementType::u16, ElementType::u32, ElementType::u64,
    ElementType::boolean, ElementType::f16, ElementType::bf16};

/// Bytes of one element in memory; boolean takes one byte and holds 0 or 1.
int byte_size(ElementType type);
bool is_float(ElementType type);
bool is_integer(ElementType type);  ///< signed or unsigned, not boolean
bool is_signed(ElementType type);
/// "f32", "i64", "bool" …; the same spelling in printed IR and in plan files.
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name);
/// The C99 spelling used in emitted code: "float", "int64_t", "uint8_t" for bool …; empty for f16 and bf16.
std::string_view c_name_of(ElementType type);

}  // namespace stowage
