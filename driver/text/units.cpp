// SPDX-License-Identifier: Apache-2.0
#include "driver/text/units.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "core/number_text.h"

namespace stowage {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

std::string shown_count(std::int64_t number) { return replaced(grouped_digits(number), " ", "\u2009"); }

std::string shown_size(std::int64_t bytes, Units units) {
  return units.bytes == ByteUnit::exact ? shown_count(bytes) + " B" : bytes_text(bytes);
}

std::string shown_time(std::int64_t cycles, double clock_hz, Units units) {
  return units.time == TimeUnit::cycles ? shown_count(cycles) : shown_seconds(cycles, clock_hz);
}

std::string shown_seconds(std::int64_t cycles, double clock_hz) {
  return replaced(seconds_text(static_cast<double>(cycles) / clock_hz), " us", " µs");
}

std::string shown_share(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string shown_flop_rate(double flops_per_second) {
  constexpr std::array units = {"flop/s", "kflop/s", "Mflop/s", "Gflop/s", "Tflop/s"};
  std::size_t unit = 0;
  while (flops_per_second >= 1000 && unit + 1 < units.size()) {
    flops_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", flops_per_second, units[unit]);
}

std::string shown_change(std::int64_t change, const std::string& size) {
  if (change == 0) return "Δ –";
  return (change > 0 ? "Δ +" : "Δ −") + size;
}

}  // namespace stowage
