// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/padding.h"

#include <algorithm>

namespace stowage {
namespace {

/// A position brought inside 0..extent.
IndexExpr within(const IndexExpr& position, std::int64_t extent, const Interval& range) {
  if (range.high <= 0) return 0;
  if (range.low >= extent) return extent;
  IndexExpr inside = position;
  if (range.low < 0) inside = maximum(inside, 0);
  if (range.high > extent) inside = minimum(inside, extent);
  return inside;
}

}  // namespace

Border border_of(const Span& box, const Interval& reach, std::int64_t last) {
  Border border{{}, box.low * -1, IndexExpr(last + 1) - box.low};
  if (reach.low < 0) border.outside.push_back(border.first);
  if (reach.high > last) border.outside.push_back(box.high - last);
  return border;
}

std::optional<BorderFill> fill_of(BufferId buffer, const std::vector<std::int64_t>& extents,
                                  const std::vector<Border>& borders, double padding,
                                  const std::function<Interval(const IndexExpr&)>& range_of) {
  std::vector<Range> kept;
  std::vector<IndexExpr> condition;
  bool always = false;
  for (std::size_t d = 0; d < borders.size(); ++d) {
    Range range{0, extents[d], extents[d]};
    bool may_be_outside = false;
    for (const IndexExpr& e : borders[d].outside) {
      const Interval elements = range_of(e);
      if (elements.high <= 0) continue;
      may_be_outside = true;
      always = always || elements.low > 0;
      condition.push_back(e);
    }
    if (may_be_outside) {
      range.start = within(borders[d].first, extents[d], range_of(borders[d].first));
      range.extent = within(borders[d].end, extents[d], range_of(borders[d].end)) - range.start;
      range.max_extent = std::clamp<std::int64_t>(range_of(range.extent).high, 0, extents[d]);
    }
    kept.push_back(std::move(range));
  }
  if (condition.empty()) return std::nullopt;
  if (always) condition.clear();
  return BorderFill{{buffer, padding, std::move(kept)}, std::move(condition)};
}

StmtPtr statement_of(const BorderFill& outside, const std::string& name,
                     const std::function<StmtPtr(Stmt::Node node, std::string note)>& made) {
  StmtPtr fill = made(outside.fill, "padding of " + name);
  return outside.condition.empty() ? fill : made(Guard{outside.condition, {std::move(fill)}}, {});
}

}  // namespace stowage
