// SPDX-License-Identifier: Apache-2.0
#include "driver/text/memory_size.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace stowage {

std::optional<std::int64_t> parse_memory_size(std::string_view text, std::string& why_not) {
  constexpr std::string_view units = "KMGT";
  constexpr double least = 32 * 1024.0 * 1024.0;
  constexpr double most = 1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto power = unit.empty() ? std::string_view::npos : units.find(unit.front());
  const std::string_view rest = unit.empty() ? unit : unit.substr(1);
  const bool is_size = error == std::errc() && power != std::string_view::npos && (rest.empty() || rest == "iB");
  if (!is_size || !(number > 0) || !std::isfinite(number)) {
    why_not = fmt::format("'{}' is no size of memory: a number with K, M, G or T was wanted, for instance 512M or 1.5G",
                          text);
    return std::nullopt;
  }
  double bytes = number;
  for (std::size_t i = 0; i <= power; ++i) bytes *= 1024;
  if (bytes < least || bytes > most) {
    why_not = fmt::format("'{}' is no memory that a job can have: 32M to 1024T was wanted", text);
    return std::nullopt;
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace stowage
