// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/merged_axes.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "lowering/model/group_model.h"

namespace stowage {
namespace {

/// Of a stage the axes, of a tensor the dimensions: `first` and the one behind it.
template <class OwnerId>
struct Pair {
  OwnerId owner;
  std::size_t first = 0;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};
using AxisPair = Pair<StageId>;
using DimensionPair = Pair<StageTensorId>;

/// Everything that has to be merged with one pair of axes: the dimensions of the tensors that these index, the axes of
/// the other stages that write or read those, and so on; of each stage and tensor one pair.
class MergedTogether {
 public:
  MergedTogether(const StageList& list, AxisPair axes) : list_(list) {
    need_axes(axes);
    while (why_.empty() && !axes_to_look_at_.empty()) {
      const AxisPair next = axes_to_look_at_.front();
      axes_to_look_at_.pop_front();
      look_at_axes(next);
    }
  }

  [[nodiscard]] const std::set<AxisPair>& axes() const { return axes_; }
  [[nodiscard]] const std::set<DimensionPair>& dimensions() const { return dimensions_; }
  /// Why it cannot be; empty where it can.
  [[nodiscard]] const std::string& why_not() const { return why_; }

 private:
  [[nodiscard]] const Stage& stage(StageId s) const { return list_.stages[s]; }
  [[nodiscard]] const StageTensor& tensor(StageTensorId t) const { return list_.tensors[t]; }

  void refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  template <class OwnerId>
  static bool has_another(const std::set<Pair<OwnerId>>& pairs, Pair<OwnerId> pair) {
    return std::any_of(pairs.begin(), pairs.end(), [&](const Pair<OwnerId>& other) {
      return other.owner == pair.owner && other.first != pair.first;
    });
  }

  void need_axes(AxisPair pair) {
    const Stage& of = stage(pair.owner);
    const std::size_t second = pair.first + 1;
    if (second >= of.axes.size() || (pair.first < of.spatial) != (second < of.spatial)) {
      return refuse(fmt::format("they are no neighbours in stage {}", of.name));
    }
    if (has_another(axes_, pair)) return refuse(fmt::format("stage {} has them in two places", of.name));
    if (axes_.insert(pair).second) axes_to_look_at_.push_back(pair);
  }

  void look_at_axes(AxisPair pair) {
    const Stage& of = stage(pair.owner);
    const VarId outer(pair.first), inner(pair.first + 1);
    const auto depends = [&](const IndexExpr& e) {
      const auto variables = variables_of(e);
      return variables.contains(outer) || variables.contains(inner);
    };
    const auto look_at_node = [&](const ScalarNode& node) {
      const auto* index = std::get_if<ScalarNode::Index>(&node.value);
      if (index != nullptr && depends(index->value)) {
        refuse(fmt::format("what stage {} computes depends on where", of.name));
      }
    };
    visit_nodes(of.body, look_at_node);
    if (of.finish) visit_nodes(of.finish, look_at_node);
    if (pair.first < of.spatial) need_dimensions({of.output, pair.first});
    for (const Access& read : of.reads) {
      const auto found = std::find_if(read.index.begin(), read.index.end(), depends);
      if (found == read.index.end()) continue;
      const auto d = static_cast<std::size_t>(found - read.index.begin());
      const bool neighbours = d + 1 < read.index.size() && read.index[d].is_variable(outer) &&
                              read.index[d + 1].is_variable(inner) &&
                              tensor(read.tensor).shape[d + 1] == of.axes[inner.index()].extent &&
                              std::none_of(found + 2, read.index.end(), depends);
      if (!neighbours) return refuse(fmt::format("stage {} reads {} otherwise", of.name, tensor(read.tensor).name));
      need_dimensions({read.tensor, d});
    }
  }

  void need_dimensions(DimensionPair pair) {
    const StageTensor& of = tensor(pair.owner);
    const std::size_t d = pair.first;
    if (has_another(dimensions_, pair)) return refuse(fmt::format("{} has them in two places", of.name));
    if (!dimensions_.insert(pair).second) return;
    if (!of.strides.empty() && of.strides[d] != of.strides[d + 1] * of.shape[d + 1]) {
      return refuse(fmt::format("{} has gaps between them in main memory", of.name));
    }
    for (const StageId s : list_.stages.ids()) {
      if (stage(s).output == pair.owner) need_axes({s, pair.first});
      for (const Access& read : stage(s).reads) {
        if (read.tensor == pair.owner) look_at_read(s, read, d);
      }
    }
  }

  void look_at_read(StageId s, const Access& read, std::size_t d) {
    const IndexExpr& outer = read.index[d];
    const IndexExpr& inner = read.index[d + 1];
    if (outer.is_constant() && inner.is_constant() && !read.padding) return;
    for (std::size_t axis = 0; axis + 1 < stage(s).axes.size(); ++axis) {
      if (outer.is_variable(VarId(axis)) && inner.is_variable(VarId(axis + 1)) &&
          stage(s).axes[axis + 1].extent == tensor(read.tensor).shape[d + 1]) {
        return need_axes({s, axis});
      }
    }
    refuse(fmt::format("stage {} reads {} otherwise", stage(s).name, tensor(read.tensor).name));
  }

  const StageList& list_;
  std::set<AxisPair> axes_;
  std::set<DimensionPair> dimensions_;
  std::deque<AxisPair> axes_to_look_at_;
  std::string why_;
};

/// Indices in which an axis of one point only is added to others, as a 1x1 window is, without it.
void leave_out_axes_of_one(StageList& list) {
  for (Stage& stage : list.stages) {
    const auto at_zero = [&](const IndexExpr& e) {
      if (e.terms().size() < 2) return e;
      return substitute(
          e, [&](VarId axis) { return stage.axes[axis.index()].extent == 1 ? IndexExpr(0) : IndexExpr(axis); });
    };
    for (Access& read : stage.reads) {
      for (IndexExpr& e : read.index) e = at_zero(e);
    }
  }
}

template <class Value>
void erase_at(std::vector<Value>& values, std::size_t at) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
}

void merge_dimensions(StageTensor& tensor, std::size_t d) {
  tensor.shape[d] *= tensor.shape[d + 1];
  erase_at(tensor.shape, d + 1);
  if (!tensor.strides.empty()) erase_at(tensor.strides, d);
  if (tensor.value) tensor.value = tensor.value->reshaped(tensor.shape);
}

/// `dimensions`: of the tensors that it reads, as they were before.
void merge_in_stage(Stage& stage, std::optional<std::size_t> first, const std::string& name,
                    const std::set<DimensionPair>& dimensions, const IdVector<StageTensorId, StageTensor>& tensors) {
  for (Access& read : stage.reads) {
    for (std::size_t d = 0; d + 1 < read.index.size(); ++d) {
      if (!dimensions.contains({read.tensor, d})) continue;
      // Row-major: of a merged pair of axes the outer one falls out below.
      const std::int64_t row = tensors[read.tensor].shape[d + 1];
      read.index[d] = read.index[d].is_constant() ? read.index[d] * row + read.index[d + 1] : read.index[d + 1];
      erase_at(read.index, d + 1);
    }
  }
  if (!first) return;
  const auto renumbered = [&](VarId axis) { return axis.index() > *first ? VarId(axis.index() - 1) : axis; };
  const auto moved = [&](const IndexExpr& e) {
    return substitute(e, [&](VarId axis) { return IndexExpr(renumbered(axis)); });
  };
  for (Access& read : stage.reads) {
    for (IndexExpr& e : read.index) e = moved(e);
  }
  const auto moved_indices = [&](const ScalarExpr& e) {
    return map_leaves(e, [&](const ScalarExpr& leaf) -> ScalarExpr {
      const auto* index = std::get_if<ScalarNode::Index>(&leaf->value);
      return index == nullptr ? nullptr : scalar_index(leaf->type, moved(index->value));
    });
  };
  stage.body = moved_indices(stage.body);
  if (stage.finish) stage.finish = moved_indices(stage.finish);
  Axis& axis = stage.axes[*first];
  axis.name = name.empty() ? fmt::format("{}_{}", axis.name, stage.axes[*first + 1].name) : name;
  axis.extent *= stage.axes[*first + 1].extent;
  if (*first < stage.spatial) --stage.spatial;
  erase_at(stage.axes, *first + 1);
}

StageList merge_pair(StageList list, const MergedTogether& together, AxisPair axes, const std::string& name) {
  for (const StageId s : list.stages.ids()) {
    std::optional<std::size_t> first;
    for (const AxisPair& pair : together.axes()) {
      if (pair.owner == s) first = pair.first;
    }
    merge_in_stage(list.stages[s], first, s == axes.owner ? name : "", together.dimensions(), list.tensors);
  }
  for (const DimensionPair& pair : together.dimensions()) {
    merge_dimensions(list.tensors[pair.owner], pair.first);
  }
  return list;
}

const ModelIterator* find_iterator(const GroupModel& model, const std::string& name) {
  const auto found = model.iterator_named(name);
  return found ? &model.iterators[*found] : nullptr;
}

/// Merges iterator `outer` with iterator `inner`; their name is that of both.
std::variant<StageList, std::string> merge_two(const StageList& list, const std::string& outer,
                                               const std::string& inner) {
  const GroupModel model = model_of_no_target(list);
  const ModelIterator* const first = find_iterator(model, outer);
  const ModelIterator* const second = find_iterator(model, inner);
  if (first == nullptr || second == nullptr) {
    return fmt::format("there is no iterator '{}'", first == nullptr ? outer : inner);
  }
  if (first->stage != second->stage || first->axis.index() + 1 != second->axis.index() ||
      first->spatial != second->spatial) {
    return fmt::format("'{}' does not follow '{}'", inner, outer);
  }
  const AxisPair axes{first->stage, first->axis.index()};
  const MergedTogether together(list, axes);
  if (!together.why_not().empty()) return together.why_not();
  return merge_pair(list, together, axes, outer + "_" + inner);
}

}  // namespace

MergedAxes mergeable_axes(const StageList& stages, const std::set<std::string>& apart) {
  StageList list = stages;
  leave_out_axes_of_one(list);
  MergedAxes runs;
  std::string run;  // name of the iterator that ends with the one before
  for (const GroupIterator& iterator : group_iterators(stages)) {
    const bool may_be = iterator.extent > 1 && !apart.contains(iterator.name) && !apart.contains(iterator.name + "o");
    if (!may_be) {
      run.clear();
      continue;
    }
    if (!run.empty()) {
      auto merged = merge_two(list, run, iterator.name);
      if (auto* with = std::get_if<StageList>(&merged)) {
        list = std::move(*with);
        run += "_" + iterator.name;
        runs.back().push_back(iterator.name);
        continue;
      }
    }
    run = iterator.name;
    runs.push_back({iterator.name});
  }
  std::erase_if(runs, [](const std::vector<std::string>& of) { return of.size() < 2; });
  return runs;
}

std::variant<StageList, Decision> merge_axes(StageList stages, const MergedAxes& merged) {
  if (merged.empty()) return stages;
  leave_out_axes_of_one(stages);
  for (const std::vector<std::string>& run : merged) {
    const auto refused = [&](const std::string& why) {
      return Decision::refuse(schedule_rule,
                              fmt::format("merged: {} cannot be one axis: {}", fmt::join(run, ", "), why));
    };
    if (run.size() < 2) return refused("two at least are merged");
    const GroupModel model = model_of_no_target(stages);
    const auto is_there = [&](const std::string& name) { return find_iterator(model, name) != nullptr; };
    if (is_there(fmt::format("{}", fmt::join(run, "_"))) && std::none_of(run.begin(), run.end(), is_there)) continue;
    std::string name = run.front();
    for (std::size_t i = 1; i < run.size(); ++i) {
      auto next = merge_two(stages, name, run[i]);
      if (const auto* why = std::get_if<std::string>(&next)) return refused(*why);
      stages = std::get<StageList>(std::move(next));
      name += "_" + run[i];
    }
  }
  return stages;
}

}  // namespace stowage
