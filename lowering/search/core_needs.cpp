// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/core_needs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/tensor.h"
#include "lowering/model/idle_parts.h"

namespace stowage {
namespace {

void clip(Reach& reach, std::int64_t extent) {
  const bool outside = reach.hull.low < 0 || reach.hull.high >= extent;
  reach.hull = {std::max<std::int64_t>(0, reach.hull.low), std::min(extent - 1, reach.hull.high)};
  if (reach.exact) {
    reach.count = reach.length();
  } else if (outside) {
    reach.count = reach.length() > 0 ? std::min<std::int64_t>(1, reach.count) : 0;
  }
}

/// Points of axes that an index is evaluated at, at most.
constexpr std::int64_t max_enumerated = 4096;

/// Whether an index of an access depends on an axis that another one of it depends on too: not every value of the one
/// then meets every value of the other, as of a quotient and a remainder.
bool is_correlated(const std::vector<IndexExpr>& index, std::size_t d) {
  const std::set<VarId> own = variables_of(index[d]);
  for (std::size_t other = 0; other < index.size(); ++other) {
    if (other == d) continue;
    const std::set<VarId> variables = variables_of(index[other]);
    if (std::any_of(own.begin(), own.end(), [&](VarId v) { return variables.contains(v); })) return true;
  }
  return false;
}

/// So many values within a dimension of an index `d` of an access that has divisions, remainders or tables, point by
/// point: nothing where there are too many points, where not all values of an axis are needed, where the index is the
/// value of a tensor, and where it is correlated with another one, as what is needed of several dimensions is taken to
/// be their product.
std::optional<std::int64_t> enumerated_count(const std::vector<IndexExpr>& index, std::size_t d,
                                             const std::function<const Reach&(VarId)>& axis, std::int64_t extent) {
  const IndexExpr& e = index[d];
  if (!tensor_values_of(e).empty() || is_correlated(index, d)) return std::nullopt;
  const std::set<VarId> of = variables_of(e);
  const std::vector<VarId> variables(of.begin(), of.end());
  std::int64_t points = 1;
  for (const VarId v : variables) {
    if (!axis(v).exact || axis(v).length() <= 0 || axis(v).length() > max_enumerated) return std::nullopt;
    points *= axis(v).length();
    if (points > max_enumerated) return std::nullopt;
  }
  std::map<VarId, std::int64_t> at;
  for (const VarId v : variables) at[v] = axis(v).hull.low;
  std::set<std::int64_t> values;
  for (std::int64_t point = 0; point < points; ++point) {
    const std::int64_t value = evaluate(e, [&](VarId v) { return at.at(v); });
    if (value >= 0 && value < extent) values.insert(value);
    for (const VarId v : variables) {  // the next point
      if (++at[v] <= axis(v).hull.high) break;
      at[v] = axis(v).hull.low;
    }
  }
  return static_cast<std::int64_t>(values.size());
}

/// Values of index `d` of an access; of a sum of axes its terms from the smallest step upwards: one whose step is no
/// longer than what the smaller ones cover leaves no gap.
Reach reach_of(const std::vector<IndexExpr>& index, std::size_t d, const std::function<const Reach&(VarId)>& axis,
               std::int64_t extent) {
  const IndexExpr& e = index[d];
  // What is loaded of it may reach from end to end, whatever is needed (lowering/model/tile_boxes.h).
  if (!e.is_affine()) return {{0, extent - 1}, enumerated_count(index, d, axis, extent).value_or(1), false};
  Reach reach{bounds(e, [&](VarId a) { return axis(a).hull; }), 1, true};
  std::vector<std::pair<std::int64_t, const Reach*>> steps;
  for (const IndexTerm& term : e.terms()) {
    const Reach& of_axis = axis(term.atom.variable);
    if (of_axis.count == 0) return {reach.hull, 0, false};
    if (of_axis.length() > 1) steps.emplace_back(std::abs(term.coefficient), &of_axis);
  }
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [step, of_axis] : steps) {
    if (reach.exact && of_axis->exact && step <= reach.count) {
      reach.count += step * (of_axis->length() - 1);
    } else {
      reach.count = std::max(reach.count, of_axis->count);
      reach.exact = false;
    }
  }
  return reach;
}

}  // namespace

void CoreNeeds::find(const IdVector<IteratorId, Interval>& tiles) {
  for (std::size_t number = of_stage_.size(); number-- > 0;) {
    const StageId s(number);
    const Stage& stage = stage_of(s);
    auto& axes = of_stage_[s];
    axes.clear();
    for (std::size_t a = 0; a < stage.axes.size(); ++a) {
      if (const auto iterator = model_.iterator_of(s, VarId(a))) {
        const Interval tile = tiles[*iterator];
        axes.push_back({tile, tile.high - tile.low + 1, true});
      } else {
        axes.push_back(demanded(s, a));
      }
    }
  }
}

Reach CoreNeeds::dimension(const ModelBuffer& buffer, std::size_t d) const {
  const std::int64_t extent = model_.list->tensors[buffer.tensor].shape[d];
  Reach reach = reach_of(
      buffer.index, d, [&](VarId a) -> const Reach& { return axis(buffer.stage, a.index()); }, extent);
  clip(reach, extent);
  return reach;
}

Reach CoreNeeds::demanded(StageId s, std::size_t a) const {
  const std::int64_t extent = stage_of(s).axes[a].extent;
  std::optional<Reach> all;
  for (const auto& [reader, read] : model_.readers_of(s)) {
    const Access& access = stage_of(reader).reads[read];
    const Reach wanted = reach_of(
        access.index, a, [&, reader = reader](VarId v) -> const Reach& { return axis(reader, v.index()); }, extent);
    if (!all) {
      all = wanted;
      continue;
    }
    const bool apart = wanted.hull.low > all->hull.high + 1 || all->hull.low > wanted.hull.high + 1;
    all->exact = all->exact && wanted.exact && !apart;
    all->count = std::max(all->count, wanted.count);
    all->hull = {std::min(all->hull.low, wanted.hull.low), std::max(all->hull.high, wanted.hull.high)};
  }
  clip(*all, extent);
  return *all;
}

namespace {

template <class Visit>
void for_each_dimension(const GroupModel& model, const CoreNeeds& needs, CutDimensions& cut, const Visit& visit) {
  for (const BufferId b : cut.of_buffer.ids()) {
    if (model.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
    for (std::size_t d = 0; d < cut.of_buffer[b].size(); ++d) {
      visit(cut.of_buffer[b][d], [&] { return needs.dimension(model.buffers[b], d); });
    }
  }
  for (const StageId s : cut.of_stage.ids()) {
    for (std::size_t a = 0; a < cut.of_stage[s].size(); ++a) {
      visit(cut.of_stage[s][a], [&] { return needs.axis(s, a); });
    }
  }
}

void add(Cut& cut, const Reach& reach, bool first) {
  cut.sum += reach.count;
  cut.least = first ? reach.count : std::min(cut.least, reach.count);
  cut.maximum = std::max(cut.maximum, reach.count);
  cut.longest = std::max(cut.longest, reach.length());
}

/// What a core has of an iterator that no choice cuts; of the parts of a split sum one, and all need as much.
std::int64_t uncut(const GroupModel& model, IteratorId i) {
  return model.split_sum && model.split_sum->parts == i ? 1 : model.iterators[i].extent;
}

/// A dimension that several iterators move together (two readers at unrelated places: what lies between them is needed
/// too) is not seen by cutting one at a time, but by cutting all.
void find_moved_by_several(const GroupModel& model, IdRange<IteratorId> spatial, CoreNeeds& needs, CutDimensions& cut) {
  const auto at_first = [&](std::optional<IteratorId> only) {
    IdVector<IteratorId, Interval> tiles;
    for (const IteratorId i : model.iterators.ids()) {
      const bool is_cut = only ? i == *only : model.iterators[i].spatial;
      const std::int64_t last = uncut(model, i) - 1;
      tiles.push_back({0, is_cut ? std::min<std::int64_t>(0, last) : last});
    }
    needs.find(tiles);
  };
  at_first(std::nullopt);
  for_each_dimension(model, needs, cut, [](CutDimension& d, const auto& reach) { d.together = reach(); });
  const auto compare = [](CutDimension& dimension, const Reach& alone) {
    const Reach& together = dimension.together;
    if (!(alone.hull == together.hull) || alone.count != together.count) dimension.moved_by.assign(2, IteratorId());
  };
  for_each_dimension(model, needs, cut, [&](CutDimension& dimension, const auto&) {
    if (dimension.moved_by.empty()) compare(dimension, dimension.whole);
  });
  for (const IteratorId i : spatial) {
    at_first(i);
    for_each_dimension(model, needs, cut, [&](CutDimension& dimension, const auto& reach) {
      if (dimension.moved_by == std::vector<IteratorId>{i}) compare(dimension, reach());
    });
  }
}

}  // namespace

bool several_move_one(const std::vector<CutDimension>& dimensions) {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const CutDimension& dimension) { return dimension.moved_by.size() > 1; });
}

CutDimensions cut_dimensions(const GroupModel& model, const IdVector<IteratorId, std::vector<std::int64_t>>& choices) {
  CutDimensions cut;
  for (const ModelBuffer& b : model.buffers) cut.of_buffer.push_back(std::vector<CutDimension>(b.index.size()));
  for (const Stage& stage : model.list->stages) cut.of_stage.push_back(std::vector<CutDimension>(stage.spatial));
  CoreNeeds needs(model);
  IdVector<IteratorId, Interval> tiles;
  for (const IteratorId i : model.iterators.ids()) tiles.push_back({0, uncut(model, i) - 1});
  needs.find(tiles);
  for_each_dimension(model, needs, cut, [](CutDimension& d, const auto& reach) { d.whole = reach(); });
  for (const IteratorId i : choices.ids()) {
    const std::int64_t extent = model.iterators[i].extent;
    for (const std::int64_t parts : choices[i]) {
      for_each_dimension(model, needs, cut, [](CutDimension& d, const auto&) { d.measured.emplace_back(); });
      const std::int64_t size = ceil_div(extent, parts);
      for (std::int64_t part = 0; part < filled_parts(extent, parts); ++part) {
        tiles[i] = {part * size, std::min(extent, (part + 1) * size) - 1};
        needs.find(tiles);
        for_each_dimension(model, needs, cut,
                           [&](CutDimension& d, const auto& reach) { add(d.measured.back(), reach(), part == 0); });
      }
    }
    tiles[i] = {0, extent - 1};
    for_each_dimension(model, needs, cut, [&](CutDimension& dimension, const auto&) {
      const bool moves = std::any_of(dimension.measured.begin(), dimension.measured.end(), [&](const Cut& each) {
        return each.least != dimension.whole.count || each.longest != dimension.whole.length();
      });
      if (moves) {
        dimension.moved_by.push_back(i);
        dimension.by_choice = dimension.measured;
      }
      dimension.measured.clear();
    });
  }
  find_moved_by_several(model, choices.ids(), needs, cut);
  return cut;
}

std::int64_t most_of_call(const StageTensor& tensor, const std::vector<std::int64_t>& extents) {
  const std::vector<std::int64_t> strides = tensor.memory_strides();
  std::int64_t all = 1, whole = 1, longest = 1, second = 1;
  bool is_dense_outwards = true;  // no part of a dimension abuts with what is outside of it
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t extent = std::max<std::int64_t>(1, extents[d]);
    all *= extent;
    is_dense_outwards = is_dense_outwards && (d == 0 || strides[d - 1] >= strides[d] * tensor.shape[d]);
    if (extent >= tensor.shape[d]) {
      whole *= std::max<std::int64_t>(1, tensor.shape[d]);
    } else if (extent > longest) {
      second = std::exchange(longest, extent);
    } else {
      second = std::max(second, extent);
    }
  }
  return is_dense_outwards ? std::min(all, whole * longest * second) : all;
}

}  // namespace stowage
