// SPDX-License-Identifier: Apache-2.0
// One walk over the nest in program order. Every buffer has one statement that gives it its contents (a get, a map, or
// the update of a sum that a fill begins), which stands in loops that are around every read of it too. So a read finds
// what that statement put there in the same trip of all these loops, and verify() has shown that it is the right part.
#include "lowering/verify/verify_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lowering/ir/compute_form.h"
#include "lowering/ir/prover.h"
#include "lowering/ir/register_broadcasts.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

constexpr std::int64_t max_tiles = 4'000'000;

/// Where a statement stands.
struct Position {
  std::vector<std::size_t> loops;              ///< their variables, outermost first
  std::vector<std::vector<IndexExpr>> guards;  ///< what they ask for, over core and loop variables
};

Position position_of(const Enclosing& around) {
  Position position;
  for (const EnclosingLoop& loop : around.loops()) position.loops.push_back(loop.variable);
  for (const EnclosingGuard& guard : around.guards()) {
    std::vector<IndexExpr>& asked = position.guards.emplace_back();
    for (const Expression& e : guard) asked.push_back(e.expr);
  }
  return position;
}

bool is_around(const Position& outer, const Position& inner) {
  return outer.loops.size() <= inner.loops.size() &&
         std::equal(outer.loops.begin(), outer.loops.end(), inner.loops.begin());
}

/// What is known of a buffer so far.
struct Content {
  const Stmt* writer = nullptr;  ///< a get, a map or an update
  Position begins;               ///< of the writer; of a sum: of the fill that it begins with
  std::vector<Range> box;        ///< spatial axes that were computed, over core and loop variables
  bool there = false;            ///< a get was awaited, a computation was made
  bool finished = false;
  std::optional<std::size_t> sums_in;  ///< variable of the outermost loop of a sum
  const Fill* start = nullptr;         ///< of the whole buffer
  Position start_at;
  std::optional<IndexExpr> slot;  ///< of several: the one that it is used in, by its first use
  Position slot_at;               ///< where that is
};

/// Bounds of the element values in an expression, by the number that it names: a read in those of a stage, in those of
/// a nest a buffer.
using ValueBounds = std::map<ReadId, std::set<std::int64_t>>;

void add_value_bounds(const IndexExpr& e, ValueBounds& all) {
  for (const IndexTerm& term : e.terms()) {
    if (term.atom.kind == IndexAtom::Kind::tensor_value) {
      all[term.atom.read()].insert(term.atom.bound);
    }
    if (!term.atom.args) continue;
    for (const IndexExpr& arg : *term.atom.args) add_value_bounds(arg, all);
  }
}

class ResultsCheck {
 public:
  ResultsCheck(const LoopNest& nest, const Target& target)
      : nest_(nest),
        target_(target),
        prover_(nest),
        not_by_registers_(broadcasts_not_by_registers(nest, target)),
        contents_(nest.buffers.size()) {}

  Broken run() {
    Broken broken;
    visit_statements(nest_.body, [&](const Stmt& s) {
      if (!broken) broken = is_emitted(s);
    });
    if (broken) return broken;
    visit_statements(nest_.body, [&](const Stmt& s) {
      if (const auto* compute = std::get_if<Compute>(&s.node)) {
        add_counted(*compute);
        made_.insert(compute->output_buffer);
      }
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma != nullptr && dma->direction == DmaDirection::get) loaded_.insert(dma->buffer);
      const auto* broadcast = std::get_if<Broadcast>(&s.node);
      if (broadcast != nullptr) loaded_.insert(broadcast->buffer);
    });
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (!broken) broken = statement(s, around);
    });
    return broken;
  }

 private:
  /// Of the transfers of teams, those that a core's get can make for a row or for all, or send down a column.
  [[nodiscard]] Broken is_emitted(const Stmt& s) const {
    const auto team = team_of(s);
    if (!team) return std::nullopt;
    if (std::holds_alternative<Broadcast>(s.node)) {
      const auto why = not_by_registers_.find(s.id);
      return why == not_by_registers_.end() ? Broken() : broken_rule(nest_, "own-ldm", s, why->second);
    }
    if (*team == Space::column) {
      if (sends_down_columns(target_)) return std::nullopt;
      return broken_rule(nest_, "own-ldm", s, "nothing is sent down a column (cores.column_broadcast)");
    }
    if (target_.dma.row_broadcast) return std::nullopt;
    return broken_rule(nest_, "own-ldm", s, "what a core loads goes to its own LDM alone (dma.row_broadcast)");
  }

  [[nodiscard]] const Buffer& buffer(BufferId index) const { return nest_.buffers[index]; }
  [[nodiscard]] Content& content(BufferId index) { return contents_[index]; }

  Broken statement(const Stmt& s, const Enclosing& around) {
    if (auto broken = element_values(s, around)) return broken;
    if (auto broken = slots(s, around)) return broken;
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      prover_.enter(*loop, around);
    } else if (const auto* dma = std::get_if<Dma>(&s.node)) {
      filled_by_.emplace(s.id, dma->buffer.buffer);
      return dma->direction == DmaDirection::put ? read(s, dma->buffer, around) : write(s, dma->buffer, around);
    } else if (const auto* wait = std::get_if<Wait>(&s.node)) {
      content(wait->slot ? wait->slot->buffer : filled_by_.at(*wait->dma)).there = true;
    } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      filled_by_.emplace(s.id, broadcast->buffer.buffer);
      if (auto broken = read(s, broadcast->source, around)) return broken;
      return write(s, broadcast->buffer, around);
    } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
      return filling(s, *fill, around);
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      return computation(s, *compute, around);
    } else if (std::holds_alternative<Barrier>(s.node)) {
      return broken_rule(nest_, "no-barrier", s, "no core waits for another");
    }
    return std::nullopt;
  }

  /// Of a buffer of several slots that is loaded verify() has followed what is in every one of them. One that holds
  /// results is used in one slot at a time: then a trip sees one buffer, as if it were the only slot.
  Broken slots(const Stmt& s, const Enclosing& around) {
    if (std::holds_alternative<Wait>(s.node)) {
      const auto& wait = std::get<Wait>(s.node);
      if (!wait.slot || buffer(wait.slot->buffer).slots > 1) return std::nullopt;
      return broken_rule(nest_, "one-slot", s, "a buffer of one slot is awaited by its transfers");
    }
    Broken broken;
    visit_uses(s, [&](const BufferUse& use) {
      const bool loads = is_loaded(use.buffer);
      if (broken || (use.is_plain() && buffer(use.buffer).slots == 1)) return;
      if (buffer(use.buffer).slots == 1) {
        broken = broken_rule(nest_, "one-slot", s, "a buffer of one slot is used at its own origin alone");
      } else if (!loads && !use.origin.empty()) {
        broken = broken_rule(
            nest_, "same-slot", s,
            fmt::format("buffer {} holds results and is used at another origin than its own", buffer(use.buffer).name));
      } else if (!loads) {
        broken = same_slot(s, use, around);
      }
    });
    return broken;
  }

  /// All uses name the same slot, and that stays while a result is made.
  Broken same_slot(const Stmt& s, const BufferUse& use, const Enclosing& around) {
    Content& c = content(use.buffer);
    const IndexExpr slot = around.expanded(use.slot);
    if (!c.slot) {
      c.slot = slot;
      c.slot_at = position_of(around);
    }
    std::set<std::size_t> trips;
    for (const std::size_t loop : c.slot_at.loops) trips.insert(loop);
    bool stays = *c.slot == slot;
    for (const VarId v : variables_of(slot)) {
      stays = stays && (nest_.variables[v.index()].kind == NestVariable::Kind::core || trips.contains(v.index()));
    }
    if (stays && is_around(c.slot_at, position_of(around))) return std::nullopt;
    return broken_rule(nest_, "same-slot", s,
                       fmt::format("buffer {} holds results and is used in several slots", buffer(use.buffer).name));
  }

  [[nodiscard]] bool is_loaded(BufferId index) const { return loaded_.contains(index) && !made_.contains(index); }

  Broken write(const Stmt& s, BufferId index, const Enclosing& around) {
    Content& c = content(index);
    if (c.writer != nullptr && buffer(index).slots > 1 && is_loaded(index)) {
      return std::nullopt;  // another get of a buffer whose slots verify() has followed
    }
    if (c.writer != nullptr) {
      return broken_rule(nest_, "one-writer", s,
                         fmt::format("buffer {} gets its contents from statement {} already", buffer(index).name,
                                     c.writer->id.index()));
    }
    c.writer = &s;
    c.begins = position_of(around);
    return std::nullopt;
  }

  static bool is_inside_sum(const Content& c, const Position& here) {
    return c.sums_in && std::find(here.loops.begin(), here.loops.end(), *c.sums_in) != here.loops.end();
  }

  Broken read(const Stmt& s, BufferId index, const Enclosing& around) {
    const Content& c = content(index);
    const Position here = position_of(around);
    const bool inside_sum = is_inside_sum(c, here);
    if (c.writer != nullptr && !inside_sum && is_around(c.begins, here)) return std::nullopt;
    if (c.writer != nullptr && buffer(index).slots > 1 && is_loaded(index)) return std::nullopt;
    return broken_rule(nest_, "read-after-writer", s,
                       fmt::format("buffer {} is read {}", buffer(index).name,
                                   c.writer == nullptr ? "before the statement that gives it its contents"
                                   : inside_sum        ? "inside the loops of its sum"
                                                       : "outside of the loops in which it gets its contents"));
  }

  /// What stages count with: values of the reads that these buffers serve.
  void add_counted(const Compute& compute) {
    const Stage& stage = nest_.stages.stages[compute.stage];
    ValueBounds of_reads;
    for (const Access& access : stage.reads) {
      for (const IndexExpr& e : access.index) add_value_bounds(e, of_reads);
    }
    for (const auto& [read, bounds] : of_reads) {
      const auto& source = compute.read_buffers[read];
      if (source) counted_[*source].insert(bounds.begin(), bounds.end());
    }
  }

  /// First elements of buffers that the statement's expressions and its buffers' origins count with.
  Broken element_values(const Stmt& s, const Enclosing& around) {
    ValueBounds used;
    const auto add = [&](const IndexExpr& e) { add_value_bounds(e, used); };
    const auto add_ranges = [&](const std::vector<Range>& ranges) {
      for (const Range& range : ranges) {
        add(range.start);
        add(range.extent);
      }
    };
    const auto add_buffer = [&](BufferId index) {
      std::for_each(buffer(index).origin.begin(), buffer(index).origin.end(), add);
    };
    if (const auto* loop = std::get_if<Loop>(&s.node)) add(loop->extent);
    if (const auto* let = std::get_if<Let>(&s.node)) add(let->value);
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      std::for_each(guard->any_positive.begin(), guard->any_positive.end(), add);
    }
    if (const auto* fill = std::get_if<Fill>(&s.node); fill != nullptr && fill->around) add_ranges(*fill->around);
    if (const auto* dma = std::get_if<Dma>(&s.node)) {
      add_ranges(dma->region);
      add_buffer(dma->buffer);
    }
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      add(broadcast->sender);
      add_ranges(broadcast->region);
      add_buffer(broadcast->source);
      add_buffer(broadcast->buffer);
    }
    if (const auto* compute = std::get_if<Compute>(&s.node)) {
      add_ranges(compute->box);
      add_buffer(compute->output_buffer);
      for (const auto& source : compute->read_buffers) {
        if (source) add_buffer(*source);
      }
    }
    for (const auto& [number, bounds] : used) {
      const BufferId index(number.index());
      const auto counted = counted_.find(index);
      if (counted == counted_.end() || bounds.size() != 1 || bounds != counted->second) {
        return broken_rule(nest_, "value-is-there", s,
                           fmt::format("no stage counts so with values of buffer {}", buffer(index).name));
      }
      if (auto broken = element_value(s, index, around)) return broken;
    }
    return std::nullopt;
  }

  Broken element_value(const Stmt& s, BufferId index, const Enclosing& around) {
    const Buffer& counted = buffer(index);
    const Content& c = content(index);
    const bool overlaps = std::any_of(nest_.buffers.begin(), nest_.buffers.end(), [&](const Buffer& other) {
      return &other != &counted && share_bytes(other, counted);
    });
    const Position here = position_of(around);
    const bool is_there = c.there && c.begins.guards.empty() && is_around(c.begins, here) && !is_inside_sum(c, here);
    if (is_integer(counted.type) && is_there && !overlaps) return std::nullopt;
    return broken_rule(nest_, "value-is-there", s,
                       fmt::format("an index is the value of buffer {}, which {}", counted.name,
                                   !is_integer(counted.type) ? "holds no integers"
                                   : overlaps                ? "may be overwritten"
                                                             : "is not there yet"));
  }

  Broken filling(const Stmt& s, const Fill& fill, const Enclosing& around) {
    Content& c = content(fill.buffer);
    if (!fill.around) {
      if (c.start != nullptr) {
        return broken_rule(nest_, "sum-starts-once", s,
                           fmt::format("buffer {} is filled by two statements", buffer(fill.buffer).name));
      }
      c.start = &fill;
      c.start_at = position_of(around);
      return std::nullopt;
    }
    // Padding of a sum's buffer would be overwritten, or added to, before the sum is complete.
    if (c.start == nullptr) return std::nullopt;
    if (auto broken = read(s, fill.buffer, around)) return broken;
    if (!c.finished && stage_of(*c.writer).finish) {
      return broken_rule(
          nest_, "sum-finished-once", s,
          fmt::format("buffer {} gets its padding before its sum is finished", buffer(fill.buffer).name));
    }
    return std::nullopt;
  }

  [[nodiscard]] const Stage& stage_of(const Stmt& s) const {
    return nest_.stages.stages[std::get<Compute>(s.node).stage];
  }

  Broken computation(const Stmt& s, const Compute& compute, const Enclosing& around) {
    for (const auto& source : compute.read_buffers) {
      if (!source) continue;
      if (auto broken = read(s, *source, around)) return broken;
    }
    if (!may_have_form(nest_, compute, target_)) {
      return broken_rule(nest_, "compute-form", s, "the computation cannot have this form");
    }
    if (compute.part == Compute::Part::finish) return finishing(s, compute, around);
    if (auto broken = write(s, compute.output_buffer, around)) return broken;
    Content& c = content(compute.output_buffer);
    c.box = spatial_box(s, compute, around);
    c.there = stage_of(s).finish == nullptr;
    return compute.part == Compute::Part::update ? summing(s, compute, around) : std::nullopt;
  }

  [[nodiscard]] std::vector<Range> spatial_box(const Stmt& s, const Compute& compute, const Enclosing& around) const {
    std::vector<Range> box;
    for (std::size_t a = 0; a < stage_of(s).spatial; ++a) {
      box.push_back({around.expanded(compute.box[a].start), around.expanded(compute.box[a].extent), 0});
    }
    return box;
  }

  /// Once, where the loops of the sum have ended, for all that was summed.
  Broken finishing(const Stmt& s, const Compute& compute, const Enclosing& around) {
    Content& c = content(compute.output_buffer);
    const Position here = position_of(around);
    const auto same = [](const Range& a, const Range& b) { return a.start == b.start && a.extent == b.extent; };
    const std::vector<Range> box = spatial_box(s, compute, around);
    const bool sound = c.writer != nullptr && std::holds_alternative<Compute>(c.writer->node) &&
                       std::get<Compute>(c.writer->node).stage == compute.stage && !c.finished &&
                       here.loops == c.begins.loops && here.guards == c.begins.guards &&
                       std::equal(box.begin(), box.end(), c.box.begin(), c.box.end(), same);
    if (!sound) {
      return broken_rule(nest_, "sum-finished-once", s,
                         fmt::format("buffer {} is not finished once, as a whole and behind its computation",
                                     buffer(compute.output_buffer).name));
    }
    c.finished = c.there = true;
    return std::nullopt;
  }

  /// Between the fill that it begins with and the end of its loops, a sum takes every term once.
  Broken summing(const Stmt& s, const Compute& compute, const Enclosing& around) {
    Content& c = content(compute.output_buffer);
    const Stage& stage = stage_of(s);
    const auto broken = [&](std::string_view rule, const std::string& message) {
      return broken_rule(nest_, rule, s, fmt::format("buffer {}: {}", buffer(compute.output_buffer).name, message));
    };
    const Position here = position_of(around);
    if (c.start == nullptr || !is_around(c.start_at, here) || c.start_at.guards != here.guards) {
      return broken("sum-starts-once", "no fill begins the sum in front of its loops");
    }
    const double identity = identity_of(stage.reduction, stage.body->type);
    if (c.start->value != identity && !(std::isnan(c.start->value) && std::isnan(identity))) {
      return broken("sum-starts-once", fmt::format("the sum begins with {}, not with {}", c.start->value, identity));
    }
    c.begins = c.start_at;
    if (here.loops.size() > c.begins.loops.size()) c.sums_in = here.loops[c.begins.loops.size()];
    if (every_term(s, compute, around, c.begins.loops.size())) return std::nullopt;
    return broken("sum-complete", "not every term is taken once");
  }

  /// Each reduction axis is cut into parts by loops of its own, those from `outside` inwards, and nothing else is done
  /// in these loops.
  [[nodiscard]] bool every_term(const Stmt& s, const Compute& compute, const Enclosing& around,
                                std::size_t outside) const {
    const Stage& stage = stage_of(s);
    std::map<std::size_t, const Expression*> left;  // loops of the sum by variable, not used by an axis yet
    for (std::size_t l = outside; l < around.loops().size(); ++l) {
      left.emplace(around.loops()[l].variable, &around.loops()[l].trips);
    }
    for (const Range& range : content_of(compute).box) {
      for (const IndexExpr& e : {range.start, range.extent}) {
        for (const VarId v : variables_of(e)) {
          if (left.contains(v.index())) return false;
        }
      }
    }
    for (auto a = stage.spatial; a < stage.axes.size(); ++a) {
      const Expression start = around.expression(compute.box[a].start);
      const Expression extent = around.expression(compute.box[a].extent);
      std::set<std::size_t> variables = start.variables;
      variables.insert(extent.variables.begin(), extent.variables.end());
      for (const std::size_t v : variables) {
        const auto loop = left.find(v);
        if (loop == left.end() || !loop->second->variables.empty()) return false;
      }
      for (const std::size_t v : variables) left.erase(v);
      if (!prover_.tiles(around, variables, max_tiles, start, extent, stage.axes[a].extent)) return false;
    }
    return std::all_of(left.begin(), left.end(), [](const auto& loop) {
      return loop.second->expr.is_constant() && loop.second->expr.constant() == 1;
    });
  }

  [[nodiscard]] const Content& content_of(const Compute& compute) const { return contents_[compute.output_buffer]; }

  const LoopNest& nest_;
  const Target& target_;
  Prover prover_;
  std::map<StatementId, std::string> not_by_registers_;
  IdVector<BufferId, Content> contents_;
  std::map<StatementId, BufferId> filled_by_;           ///< of a transfer; of a put, what it stores
  std::set<BufferId> loaded_;                           ///< buffers that gets and broadcasts fill
  std::set<BufferId> made_;                             ///< buffers that computations write
  std::map<BufferId, std::set<std::int64_t>> counted_;  ///< of buffers whose values stages count with
};

}  // namespace

std::optional<std::string> verify_results(const LoopNest& nest, const Target& target) {
  const Broken broken = ResultsCheck(nest, target).run();
  return broken ? std::optional(text_of(*broken)) : std::nullopt;
}

}  // namespace stowage
