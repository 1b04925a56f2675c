// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/address_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace stowage::drawing {

AddressAxis::AddressAxis(std::int64_t top_address, const std::vector<Piece>& pieces, double top, double bottom,
                         double least) {
  std::set<std::int64_t> ends = {0, std::max<std::int64_t>(top_address, 1)};
  if (least <= 0) {  // nothing to make room for: one stretch
    ends_.assign(ends.begin(), ends.end());
    heights_ = {bottom, top};
    return;
  }
  for (const Piece& piece : pieces) {
    for (const std::int64_t end : {piece.begin, piece.end}) {
      if (end > 0 && end < top_address) ends.insert(end);
    }
  }
  ends_.assign(ends.begin(), ends.end());
  const std::size_t count = ends_.size() - 1;
  const double room = bottom - top;
  const double at_least = std::min(least, room / (2 * static_cast<double>(count)));
  std::vector<double> weights;
  std::vector<bool> used;
  double bytes_used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(static_cast<double>(ends_[i + 1] - ends_[i]));
    used.push_back(std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return !piece.free && piece.begin <= ends_[i] && ends_[i + 1] <= piece.end;
    }));
    if (used.back()) bytes_used += weights.back();
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    if (used[i] && weights[i] / all * room < at_least) to_scale_ = false;
  }
  if (!to_scale_) {
    // What is free is shown with a third of the height at most.
    const double free = all - bytes_used;
    const double most = std::max(bytes_used / 2, 1.0);
    if (free > most) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!used[i]) weights[i] *= most / free;
      }
    }
  }
  // Stretches that would be too small get their least height; the others share what is left.
  std::vector<double> tall(count, 0);
  std::vector<bool> fixed(count, false);
  for (bool again = true; again;) {
    again = false;
    double left = room;
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) left -= tall[i];
      if (!fixed[i]) sum += weights[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) continue;
      tall[i] = weights[i] / sum * left;
      if (to_scale_ || !used[i] || tall[i] >= at_least) continue;
      fixed[i] = again = true;
      tall[i] = at_least;
      break;
    }
  }
  double at = bottom;
  heights_.push_back(at);
  for (const double height : tall) heights_.push_back(at -= height);
}

double AddressAxis::y(double address) const {
  std::size_t i = 0;
  while (i + 2 < ends_.size() && address > static_cast<double>(ends_[i + 1])) ++i;
  const auto low = static_cast<double>(ends_[i]);
  const auto high = static_cast<double>(ends_[i + 1]);
  return heights_[i] + (heights_[i + 1] - heights_[i]) * (address - low) / (high - low);
}

void add_addresses(Scene& scene, const Sheet& sheet, const Box& area, const AddressAxis& axis) {
  const double height = sheet.fonts.height(Font::small);
  std::vector<std::int64_t> shown = {axis.ends().front(), axis.ends().back()};
  std::vector<std::int64_t> wanted;
  if (axis.to_scale()) {
    const int most = std::max(2, static_cast<int>(area.height / (height * 2.5)));
    for (const double tick : ticks(static_cast<double>(axis.ends().back()), most, true)) {
      wanted.push_back(static_cast<std::int64_t>(tick));
    }
  } else {
    wanted = axis.ends();
  }
  for (const std::int64_t address : wanted) {
    const double y = axis.y(static_cast<double>(address));
    scene.line({area.x, y}, {area.right(), y}, Ink::line, 0.6);
    const bool free = std::none_of(shown.begin(), shown.end(), [&](std::int64_t other) {
      return std::abs(axis.y(static_cast<double>(other)) - y) < height;
    });
    if (free) shown.push_back(address);
  }
  for (const std::int64_t address : shown) {
    const double y = axis.y(static_cast<double>(address));
    constexpr double left = 2;
    scene.text({left, y - height / 2, area.x - left - 6, height}, sheet.size(address), Ink::muted, Font::small,
               Align::right);
  }
}

double address_width(const Sheet& sheet, std::int64_t most) {
  return std::max(sheet.text_width("555.00 KiB"), sheet.text_width(sheet.size(most)));
}

}  // namespace stowage::drawing
