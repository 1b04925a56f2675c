// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/boxes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

bool ElementBox::is_empty() const {
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (end[d] <= low[d]) return true;
  }
  return false;
}

bool ElementBox::holds(const ElementBox& other) const {
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (other.low[d] < low[d] || other.end[d] > end[d]) return false;
  }
  return true;
}

bool overlap(const ElementBox& a, const ElementBox& b) { return !common(a, b).is_empty(); }

ElementBox common(const ElementBox& a, const ElementBox& b) {
  ElementBox box;
  for (std::size_t d = 0; d < a.low.size(); ++d) {
    box.low.push_back(std::max(a.low[d], b.low[d]));
    box.end.push_back(std::min(a.end[d], b.end[d]));
  }
  return box;
}

std::vector<ElementBox> without(const ElementBox& from, const ElementBox& taken) {
  const ElementBox inside = common(from, taken);
  if (inside.is_empty()) return {from};
  std::vector<ElementBox> left;
  ElementBox rest = from;  // what lies beside `taken` in a dimension goes, dimension by dimension
  for (std::size_t d = 0; d < from.low.size(); ++d) {
    if (rest.low[d] < inside.low[d]) {
      left.push_back(rest);
      left.back().end[d] = inside.low[d];
    }
    if (inside.end[d] < rest.end[d]) {
      left.push_back(rest);
      left.back().low[d] = inside.end[d];
    }
    rest.low[d] = inside.low[d];
    rest.end[d] = inside.end[d];
  }
  return left;
}

std::vector<ElementBox> missing(const ElementBox& wanted, const std::vector<const ElementBox*>& held) {
  std::vector<ElementBox> left = {wanted};
  if (wanted.is_empty()) return {};
  for (const ElementBox* box : held) {
    std::vector<ElementBox> still;
    for (const ElementBox& part : left) {
      for (ElementBox& rest : without(part, *box)) still.push_back(std::move(rest));
    }
    left = std::move(still);
    if (left.empty()) break;
  }
  return left;
}

std::string text_of(const ElementBox& box) {
  std::vector<std::string> ranges;
  for (std::size_t d = 0; d < box.low.size(); ++d) ranges.push_back(fmt::format("{}:{}", box.low[d], box.end[d]));
  return fmt::format("[{}]", fmt::join(ranges, ", "));
}

ElementBox moved(ElementBox box, const std::vector<std::int64_t>& by, std::int64_t sign) {
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    box.low[d] += sign * by[d];
    box.end[d] += sign * by[d];
  }
  return box;
}

ElementBox whole(const std::vector<std::int64_t>& extents) {
  return {std::vector<std::int64_t>(extents.size(), 0), extents};
}

}  // namespace stowage
