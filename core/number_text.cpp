// SPDX-License-Identifier: Apache-2.0
#include "core/number_text.h"

#include <fmt/format.h>

namespace stowage {

std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, " ");
  return text;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped_digits(number), noun, number == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < std::int64_t{1} << 20) return fmt::format("{:.2f} KiB", value / 1024);
  if (bytes < std::int64_t{1} << 30) return fmt::format("{:.2f} MiB", value / (1 << 20));
  return fmt::format("{:.2f} GiB", value / (1 << 30));
}

std::string ldm_bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  std::string text = fmt::format("{:.2f}", static_cast<double>(bytes) / 1024.0);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + " KiB";
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

}  // namespace stowage
