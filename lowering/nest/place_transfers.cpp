// SPDX-License-Identifier: Apache-2.0
// Gets of what the computations read, at the beginning of the loop that the schedule names (behind the names of its
// tile), and puts of what the group stores, behind its computation. All of them block.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "lowering/model/sharing.h"
#include "lowering/nest/build_nest.h"

namespace stowage {
namespace {

class PlaceTransfers {
 public:
  PlaceTransfers(BuiltNest built, const GroupModel& model) : built_(std::move(built)), model_(model) {}

  LoopNest run() {
    const Block body = std::move(nest().body);
    nest().body = renumbered(with_transfers(body, {}));
    return std::move(nest());
  }

 private:
  LoopNest& nest() { return built_.nest; }
  [[nodiscard]] const ReadSchedule& schedule() const { return built_.schedule; }

  StmtPtr made(Stmt::Node node, std::string note = {}) {
    return std::make_shared<const Stmt>(Stmt{next_id_++, std::move(node), std::move(note)});
  }

  /// The schedule's loop that a statement is; an iterator has one.
  [[nodiscard]] int loop_of(const Loop& statement) const {
    const auto& order = schedule().order;
    const auto found = std::find_if(order.begin(), order.end(), [&](const OuterLoop& loop) {
      return model_.iterators[loop.iterator].name == statement.iterator;
    });
    check(found != order.end(), "a loop that the schedule does not have");
    return static_cast<int>(found - order.begin());
  }

  /// A block inside these loops of the schedule, outermost first, with the transfers that belong there.
  Block with_transfers(const Block& block, const std::vector<std::size_t>& around) {
    const std::size_t loads_at = behind_tile_names(block, around);
    const std::map<std::size_t, StageId> stored = stored_behind(block, around);
    Block result;
    for (std::size_t s = 0; s <= block.size(); ++s) {
      if (s == loads_at) load(result, around);
      if (s == block.size()) break;
      const auto* const loop = std::get_if<Loop>(&block[s]->node);
      if (loop == nullptr || counts_parts(model_, loop->iterator)) {
        result.push_back(block[s]);
      } else {
        std::vector<std::size_t> inside = around;
        inside.push_back(loop_of(*loop));
        Block body = with_transfers(loop->body, inside);
        result.push_back(with_node(*block[s], Loop{loop->variable, loop->extent, loop->iterator, std::move(body)}));
      }
      if (const auto stage = stored.find(s); stage != stored.end()) store(result, stage->second);
    }
    return result;
  }

  // --- places --------------------------------------------------------------------------------------------------------

  [[nodiscard]] BufferId id_of(const ModelBuffer& buffer) const { return model_.buffers.id_of(buffer); }
  [[nodiscard]] std::size_t depth_of(const ModelBuffer& buffer) const { return schedule().depth[id_of(buffer)]; }

  /// The loop right inside of which the schedule places a buffer's transfer; none: before the first.
  [[nodiscard]] std::optional<std::size_t> place_of(const ModelBuffer& buffer) const {
    const std::size_t depth = depth_of(buffer);
    if (depth == 0) return std::nullopt;
    return path_of(model_, schedule().order, buffer)[depth - 1];
  }

  static std::optional<std::size_t> innermost(const std::vector<std::size_t>& around) {
    return around.empty() ? std::nullopt : std::optional(around.back());
  }

  /// Whether a stage's result is complete, and stored, right inside these loops.
  [[nodiscard]] bool stored_in(StageId stage, const std::vector<std::size_t>& around) const {
    const bool of_main = stage == model_.main || model_.in_tail[stage];
    const std::size_t depth = of_main ? schedule().spatial_loops : depth_of(output_of(stage));
    const auto outer = std::span(schedule().main).first(depth);
    return std::equal(outer.begin(), outer.end(), around.begin(), around.end());
  }

  /// Behind which statements of a block, by number, results of which stages are stored: the last ones that compute
  /// something of them, themselves or inside.
  [[nodiscard]] std::map<std::size_t, StageId> stored_behind(const Block& block,
                                                             const std::vector<std::size_t>& around) const {
    std::map<std::size_t, StageId> result;
    for (StageId stage; stage <= model_.root; ++stage) {
      if (!model_.is_stored(stage) || !stored_in(stage, around)) continue;
      const auto computes = [&](const StmtPtr& s) {
        bool found = false;
        visit_statements({s}, [&](const Stmt& inside) {
          const auto* const compute = std::get_if<Compute>(&inside.node);
          found = found || (compute != nullptr && compute->stage == stage);
        });
        return found;
      };
      const auto last = std::find_if(block.rbegin(), block.rend(), computes);
      check(last != block.rend(), "a result is not computed at its place");
      result[static_cast<std::size_t>(block.rend() - last) - 1] = stage;
    }
    return result;
  }

  /// Behind the lets at the beginning of a block that name the tiles which are known from there on.
  [[nodiscard]] std::size_t behind_tile_names(const Block& block, const std::vector<std::size_t>& around) const {
    std::set<VarId> names;
    const auto add = [&](const IteratorTile& tile) {
      for (const IndexExpr& e : {tile.start, tile.extent}) names.merge(variables_of(e));
    };
    if (around.empty()) {
      for (const IteratorTile& tile : built_.tiles) {
        if (tile.whole) add(tile);
      }
    } else {
      add(built_.tiles[schedule().loop(around.back()).iterator]);
    }
    const auto end = std::find_if(block.begin(), block.end(), [&](const StmtPtr& s) {
      const auto* const let = std::get_if<Let>(&s->node);
      return let == nullptr || !names.contains(let->variable);
    });
    return static_cast<std::size_t>(end - block.begin());
  }

  // --- transfers -----------------------------------------------------------------------------------------------------

  [[nodiscard]] const ModelBuffer& output_of(StageId stage) const {
    return model_.buffers[model_.buffer_of_output[stage]];
  }

  [[nodiscard]] NestTensorId nest_tensor_of(const ModelBuffer& buffer) {
    const auto& tensors = nest().tensors;
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const NestTensor& tensor) { return tensor.tensor == buffer.tensor; });
    return tensors.id_of(*found);
  }

  [[nodiscard]] std::string place_text(const ModelBuffer& buffer) const {
    const auto loop = place_of(buffer);
    return loop ? "inside " + schedule().loop(*loop).name : "before the first loop";
  }

  /// Gets of the input buffers whose place is right inside these loops, and their waits. Index tensors come before what
  /// they index.
  void load(Block& block, const std::vector<std::size_t>& around) {
    std::set<IteratorId> fixed;
    for (const std::size_t loop : around) fixed.insert(schedule().loop(loop).iterator);
    for (const bool gathered : {false, true}) {
      Block waits;
      for (const ModelBuffer& buffer : model_.buffers) {
        if (buffer.kind != ModelBuffer::Kind::input || buffer.gathered != gathered) continue;
        if (place_of(buffer) != innermost(around)) continue;
        block.push_back(get(buffer, fixed));
        waits.push_back(made(Wait{block.back()->id}));
      }
      std::move(waits.begin(), waits.end(), std::back_inserter(block));
    }
  }

  /// Starts the transfer of a buffer's whole box, which may reach outside of the tensor: from here on the buffer has
  /// it.
  StmtPtr get(const ModelBuffer& buffer, const std::set<IteratorId>& fixed) {
    const BufferId number = id_of(buffer);
    Buffer& ldm = nest().buffers[number];
    Dma dma;
    dma.direction = DmaDirection::get;
    dma.nest_tensor = nest_tensor_of(buffer);
    dma.buffer = number;
    dma.to = space_of(built_.sharing[number]);
    for (std::size_t d = 0; d < buffer.index.size(); ++d) {
      const Span box =
          boxes_.hull(buffer.index[d], buffer.stage, [&](VarId a) { return boxes_.axis_span(buffer.stage, a, fixed); });
      ldm.origin[d] = box.low;
      const IndexExpr extent = box.high - box.low + 1;
      const Interval elements = bounds(extent, [&](VarId v) { return nest().variables[v.index()].range; });
      dma.region.push_back({box.low, extent, std::min(ldm.extents[d], std::max<std::int64_t>(1, elements.high))});
    }
    return made(std::move(dma), fmt::format("{} {}", buffer.name, place_text(buffer)));
  }

  void store(Block& block, StageId stage) {
    const ModelBuffer& output = output_of(stage);
    Dma dma;
    dma.direction = DmaDirection::put;
    dma.nest_tensor = nest_tensor_of(output);
    dma.buffer = id_of(output);
    dma.region = built_.boxes.at(stage);
    const std::string place = place_of(output) ? place_text(output) : "after the last loop";
    Block storing;
    storing.push_back(made(std::move(dma), fmt::format("{} {}", output.name, place)));
    storing.push_back(made(Wait{storing.back()->id}));
    if (model_.split_sum) storing = {made(Guard{{IndexExpr(1) - index_in_row()}, std::move(storing)})};
    std::move(storing.begin(), storing.end(), std::back_inserter(block));
  }

  /// A core's index in its row, all of which have the whole of a split sum: the first one stores it.
  [[nodiscard]] IndexExpr index_in_row() {
    const std::string& parts = model_.iterators[model_.split_sum->parts].name;
    const auto found = std::find_if(nest().core_grid.begin(), nest().core_grid.end(),
                                    [&](const CoreAxis& axis) { return axis.iterator == parts; });
    check(found != nest().core_grid.end(), "a split sum whose parts are on one core");
    return found->variable;
  }

  BuiltNest built_;
  const GroupModel& model_;
  TileBoxes boxes_{model_, built_.tiles};
  StatementId next_id_ = unused_id(built_.nest.body);
};

}  // namespace

LoopNest place_transfers(BuiltNest built, const GroupModel& model) {
  return PlaceTransfers(std::move(built), model).run();
}

}  // namespace stowage
