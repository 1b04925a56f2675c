// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/tile_boxes.h"

#include <algorithm>

#include "core/check.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {
namespace {

/// Tables need not be monotone: running minima from the right and maxima from the left bound every window.
Span table_span(const IndexTable& table, const Span& argument) {
  if (argument.low == argument.high) {
    auto same = std::make_shared<const IndexTable>(table);
    return {lookup(same, argument.low), lookup(same, argument.high)};
  }
  std::vector<std::int64_t> low(table.values);
  std::vector<std::int64_t> high(table.values);
  for (std::size_t k = low.size() - 1; k-- > 0;) low[k] = std::min(low[k], low[k + 1]);
  for (std::size_t k = 1; k < high.size(); ++k) high[k] = std::max(high[k], high[k - 1]);
  const auto named = [&](const std::vector<std::int64_t>& values, const char* suffix) {
    const std::string name = values == table.values ? table.name : table.name + suffix;
    return std::make_shared<const IndexTable>(IndexTable{name, values});
  };
  return {lookup(named(low, "_low"), argument.low), lookup(named(high, "_high"), argument.high)};
}

Span span_of_range(const IndexExpr& start, const IndexExpr& extent) { return {start, start + extent - 1}; }

}  // namespace

Interval whole_bounds(const Stage& stage, const IndexExpr& index) {
  return bounds(index, [&](VarId a) { return Interval{0, stage.axes[a.index()].extent - 1}; });
}

Span TileBoxes::hull(const IndexExpr& e, StageId stage, const std::function<Span(VarId)>& axis) const {
  Span sum{e.constant(), e.constant()};
  for (const IndexTerm& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    const auto argument = [&](std::size_t i) { return hull((*atom.args)[i], stage, axis); };
    Span value;
    switch (atom.kind) {
      case IndexAtom::Kind::variable: value = axis(atom.variable); break;
      case IndexAtom::Kind::floor_div: {
        const Span a = argument(0);
        value = {floor_div(a.low, atom.number), floor_div(a.high, atom.number)};
        break;
      }
      case IndexAtom::Kind::remainder: {
        const Span a = argument(0);
        value = a.low == a.high ? Span{remainder(a.low, atom.number), remainder(a.low, atom.number)}
                                : Span{0, atom.number - 1};
        break;
      }
      case IndexAtom::Kind::minimum: {
        const Span a = argument(0);
        const Span b = argument(1);
        value = {minimum(a.low, b.low), minimum(a.high, b.high)};
        break;
      }
      case IndexAtom::Kind::maximum: {
        const Span a = argument(0);
        const Span b = argument(1);
        value = {maximum(a.low, b.low), maximum(a.high, b.high)};
        break;
      }
      case IndexAtom::Kind::table: {
        const Span a = argument(0);
        value = table_span(*atom.table, a);
        break;
      }
      case IndexAtom::Kind::tensor_value: {
        if (atom.number >= 0) {
          value = {0, atom.bound - 1};
          break;
        }
        // A pinned gather: the only element of the buffer that holds the index.
        const BufferId buffer = model_->buffer_of_read.at({stage, ReadId(static_cast<std::size_t>(-1 - atom.number))});
        value = {value_in(buffer, atom.bound), value_in(buffer, atom.bound)};
        break;
      }
    }
    const bool positive = term.coefficient > 0;
    sum.low += (positive ? value.low : value.high) * term.coefficient;
    sum.high += (positive ? value.high : value.low) * term.coefficient;
  }
  return sum;
}

Span TileBoxes::axis_span(StageId stage_number, VarId axis, const std::set<IteratorId>& fixed) const {
  if (const auto iterator = model_->iterator_of(stage_number, axis)) {
    const IteratorTile& tile = (*tiles_)[*iterator];
    if (tile.whole || fixed.contains(*iterator)) return span_of_range(tile.start, tile.extent);
    return span_of_range(tile.core_start, tile.core_extent);
  }
  const std::int64_t last = stage(stage_number).axes[axis.index()].extent - 1;
  Span clipped = demanded_span(stage_number, axis, fixed);
  const Interval reach = demanded_bounds(*model_, stage_number, axis);
  if (reach.low < 0) clipped.low = maximum(clipped.low, 0);
  if (reach.high > last) clipped.high = minimum(clipped.high, last);
  return clipped;
}

Span TileBoxes::demanded_span(StageId stage_number, VarId axis, const std::set<IteratorId>& fixed) const {
  std::optional<Span> all;
  for (const auto& [reader, read] : model_->readers_of(stage_number)) {
    const Access& access = stage(reader).reads[read];
    const Span wanted = hull(access.index[axis.index()], reader,
                             [&, reader = reader](VarId a) { return reader_axis_span(reader, a, fixed); });
    all = all ? Span{minimum(all->low, wanted.low), maximum(all->high, wanted.high)} : wanted;
  }
  check(all.has_value(), "a stage whose output nobody reads");
  return *all;
}

Span TileBoxes::reader_axis_span(StageId reader, VarId axis, const std::set<IteratorId>& fixed) const {
  const Stage& s = stage(reader);
  if (axis.index() >= s.spatial && reader != model_->main) return {0, s.axes[axis.index()].extent - 1};
  return axis_span(reader, axis, fixed);
}

}  // namespace stowage
