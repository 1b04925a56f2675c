// SPDX-License-Identifier: Apache-2.0
#include "driver/text/url_text.h"

#include <fmt/format.h>

namespace stowage {

std::string url_segment(std::string_view text) {
  std::string url;
  for (const char c : text) {
    const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool is_plain = is_alphanumeric || c == '-' || c == '_' || c == '~' || c == '.';
    url += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return url;
}

}  // namespace stowage
