// SPDX-License-Identifier: Apache-2.0
// One walk over the nest with the fills that are in force: those that stand before a statement on every path to it (in
// its own block or one around it), and what of their buffer nothing has overwritten since. A computation that reads
// outside of its tensor needs one that left out nothing of what it reads there.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/same_padding.h"
#include "lowering/ir/compute_hull.h"
#include "lowering/ir/prover.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

/// A fill around a box, over core and loop variables.
struct Filled {
  BufferId buffer;
  IndexExpr slot;
  double value = 0;
  std::vector<Hull> kept;           ///< first element, and the one behind the last
  std::vector<std::size_t> loops;   ///< variables of those around it
  std::vector<IndexExpr> guarding;  ///< of all guards around it: not executed where none of a guard's is positive
  std::vector<std::size_t> ends;    ///< by guard: where its expressions end
};

class PaddingCheck {
 public:
  explicit PaddingCheck(const LoopNest& nest) : nest_(nest), prover_(nest) {}

  Broken run() {
    Broken broken;
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (!broken) broken = statement(s, around);
    });
    return broken;
  }

 private:
  [[nodiscard]] const Buffer& buffer(BufferId index) const { return nest_.buffers[index]; }

  [[nodiscard]] bool overlap(BufferId a, BufferId b) const { return share_bytes(buffer(a), buffer(b)); }

  Broken statement(const Stmt& s, const Enclosing& around) {
    std::erase_if(filled_, [&](const Filled& filled) { return !stands_before(filled, around); });
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      prover_.enter(*loop, around);
      // What a later trip finds, an earlier one may have overwritten. Transfers into the same buffer are looked at.
      visit_statements(loop->body, [&](const Stmt& inside) {
        if (const auto* dma = std::get_if<Dma>(&inside.node)) {
          if (dma->direction == DmaDirection::get) forget_others(dma->buffer);
        } else if (const auto* broadcast = std::get_if<Broadcast>(&inside.node)) {
          forget_others(broadcast->buffer);
        } else if (const auto* fill = std::get_if<Fill>(&inside.node)) {
          forget_overwritten(*fill);
        } else if (const auto* compute = std::get_if<Compute>(&inside.node)) {
          forget(compute->output_buffer);
        }
      });
    } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
      filling(*fill, around);
    } else if (const auto* dma = std::get_if<Dma>(&s.node); dma != nullptr && dma->direction == DmaDirection::get) {
      forget_others(dma->buffer);
      return loading(s, dma->buffer, dma->region, around);
    } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      forget_others(broadcast->buffer);
      return loading(s, broadcast->buffer, broadcast->region, around);
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      if (auto broken = computation(s, *compute, around)) return broken;
      forget(compute->output_buffer);
    }
    return std::nullopt;
  }

  static bool stands_before(const Filled& filled, const Enclosing& around) {
    const auto& loops = around.loops();
    return filled.loops.size() <= loops.size() &&
           std::equal(filled.loops.begin(), filled.loops.end(), loops.begin(),
                      [](std::size_t variable, const EnclosingLoop& loop) { return variable == loop.variable; });
  }

  /// A fill in one slot says nothing of another one.
  static bool other_slot(const Filled& filled, const BufferUse& use) {
    const IndexExpr& slot = use.slot;
    return filled.buffer == use.buffer && filled.slot.is_constant() && slot.is_constant() && !(filled.slot == slot);
  }

  void forget(BufferId written) {
    std::erase_if(filled_, [&](const Filled& filled) { return overlap(filled.buffer, written); });
  }
  void forget_others(BufferId written) {
    std::erase_if(filled_, [&](const Filled& f) { return f.buffer != written && overlap(f.buffer, written); });
  }

  /// A further fill around a box with the same value leaves the padding that is there, and adds to it.
  void forget_overwritten(const Fill& fill) {
    std::erase_if(filled_, [&](const Filled& filled) {
      if (other_slot(filled, fill.buffer)) return false;
      const bool adds = fill.around && filled.buffer == fill.buffer && same_padding(filled.value, fill.value);
      return overlap(filled.buffer, fill.buffer) && !adds;
    });
  }

  void filling(const Fill& fill, const Enclosing& around) {
    forget_overwritten(fill);
    if (!fill.around) return;
    Filled filled;
    filled.buffer = fill.buffer;
    filled.slot = around.expanded(fill.buffer.slot);
    filled.value = fill.value;
    for (const Range& range : *fill.around) {
      filled.kept.push_back({around.expanded(range.start), around.expanded(range.start + range.extent)});
    }
    for (const EnclosingLoop& loop : around.loops()) filled.loops.push_back(loop.variable);
    for (const EnclosingGuard& guard : around.guards()) {
      for (const Expression& e : guard) filled.guarding.push_back(e.expr);
      filled.ends.push_back(filled.guarding.size());
    }
    filled_.push_back(std::move(filled));
  }

  /// A transfer stays inside of what the fills in force left out.
  Broken loading(const Stmt& s, const BufferUse& use, const std::vector<Range>& region, const Enclosing& around) const {
    std::vector<IndexExpr> conditions;
    for (const Range& range : region) conditions.push_back(range.extent);
    for (const Filled& filled : filled_) {
      if (filled.buffer != use.buffer || other_slot(filled, use)) continue;
      for (std::size_t d = 0; d < filled.kept.size(); ++d) {
        const IndexExpr first = region[d].start - origin_of(nest_, use)[d];
        const IndexExpr end = first + region[d].extent;
        for (const IndexExpr& distance : {first - filled.kept[d].low, filled.kept[d].high - end}) {
          const auto violation = prover_.find_negative(around, distance, conditions);
          if (!violation) continue;
          return broken_rule(nest_, padding_is_there_rule, s,
                             fmt::format("overwrites padding in dimension {} of buffer {}{}", d,
                                         buffer(use.buffer).name, where(*violation)));
        }
      }
    }
    return std::nullopt;
  }

  Broken computation(const Stmt& s, const Compute& compute, const Enclosing& around) const {
    const Stage& stage = nest_.stages.stages[compute.stage];
    std::vector<IndexExpr> conditions;
    for (const Range& range : compute.box) conditions.push_back(range.extent);
    for (const ReadId r : stage.reads.ids()) {
      const Access& access = stage.reads[r];
      if (!compute.read_buffers[r] || !access.padding) continue;
      const BufferUse& source = *compute.read_buffers[r];
      const Shape& shape = nest_.stages.tensors[access.tensor].shape;
      for (std::size_t d = 0; d < access.index.size(); ++d) {
        const Hull touched = hull_of(nest_, access.index[d], compute);
        for (const bool before : {true, false}) {
          const IndexExpr inside = before ? touched.low : IndexExpr(shape[d] - 1) - touched.high;
          const auto outside = prover_.find_negative(around, inside, conditions);
          if (!outside) continue;
          std::vector<IndexExpr> there = conditions;
          there.push_back(inside * -1);
          const auto does = [&](const Filled& filled) {
            return filled.buffer == source && same_padding(filled.value, access.padding) &&
                   covers(filled, source, d, before, shape[d], there, around) && is_executed(filled, there, around);
          };
          if (is_filled(source, around, does)) continue;
          return broken_rule(nest_, padding_is_there_rule, s,
                             fmt::format("reads {} dimension {} of {}, where buffer {} was not filled with {}{}",
                                         before ? "before" : "behind", d, nest_.stages.tensors[access.tensor].name,
                                         buffer(source).name, *access.padding, where(*outside)));
        }
      }
    }
    return std::nullopt;
  }

  /// Whether a fill that does it stands in the slot, or one in every slot.
  [[nodiscard]] bool is_filled(const BufferUse& source, const Enclosing& around,
                               const std::function<bool(const Filled&)>& does) const {
    const auto in = [&](const IndexExpr& slot) {
      return std::any_of(filled_.begin(), filled_.end(),
                         [&](const Filled& filled) { return filled.slot == slot && does(filled); });
    };
    const IndexExpr slot = around.expanded(source.slot);
    if (in(slot)) return true;
    if (slot.is_constant()) return false;
    for (int s = 0; s < buffer(source).slots; ++s) {
      if (!in(s)) return false;
    }
    return true;
  }

  /// All of the buffer that lies before (or behind) the tensor along a dimension lies before (behind) what is left out.
  [[nodiscard]] bool covers(const Filled& filled, const BufferUse& source, std::size_t d, bool before,
                            std::int64_t size, const std::vector<IndexExpr>& conditions,
                            const Enclosing& around) const {
    const Buffer& held = buffer(filled.buffer);
    const IndexExpr first = origin_of(nest_, source)[d] * -1;
    const IndexExpr distance =
        before ? filled.kept[d].low - minimum(first, held.extents[d]) : maximum(first + size, 0) - filled.kept[d].high;
    return !prover_.find_negative(around, distance, conditions);
  }

  /// Where the conditions hold, every guard around the fill has let it pass.
  [[nodiscard]] bool is_executed(const Filled& filled, const std::vector<IndexExpr>& conditions,
                                 const Enclosing& around) const {
    std::size_t begin = 0;
    return std::all_of(filled.ends.begin(), filled.ends.end(), [&](std::size_t end) {
      std::vector<IndexExpr> not_passed = conditions;
      for (; begin < end; ++begin) not_passed.push_back(IndexExpr(1) - filled.guarding[begin]);
      return !prover_.find_negative(around, IndexExpr(-1), not_passed);
    });
  }

  [[nodiscard]] std::string where(const Prover::Violation& violation) const {
    const std::string values = prover_.text(violation);
    return values.empty() ? "" : " (" + values + ")";
  }

  const LoopNest& nest_;
  Prover prover_;
  std::vector<Filled> filled_;
};

}  // namespace

Broken verify_padding(const LoopNest& nest) { return PaddingCheck(nest).run(); }

}  // namespace stowage
