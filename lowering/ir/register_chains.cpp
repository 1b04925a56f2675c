// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/register_chains.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/athread_machine.h"
#include "lowering/ir/compute_form.h"

namespace stowage {
namespace {

/// Loops by their depth, one bit each; deeper ones share the last.
using LoopSet = std::uint64_t;
constexpr std::size_t most_loops = 63;

const Compute* as_compute(const Stmt& statement) { return std::get_if<Compute>(&statement.node); }

class ChainFinder {
 public:
  explicit ChainFinder(const LoopNest& nest) : nest_(nest), depends_on_(nest.variables.size(), 0) {}

  std::vector<RegisterChain> run() {
    walk(nest_.body);
    return std::move(chains_);
  }

 private:
  /// A block that is being walked, and where.
  struct Level {
    const Block* block = nullptr;
    std::size_t at = 0;
    const Loop* loop = nullptr;  ///< whose body it is; none: a guard's, or the nest's
    LoopSet bit = 0;
  };

  void walk(const Block& block, const Loop* loop = nullptr) {
    const LoopSet bit = loop != nullptr ? LoopSet{1} << std::min(levels_.size(), most_loops) : 0;
    if (loop != nullptr) depends_on_[loop->variable.index()] = bit;
    levels_.push_back({&block, 0, loop, bit});
    for (std::size_t at = 0; at < block.size(); ++at) {
      levels_.back().at = at;
      const Stmt& statement = *block[at];
      if (const auto* let = std::get_if<Let>(&statement.node)) {
        depends_on_[let->variable.index()] = loops_of(let->value);
      } else if (const auto* inner = std::get_if<Loop>(&statement.node)) {
        walk(inner->body, inner);
      } else if (const auto* guard = std::get_if<Guard>(&statement.node)) {
        walk(guard->body);
      } else if (is_sum(statement)) {
        find(statement);
      }
    }
    levels_.pop_back();
  }

  /// The loops with whose trips an expression may change; all of them for what it has from a buffer.
  [[nodiscard]] LoopSet loops_of(const IndexExpr& e) const {
    LoopSet loops = tensor_values_of(e).empty() ? 0 : ~LoopSet{0};
    for (const VarId v : variables_of(e)) loops |= depends_on_[v.index()];
    return loops;
  }

  [[nodiscard]] bool is_sum(const Stmt& statement) const {
    const Compute* compute = as_compute(statement);
    if (compute == nullptr || compute->part != Compute::Part::update || !compute->lane_axis) return false;
    if (compute->form != ComputeForm::register_block) return false;
    const Stage& stage = nest_.stages.stages[compute->stage];
    // Of nothing to sum no code is emitted, that of its chain neither.
    const auto is_nothing = [](const Range& range) {
      return range.extent.is_constant() && range.extent.constant() <= 0;
    };
    if (std::any_of(compute->box.begin(), compute->box.end(), is_nothing)) return false;
    if (compute->box[compute->lane_axis->index()].max_extent < lanes_of_floatv4) return false;
    return nest_.buffers[compute->output_buffer].type == ElementType::f32 &&
           std::none_of(stage.reads.begin(), stage.reads.end(), has_values_in_index);
  }

  static bool has_values_in_index(const Access& access) {
    return std::any_of(access.index.begin(), access.index.end(),
                       [](const IndexExpr& e) { return !tensor_values_of(e).empty(); });
  }

  /// Outwards from the sum to the block that has the fill.
  void find(const Stmt& sum) {
    const auto& compute = std::get<Compute>(sum.node);
    const LoopSet moves = moves_with(compute);
    RegisterChain chain;
    chain.sum = &sum;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      const Level& here = levels_[level];
      const Fill* fill = nullptr;
      for (std::size_t at = here.at; at-- > 0;) {
        const Stmt& before = *(*here.block)[at];
        if (!uses_bytes_of(before, compute.output_buffer)) continue;
        fill = std::get_if<Fill>(&before.node);
        if (fill == nullptr || !is_start(*fill, compute)) return;
        chain.start = &before;
        break;
      }
      if (fill != nullptr) {
        chain.around = here.loop;
        chain.ends = ends_behind(here, compute);
        chains_.push_back(std::move(chain));
        return;
      }
      const bool may_leave = here.loop != nullptr && (here.bit & moves) == 0 && here.at + 1 == here.block->size() &&
                             is_entered(*here.loop) && (loops_of(here.loop->extent) & here.bit) == 0;
      if (!may_leave) return;
      chain.trips.insert(chain.trips.begin(), here.loop);
    }
  }

  [[nodiscard]] bool is_entered(const Loop& loop) const {
    return bounds(loop.extent, [&](VarId v) { return nest_.variables[v.index()].range; }).low >= 1;
  }

  /// The loops with which the sum's elements become others.
  [[nodiscard]] LoopSet moves_with(const Compute& sum) const {
    LoopSet loops = loops_of(sum.output_buffer.slot);
    for (const IndexExpr& e : origin_of(nest_, sum.output_buffer)) loops |= loops_of(e);
    for (std::size_t a = 0; a < nest_.stages.stages[sum.stage].spatial; ++a)
      loops |= loops_of(sum.box[a].start) | loops_of(sum.box[a].extent);
    return loops;
  }

  [[nodiscard]] bool overlap(BufferId a, BufferId b) const { return share_bytes(nest_.buffers[a], nest_.buffers[b]); }

  [[nodiscard]] bool uses_bytes_of(const Stmt& statement, BufferId buffer) const {
    bool uses = false;
    visit_uses(statement, [&](const BufferUse& use) { uses = uses || overlap(use.buffer, buffer); });
    if (const Block* body = body_of(statement)) {
      uses =
          uses || std::any_of(body->begin(), body->end(), [&](const StmtPtr& s) { return uses_bytes_of(*s, buffer); });
    }
    return uses;
  }

  [[nodiscard]] static bool is_start(const Fill& fill, const Compute& sum) {
    return (!fill.around || fill.slides_along) && fill.buffer.buffer == sum.output_buffer.buffer &&
           fill.buffer.slot == sum.output_buffer.slot;
  }

  [[nodiscard]] std::vector<const Stmt*> ends_behind(const Level& level, const Compute& sum) const {
    std::vector<const Stmt*> ends;
    const BufferUse* place = &sum.output_buffer;
    for (std::size_t at = level.at + 1; at < level.block->size(); ++at) {
      const Stmt& next = *(*level.block)[at];
      const Compute* compute = as_compute(next);
      if (compute == nullptr || !is_end(*compute, sum, *place)) break;
      ends.push_back(&next);
      place = &compute->output_buffer;
    }
    return ends;
  }

  /// Whether a use is about the same bytes, element for element.
  [[nodiscard]] bool same_place(const BufferUse& a, const BufferUse& b) const {
    const Buffer& first = nest_.buffers[a.buffer];
    const Buffer& second = nest_.buffers[b.buffer];
    return first.offset == second.offset && first.extents == second.extents && first.type == second.type &&
           first.slots == second.slots && first.slot_bytes() == second.slot_bytes() && a.slot == b.slot &&
           origin_of(nest_, a) == origin_of(nest_, b);
  }

  [[nodiscard]] bool is_end(const Compute& compute, const Compute& sum, const BufferUse& place) const {
    const Stage& stage = nest_.stages.stages[compute.stage];
    if (compute.part != Compute::Part::map || compute.lane_axis != sum.lane_axis) return false;
    if (stage.spatial != nest_.stages.stages[sum.stage].spatial || compute.lane_axis != VarId(stage.spatial - 1))
      return false;
    if (!may_gather_lanes(stage, compute.part) || !same_place(compute.output_buffer, place)) return false;
    for (std::size_t a = 0; a < stage.spatial; ++a) {
      if (!(compute.box[a].start == sum.box[a].start) || !(compute.box[a].extent == sum.box[a].extent)) return false;
    }
    bool goes_on = false;
    for (const ReadId read : stage.reads.ids()) {
      const auto& use = compute.read_buffers[read];
      if (!use) continue;
      const Access& access = stage.reads[read];
      if (overlap(use->buffer, compute.output_buffer)) {
        if (!same_place(*use, place) || !reads_in_place(access)) return false;
        goes_on = true;
        continue;
      }
      const LaneUse lanes = lane_use(access, *compute.lane_axis);
      if ((lanes != LaneUse::none && lanes != LaneUse::contiguous) || has_values_in_index(access)) return false;
    }
    return goes_on;
  }

  static bool reads_in_place(const Access& access) {
    for (std::size_t d = 0; d < access.index.size(); ++d) {
      if (!access.index[d].is_variable(VarId(d))) return false;
    }
    return true;
  }

  const LoopNest& nest_;
  std::vector<LoopSet> depends_on_;  ///< by variable
  std::vector<Level> levels_;        ///< outermost first
  std::vector<RegisterChain> chains_;
};

}  // namespace

std::vector<RegisterChain> possible_register_chains(const LoopNest& nest) { return ChainFinder(nest).run(); }

bool is_marked_as_in_registers(const Stmt& statement) {
  if (const auto* fill = std::get_if<Fill>(&statement.node)) return fill->in_registers;
  const Compute* compute = as_compute(statement);
  return compute != nullptr && compute->part != Compute::Part::update && compute->form == ComputeForm::register_block;
}

std::vector<RegisterChain> register_chains(const LoopNest& nest) {
  std::vector<RegisterChain> chains;
  for (RegisterChain& chain : possible_register_chains(nest)) {
    if (!is_marked_as_in_registers(*chain.start)) chain.start = nullptr;
    const auto stored = std::find_if(chain.ends.begin(), chain.ends.end(),
                                     [](const Stmt* end) { return !is_marked_as_in_registers(*end); });
    chain.ends.erase(stored, chain.ends.end());
    if (chain.start != nullptr || !chain.ends.empty()) chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace stowage
