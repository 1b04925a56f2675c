// SPDX-License-Identifier: Apache-2.0
#include "core/element_type.h"

#include <array>

#include "core/check.h"

namespace stowage {
namespace {

struct Row {
  ElementType type;
  int bytes;
  std::string_view name;
  std::string_view c_name;
};

constexpr std::array<Row, 13> rows = {{
    {ElementType::f32, 4, "f32", "float"},
    {ElementType::f64, 8, "f64", "double"},
    {ElementType::i8, 1, "i8", "int8_t"},
    {ElementType::i16, 2, "i16", "int16_t"},
    {ElementType::i32, 4, "i32", "int32_t"},
    {ElementType::i64, 8, "i64", "int64_t"},
    {ElementType::u8, 1, "u8", "uint8_t"},
    {ElementType::u16, 2, "u16", "uint16_t"},
    {ElementType::u32, 4, "u32", "uint32_t"},
    {ElementType::u64, 8, "u64", "uint64_t"},
    {ElementType::boolean, 1, "bool", "uint8_t"},
    {ElementType::f16, 2, "f16", ""},
    {ElementType::bf16, 2, "bf16", ""},
}};

const Row& row_of(ElementType type) {
  for (const Row& row : rows) {
    if (row.type == type) return row;
  }
  fail_check("element type without a row");
}

}  // namespace

int byte_size(ElementType type) { return row_of(type).bytes; }

bool is_float(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::f16 || type == ElementType::bf16;
}

bool is_integer(ElementType type) { return !is_float(type) && type != ElementType::boolean; }

bool is_signed(ElementType type) {
  return is_float(type) || type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

std::string_view name_of(ElementType type) { return row_of(type).name; }

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::string_view c_name_of(ElementType type) { return row_of(type).c_name; }

}  // namespace stowage
