// SPDX-License-Identifier: Apache-2.0
#include "driver/manual/filled.h"

namespace stowage {

std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out(text);
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark, at + value.size())) {
      out.replace(at, mark.size(), value);
    }
  }
  return out;
}

}  // namespace stowage
