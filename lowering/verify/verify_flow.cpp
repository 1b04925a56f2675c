// SPDX-License-Identifier: Apache-2.0
// One walk over the nest with the state of every slot of every buffer: what it holds, and which transfers are under
// way. A loop's body is walked again as long as its end leaves another state than its start had, so that what the
// second trip finds is checked too. Loops over a variable that decides about the slots of a followed buffer
// (followed.h) are walked trip by trip with its values, and what such a slot holds is known by the box that was put
// there: what a get of one iteration and its use in a later one have to do with each other is seen by comparing slots
// and boxes. Buffers may lie over each other: whoever writes one destroys what the others hold.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/index.h"
#include "lowering/verify/cells.h"
#include "lowering/verify/ldm_state.h"
#include "lowering/verify/paths.h"
#include "lowering/verify/slot_walk.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

constexpr std::int64_t max_walked = 1'000'000;     ///< statements and trips, where buffers are followed
constexpr std::size_t max_remembered = 1'000'000;  ///< contents of slots

class FlowCheck {
 public:
  explicit FlowCheck(const LoopNest& nest) : nest_(nest), followed_(followed_in(nest)), paths_(nest), cells_(nest) {
    if (cells_.too_many()) return;
    state_.contents.resize(cells_.size());
    visit_statements(nest.body, [&](const Stmt& s) {
      if (route_of(s)) transfers_[s.id] = &s;
    });
    const Roots roots(nest);
    for (const Buffer& buffer : nest.buffers) {
      std::set<VarId>& moves_with = moves_with_[moves_with_.push_back({})];
      for (const IndexExpr& origin : buffer.origin) moves_with.merge(roots.of(origin));
    }
    if (followed_.any()) slots_.emplace(nest, followed_);
  }

  Broken run() {
    if (cells_.too_many()) return of_nest(unchecked_rule, "the buffers have too many slots");
    return on_cores(0);
  }

 private:
  [[nodiscard]] const Buffer& buffer(BufferId index) const { return nest_.buffers[index]; }
  [[nodiscard]] Content& content(SlotId cell) { return state_.contents[cell.index()]; }

  [[nodiscard]] std::string transfer_text(const Flight& flight) const {
    const Buffer& moved = buffer(cells_[flight.cell].buffer);
    return fmt::format("{} of {} is under way{}", flight.statement.index(),
                       moved.slots == 1 ? moved.name : cells_.name(flight.cell),
                       flight.started.empty() ? "" : ", started" + flight.started);
  }

  [[nodiscard]] Broken broken(std::string_view rule, const Stmt& s, const std::string& message) const {
    return broken_rule(nest_, rule, s, message + (slots_ ? slots_->iteration() : ""));
  }

  /// A statement's use of a slot. The number is that of visit_uses().
  struct Used {
    SlotId cell;
    int box = 0;
    std::size_t number = 0;
  };
  /// Slots were shown to exist where the statement runs; where that is not known they may not.
  std::optional<Used> used(const Stmt& s, const BufferUse& use, std::size_t number) {
    const SlotId first = cells_.first_of(use.buffer);
    if (!followed_.is_followed(use.buffer)) return Used{first, 0, number};
    const auto slot = slots_->slot(s, number);
    if (!slot) return std::nullopt;
    return Used{SlotId(first.index() + at(*slot)), slots_->box(s, number), number};
  }
  [[nodiscard]] Broken unknown_slot(const Stmt& s) const {
    return broken(unchecked_rule, s, "a slot may lie outside of its buffer here");
  }

  // The walk.

  /// Every value of the coordinates that decide.
  Broken on_cores(std::size_t axis) {
    if (axis == nest_.core_grid.size()) {
      state_ = State{std::vector<Content>(cells_.size()), {}};
      if (auto found = block(nest_.body)) return found;
      return none_in_flight();
    }
    const CoreAxis& split = nest_.core_grid[axis];
    if (!followed_.variables.contains(split.variable)) return on_cores(axis + 1);
    for (int part = 0; part < split.parts; ++part) {
      slots_->set(split.variable, part);
      if (auto found = on_cores(axis + 1)) return found;
    }
    return std::nullopt;
  }

  Broken none_in_flight() const {
    if (state_.in_flight.empty()) return std::nullopt;
    const Flight& left = *state_.in_flight.begin();
    return broken("transfer-awaited", *transfers_.at(left.statement),
                  "the transfer" + (left.started.empty() ? "" : " started" + left.started) + " is never awaited");
  }

  Broken block(const Block& statements) {
    for (const StmtPtr& s : statements) {
      if (auto found = statement(*s)) return found;
    }
    return std::nullopt;
  }

  /// Transfers started inside must end inside: the body may run once more, or never.
  Broken same_in_flight(const Stmt& s, const State& before) const {
    for (const Flight& flight : state_.in_flight) {
      if (!is_under_way(before, flight)) {
        return broken(
            "transfer-awaited", *transfers_.at(flight.statement),
            fmt::format("the transfer is not awaited before statement {} ends or begins again", s.id.index()));
      }
    }
    for (const Flight& flight : before.in_flight) {
      if (!is_under_way(state_, flight)) {
        return broken(
            "transfer-awaited", *transfers_.at(flight.statement),
            fmt::format("the transfer is awaited inside statement {}, which may not run or run again", s.id.index()));
      }
    }
    return std::nullopt;
  }

  Broken statement(const Stmt& s) {
    if (is_too_far()) return too_far(s);
    if (const auto* loop = std::get_if<Loop>(&s.node)) return any_loop(s, *loop);
    if (const auto* guard = std::get_if<Guard>(&s.node)) return guarded(s, *guard);
    if (const auto* transfer = std::get_if<Dma>(&s.node)) return start(s, *transfer);
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) return start(s, *broadcast);
    if (const auto* wait = std::get_if<Wait>(&s.node)) return await(s, *wait);
    if (const auto* fill = std::get_if<Fill>(&s.node)) return filling(s, *fill);
    if (const auto* compute = std::get_if<Compute>(&s.node)) return computation(s, *compute);
    return std::nullopt;
  }

  /// Many slots make every step of the walk longer.
  bool is_too_far() {
    if (slots_) walked_ += 1 + static_cast<std::int64_t>(cells_.size()) / 32;
    return walked_ > max_walked;
  }
  [[nodiscard]] Broken too_far(const Stmt& s) const {
    return broken(unchecked_rule, s, "too many iterations to follow the slots of buffers through");
  }

  Broken any_loop(const Stmt& s, const Loop& loop) {
    std::vector<std::int64_t> values;
    if (slots_) values = slots_->values_of(followed_.used_in.at(s.id));
    const LoopEntry entry{s.id, std::move(values), state_};
    if (const auto known = after_loop_.find(entry); known != after_loop_.end()) {
      state_ = known->second;
      return std::nullopt;
    }
    const bool decides = followed_.variables.contains(loop.variable);
    if (auto found = decides ? trip_by_trip(s, loop) : until_it_repeats(s, loop)) return found;
    if (!slots_ || after_loop_.size() * cells_.size() < max_remembered) after_loop_.emplace(entry, state_);
    return std::nullopt;
  }

  Broken trip_by_trip(const Stmt& s, const Loop& loop) {
    const auto trips = slots_->trips(s);
    if (!trips) return broken(unchecked_rule, s, "the trips are not known that the slots of buffers depend on");
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      if (is_too_far()) return too_far(s);
      slots_->set(loop.variable, trip);
      forget_moved(loop.variable);
      if (auto found = block(loop.body)) return found;
    }
    slots_->set(loop.variable, std::nullopt);
    return std::nullopt;
  }

  /// Trips are walked until one begins as an earlier one did; it can show nothing new, and any of them may have been
  /// the last. A transfer of a followed buffer may cross from trip to trip where it is known how many there are.
  Broken until_it_repeats(const Stmt& s, const Loop& loop) {
    const std::optional<std::int64_t> trips = slots_ ? slots_->trips(s) : std::nullopt;
    bool crosses = false;
    std::set<State> begun, left;
    if (!trips && paths_.may_have_no_trip(s)) left.insert(state_);
    for (std::int64_t trip = 0; !trips || trip < *trips; ++trip) {
      forget_moved(loop.variable);
      if (!crosses && !begun.insert(state_).second) {
        state_ = *left.begin();
        for (const State& other : left) join(state_, other);
        break;
      }
      const State before = state_;
      if (auto found = block(loop.body)) return found;
      left.insert(state_);
      if (auto found = same_in_flight(s, before)) {
        if (!trips) return found;
        crosses = true;
      }
    }
    forget_boxes([&](int box) { return slots_->moves_with(box, loop.variable); });
    return std::nullopt;
  }

  /// What a buffer holds belongs to its origin; the next trip's is another one.
  void forget_moved(VarId variable) {
    for (const SlotId c : cells_.ids()) {
      const BufferId b = cells_[c].buffer;
      if (!followed_.is_followed(b) && moves_with_[b].contains(variable)) content(c) = {};
    }
    forget_boxes([&](int box) { return slots_->moves_with(box, variable); });
  }

  /// What is in a slot, or on its way there, is no box any more that can be named.
  template <class IsLost>
  void forget_boxes(const IsLost& is_lost) {
    if (!slots_) return;
    for (Content& there : state_.contents) {
      if (there.box > 0 && is_lost(there.box)) there = {};
    }
    std::set<Flight> in_flight;
    for (Flight flight : state_.in_flight) {
      if (flight.box > 0 && is_lost(flight.box)) flight.box = -1;
      in_flight.insert(std::move(flight));
    }
    state_.in_flight = std::move(in_flight);
  }

  Broken guarded(const Stmt& s, const Guard& guard) {
    if (followed_.guards.contains(s.id)) {
      if (const auto passes = slots_->passes(s)) return *passes ? block(guard.body) : std::nullopt;
    }
    const State before = state_;
    if (auto found = block(guard.body)) return found;
    if (auto found = same_in_flight(s, before)) return found;
    join(state_, before);
    return std::nullopt;
  }

  // Transfers.

  Broken start(const Stmt& s, const Dma& transfer) {
    const NestTensor& tensor = nest_.tensors[transfer.nest_tensor];
    const auto use = used(s, transfer.buffer, 0);
    if (!use) return unknown_slot(s);
    const bool fills = transfer.direction == DmaDirection::get;
    if (fills && tensor.written) {
      return broken("get-of-written", s, fmt::format("{} is written in this launch, by other cores too", tensor.name));
    }
    return begin(s, *use, use->cell, fills);
  }

  /// Every core of the team has the box that it would send; one of them sends it. That it does not lie where the box
  /// arrives shows in that it cannot be read while this is filled.
  Broken start(const Stmt& s, const Broadcast& broadcast) {
    const auto use = used(s, broadcast.buffer, 0);
    const auto source = used(s, broadcast.source, 1);
    if (!use || !source) return unknown_slot(s);
    if (auto found = begin(s, *use, use->cell, true)) return found;
    return begin(s, *source, use->cell, false);
  }

  /// What a transfer does to one slot begins. `into` tells executions of the statement apart.
  Broken begin(const Stmt& s, const Used& use, SlotId into, bool fills) {
    if (use.cell == into && is_under_way(state_, {s.id, use.cell, into, fills, 0, {}})) {
      return broken("transfer-awaited", s, "the transfer starts again before it was awaited");
    }
    if (auto found = fills ? untouched_in_flight(s, use.cell, true) : read(s, use)) return found;
    const bool followed = followed_.is_followed(cells_[use.cell].buffer);
    state_.in_flight.insert({s.id, use.cell, into, fills, use.box, followed ? slots_->iteration() : ""});
    return std::nullopt;
  }

  /// By its statement one transfer is awaited, by its slot all that are under way there.
  Broken await(const Stmt& s, const Wait& wait) {
    std::optional<SlotId> slot;
    if (wait.slot) {
      const auto use = used(s, *wait.slot, 0);
      if (!use) return unknown_slot(s);
      slot = use->cell;
    }
    std::set<std::pair<StatementId, SlotId>> awaited;  // statement and the slot that tells its executions apart
    for (const Flight& flight : state_.in_flight) {
      if (slot ? flight.cell == *slot : flight.statement == wait.dma) awaited.emplace(flight.statement, flight.into);
    }
    if (awaited.empty()) {
      return broken("transfer-awaited", s,
                    wait.slot ? fmt::format("no transfer of {} is under way on this path", cells_.name(*slot))
                              : fmt::format("transfer {} is not under way on this path", wait.dma->index()));
    }
    if (!wait.slot && awaited.size() > 1) {
      return broken("transfer-awaited", s,
                    fmt::format("transfer {} is under way in {} slots, one of which is to be named", wait.dma->index(),
                                awaited.size()));
    }
    std::vector<Flight> ended;
    std::copy_if(state_.in_flight.begin(), state_.in_flight.end(), std::back_inserter(ended),
                 [&](const Flight& flight) {
                   return awaited.contains({flight.statement, flight.into});
                 });
    for (const Flight& flight : ended) state_.in_flight.erase(flight);
    for (const Flight& flight : ended) {
      if (!flight.fills) continue;
      Content loaded{Holds::complete, flight.box, flight.statement};
      if (flight.box < 0) loaded = {};
      if (auto found = write(s, flight.cell, loaded)) return found;
    }
    return std::nullopt;
  }

  /// No transfer under way uses these bytes; what one takes may be read meanwhile.
  Broken untouched_in_flight(const Stmt& s, SlotId cell, bool written) const {
    for (const Flight& flight : state_.in_flight) {
      if (!cells_.overlap(flight.cell, cell)) continue;
      if (!written && !flight.fills) continue;
      return broken("buffer-in-flight", s,
                    fmt::format("{} is {} while transfer {}", cells_.name(cell), written ? "overwritten" : "read",
                                transfer_text(flight)));
    }
    return std::nullopt;
  }

  // What the buffers hold.

  Broken read(const Stmt& s, const Used& use) {
    if (auto found = untouched_in_flight(s, use.cell, false)) return found;
    const Content& there = content(use.cell);
    if (there.holds != Holds::complete) {
      return broken("read-before-there", s,
                    fmt::format("{} is read, but {}", cells_.name(use.cell), text(there.holds)));
    }
    if (there.box == 0) return last_part(s, use.cell);
    if (auto found = same_box(s, use)) return found;
    return slots_->touches_what_is_there(s, use.number, there.box);
  }

  /// Which part of its tensor a buffer holds was judged by what the last statement in front puts there.
  Broken last_part(const Stmt& s, SlotId cell) {
    const std::optional<StatementId> last = paths_.last_writer(cells_[cell].buffer, s);
    const Content& there = content(cell);
    if (there.writer == last && !there.has_several_writers) return std::nullopt;
    return broken("touches-what-is-there", s,
                  fmt::format("{} may hold what {} put there", cells_.name(cell),
                              last ? fmt::format("another statement than {}", last->index()) : "a statement behind"));
  }

  /// A slot is used as the box that was put there.
  Broken same_box(const Stmt& s, const Used& use) {
    const Content& there = content(use.cell);
    if (slots_->same_origin(use.box, there.box)) return std::nullopt;
    return broken("box-in-slot", s,
                  fmt::format("{} is used as the box from {}, but {} put the one from {} there", cells_.name(use.cell),
                              slots_->origin_text(use.box),
                              there.writer ? fmt::format("statement {}", there.writer->index()) : "several statements",
                              slots_->origin_text(there.box)));
  }

  Broken write(const Stmt& s, SlotId cell, Content now) {
    if (auto found = untouched_in_flight(s, cell, true)) return found;
    for (const SlotId other : cells_.ids()) {
      if (other != cell && cells_.overlap(other, cell)) content(other) = {};
    }
    content(cell) = now;
    forget_boxes([&](int box) { return slots_->depends_on(box, cells_[cell].buffer); });
    return std::nullopt;
  }

  /// What a fill leaves out stays what it was.
  Broken filling(const Stmt& s, const Fill& fill) {
    const auto use = used(s, fill.buffer, 0);
    if (!use) return unknown_slot(s);
    if (!fill.around) return write(s, use->cell, {Holds::filled, 0, std::nullopt, false});
    Content kept = content(use->cell);
    if (kept.box > 0 && !slots_->leaves(s, kept.box)) kept = {};
    return write(s, use->cell, kept);
  }

  Broken computation(const Stmt& s, const Compute& compute) {
    const Stage& stage = nest_.stages.stages[compute.stage];
    const auto output = used(s, compute.output_buffer, 0);
    if (!output) return unknown_slot(s);
    std::size_t number = 1;
    for (const ReadId r : stage.reads.ids()) {
      if (!compute.read_buffers[r]) continue;
      const auto input = used(s, *compute.read_buffers[r], number++);
      if (!input) return unknown_slot(s);
      if (auto found = read(s, *input)) return found;
      if (!cells_.overlap(input->cell, output->cell)) continue;
      if (!in_place(stage, compute, r, *input, *output)) {
        return broken("ldm-sharing", s,
                      fmt::format("{} is read while the result overwrites it in {}", cells_.name(input->cell),
                                  buffer(compute.output_buffer).name));
      }
    }
    const Content before = content(output->cell);
    const bool continues = compute.part != Compute::Part::map;
    const bool finishes = compute.part == Compute::Part::finish;
    if (continues && !may_go_on(stage, compute.part, before.holds)) {
      const std::string_view done = finishes ? "finished" : "accumulated into";
      return broken("read-before-there", s,
                    fmt::format("{} is {}, but {}", cells_.name(output->cell), done, text(before.holds)));
    }
    if (auto found = finishes && before.box == 0 ? last_part(s, output->cell) : Broken()) return found;
    if (continues && before.box > 0) {
      if (auto found = same_box(s, *output)) return found;
      if (auto found = slots_->touches_what_is_there(s, 0, before.box)) return found;
    }
    const bool to_be_finished = !finishes && stage.finish != nullptr;
    return write(s, output->cell, {to_be_finished ? Holds::partial : Holds::complete, output->box, s.id});
  }

  /// Every element is read before the very same bytes are written.
  [[nodiscard]] bool in_place(const Stage& stage, const Compute& compute, ReadId r, const Used& read,
                              const Used& written) const {
    const Buffer& input = buffer(*compute.read_buffers[r]);
    const Buffer& output = buffer(compute.output_buffer);
    if (compute.part == Compute::Part::update || cells_[read.cell].offset != cells_[written.cell].offset) return false;
    if (input.extents != output.extents || byte_size(input.type) != byte_size(output.type)) return false;
    const std::vector<IndexExpr>& from = origin_of(nest_, *compute.read_buffers[r]);
    const std::vector<IndexExpr>& to = origin_of(nest_, compute.output_buffer);
    const auto& index = stage.reads[r].index;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (!index[d].is_variable(VarId(d)) || !(from[d] == to[d])) return false;
    }
    return true;
  }

  const LoopNest& nest_;
  Followed followed_;
  Paths paths_;
  std::optional<SlotWalk> slots_;  ///< where a buffer is followed
  Cells cells_;
  std::map<StatementId, const Stmt*> transfers_;
  IdVector<BufferId, std::set<VarId>> moves_with_;  ///< core and loop variables that its origin depends on
  std::map<LoopEntry, State> after_loop_;
  State state_;
  std::int64_t walked_ = 0;
};

}  // namespace

Broken verify_flow(const LoopNest& nest) { return FlowCheck(nest).run(); }

}  // namespace stowage
