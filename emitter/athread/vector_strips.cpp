// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/vector_strips.h"

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/check.h"

namespace stowage {
namespace {

constexpr std::size_t longest_strip = 4;

}  // namespace

LaneOffsets offsets_of_lanes(std::int64_t count) {
  check(count >= lanes_of_floatv4, "fewer lanes than a vector has would begin before the row");
  LaneOffsets offsets;
  for (std::int64_t at = 0; at + lanes_of_floatv4 < count; at += lanes_of_floatv4) offsets.push_back(at);
  offsets.push_back(count - lanes_of_floatv4);
  return offsets;
}

std::vector<VectorStrip> strips_of(const LaneOffsets& offsets, bool one_by_one) {
  std::vector<VectorStrip> strips;
  for (std::size_t v = 0; v < offsets.size(); ++v) {
    const bool follows = v > 0 && offsets[v] == offsets[v - 1] + lanes_of_floatv4;
    if (follows && !one_by_one && strips.back().count < longest_strip) {
      ++strips.back().count;
    } else {
      strips.push_back({v, 1});
    }
  }
  return strips;
}

std::string strip_name(std::string_view row, const VectorStrip& strip) {
  if (strip.is_one()) return fmt::format("{}{}", row, strip.first);
  return strip.first == 0 ? std::string(row) : fmt::format("{}_{}", row, strip.first);
}

std::string vector_name(std::string_view row, std::span<const VectorStrip> strips, std::size_t vector) {
  for (const VectorStrip& strip : strips) {
    if (vector < strip.first || vector >= strip.first + strip.count) continue;
    const std::string name = strip_name(row, strip);
    return strip.is_one() ? name : fmt::format("{}{}", name, vector - strip.first);
  }
  fail_check("a vector in no strip of its row");
}

std::string strip_macro(std::string_view name, const VectorStrip& strip) {
  return fmt::format("SW_{}{}", name, strip.count);
}

std::string strip_move(bool store, bool is_aligned, const VectorStrip& strip, std::string_view name,
                       std::string_view address) {
  const std::string_view unaligned = is_aligned ? "" : strip.is_one() ? "u" : "U";
  const std::string call = strip.is_one()
                               ? fmt::format("simd_{}{}", store ? "store" : "load", unaligned)
                               : strip_macro(fmt::format("{}{}", store ? "STORE" : "LOAD", unaligned), strip);
  return fmt::format("{}({}, {});", call, name, address);
}

}  // namespace stowage
