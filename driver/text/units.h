// SPDX-License-Identifier: Apache-2.0
// Numbers for pictures and tables, in the units that whoever looks has chosen. Digits are grouped by narrow spaces, at
// which no line breaks.
#pragma once

#include <cstdint>
#include <string>

namespace stowage {

enum class TimeUnit : std::uint8_t { cycles, seconds };
/// Rounded ("1.50 MiB", binary) or to the byte.
enum class ByteUnit : std::uint8_t { rounded, exact };
struct Units {
  TimeUnit time = TimeUnit::cycles;
  ByteUnit bytes = ByteUnit::rounded;
  friend bool operator==(const Units&, const Units&) = default;
};

/// "1 234 567".
std::string shown_count(std::int64_t number);
/// "32.75 KiB", or "33 536 B" where the units ask for it.
std::string shown_size(std::int64_t bytes, Units units);
/// Cycles or seconds, as the units ask: "1 234", where what it is stands beside it (a column's heading), or "3.2 µs".
std::string shown_time(std::int64_t cycles, double clock_hz, Units units);
/// Seconds, whatever the units.
std::string shown_seconds(std::int64_t cycles, double clock_hz);
/// "12.3 %".
std::string shown_share(double share);
/// "1.5 Gflop/s".
std::string shown_flop_rate(double flops_per_second);
/// "Δ +1 234", "Δ −1 234" or "Δ –"; `size` is the change without its sign, as text.
std::string shown_change(std::int64_t change, const std::string& size);

}  // namespace stowage
