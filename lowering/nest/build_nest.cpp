// SPDX-License-Identifier: Apache-2.0
// From a complete schedule to the loops and computations of a nest.
//
// The nest's main chain is the outer loops of the main stage: spatial ones, then its reductions. At each depth of the
// chain stand the earlier stages that algorithm 3 placed there; an earlier stage is computed for the region that its
// readers demand of the tile (in = (out - 1) * stride + kernel), inside its own reduction loops. Behind the main
// stage's reductions its tail is computed on the same tile.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/identifiers.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/sharing.h"
#include "lowering/model/tile_boxes.h"
#include "lowering/nest/build_nest.h"
#include "lowering/nest/exchange.h"
#include "lowering/nest/intermediates.h"
#include "lowering/nest/padding.h"
#include "lowering/nest/stores.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {
namespace {

class NestBuilder {
 public:
  NestBuilder(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target)
      : schedule_(schedule), target_(target), model_(model) {
    nest_.name = identifier_of(name);
    nest_.stages = *model.list;
  }

  std::variant<BuiltNest, Decision> build() {
    auto read = read_schedule(model_, schedule_);
    if (auto* refused = std::get_if<Decision>(&read)) return std::move(*refused);
    read_ = std::get<ReadSchedule>(std::move(read));
    nest_.launch = schedule_.launch.value_or(LaunchedBy::spawn);
    add_core_grid();
    share_loads();
    add_tensors();
    add_buffers();
    const std::int64_t room = ldm_for_buffers(model_, target_, slots_by_buffer(model_, schedule_.slots));
    if (nest_.ldm_bytes > room) {
      return Decision::refuse(ldm_capacity_rule,
                              fmt::format("the buffers need {} bytes of LDM, the target has {}", nest_.ldm_bytes, room),
                              fmt::format("{} bytes of LDM more", nest_.ldm_bytes - room));
    }
    if (auto refused = check_intermediates(model_)) return *refused;
    if (auto refused = check_stores(model_, read_)) return *refused;
    nest_.body = renumbered(chain(0, {}));
    if (auto refused = model_.split_sum ? check_exchange(nest_, target_) : std::nullopt) return *refused;
    return BuiltNest{std::move(nest_), std::move(read_), std::move(sharing_), std::move(tiles_), std::move(box_)};
  }

 private:
  // --- names and variables -------------------------------------------------------------------------------------------

  VarId add_variable(const std::string& wanted, NestVariable::Kind kind, Interval range) {
    nest_.variables.push_back({names_.take(identifier_of(wanted)), kind, range});
    return VarId(nest_.variables.size() - 1);
  }

  [[nodiscard]] Interval range_of(const IndexExpr& e) const {
    return bounds(e, [&](VarId v) { return nest_.variables[v.index()].range; });
  }

  StmtPtr statement(Stmt::Node node, std::string note = {}) {
    auto made = std::make_shared<Stmt>();
    made->id = next_id_++;
    made->node = std::move(node);
    made->note = std::move(note);
    return made;
  }

  /// Binds a name to an expression unless it is as simple as a name already.
  IndexExpr bind(Block& block, const std::string& wanted, const IndexExpr& value, std::optional<Interval> known = {}) {
    if (needs_no_name(value)) return value;
    const VarId variable = add_variable(wanted, NestVariable::Kind::let, known ? *known : range_of(value));
    block.push_back(statement(Let{variable, value}));
    return variable;
  }

  // --- iterators and the core grid -----------------------------------------------------------------------------------

  [[nodiscard]] const ModelIterator& iterator_of(const OuterLoop& loop) const {
    return model_.iterators[loop.iterator];
  }

  void add_core_grid() {
    for (const IteratorId i : model_.iterators.ids()) {
      tiles_.push_back({0, model_.iterators[i].extent, 0, model_.iterators[i].extent, read_.whole[i]});
    }
    int stride = 1;
    for (const ParallelSplit& split : read_.parallel) stride *= static_cast<int>(split.parts);
    for (const ParallelSplit& split : read_.parallel) {
      const IteratorId i = model_.iterator_named(split.iterator).value();
      stride /= static_cast<int>(split.parts);
      if (split.parts == 1) continue;
      const VarId core = add_variable(split.iterator + "_core", NestVariable::Kind::core, {0, split.parts - 1});
      nest_.core_grid.push_back({core, split.iterator, static_cast<int>(split.parts), stride});
      const std::int64_t extent = model_.iterators[i].extent;
      const std::int64_t range = read_.ranges[i];
      IteratorTile& tile = tiles_[i];
      tile.start = tile.core_start = IndexExpr(core) * range;
      tile.extent = tile.core_extent =
          range * split.parts == extent ? IndexExpr(range) : minimum(range, IndexExpr(extent) - tile.core_start);
    }
  }

  /// Cores that load together run in step, so none of them may make fewer trips.
  void share_loads() {
    sharing_ = sharing_by_buffer(model_, schedule_.sharing);
    in_step_ = model_.split_sum ||
               std::any_of(sharing_.begin(), sharing_.end(), [](SharedBy shared) { return shared != SharedBy::core; });
    const int columns = target_.cores.mesh_columns;
    if (in_step_) nest_.mesh = Mesh{nest_.cores_used() / columns, columns};
  }

  // --- tensors and buffers -------------------------------------------------------------------------------------------

  void add_tensors() {
    for (const StageTensorId t : nest_.stages.tensors.ids()) {
      const StageTensor& tensor = nest_.stages.tensors[t];
      const bool is_read = std::any_of(model_.buffers.begin(), model_.buffers.end(), [&](const ModelBuffer& b) {
        return b.kind == ModelBuffer::Kind::input && b.tensor == t;
      });
      if (tensor.role != TensorRole::output && !is_read) continue;
      nest_.tensors.push_back(
          {names_.take(identifier_of(tensor.name)), t, tensor.memory_strides(), tensor.role == TensorRole::output});
    }
  }

  void add_buffers() {
    std::int64_t offset = 0;
    const IdVector<BufferId, int> slots = slots_by_buffer(model_, schedule_.slots);
    for (const ModelBuffer& model_buffer : model_.buffers) {
      Buffer buffer;
      buffer.name = names_.take(identifier_of(model_buffer.name) + "_ldm");
      buffer.tensor = model_buffer.tensor;
      buffer.type = nest_.stages.tensors[model_buffer.tensor].type;
      buffer.extents = buffer_extents(model_, nest_.buffers.next_id(), read_.sizes, read_.residents);
      buffer.origin.assign(buffer.extents.size(), IndexExpr(0));
      buffer.slots = slots[nest_.buffers.next_id()];
      const std::int64_t aligned = ceil_div(buffer.box_bytes(), target_.ldm.alignment) * target_.ldm.alignment;
      if (buffer.slots > 1 && aligned > buffer.box_bytes()) buffer.pitch = aligned;
      buffer.shares_with = model_buffer.shares_with;
      if (buffer.shares_with) {
        buffer.offset = nest_.buffers[*buffer.shares_with].offset;
      } else {
        buffer.offset = offset;
        offset += ceil_div(buffer.bytes(), target_.ldm.alignment) * target_.ldm.alignment;
      }
      nest_.buffers.push_back(std::move(buffer));
    }
    nest_.ldm_bytes = offset;
  }

  [[nodiscard]] const Access& access_of(StageId stage, ReadId read) const {
    return nest_.stages.stages[stage].reads[read];
  }

  // --- the nest ------------------------------------------------------------------------------------------------------

  /// Binds start and extent of an iterator's tile, at the top (whole iterators) or inside its loop.
  void bind_tile(Block& block, IteratorId i, const IndexExpr& loop_variable) {
    const std::string& name = model_.iterators[i].name;
    const std::int64_t size = read_.sizes[i];
    IteratorTile& tile = tiles_[i];
    if (tile.whole) {
      tile.start = bind(block, name + "_at", tile.core_start);
      tile.extent = bind(block, name + "_n", tile.core_extent);
      return;
    }
    const bool cores_align = tile.core_extent.is_constant();
    const bool may_be_empty = in_step_ && !cores_align;
    tile.start = bind(block, name + "_at", tile.core_start + loop_variable * size);
    if (size == 1 && (cores_align || !in_step_)) {  // the loop's trips end with the core's range
      tile.extent = 1;
      return;
    }
    const bool tiles_align = read_.ranges[i] % size == 0;
    IndexExpr elements = size;
    if (!tiles_align) elements = minimum(elements, IndexExpr(read_.ranges[i]) - loop_variable * size);
    if (!cores_align) elements = minimum(elements, IndexExpr(model_.iterators[i].extent) - tile.start);
    // Where the loop's trips end with the core's range, a last short tile has at least one element.
    tile.extent = bind(block, name + "_n", elements, may_be_empty ? std::nullopt : std::optional(Interval{1, size}));
  }

  [[nodiscard]] IndexExpr trips_of(const OuterLoop& loop) const {
    const IteratorId i = loop.iterator;
    const IndexExpr& range = tiles_[i].core_extent;
    if (in_step_) return ceil_div(read_.ranges[i], read_.sizes[i]);
    if (range.is_constant()) return ceil_div(range.constant(), read_.sizes[i]);
    return floor_div(range + (read_.sizes[i] - 1), read_.sizes[i]);
  }

  /// The block at `depth` of the main chain, with everything below.
  Block chain(std::size_t depth, const std::set<IteratorId>& fixed) {
    Block block;
    if (depth == 0) {
      for (const IteratorId i : model_.iterators.ids()) {
        if (read_.whole[i]) bind_tile(block, i, 0);
      }
    }
    const bool inside_spatial = depth == read_.spatial_loops;
    for (StageId stage; stage < model_.root; ++stage) {
      if (stage == model_.main || in_tail(stage)) continue;
      if (depth_of(output_of(stage)) != depth) continue;
      compute_stage(block, stage, fixed);
    }
    if (inside_spatial) begin_stage(block, model_.main, fixed);
    if (depth < read_.main.size()) {
      const OuterLoop& loop = read_.loop(read_.main[depth]);
      append(block, enter(loop, fixed, [&](const std::set<IteratorId>& inside) { return chain(depth + 1, inside); }));
    } else {
      block.push_back(model_.split_sum ? sum_of_parts(*model_.split_sum) : compute(model_.main, fixed));
    }
    if (inside_spatial) {
      end_stage(block, model_.main, fixed);
      for (StageId stage(model_.main.index() + 1); stage <= model_.root; ++stage) {
        if (in_tail(stage)) compute_stage(block, stage, fixed);
      }
    }
    return block;
  }

  static void append(Block& block, StmtPtr made) { block.push_back(std::move(made)); }

  StmtPtr enter(const OuterLoop& loop, std::set<IteratorId> fixed,
                const std::function<Block(const std::set<IteratorId>&)>& inner) {
    const IndexExpr trips = trips_of(loop);
    const std::int64_t most = std::max<std::int64_t>(1, range_of(trips).high);
    Block body;
    const VarId variable = add_variable(loop.name, NestVariable::Kind::loop, {0, most - 1});
    const StatementId id = next_id_++;
    Loop made{variable, trips, model_.iterators[loop.iterator].name, {}};
    bind_tile(body, loop.iterator, variable);
    fixed.insert(loop.iterator);
    Block rest = inner(fixed);
    body.insert(body.end(), rest.begin(), rest.end());
    made.body = std::move(body);
    auto node = std::make_shared<Stmt>();
    node->id = id;
    node->node = std::move(made);
    return node;
  }

  [[nodiscard]] const ModelBuffer& output_of(StageId stage) const {
    return model_.buffers[model_.buffer_of_output[stage]];
  }

  [[nodiscard]] bool in_tail(StageId stage) const { return model_.in_tail[stage]; }

  [[nodiscard]] BufferId id_of(const ModelBuffer& buffer) const { return model_.buffers.id_of(buffer); }
  [[nodiscard]] std::size_t depth_of(const ModelBuffer& buffer) const { return read_.depth[id_of(buffer)]; }

  /// Fills what of a buffer lies outside of its tensor.
  void fill_outside(Block& block, BufferId number, const std::vector<Border>& borders) {
    const ModelBuffer& buffer = model_.buffers[number];
    const auto outside = fill_of(number, nest_.buffers[number].extents, borders, *buffer.padding,
                                 [&](const IndexExpr& e) { return range_of(e); });
    if (!outside) return;
    block.push_back(statement_of(*outside, buffer.name, [&](Stmt::Node node, std::string note) {
      return statement(std::move(node), std::move(note));
    }));
  }

  [[nodiscard]] Interval narrowed(const IndexExpr& extent, std::int64_t most) const {
    const Interval known = range_of(extent);
    return {std::min(known.low, most), std::min(known.high, most)};
  }

  /// An earlier stage at its place: initialisation, reduction loops, finish.
  void compute_stage(Block& block, StageId stage, const std::set<IteratorId>& fixed) {
    begin_stage(block, stage, fixed);
    std::vector<std::size_t> own;
    for (std::size_t l = 0; l < read_.order.size(); ++l) {
      const ModelIterator& iterator = iterator_of(read_.order[l]);
      if (!iterator.spatial && iterator.stage == stage) own.push_back(l);
    }
    const std::function<Block(std::size_t, const std::set<IteratorId>&)> inner =
        [&](std::size_t depth, const std::set<IteratorId>& inside) {
          Block body;
          if (depth < own.size()) {
            append(body, enter(read_.loop(own[depth]), inside,
                               [&](const std::set<IteratorId>& deeper) { return inner(depth + 1, deeper); }));
          } else {
            body.push_back(compute(stage, inside));
          }
          return body;
        };
    Block computed = inner(0, fixed);
    block.insert(block.end(), computed.begin(), computed.end());
    end_stage(block, stage, fixed);
  }

  /// Fixes the box that a stage's result buffer holds, and starts a reduction from its identity.
  void begin_stage(Block& block, StageId stage, const std::set<IteratorId>& fixed) {
    const ModelBuffer& output = output_of(stage);
    const Stage& s = nest_.stages.stages[stage];
    if (output.shares_with) {
      // What is overwritten in place has the same box, under the same names.
      box_[stage] = box_.at(model_.buffers[*output.shares_with].stage);
      nest_.buffers[id_of(output)].origin = nest_.buffers[*output.shares_with].origin;
    } else {
      box_[stage] = bind_box(block, stage, fixed);
    }
    if (s.reduction == Reduction::none) return;
    block.push_back(
        statement(Fill{id_of(output), identity_of(s.reduction, s.body->type)}, "initialisation of " + output.name));
  }

  std::vector<Range> bind_box(Block& block, StageId stage, const std::set<IteratorId>& fixed) {
    const BufferId output = id_of(output_of(stage));
    Buffer& ldm = nest_.buffers[output];
    const ModelBuffer& frame = model_.buffers[frame_of(model_, output)];
    const Stage& s = nest_.stages.stages[stage];
    std::vector<Range> box;
    for (const VarId axis : s.spatial_axes()) {
      const std::size_t a = axis.index();
      const Span inside = boxes_.axis_span(stage, axis, fixed);
      const std::string& axis_name = s.axes[a].name;
      const std::int64_t most = std::min(s.axes[a].extent, ldm.extents[a]);
      Range range;
      range.max_extent = most;
      range.start = bind(block, fmt::format("{}_{}_at", s.name, axis_name), inside.low);
      const IndexExpr extent = inside.high - inside.low + 1;
      range.extent = bind(block, fmt::format("{}_{}_n", s.name, axis_name), extent, narrowed(extent, most));
      // A buffer that also holds padding is larger than what is computed.
      if (range.extent.is_constant()) range.max_extent = range.extent.constant();
      ldm.origin[a] = frame.padding ? boxes_.demanded_span(frame.stage, axis, fixed).low : range.start;
      box.push_back(std::move(range));
    }
    return box;
  }

  void end_stage(Block& block, StageId stage, const std::set<IteratorId>& fixed) {
    const Stage& s = nest_.stages.stages[stage];
    if (s.finish) {
      Compute finish = compute_frame(stage, Compute::Part::finish);
      finish.box = box_.at(stage);
      block.push_back(statement(std::move(finish)));
    }
    pad_stage(block, stage, fixed);
  }

  /// Puts the padding around a stage's result, once that is complete: until then a reduction's own start is there.
  void pad_stage(Block& block, StageId stage, const std::set<IteratorId>& fixed) {
    const ModelBuffer& output = output_of(stage);
    if (output.kind != ModelBuffer::Kind::intermediate || !output.padding) return;
    const Stage& s = nest_.stages.stages[stage];
    std::vector<Border> borders;
    for (const VarId axis : s.spatial_axes()) {
      borders.push_back(border_of(boxes_.demanded_span(stage, axis, fixed), demanded_bounds(model_, stage, axis),
                                  s.axes[axis.index()].extent - 1));
    }
    fill_outside(block, id_of(output), borders);
  }

  StmtPtr compute(StageId stage, const std::set<IteratorId>& fixed) {
    const Stage& s = nest_.stages.stages[stage];
    Compute made = compute_frame(stage, s.reduction == Reduction::none ? Compute::Part::map : Compute::Part::update);
    made.box = box_.at(stage);
    for (VarId axis(s.spatial); axis.index() < s.axes.size(); ++axis) {
      const IteratorId i = model_.iterator_of(stage, axis).value();
      check(tiles_[i].whole || fixed.contains(i), "a reduction is computed outside of its loop");
      made.box.push_back({tiles_[i].start, tiles_[i].extent, read_.sizes[i]});
    }
    return statement(std::move(made));
  }

  /// Each core of a row sends its part to all of them, one after another, which add it up.
  StmtPtr sum_of_parts(const SplitSum& split) {
    const ModelIterator& parts = model_.iterators[split.parts];
    const VarId part = add_variable(parts.name, NestVariable::Kind::loop, {0, parts.extent - 1});
    Broadcast broadcast;
    broadcast.to = Space::row;
    broadcast.sender = part;
    broadcast.source = split.computed;
    broadcast.buffer = split.received;
    broadcast.region = box_.at(split.of_part);
    broadcast.region.front() = {part, 1, 1};
    for (std::size_t d = 0; d < broadcast.region.size(); ++d)
      nest_.buffers[split.received].origin[d] = broadcast.region[d].start;
    Compute sum = compute_frame(model_.main, Compute::Part::update);
    sum.box = box_.at(model_.main);
    sum.box.push_back({part, 1, 1});
    Loop loop{part, parts.extent, parts.name, {}};
    loop.body.push_back(statement(std::move(broadcast), "parts of " + model_.list->stages[model_.main].name));
    loop.body.push_back(statement(Wait{loop.body.back()->id}));
    loop.body.push_back(statement(std::move(sum)));
    return statement(std::move(loop));
  }

  Compute compute_frame(StageId stage, Compute::Part part) const {
    const Stage& s = nest_.stages.stages[stage];
    Compute made;
    made.part = part;
    made.stage = stage;
    made.output_buffer = id_of(output_of(stage));
    made.read_buffers.assign(s.reads.size(), std::nullopt);
    visit_nodes(part == Compute::Part::finish ? s.finish : s.body, [&](const ScalarNode& node) {
      if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) use_read(stage, read->read, made);
      if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) {
        for (const ReadId read : tensor_values_of(index->value)) use_read(stage, read, made);
      }
    });
    return made;
  }

  void use_read(StageId stage, ReadId read, Compute& made) const {
    auto& slot = made.read_buffers[read];
    if (slot) return;
    slot = model_.buffer_of_read.at({stage, read});
    for (const IndexExpr& e : access_of(stage, read).index) {
      for (const ReadId nested : tensor_values_of(e)) use_read(stage, nested, made);
    }
  }

  const Schedule& schedule_;
  const Target& target_;
  const GroupModel& model_;
  LoopNest nest_;
  UniqueNames names_;
  StatementId next_id_;

  ReadSchedule read_;
  IdVector<BufferId, SharedBy> sharing_;
  bool in_step_ = false;  ///< all cores make the same trips
  IdVector<IteratorId, IteratorTile> tiles_;
  TileBoxes boxes_{model_, tiles_};
  std::map<StageId, std::vector<Range>> box_;  ///< spatial box of a stage at its place
};

}  // namespace

std::variant<BuiltNest, Decision> build_nest(const std::string& name, const GroupModel& model, const Schedule& schedule,
                                             const Target& target) {
  return NestBuilder(name, model, schedule, target).build();
}

}  // namespace stowage
