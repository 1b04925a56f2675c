// SPDX-License-Identifier: Apache-2.0
#include "emitter/markup.h"

#include <vector>

namespace stowage {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') result += c;
    }
  }
  return result;
}

std::string shortened(std::string_view name, std::size_t most) {
  std::vector<std::size_t> starts;  // of code points
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  }
  if (starts.size() <= most || most < 3) return std::string(name);
  const std::size_t tail = (most - 1) / 2;
  const std::size_t head = most - 1 - tail;
  return std::string(name.substr(0, starts[head])) + "…" + std::string(name.substr(starts[starts.size() - tail]));
}

}  // namespace stowage
