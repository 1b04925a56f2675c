// SPDX-License-Identifier: Apache-2.0
// From stages to their model: which iterators there are, which buffers, and what each stage's readers demand of it.
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/same_padding.h"
#include "lowering/model/group_model.h"

namespace stowage {
namespace {

bool is_identity(const std::vector<IndexExpr>& index) {
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (!index[d].is_variable(VarId(d))) return false;
  }
  return true;
}

bool reads_tensor_values(const std::vector<IndexExpr>& index) {
  return std::any_of(index.begin(), index.end(), [](const IndexExpr& e) { return !tensor_values_of(e).empty(); });
}

/// Whether a read's value is asked for only behind the sums of its stage.
bool finishes_only(const Stage& stage, ReadId read) {
  if (stage.reduction == Reduction::none) return false;
  bool found = false;
  visit_nodes(stage.body, [&](const ScalarNode& node) {
    const auto* other = std::get_if<ScalarNode::Read>(&node.value);
    found = found || (other != nullptr && other->read == read);
  });
  const auto asks = [&](const Access& access) {  // where it reads
    return std::any_of(access.index.begin(), access.index.end(),
                       [&](const IndexExpr& e) { return tensor_values_of(e).contains(read); });
  };
  return !found && std::none_of(stage.reads.begin(), stage.reads.end(), asks);
}

/// Replaces every tensor value by one marked as a single element (number < 0), for spans of pinned gathers.
IndexExpr with_single_values(const IndexExpr& e) {
  return replace_values(e, [](IndexAtom value) {
    value.number = -1 - value.number;
    return IndexExpr::of_atom(std::move(value));
  });
}

class ModelBuilder {
 public:
  ModelBuilder(const StageList& list, std::int64_t held_row_bytes) : held_row_bytes_(held_row_bytes) {
    model_.list = &list;
    model_.root = StageId(list.stages.size() - 1);
    model_.main = model_.root;
    model_.in_tail.assign(list.stages.size(), false);
  }

  GroupModel build() {
    add_iterators();
    find_demands();
    for (const StageId s : stages().ids()) {
      add_read_buffers(s);
      add_output_buffer(s);
    }
    pin_gathers();
    find_overlapping();
    share_in_place();
    tell_of_indices();
    return std::move(model_);
  }

 private:
  [[nodiscard]] const IdVector<StageId, Stage>& stages() const { return model_.list->stages; }

  void add_iterator(StageId stage, VarId axis, bool spatial) {
    const Axis& a = stages()[stage].axes[axis.index()];
    std::string name = a.name;
    for (int number = 2; model_.iterator_named(name); ++number) name = fmt::format("{}{}", a.name, number);
    model_.iterator_of_axis[stage][axis] = model_.iterators.next_id();
    model_.iterators.push_back({std::move(name), a.extent, spatial, stage, axis});
  }

  void add_iterators() {
    for (const Stage& stage : stages()) model_.iterator_of_axis.push_back(NumberOfAxis(stage.axes.size()));
    const Stage& root = stages()[model_.root];
    for (const VarId axis : root.spatial_axes()) add_iterator(model_.root, axis, true);
    for (const StageId s : stages().ids()) {
      for (VarId axis(stages()[s].spatial); axis.index() < stages()[s].axes.size(); ++axis) {
        add_iterator(s, axis, false);
      }
    }
  }

  /// From the root backwards: what is demanded of every axis of each stage, and which iterators that depends on.
  void find_demands() {
    model_.demands.assign(stages().size(), {});
    axis_iterators_.assign(stages().size(), {});
    bool main_found = false;
    for (std::size_t stage_number = stages().size(); stage_number-- > 0;) {
      const StageId s(stage_number);
      const Stage& stage = stages()[s];
      auto& of_axis = axis_iterators_[s];
      of_axis.resize(stage.axes.size());
      for (const VarId a : of_axis.ids()) {
        const bool reduced = a.index() >= stage.spatial;
        const auto iterator = model_.iterator_of(s, a);
        if (iterator) of_axis[a].insert(*iterator);
        // The spatial axes, which decide it, come first.
        if (reduced && !std::exchange(main_found, true)) find_main(s);
        AxisDemand demand;
        if (s == model_.root || (s == model_.main && reduced)) {
          demand.tile = IndexExpr(VarId(iterator->index()));
        } else if (reduced) {
          // What an earlier stage reduces, its producers compute as a whole: no tile of it is fixed there.
          demand.window = {0, stage.axes[a.index()].extent - 1};
        } else {
          demand = demand_of_readers(s, a);
          demand.reach = demanded_bounds(model_, s, a);
          of_axis[a] = iterators_of_demand(s, a, demand);
        }
        model_.demands[s].push_back(demand);
      }
    }
  }

  /// The last stage that reduces is the main one if the stages behind it want it where the root's tile lies.
  void find_main(StageId s) {
    const Stage& root = stages()[model_.root];
    const Stage& stage = stages()[s];
    if (s == model_.root || stage.spatial != root.spatial) return;
    std::set<std::size_t> seen;  // axes of the root: the stage may have them in another order
    for (const VarId axis : stage.spatial_axes()) {
      const AxisDemand& demand = model_.demands[s][axis];
      const auto variables = variables_of(demand.tile);
      const bool at_tile = demand.exact && demand.window == Interval{0, 0} && variables.size() == 1 &&
                           demand.tile.is_variable(*variables.begin());
      if (!at_tile) return;
      const std::size_t of_root = variables.begin()->index();
      const bool is_axis = of_root < root.spatial && seen.insert(of_root).second;
      if (!is_axis || stage.axes[axis.index()].extent != root.axes[of_root].extent) return;
    }
    model_.main = s;
    for (StageId later(s.index() + 1); later <= model_.root; ++later) {
      const auto& reads = stages()[later].reads;
      model_.in_tail[later] = std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
        for (StageId tail = s; tail < later; ++tail) {
          const bool of_tail = tail == s || model_.in_tail[tail];
          if (of_tail && stages()[tail].output == read.tensor) return true;
        }
        return false;
      });
    }
  }

  [[nodiscard]] std::set<IteratorId> iterators_of_demand(StageId s, VarId axis, const AxisDemand& demand) const {
    std::set<IteratorId> found;
    if (demand.exact) {
      for (const VarId iterator : variables_of(demand.tile)) found.insert(IteratorId(iterator.index()));
      return found;
    }
    for (const auto& [reader, read] : model_.readers_of(s)) {
      const Access& access = stages()[reader].reads[read];
      for (const IteratorId iterator : iterators_in(reader, access.index[axis.index()])) {
        // Of the reader's own reduction the whole range is demanded.
        const ModelIterator& i = model_.iterators[iterator];
        if (i.spatial || i.stage != reader || reader == model_.main) found.insert(iterator);
      }
    }
    return found;
  }

  /// Readers at the same place, up to constants, demand a window around it; readers at unrelated places everything.
  [[nodiscard]] AxisDemand demand_of_readers(StageId s, VarId axis) const {
    std::optional<AxisDemand> all;
    for (const auto& [reader, read] : model_.readers_of(s)) {
      const Access& access = stages()[reader].reads[read];
      AxisDemand demand = composed(reader, access.index[axis.index()]);
      if (!all) {
        all = demand;
        continue;
      }
      // A window and its centre (LRN, a 3x3 convolution and the addition of its operand) are at the same place: of both
      // the whole window is demanded.
      if (!(demand.tile - all->tile).is_constant()) {
        demand = with_whole_reductions(std::move(demand), model_);
        all = with_whole_reductions(*std::move(all), model_);
      }
      const IndexExpr shift = demand.tile - all->tile;
      if (!demand.exact || !all->exact || !shift.is_constant()) return {true, 0, demanded_bounds(model_, s, axis)};
      all->window.low = std::min(all->window.low, demand.window.low + shift.constant());
      all->window.high = std::max(all->window.high, demand.window.high + shift.constant());
    }
    check(all.has_value(), "a stage whose output nobody reads");
    return *all;
  }

  /// An index of a reader's access in terms of what is demanded of the reader.
  [[nodiscard]] AxisDemand composed(StageId reader, const IndexExpr& e) const {
    const auto& of_reader = model_.demands[reader];
    AxisDemand sum;
    sum.tile = e.constant();
    for (const IndexTerm& term : e.terms()) {
      const AxisDemand part = composed(of_reader, term.atom);
      if (!part.exact) return {false, 0, {}};
      const std::int64_t c = term.coefficient;
      sum.tile += part.tile * c;
      sum.window.low += c * (c > 0 ? part.window.low : part.window.high);
      sum.window.high += c * (c > 0 ? part.window.high : part.window.low);
    }
    return sum;
  }

  static AxisDemand composed(const IdVector<VarId, AxisDemand>& of_reader, const IndexAtom& atom) {
    if (atom.kind == IndexAtom::Kind::variable) return of_reader[atom.variable];
    // Anything else is a sum of tile and window only if it depends on one of the two alone.
    const IndexExpr e = IndexExpr::of_atom(atom);
    bool moves = false;
    bool has_window = !tensor_values_of(e).empty();
    for (const VarId axis : variables_of(e)) {
      const AxisDemand& demand = of_reader[axis];
      if (!demand.exact) return demand;
      moves = moves || !demand.tile.is_constant();
      has_window = has_window || !(demand.window == Interval{0, 0});
    }
    if (moves && has_window) return {false, 0, {}};
    if (moves) return {true, substitute(e, [&](VarId axis) { return of_reader[axis].tile; }), {}};
    const Interval values = bounds(e, [&](VarId axis) {
      const AxisDemand& demand = of_reader[axis];
      return Interval{demand.tile.constant() + demand.window.low, demand.tile.constant() + demand.window.high};
    });
    return {true, 0, values};
  }

  [[nodiscard]] std::set<IteratorId> iterators_in(StageId stage, const IndexExpr& index) const {
    std::set<IteratorId> found;
    for (const VarId axis : variables_of(index)) {
      const auto& of_axis = axis_iterators_[stage][axis];
      found.insert(of_axis.begin(), of_axis.end());
    }
    for (const ReadId read : tensor_values_of(index)) {
      const Access& access = stages()[stage].reads[read];
      for (const IndexExpr& e : access.index) {
        const auto nested = iterators_in(stage, e);
        found.insert(nested.begin(), nested.end());
      }
    }
    return found;
  }

  [[nodiscard]] std::string unique_buffer_name(const std::string& tensor) const {
    const auto taken = [&](const std::string& name) {
      return std::any_of(model_.buffers.begin(), model_.buffers.end(),
                         [&](const ModelBuffer& b) { return b.name == name; });
    };
    std::string name = tensor;
    for (int number = 2; taken(name); ++number) name = fmt::format("{}_{}", tensor, number);
    return name;
  }

  void add_read_buffers(StageId s) {
    const Stage& stage = stages()[s];
    for (const ReadId r : stage.reads.ids()) {
      const Access& access = stage.reads[r];
      const StageTensor& tensor = model_.list->tensors[access.tensor];
      const StageRead key{s, r};
      if (tensor.role == TensorRole::intermediate || tensor.role == TensorRole::output) {
        const bool received = model_.split_sum && tensor.exchanged;
        const BufferId buffer = received ? model_.split_sum->received : buffer_of_tensor_.at(access.tensor);
        model_.buffers[buffer].reads.push_back(key);
        if (access.padding) model_.buffers[buffer].padding = access.padding;
        model_.buffer_of_read[key] = buffer;
        continue;
      }
      // One stage reading the same element twice needs one buffer.
      const auto same = std::find_if(model_.buffers.begin(), model_.buffers.end(), [&](const ModelBuffer& b) {
        return b.kind == ModelBuffer::Kind::input && b.tensor == access.tensor && b.stage == s &&
               b.index == access.index && same_padding(b.padding, access.padding);
      });
      if (same != model_.buffers.end()) {
        same->reads.push_back(key);
        same->finishes_only = same->finishes_only && finishes_only(stage, r);
        model_.buffer_of_read[key] = model_.buffers.id_of(*same);
        continue;
      }
      ModelBuffer buffer;
      buffer.kind = ModelBuffer::Kind::input;
      buffer.tensor = access.tensor;
      buffer.name = unique_buffer_name(tensor.name);
      buffer.stage = s;
      buffer.reads.push_back(key);
      buffer.index = access.index;
      buffer.padding = access.padding;
      buffer.gathered = reads_tensor_values(access.index);
      buffer.finishes_only = finishes_only(stage, r);
      for (const IndexExpr& e : access.index) buffer.iterators.push_back(iterators_in(s, e));
      model_.buffer_of_read[key] = model_.buffers.push_back(std::move(buffer));
    }
  }

  void add_output_buffer(StageId s) {
    const Stage& stage = stages()[s];
    const StageTensor& tensor = model_.list->tensors[stage.output];
    ModelBuffer buffer;
    buffer.kind = model_.is_stored(s) ? ModelBuffer::Kind::output : ModelBuffer::Kind::intermediate;
    buffer.tensor = stage.output;
    buffer.name = unique_buffer_name(tensor.name);
    buffer.stage = s;
    for (const VarId axis : stage.spatial_axes()) {
      buffer.index.emplace_back(axis);
      buffer.iterators.push_back(axis_iterators_[s][axis]);
    }
    const BufferId added = model_.buffers.push_back(std::move(buffer));
    buffer_of_tensor_[stage.output] = added;
    model_.buffer_of_output.push_back(added);
    if (tensor.exchanged && stages()[model_.main].reduction != Reduction::none) add_received_buffer(s, added);
  }

  /// Where a core has the parts of the other cores, one after the other.
  void add_received_buffer(StageId s, BufferId computed) {
    ModelBuffer buffer = model_.buffers[computed];
    buffer.name = unique_buffer_name(buffer.name + "_received");
    buffer.is_received = true;
    const IteratorId parts = model_.iterator_of(model_.main, VarId(stages()[model_.main].spatial)).value();
    model_.split_sum = {parts, s, computed, model_.buffers.push_back(std::move(buffer))};
  }

  /// A row whose number is the value of an integer tensor is fetched for one index at a time, so the iterators of that
  /// index are buffered by one; unless the gathered dimension is the contiguous one, where whole rows are held.
  void pin_gathers() {
    for (ModelBuffer& buffer : model_.buffers) {
      if (!buffer.gathered) continue;
      const Stage& stage = stages()[buffer.stage];
      for (std::size_t d = 0; d < buffer.index.size(); ++d) {
        const auto reads = tensor_values_of(buffer.index[d]);
        if (reads.empty()) continue;
        const StageTensor& tensor = model_.list->tensors[buffer.tensor];
        const bool contiguous = d + 1 == buffer.index.size();
        if (contiguous && tensor.shape[d] * byte_size(tensor.type) <= held_row_bytes_) continue;
        for (const ReadId read : reads) {
          for (const IndexExpr& e : stage.reads[read].index) {
            const auto pinned = iterators_in(buffer.stage, e);
            model_.pinned.insert(pinned.begin(), pinned.end());
          }
        }
        buffer.index[d] = with_single_values(buffer.index[d]);
      }
    }
  }

  void find_overlapping() {
    for (const IteratorId iterator : model_.iterators.ids()) {
      if (!model_.is_main_reduction(iterator)) continue;
      for (StageId s; s <= model_.main; ++s) {
        if (tiles_overlap(s, iterator)) model_.overlapping.insert(iterator);
      }
    }
  }

  [[nodiscard]] bool tiles_overlap(StageId s, IteratorId iterator) const {
    const Stage& stage = stages()[s];
    if (s == model_.main) {
      const VarId axis = model_.iterators[iterator].axis;
      return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const Access& read) {
        return buffer_of_tensor_.contains(read.tensor) &&
               std::any_of(read.index.begin(), read.index.end(), [&](const IndexExpr& e) {
                 const auto variables = variables_of(e);
                 return variables.contains(axis) && variables.size() > 1;
               });
      });
    }
    const auto depends = [&](const std::vector<std::set<IteratorId>>& dimensions) {
      return std::any_of(dimensions.begin(), dimensions.end(),
                         [&](const std::set<IteratorId>& of_dimension) { return of_dimension.contains(iterator); });
    };
    const BufferId output = model_.buffer_of_output[s];
    if (stage.reduction == Reduction::none || !depends(model_.buffers[output].iterators)) return false;
    return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const Access& read) {
      return std::none_of(read.index.begin(), read.index.end(),
                          [&](const IndexExpr& e) { return iterators_in(s, e).contains(iterator); });
    });
  }

  /// A stage without reduction that reads an intermediate only at its own index overwrites it in place.
  void share_in_place() {
    for (StageId s(1); stages().contains(s); ++s) {
      const Stage& stage = stages()[s];
      if (stage.reduction != Reduction::none) continue;
      ModelBuffer& output = model_.buffers[model_.buffer_of_output[s]];
      for (const Access& access : stage.reads) {
        const auto found = buffer_of_tensor_.find(access.tensor);
        if (found == buffer_of_tensor_.end() || access.padding || !is_identity(access.index)) continue;
        ModelBuffer& input = model_.buffers[found->second];
        const StageTensor& read_tensor = model_.list->tensors[input.tensor];
        const StageTensor& written_tensor = model_.list->tensors[output.tensor];
        const bool only_reader = std::all_of(input.reads.begin(), input.reads.end(), [&](const auto& read) {
          return read.first == s && is_identity(stages()[s].reads[read.second].index);
        });
        // What is stored is stored as it is.
        if (!only_reader || input.kind == ModelBuffer::Kind::output || input.padding ||
            read_tensor.type != written_tensor.type || read_tensor.shape != written_tensor.shape) {
          continue;
        }
        output.shares_with = found->second;
        break;
      }
    }
  }

  /// What a search asks of thousands of schedules.
  void tell_of_indices() {
    for (ModelBuffer& buffer : model_.buffers) {
      for (const auto& of_dimension : buffer.iterators)
        buffer.moved_by.insert(of_dimension.begin(), of_dimension.end());
    }
    for (const StageId s : stages().ids()) {
      for (const Access& access : stages()[s].reads) {
        for (const IndexExpr& e : access.index) {
          model_.reads_sums_only = model_.reads_sums_only && e.is_affine();
          for (const ReadId read : tensor_values_of(e)) {
            const auto found = model_.buffer_of_read.find({s, read});
            if (found != model_.buffer_of_read.end()) model_.buffers[found->second].gives_index = true;
          }
        }
      }
    }
  }

  const std::int64_t held_row_bytes_;  ///< a gathered row of at most so many is held whole
  GroupModel model_;
  IdVector<StageId, IdVector<VarId, std::set<IteratorId>>> axis_iterators_;
  std::map<StageTensorId, BufferId> buffer_of_tensor_;
};

}  // namespace

GroupModel build_group_model(const StageList& list, const Target& target) {
  // A row that is held whole for the sake of a few of its elements leaves the others most of the LDM.
  return ModelBuilder(list, target.ldm.bytes / 8).build();
}

GroupModel model_of_no_target(const StageList& list) { return ModelBuilder(list, 0).build(); }

}  // namespace stowage
