// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/readable_name.h"

#include <cstddef>

namespace stowage::onnx_import {

bool is_readable_name(std::string_view text) {
  std::size_t follow = 0;
  // Of the next byte; the first that follows may be restricted further, so that a character has one form only.
  unsigned low = 0x80;
  unsigned high = 0xBF;
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (follow > 0) {
      if (byte < low || byte > high) return false;
      low = 0x80;
      high = 0xBF;
      --follow;
      continue;
    }
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && byte < 0xC2) || byte > 0xF4) return false;
    follow = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (byte == 0xE0) low = 0xA0;   // longer than it must be
    if (byte == 0xED) high = 0x9F;  // surrogates
    if (byte == 0xF0) low = 0x90;
    if (byte == 0xF4) high = 0x8F;  // beyond Unicode
  }
  return follow == 0;
}

}  // namespace stowage::onnx_import
