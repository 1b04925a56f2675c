// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/group_model.h"

#include <algorithm>
#include <functional>

#include "core/check.h"

namespace stowage {

bool GroupModel::is_stored(StageId stage) const {
  const StageTensorId tensor = list->stages[stage].output;
  return list->tensors[tensor].role == TensorRole::output;
}

std::optional<IteratorId> GroupModel::iterator_of(StageId stage, VarId axis) const {
  if (!iterator_of_axis.contains(stage) || !iterator_of_axis[stage].contains(axis)) return std::nullopt;
  return iterator_of_axis[stage][axis];
}

bool GroupModel::is_main_reduction(IteratorId iterator) const {
  const ModelIterator& i = iterators[iterator];
  return !i.spatial && i.stage == main;
}

namespace {

/// How many of the tensors that earlier stages store do not move with an iterator.
int stores_beside(const GroupModel& model, IteratorId iterator) {
  int beside = 0;
  for (const ModelBuffer& buffer : model.buffers) {
    const bool is_earlier = buffer.kind == ModelBuffer::Kind::output && buffer.stage != model.root;
    if (is_earlier && !buffer.moved_by.contains(iterator)) ++beside;
  }
  return beside;
}

}  // namespace

IdVector<IteratorId, int> ranks_of_stores(const GroupModel& model) {
  IdVector<IteratorId, int> ranks;
  for (const IteratorId i : model.iterators.ids()) {
    ranks.push_back(model.iterators[i].spatial ? stores_beside(model, i) : 0);
  }
  return ranks;
}

bool moves_all_stores(const GroupModel& model, IteratorId iterator) { return stores_beside(model, iterator) == 0; }

std::optional<IteratorId> GroupModel::iterator_named(const std::string& name) const {
  for (const IteratorId i : iterators.ids()) {
    if (iterators[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<StageRead> GroupModel::readers_of(StageId stage) const {
  std::vector<StageRead> readers;
  const StageTensorId tensor = list->stages[stage].output;
  for (const StageId s : list->stages.ids()) {
    const auto& reads = list->stages[s].reads;
    for (const ReadId r : reads.ids()) {
      if (reads[r].tensor == tensor) readers.emplace_back(s, r);
    }
  }
  return readers;
}

std::int64_t span_of(const IndexExpr& index, const std::function<std::int64_t(VarId)>& extent) {
  std::int64_t span = 1;
  for (const IndexTerm& term : index.terms()) {
    const IndexAtom& atom = term.atom;
    const auto argument_span = [&](std::size_t i) { return span_of((*atom.args)[i], extent); };
    std::int64_t atom_span = 1;
    switch (atom.kind) {
      case IndexAtom::Kind::variable: atom_span = extent(atom.variable); break;
      case IndexAtom::Kind::floor_div:
        // A window of w consecutive values touches at most (w - 2) / c + 2 quotients.
        atom_span = argument_span(0) <= 1 ? 1 : (argument_span(0) - 2) / atom.number + 2;
        break;
      case IndexAtom::Kind::remainder: atom_span = argument_span(0) <= 1 ? 1 : atom.number; break;
      case IndexAtom::Kind::minimum:
      case IndexAtom::Kind::maximum: atom_span = argument_span(0) + argument_span(1) - 1; break;
      case IndexAtom::Kind::table: {
        const auto& values = atom.table->values;
        const auto window = static_cast<std::size_t>(
            std::clamp<std::int64_t>(argument_span(0), 1, static_cast<std::int64_t>(values.size())));
        // The symbolic hull uses running minima and maxima (tile_boxes.cpp), so the span does too.
        std::vector<std::int64_t> low(values);
        std::vector<std::int64_t> high(values);
        for (std::size_t k = values.size() - 1; k-- > 0;) low[k] = std::min(low[k], low[k + 1]);
        for (std::size_t k = 1; k < values.size(); ++k) high[k] = std::max(high[k], high[k - 1]);
        for (std::size_t k = 0; k + window <= values.size(); ++k) {
          atom_span = std::max(atom_span, high[k + window - 1] - low[k] + 1);
        }
        break;
      }
      case IndexAtom::Kind::tensor_value: atom_span = atom.number < 0 ? 1 : atom.bound; break;
    }
    span += std::abs(term.coefficient) * (atom_span - 1);
  }
  return span;
}

std::int64_t cores_of_split_sum(const GroupModel& model) {
  return model.split_sum ? model.iterators[model.split_sum->parts].extent : 1;
}

bool counts_parts(const GroupModel& model, const std::string& iterator) {
  return model.split_sum && model.iterators[model.split_sum->parts].name == iterator;
}

BufferId frame_of(const GroupModel& model, BufferId buffer) {
  for (const BufferId b : model.buffers.ids()) {
    if (model.buffers[b].shares_with == buffer) return frame_of(model, b);
  }
  return buffer;
}

AxisDemand with_whole_reductions(AxisDemand demand, const GroupModel& model) {
  IndexExpr tile = demand.tile.constant();
  for (const IndexTerm& term : demand.tile.terms()) {
    const bool variable = term.atom.kind == IndexAtom::Kind::variable;
    const ModelIterator* iterator = variable ? &model.iterators[IteratorId(term.atom.variable.index())] : nullptr;
    if (iterator == nullptr || iterator->spatial) {
      tile += IndexExpr::of_atom(term.atom) * term.coefficient;
      continue;
    }
    const std::int64_t reach = term.coefficient * (iterator->extent - 1);
    demand.window.low += std::min<std::int64_t>(0, reach);
    demand.window.high += std::max<std::int64_t>(0, reach);
  }
  demand.tile = tile;
  return demand;
}

Interval demanded_bounds(const GroupModel& model, StageId stage, VarId axis) {
  std::optional<Interval> all;
  for (const auto& [reader, read] : model.readers_of(stage)) {
    const Stage& consumer = model.list->stages[reader];
    const IndexExpr& index = consumer.reads[read].index[axis.index()];
    const Interval wanted = bounds(index, [&](VarId a) { return Interval{0, consumer.axes[a.index()].extent - 1}; });
    all = all ? Interval{std::min(all->low, wanted.low), std::max(all->high, wanted.high)} : wanted;
  }
  check(all.has_value(), "a stage whose output nobody reads");
  return *all;
}

namespace {

/// Largest number of elements that the readers of an earlier stage demand of an axis in one tile, also outside of it.
std::int64_t demanded_extent(const GroupModel& model, StageId stage, VarId axis, const IteratorSizes& sizes) {
  const AxisDemand& demand = model.demands[stage][axis];
  std::int64_t extent = 1;
  if (demand.exact) {
    extent = span_of(demand.tile, [&](VarId iterator) { return sizes[IteratorId(iterator.index())]; }) +
             demand.window.high - demand.window.low;
  } else {
    for (const auto& [reader, read] : model.readers_of(stage)) {
      const Stage& consumer = model.list->stages[reader];
      const IndexExpr& index = consumer.reads[read].index[axis.index()];
      extent = std::max(extent, span_of(index, [&, reader = reader](VarId a) {
                          const bool reduced = a.index() >= consumer.spatial;
                          if (reduced && reader != model.main) return consumer.axes[a.index()].extent;
                          return axis_extent(model, reader, a, sizes);
                        }));
    }
  }
  return std::min(extent, demand.reach.high - demand.reach.low + 1);
}

}  // namespace

std::int64_t axis_extent(const GroupModel& model, StageId stage, VarId axis, const IteratorSizes& sizes) {
  const Stage& s = model.list->stages[stage];
  const std::int64_t whole = s.axes[axis.index()].extent;
  if (const auto iterator = model.iterator_of(stage, axis)) return std::min(whole, sizes[*iterator]);
  return std::min(whole, demanded_extent(model, stage, axis, sizes));
}

std::vector<std::int64_t> buffer_extents(const GroupModel& model, const ModelBuffer& of, const IteratorSizes& sizes) {
  const ModelBuffer& buffer = model.buffers[frame_of(model, model.buffers.id_of(of))];
  const StageTensor& tensor = model.list->tensors[buffer.tensor];
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < buffer.index.size(); ++d) {
    // Readers of a padded intermediate look outside of it; the box that they see is not clipped.
    const bool unclipped = buffer.kind == ModelBuffer::Kind::intermediate && buffer.padding;
    std::int64_t span =
        unclipped ? demanded_extent(model, buffer.stage, VarId(d), sizes)
                  : span_of(buffer.index[d], [&](VarId a) { return axis_extent(model, buffer.stage, a, sizes); });
    // A buffer holds at least one element, also of an empty tensor: C has no arrays of none.
    if (!buffer.padding) span = std::min(span, tensor.shape[d]);
    extents.push_back(std::max<std::int64_t>(1, span));
  }
  return extents;
}

std::int64_t stage_operations(const GroupModel& model, StageId stage, const IteratorSizes& sizes) {
  const Stage& s = model.list->stages[stage];
  std::int64_t operations =
      std::max<std::int64_t>(1, operation_count(s.body) + (s.reduction == Reduction::none ? 0 : 1));
  for (std::size_t axis = 0; axis < s.axes.size(); ++axis) {
    operations *= axis < s.spatial ? axis_extent(model, stage, VarId(axis), sizes) : s.axes[axis].extent;
  }
  return operations;
}

std::vector<GroupIterator> group_iterators(const StageList& stages) {
  std::vector<GroupIterator> iterators;
  for (const ModelIterator& iterator : model_of_no_target(stages).iterators) {
    iterators.push_back({iterator.name, iterator.extent, iterator.spatial});
  }
  return iterators;
}

}  // namespace stowage
