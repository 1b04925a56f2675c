// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/lane_blocks.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/block_names.h"
#include "core/decision_rules.h"
#include "core/factors.h"
#include "lowering/ir/compute_form.h"
#include "lowering/model/group_model.h"

namespace stowage {
namespace {

/// Vectors of a block. Two with 8 rows are summed as fast as four with 4, and leave twice as many blocks to split over
/// cores; three leave registers unused, and one has less to do for each element of the other operand. The order is that
/// of register blocks as they are emitted (core/athread_machine.h), whatever the target.
constexpr std::int64_t preferred_vectors[] = {2, 3, 1};

/// Everything that is cut into blocks with an axis of one stage: the dimensions that it indexes, the axes of other
/// stages that write or read these, and so on; of each stage and tensor one.
class BlockedTogether {
 public:
  BlockedTogether(const StageList& list, StageId stage, VarId axis) : list_(list) {
    need_axis(stage, axis);
    while (why_.empty() && !to_look_at_.empty()) {
      const StageId next = to_look_at_.front();
      to_look_at_.pop_front();
      look_at(next, axes_.at(next));
    }
  }

  [[nodiscard]] const std::map<StageId, VarId>& axes() const { return axes_; }
  [[nodiscard]] const std::map<StageTensorId, std::size_t>& dimensions() const { return dimensions_; }
  /// Why it cannot be; empty where it can.
  [[nodiscard]] const std::string& why_not() const { return why_; }

 private:
  [[nodiscard]] const Stage& stage(StageId s) const { return list_.stages[s]; }
  [[nodiscard]] const StageTensor& tensor(StageTensorId t) const { return list_.tensors[t]; }

  void refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  void need_axis(StageId s, VarId axis) {
    if (axis.index() >= stage(s).spatial) return refuse(fmt::format("stage {} reduces it", stage(s).name));
    const auto [known, added] = axes_.emplace(s, axis);
    if (added) to_look_at_.push_back(s);
    if (known->second != axis) refuse(fmt::format("stage {} has it in two places", stage(s).name));
  }

  void look_at(StageId s, VarId axis) {
    const Stage& of = stage(s);
    const auto depends = [&](const IndexExpr& e) { return mentions(e, axis); };
    const auto look_at_node = [&](const ScalarNode& node) {
      const auto* index = std::get_if<ScalarNode::Index>(&node.value);
      if (index != nullptr && depends(index->value)) {
        refuse(fmt::format("what stage {} computes depends on where", of.name));
      }
    };
    visit_nodes(of.body, look_at_node);
    if (of.finish) visit_nodes(of.finish, look_at_node);
    need_dimension(of.output, axis.index());
    for (const Access& read : of.reads) {
      for (std::size_t d = 0; d < read.index.size(); ++d) {
        if (depends(read.index[d])) need_dimension(read.tensor, d);
      }
    }
  }

  void need_dimension(StageTensorId t, std::size_t d) {
    const auto [known, added] = dimensions_.emplace(t, d);
    if (known->second != d) refuse(fmt::format("{} has it in two dimensions", tensor(t).name));
    if (!added) return;
    for (const StageId s : list_.stages.ids()) {
      if (stage(s).output == t) need_axis(s, VarId(d));
      for (const Access& read : stage(s).reads) {
        if (read.tensor == t) need_axis_along(s, read.index[d], tensor(t).shape[d]);
      }
    }
  }

  void need_axis_along(StageId s, const IndexExpr& index, std::int64_t extent) {
    for (VarId axis; axis.index() < stage(s).axes.size(); ++axis) {
      if (index.is_variable(axis) && stage(s).axes[axis.index()].extent == extent) {
        return need_axis(s, axis);
      }
    }
    refuse(fmt::format("stage {} reads otherwise along it", stage(s).name));
  }

  const StageList& list_;
  std::map<StageId, VarId> axes_;
  std::map<StageTensorId, std::size_t> dimensions_;
  std::deque<StageId> to_look_at_;
  std::string why_;
};

/// A stage that reduces and along whose result the lanes run.
struct LaneSum {
  StageId stage;
  std::optional<ReadId> weights;  ///< of a product
};

/// Those of a group: the product of which one factor moves along the lanes, and what follows it, of which all moves: a
/// depthwise convolution, a pooling.
struct LaneSums {
  LaneSum first;
  std::vector<LaneSum> following;
};

/// The two reads of a float32 product under a sum.
std::optional<std::pair<ReadId, ReadId>> float_factors(const Stage& stage) {
  return stage.body->type == ElementType::f32 ? factors_of(stage) : std::nullopt;
}

bool moves(const Stage& stage, ReadId read, VarId axis) { return lane_use(stage.reads[read], axis) != LaneUse::none; }

/// The read of a stage's product that moves along an axis, where the other one does not.
std::optional<ReadId> read_along(const Stage& stage, VarId axis) {
  const auto factors = float_factors(stage);
  if (!factors) return std::nullopt;
  const auto [a, b] = *factors;
  if (moves(stage, a, axis) == moves(stage, b, axis)) return std::nullopt;
  return moves(stage, a, axis) ? a : b;
}

/// Why the tensor that a stage reads are no weights that could be packed; empty where they could.
std::string why_not_packed(const StageList& list, const Stage& stage, ReadId read) {
  const StageTensorId t = stage.reads[read].tensor;
  const StageTensor& weights = list.tensors[t];
  if (weights.role != TensorRole::constant || !weights.strides.empty() || weights.packing) {
    return fmt::format("{} is no constant that could be packed", weights.name);
  }
  for (const Stage& other : list.stages) {
    const auto uses =
        std::count_if(other.reads.begin(), other.reads.end(), [&](const Access& access) { return access.tensor == t; });
    if (uses > (&other == &stage ? 1 : 0)) return fmt::format("{} is read in two places", weights.name);
  }
  return "";
}

bool is_one_of(const std::vector<LaneSum>& sums, StageId stage) {
  return std::any_of(sums.begin(), sums.end(), [&](const LaneSum& sum) { return sum.stage == stage; });
}

/// Why the sum of a stage cannot have its lanes innermost; empty where it can. What follows it reads it so.
std::string why_not_innermost(const StageList& list, StageId s, const std::vector<LaneSum>& following) {
  const Stage& stage = list.stages[s];
  const StageTensor& sum = list.tensors[stage.output];
  const bool is_last = s.index() + 1 == list.stages.size();
  if (sum.role == TensorRole::output) return is_last ? "" : fmt::format("{} is stored and read again", sum.name);
  for (const StageId r : list.stages.ids()) {
    const Stage& reader = list.stages[r];
    if (reads(reader, stage.output) && reader.reduction != Reduction::none && !is_one_of(following, r)) {
      return fmt::format("stage {} reduces {}", reader.name, sum.name);
    }
  }
  return "";
}

/// Whether what a tensor holds is there with its lanes innermost, or may be: no input, which would have to be
/// transposed.
bool may_lie_innermost(const StageList& list, const BlockedTogether& together, StageTensorId tensor) {
  if (list.tensors[tensor].role != TensorRole::intermediate) return false;
  return std::any_of(together.axes().begin(), together.axes().end(), [&](const auto& of_stage) {
    const Stage& writer = list.stages[of_stage.first];
    if (writer.output != tensor) return false;
    return writer.reduction == Reduction::none || read_along(writer, of_stage.second).has_value();
  });
}

/// Whether a stage reduces one tensor, which all moves along an axis: a pooling along its channels.
bool pools_along(const Stage& stage, VarId axis) {
  const auto* read = std::get_if<ScalarNode::Read>(&stage.body->value);
  return stage.reduction != Reduction::none && read != nullptr && stage.reads.size() == 1 &&
         moves(stage, read->read, axis);
}

/// The stage as one that can have its lanes innermost as those before it have: a product of the weights of a depthwise
/// convolution and what the group has computed, or a pooling of that.
std::optional<LaneSum> following_sum(const StageList& list, const BlockedTogether& together, StageId s,
                                     const std::vector<LaneSum>& following, LaneFollowers followers) {
  const Stage& stage = list.stages[s];
  const VarId axis = together.axes().at(s);
  if (axis.index() + 1 == stage.spatial || !why_not_innermost(list, s, following).empty()) return std::nullopt;
  if (followers == LaneFollowers::all && pools_along(stage, axis)) {
    if (!may_lie_innermost(list, together, stage.reads[ReadId(0)].tensor)) return std::nullopt;
    return LaneSum{s, std::nullopt};
  }
  const auto factors = float_factors(stage);
  if (!factors) return std::nullopt;
  auto [values, weights] = *factors;
  if (!moves(stage, values, axis) || !moves(stage, weights, axis)) return std::nullopt;
  if (!why_not_packed(list, stage, weights).empty()) std::swap(values, weights);
  if (!why_not_packed(list, stage, weights).empty()) return std::nullopt;
  if (!may_lie_innermost(list, together, stage.reads[values].tensor)) return std::nullopt;
  return LaneSum{s, weights};
}

/// The one stage among those blocked together that sums products of packable weights, and those that follow it; or why
/// there is none.
std::variant<LaneSums, std::string> find_sums(const StageList& list, const BlockedTogether& together,
                                              LaneFollowers followers) {
  std::vector<LaneSum> following;
  for (auto s = together.axes().rbegin(); s != together.axes().rend(); ++s) {
    if (const auto sum = following_sum(list, together, s->first, following, followers)) following.push_back(*sum);
  }
  std::optional<LaneSum> found;
  for (const auto& [s, axis] : together.axes()) {
    const Stage& stage = list.stages[s];
    const auto read = read_along(stage, axis);
    if (!read) continue;
    if (found) return "two stages sum products along it";
    found = LaneSum{s, *read};
    if (std::string why = why_not_packed(list, stage, *read); !why.empty()) return why;
    if (axis.index() + 1 == stage.spatial) continue;
    if (std::string why = why_not_innermost(list, s, following); !why.empty()) return why;
  }
  if (!found) return "no stage sums products of weights along it";
  return LaneSums{*found, std::move(following)};
}

/// Cuts the axes and dimensions that belong together into blocks.
class LaneBlocker {
 public:
  LaneBlocker(StageList list, const BlockedTogether& together, const LaneSums& sums, std::int64_t block,
              std::string name)
      : list_(std::move(list)), together_(together), block_(block), name_(std::move(name)) {
    put_innermost(sums.first);
    for (const LaneSum& sum : sums.following) {
      const Stage& stage = list_.stages[sum.stage];
      for (const Access& read : stage.reads) {
        if (list_.tensors[read.tensor].role == TensorRole::intermediate) innermost_.insert(read.tensor);
      }
      put_innermost(sum);
    }
  }

  StageList run() {
    std::optional<Stage> original;
    if (stored_) original = list_.stages[*stored_];
    for (const auto& [s, of_stage] : together_.axes()) block_axis(s, of_stage);
    for (const auto& [t, dimension] : together_.dimensions()) block_dimension(t, dimension);
    if (original) store_sum(*stored_, *original);
    return std::move(list_);
  }

 private:
  void put_innermost(const LaneSum& lane_sum) {
    const Stage& sum = list_.stages[lane_sum.stage];
    if (lane_sum.weights) weights_.insert(sum.reads[*lane_sum.weights].tensor);
    sums_.insert(lane_sum.stage);
    if (together_.axes().at(lane_sum.stage).index() + 1 == sum.spatial) return;
    if (list_.tensors[sum.output].role == TensorRole::output) {
      stored_ = lane_sum.stage;
    } else {
      innermost_.insert(sum.output);
    }
  }

  /// Puts blocks and lanes where a tensor has them, instead of its dimension.
  template <class Value>
  void block(std::vector<Value>& dimensions, StageTensorId t, const Value& blocks, const Value& lanes) const {
    const auto at = dimensions.begin() + static_cast<std::ptrdiff_t>(together_.dimensions().at(t));
    if (weights_.contains(t)) {
      dimensions.erase(at);
      dimensions.insert(dimensions.begin(), blocks);
      dimensions.push_back(lanes);
    } else {
      *at = blocks;
      dimensions.insert(innermost_.contains(t) ? dimensions.end() : at + 1, lanes);
    }
  }

  void block_axis(StageId s, VarId axis) {
    Stage& stage = list_.stages[s];
    const bool last = sums_.contains(s) || innermost_.contains(stage.output);
    const VarId lanes(last ? stage.spatial : axis.index() + 1);
    for (Access& read : stage.reads) {
      for (IndexExpr& e : read.index) e = renumbered(e, lanes);
      if (!together_.dimensions().contains(read.tensor)) continue;
      block(read.index, read.tensor, IndexExpr(axis), IndexExpr(lanes));
    }
    const auto renumbered_leaves = [&](const ScalarExpr& e) {
      return map_leaves(e, [&](const ScalarExpr& leaf) -> ScalarExpr {
        const auto* index = std::get_if<ScalarNode::Index>(&leaf->value);
        return index == nullptr ? nullptr : scalar_index(leaf->type, renumbered(index->value, lanes));
      });
    };
    stage.body = renumbered_leaves(stage.body);
    if (stage.finish) stage.finish = renumbered_leaves(stage.finish);
    Axis& blocks = stage.axes[axis.index()];
    blocks.extent /= block_;
    blocks.name = block_iterator_name(name_);
    stage.axes.insert(stage.axes.begin() + static_cast<std::ptrdiff_t>(lanes.index()),
                      {lane_iterator_name(name_), block_});
    ++stage.spatial;
  }

  static IndexExpr renumbered(const IndexExpr& e, VarId lanes) {
    return substitute(e, [&](VarId axis) { return IndexExpr(axis >= lanes ? VarId(axis.index() + 1) : axis); });
  }

  void block_dimension(StageTensorId t, std::size_t d) {
    StageTensor& tensor = list_.tensors[t];
    if (!tensor.strides.empty()) {
      tensor.strides.insert(tensor.strides.begin() + static_cast<std::ptrdiff_t>(d + 1), tensor.strides[d]);
      tensor.strides[d] *= block_;
    }
    const Packing packing = packing_along(tensor.shape, d, block_);
    block(tensor.shape, t, tensor.shape[d] / block_, block_);
    if (!tensor.value) return;
    if (!weights_.contains(t)) {
      tensor.value = tensor.value->reshaped(tensor.shape);
      return;
    }
    tensor.packing = packing;
    tensor.value = packed(*tensor.value, packing, tensor.shape);
  }

  /// The sum becomes an intermediate with its lanes innermost; a stage stores it as the graph has it.
  void store_sum(StageId product, const Stage& original) {
    Stage& sum = list_.stages[product];
    const VarId axis = together_.axes().at(product), lanes(axis.index() + 1);
    const StageTensor& stored = list_.tensors[original.output];
    StageTensor inner;
    inner.name = stored.name + "_sum";
    inner.type = stored.type;
    inner.role = TensorRole::intermediate;
    for (const VarId a : sum.spatial_axes()) inner.shape.push_back(sum.axes[a.index()].extent);
    Stage store;
    store.name = original.name + "_store";
    store.output = original.output;
    for (const VarId a : original.spatial_axes()) store.axes.push_back(original.axes[a.index()]);
    store.axes[axis.index()] = sum.axes[axis.index()];
    store.axes.insert(store.axes.begin() + static_cast<std::ptrdiff_t>(lanes.index()), sum.axes[sum.spatial - 1]);
    store.spatial = sum.spatial;
    sum.output = list_.tensors.next_id();
    Access read{sum.output, {}, std::nullopt};
    for (const VarId a : store.spatial_axes()) {
      if (a != lanes) read.index.emplace_back(a);
    }
    read.index.emplace_back(lanes);
    store.reads.push_back(std::move(read));
    store.body = scalar_read(inner.type, ReadId(0));
    list_.tensors.push_back(std::move(inner));
    list_.stages.push_back(std::move(store));
  }

  StageList list_;
  const BlockedTogether& together_;
  std::int64_t block_;
  std::string name_;                   ///< of the iterator
  std::set<StageId> sums_;             ///< what reduces: their lanes are their last spatial axis
  std::set<StageTensorId> weights_;    ///< their blocks are their first dimension, their lanes the last
  std::set<StageTensorId> innermost_;  ///< their lanes are their last dimension
  std::optional<StageId> stored_;      ///< what reduces and of which the graph wants the result itself
};

std::variant<StageList, std::string> block_one(StageList list, const std::string& name, std::int64_t block,
                                               LaneFollowers followers = LaneFollowers::all) {
  const GroupModel model = model_of_no_target(list);
  const auto found = model.iterator_named(name);
  if (!found) return fmt::format("there is no iterator '{}'", name);
  const ModelIterator& iterator = model.iterators[*found];
  if (!iterator.spatial) return fmt::format("'{}' is reduced", name);
  if (iterator.extent % block != 0) {
    return fmt::format("{} elements of '{}' are no whole number of blocks of {}", iterator.extent, name, block);
  }
  const BlockedTogether together(list, iterator.stage, iterator.axis);
  if (!together.why_not().empty()) return together.why_not();
  const auto sums = find_sums(list, together, followers);
  if (const auto* why = std::get_if<std::string>(&sums)) return *why;
  return LaneBlocker(std::move(list), together, std::get<LaneSums>(sums), block, name).run();
}

}  // namespace

LaneBlocks possible_lane_blocks(const StageList& stages, const std::set<std::string>& apart, const Target& target) {
  const std::int64_t lanes = target.cores.vector_lanes;
  if (lanes < 2) return {};
  for (const GroupIterator& iterator : group_iterators(stages)) {
    if (!iterator.spatial || apart.contains(iterator.name) || apart.contains(iterator.name + "o")) continue;
    // Of pictures whose channels lie in blocks these are blocks already.
    if (is_half_of_block(iterator.name)) continue;
    for (const std::int64_t vectors : preferred_vectors) {
      const std::int64_t block = vectors * lanes;
      if (iterator.extent % block != 0) continue;
      if (std::holds_alternative<StageList>(block_one(stages, iterator.name, block))) return {{iterator.name, block}};
      break;
    }
  }
  return {};
}

LaneBlocks narrow_lane_blocks(const StageList& stages, const LaneBlocks& wide, const Target& target) {
  if (wide.empty()) return {};
  const auto& [name, block] = *wide.begin();
  if (block <= target.cores.vector_lanes) return {};
  std::int64_t blocks = 1;
  std::int64_t others = 1;
  for (const GroupIterator& iterator : group_iterators(stages)) {
    if (!iterator.spatial) continue;
    if (iterator.name == name) {
      blocks = iterator.extent / block;
    } else {
      others *= iterator.extent;
    }
  }
  if (blocks >= target.cores.count || others >= target.cores.count) return {};
  return {{name, target.cores.vector_lanes}};
}

std::variant<StageList, Decision> block_lanes(StageList stages, const LaneBlocks& blocks, LaneFollowers followers) {
  for (const auto& [name, block] : blocks) {
    const GroupModel model = model_of_no_target(stages);
    const auto lane = model.iterator_named(lane_iterator_name(name));
    const bool is_blocked = lane && model.iterators[*lane].extent == block;
    if (is_blocked && model.iterator_named(block_iterator_name(name))) continue;
    auto blocked = block_one(std::move(stages), name, block, followers);
    if (const auto* why = std::get_if<std::string>(&blocked)) {
      return Decision::refuse(schedule_rule, fmt::format("lanes: {} cannot be blocked by {}: {}", name, block, *why));
    }
    stages = std::get<StageList>(std::move(blocked));
  }
  return stages;
}

}  // namespace stowage
