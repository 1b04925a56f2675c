// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/check_nest.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "lowering/check/index_numbers.h"
#include "lowering/check/index_span.h"
#include "lowering/check/ldm_contents.h"
#include "lowering/check/team_events.h"
#include "lowering/check/tensor_writers.h"
#include "lowering/check/whole_faults.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"

namespace stowage {
namespace {

using Values = std::vector<std::int64_t>;

/// Elements that are put, for each execution.
constexpr std::int64_t most_elements_an_execution = 64;
/// Transfers and barriers of teams, and transfers under way on one core.
constexpr std::int64_t most_events = 2'000'000;
constexpr std::size_t most_flights = 256;

Values joined(std::initializer_list<Values> parts) {
  Values all;
  for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Raised when so many executions as wanted were looked at.
struct Enough {};

class NestChecker {
 public:
  NestChecker(const LoopNest& nest, const Target& target, std::int64_t most)
      : nest_(nest), most_(most), events_(nest), writers_(nest), numbers_(nest) {
    visit_statements(nest.body, [&](const Stmt& s) {
      const auto* compute = std::get_if<Compute>(&s.node);
      if (compute != nullptr && compute->part == Compute::Part::update) summed_.insert(compute->output_buffer.buffer);
    });
    result_.complete = writers_.complete();
    result_.faults = capacity_faults(nest, target);
    for (Fault& fault : scope_faults(nest)) result_.faults.push_back(std::move(fault));
  }

  NestCheck run() {
    try {
      for (core_ = 0; core_ < nest_.cores_used(); ++core_) {
        numbers_.of_variables = values_of_core(nest_, core_);
        LdmContents ldm(nest_);
        ldm_ = &ldm;
        walk(nest_.body);
        for (const TransferUnderWay& flight : ldm.flights()) {
          if (!flight.box.is_empty() || flight.of_team)
            add(FaultFamily::wait, flight.started, "nothing waits for this transfer before the kernel ends");
        }
      }
      check_teams();
      for (Fault& fault : incomplete_faults(nest_, writers_)) result_.faults.push_back(std::move(fault));
    } catch (const Enough&) {
      result_.complete = false;
    } catch (const LookupOutside& lookup) {
      add(FaultFamily::bounds, {walked_, numbers_.of_variables}, lookup.text);
      result_.complete = false;
    }
    return std::move(result_);
  }

 private:
  // --- what is found -------------------------------------------------------------------------------------------------

  [[nodiscard]] Moment now(const Stmt& s) const { return {s.id, numbers_.of_variables}; }

  void add(FaultFamily family, const Moment& at, std::string what, const Moment* other = nullptr,
           std::optional<int> other_core = std::nullopt) {
    const std::optional<StatementId> other_statement =
        other != nullptr ? std::optional(other->statement) : std::nullopt;
    if (!told_.emplace(family, at.statement, other_statement).second) return;
    Fault fault{family, execution_of(nest_, at, core_), std::nullopt, std::move(what)};
    if (other != nullptr) fault.other = execution_of(nest_, *other, other_core.value_or(core_));
    result_.faults.push_back(std::move(fault));
  }

  /// Code is written for no larger boxes than are declared, and asks whether there is one only where there need not be.
  void check_declared(const Stmt& s, const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
      const std::int64_t extent = numbers_.value(range.extent);
      const std::int64_t least = bounds(range.extent, [&](VarId v) { return nest_.variables[v.index()].range; }).low;
      if (extent <= range.max_extent && (extent > 0 || least <= 0)) continue;
      add(FaultFamily::bounds, now(s),
          fmt::format("a box is {} long, and at {} {} is declared", counted(extent, "element"),
                      extent > 0 ? "most" : "least", extent > 0 ? range.max_extent : least));
    }
  }

  [[nodiscard]] const Shape& shape_of(NestTensorId nest_tensor) const {
    return nest_.stages.tensors[nest_.tensors[nest_tensor].tensor].shape;
  }

  // --- the way of a core ---------------------------------------------------------------------------------------------

  void walk(const Block& block) {
    for (const StmtPtr& s : block) walk(*s);
  }

  void walk(const Stmt& s) {
    walked_ = s.id;
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      const std::int64_t trips = numbers_.value(loop->extent);
      for (std::int64_t trip = 0; trip < trips; ++trip) {
        numbers_.of_variables[loop->variable.index()] = trip;
        count();
        walk(loop->body);
      }
      return;
    }
    if (const auto* let = std::get_if<Let>(&s.node)) {
      numbers_.of_variables[let->variable.index()] = numbers_.value(let->value);
      return;
    }
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      const bool passes = std::any_of(guard->any_positive.begin(), guard->any_positive.end(),
                                      [&](const IndexExpr& e) { return numbers_.value(e) > 0; });
      if (passes) walk(guard->body);
      return;
    }
    count();
    if (const auto* dma = std::get_if<Dma>(&s.node)) transfer(s, *dma);
    if (const auto* wait = std::get_if<Wait>(&s.node)) await(s, *wait);
    if (const auto* fill = std::get_if<Fill>(&s.node)) filling(s, *fill);
    if (const auto* compute = std::get_if<Compute>(&s.node)) computing(s, *compute);
    if (std::holds_alternative<Barrier>(s.node)) event(s, {});
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) sending(s, *broadcast);
  }

  void count() {
    if (++result_.executions > most_) throw Enough();
  }

  void event(const Stmt& s, Values what) {
    if (++event_count_ > most_events) throw Enough();
    events_.add(core_, now(s), std::move(what));
  }

  /// The slot that a use names, if there is one.
  std::optional<SlotOfBuffer> cell_of(const Stmt& s, const BufferUse& use) {
    const Buffer& buffer = nest_.buffers[use.buffer];
    const std::int64_t slot = numbers_.value(use.slot);
    if (slot >= 0 && slot < buffer.slots) return SlotOfBuffer{use.buffer, slot};
    add(FaultFamily::bounds, now(s), fmt::format("buffer {} has no slot {}, but {}", buffer.name, slot, buffer.slots));
    return std::nullopt;
  }

  bool is_in_buffer(const Stmt& s, const SlotOfBuffer& cell, const ElementBox& box) {
    const Buffer& buffer = nest_.buffers[cell.buffer];
    if (box.is_empty() || whole(buffer.extents).holds(box)) return true;
    add(FaultFamily::bounds, now(s),
        fmt::format("elements {} of buffer {} are touched, which has {}", text_of(box), buffer.name,
                    text_of(whole(buffer.extents))));
    return false;
  }

  /// Nothing under way may be touched.
  void check_free(const Stmt& s, const SlotOfBuffer& cell, const ElementBox& box, bool reads) {
    const TransferUnderWay* const flight = box.is_empty() ? nullptr : ldm_->in_the_way(cell, box, reads);
    if (flight == nullptr) return;
    const std::string& name = nest_.buffers[cell.buffer].name;
    add(FaultFamily::race, now(s),
        fmt::format("elements {} of {} are {} while a transfer under way {} {}", text_of(box), name,
                    reads ? "read" : "written", flight->fills ? "fills" : "sends", text_of(flight->box)),
        &flight->started);
  }

  void check_there(const Stmt& s, const SlotOfBuffer& cell, const ElementBox& box, const Values& origin) {
    if (box.is_empty()) return;
    const auto unfit = ldm_->unfit(cell, box, origin);
    if (!unfit) return;
    // What a transfer under way fills is a race; that was told.
    if (ldm_->in_the_way(cell, box, true) != nullptr) return;
    const Buffer& buffer = nest_.buffers[cell.buffer];
    const std::string& tensor = nest_.stages.tensors[buffer.tensor].name;
    const std::string wanted = text_of(moved(unfit->box, origin, 1));
    if (unfit->stale == nullptr) {
      add(FaultFamily::uninitialised, now(s),
          fmt::format("{}{} is read from {}, where nothing has put it", tensor, wanted, buffer.name));
    } else {
      const ElementBox held = moved(common(unfit->box, unfit->stale->box), *unfit->stale->origin, 1);
      add(FaultFamily::uninitialised, now(s),
          fmt::format("{}{} is read from {}, which holds {}{} there", tensor, wanted, buffer.name, tensor,
                      text_of(held)),
          &unfit->stale->written);
    }
  }

  /// Elements that belong to a sum have all of its terms; padding belongs to none.
  void check_summed(const Stmt& s, const SlotOfBuffer& cell, const ElementBox& box, const Values& origin,
                    std::string_view what, bool finishing = false) {
    const Buffer& buffer = nest_.buffers[cell.buffer];
    const StageTensor& tensor = nest_.stages.tensors[buffer.tensor];
    const ElementBox inside = common(moved(box, origin, 1), whole(tensor.shape));
    const Piece* const piece = inside.is_empty() ? nullptr : ldm_->unsummed(cell, moved(inside, origin, -1), finishing);
    if (piece == nullptr) return;
    add(FaultFamily::sum, now(s),
        fmt::format("{}{} is {} {}", tensor.name, text_of(common(inside, moved(piece->box, origin, 1))), what,
                    *what_lacks(nest_, *piece->sum, finishing)),
        &piece->written);
  }

  void transfer(const Stmt& s, const Dma& dma) {
    const auto cell = cell_of(s, dma.buffer);
    if (!cell) return;
    const NestTensorId tensor = dma.nest_tensor;
    check_declared(s, dma.region);
    const ElementBox region = numbers_.box_of(dma.region);
    const Values origin = numbers_.all(origin_of(nest_, dma.buffer));
    const bool meets = dma.to != Space::ldm;
    TransferUnderWay flight{*cell, moved(region, origin, -1), origin, dma.direction == DmaDirection::get, meets,
                            now(s)};
    if (flight.of_team) {
      event(s, joined({region.low, region.end, flight.box.low, {cell->slot}}));
    }
    if (!region.is_empty()) {
      if (!flight.of_team || is_first_of(nest_, dma.to, core_)) ++result_.transfers;
      if (!whole(shape_of(tensor)).holds(region)) {
        add(FaultFamily::bounds, now(s),
            fmt::format("{}{} is moved, and the tensor has {}", nest_.tensors[tensor].name, text_of(region),
                        text_of(whole(shape_of(tensor)))));
        flight.box = whole(Values(flight.box.low.size(), 0));
      } else if (!is_in_buffer(s, *cell, flight.box)) {
        flight.box = whole(Values(flight.box.low.size(), 0));
      } else {
        check_free(s, *cell, flight.box, !flight.fills);
        if (!flight.fills) {
          check_there(s, *cell, flight.box, origin);
          check_summed(s, *cell, flight.box, origin, "stored");
          put(s, tensor, region);
        } else if (writers_.is_written(tensor)) {
          got(s, tensor, region);
        }
      }
    }
    if (ldm_->flights().size() >= most_flights) end_piled_up();
    ldm_->start(std::move(flight));
  }

  /// The sender's box is read, that of every core of the team is filled.
  void sending(const Stmt& s, const Broadcast& broadcast) {
    const auto from = cell_of(s, broadcast.source);
    const auto to = cell_of(s, broadcast.buffer);
    if (!from || !to) return;
    check_declared(s, broadcast.region);
    const ElementBox region = numbers_.box_of(broadcast.region);
    const Values origin = numbers_.all(origin_of(nest_, broadcast.buffer));
    const Values origin_there = numbers_.all(origin_of(nest_, broadcast.source));
    TransferUnderWay taken{*to, moved(region, origin, -1), origin, true, true, now(s)};
    TransferUnderWay sent{*from, moved(region, origin_there, -1), origin_there, false, true, now(s)};
    const std::int64_t sender = numbers_.value(broadcast.sender);
    event(s, joined({region.low, region.end, taken.box.low, {to->slot, sender}}));
    if (!has_teams(nest_, broadcast.to)) return;  // which is told of the whole nest (whole_faults.h)
    const Teams teams(nest_, broadcast.to);
    if (sender < 0 || sender >= teams.size())
      add(FaultFamily::message, now(s),
          fmt::format("core {} of the {} is to send, which has {}", sender, name_of(broadcast.to), teams.size()));
    const bool sends = teams.index_in_team(core_) == sender;
    if (region.is_empty() || !is_in_buffer(s, *to, taken.box) || (sends && !is_in_buffer(s, *from, sent.box))) {
      taken.box = sent.box = whole(Values(region.low.size(), 0));
    } else {
      result_.transfers += sends ? 1 : 0;
      if (sends) {
        check_free(s, *from, sent.box, true);
        check_there(s, *from, sent.box, origin_there);
        check_summed(s, *from, sent.box, origin_there, "sent");
        ldm_->start(std::move(sent));
      }
      check_free(s, *to, taken.box, false);
    }
    if (ldm_->flights().size() >= most_flights) end_piled_up();
    ldm_->start(std::move(taken));
  }

  /// Nothing waits for these, while others may be awaited yet.
  void end_piled_up() {
    const auto ended = ldm_->end_most_started();
    add(FaultFamily::wait, ended.front().started,
        fmt::format("{} transfers of this statement are under way, for which nothing has waited", ended.size()));
  }

  void put(const Stmt& s, NestTensorId tensor, const ElementBox& region) {
    const std::string& name = nest_.tensors[tensor].name;
    if (!writers_.is_written(tensor))
      return add(FaultFamily::bounds, now(s), fmt::format("{} is written, which is read only", name));
    tell_other(s, writers_.put(tensor, region, core_, s.id),
               [&](const TensorWriters::Element& other, const std::string& at) {
                 return fmt::format("{}{} is written by core {} too", name, at, other.core);
               });
  }

  /// Of a tensor that the nest writes.
  void got(const Stmt& s, NestTensorId tensor, const ElementBox& region) {
    tell_other(s, writers_.of_another(tensor, region, core_),
               [&](const TensorWriters::Element& other, const std::string& at) {
                 return fmt::format("{}{} is read, which core {} writes", nest_.tensors[tensor].name, at, other.core);
               });
  }

  template <class Tell>
  void tell_other(const Stmt& s, const std::optional<TensorWriters::Element>& other, const Tell& tell) {
    if (writers_.visited() > most_elements_an_execution * most_) throw Enough();
    if (!other) return;
    const Moment moment{other->statement, Values(numbers_.of_variables.size(), 0)};
    add(FaultFamily::overlap, now(s), tell(*other, fmt::format("[{}]", fmt::join(other->at, ", "))), &moment,
        other->core);
  }

  void await(const Stmt& s, const Wait& wait) {
    std::optional<SlotOfBuffer> cell;
    if (wait.slot && !(cell = cell_of(s, *wait.slot))) return;
    const auto ended =
        cell ? ldm_->end_in(*cell)
             : ldm_->end([&](const TransferUnderWay& flight) { return flight.started.statement == wait.dma; });
    if (std::any_of(ended.begin(), ended.end(), [](const TransferUnderWay& flight) { return flight.of_team; }))
      event(s, {});
    if (!ended.empty()) return;
    add(FaultFamily::wait, now(s),
        cell ? fmt::format("no transfer is under way in slot {} of {}", cell->slot, nest_.buffers[cell->buffer].name)
             : fmt::format("no transfer of statement {} is under way", wait.dma->index()));
  }

  void filling(const Stmt& s, const Fill& fill) {
    const auto cell = cell_of(s, fill.buffer);
    if (!cell) return;
    const ElementBox all = whole(nest_.buffers[cell->buffer].extents);
    std::vector<ElementBox> filled = {all};
    if (fill.around) filled = without(all, numbers_.box_of(*fill.around));
    std::optional<SumTerms> sum;
    if (!fill.around && summed_.contains(fill.buffer.buffer)) sum.emplace();
    for (ElementBox& box : filled) {
      if (box.is_empty()) continue;
      check_free(s, *cell, box, false);
      ldm_->write(*cell, {std::move(box), std::nullopt, now(s), sum});
    }
  }

  void computing(const Stmt& s, const Compute& compute) {
    check_declared(s, compute.box);
    const ElementBox points = numbers_.box_of(compute.box);
    if (points.is_empty()) return;
    const Stage& stage = nest_.stages.stages[compute.stage];
    std::vector<Interval> axes;
    for (std::size_t a = 0; a < points.low.size(); ++a) axes.push_back({points.low[a], points.end[a] - 1});
    for (const ReadId r : compute.read_buffers.ids()) {
      if (compute.read_buffers[r]) read(s, stage.reads[r], *compute.read_buffers[r], axes);
    }
    const auto cell = cell_of(s, compute.output_buffer);
    if (!cell) return;
    for (const ReadId r : compute.read_buffers.ids()) {
      if (compute.read_buffers[r]) check_kept(s, compute, r, *cell);
    }
    const auto rank = static_cast<std::ptrdiff_t>(stage.spatial);
    const Values origin = numbers_.all(origin_of(nest_, compute.output_buffer));
    const ElementBox output{{points.low.begin(), points.low.begin() + rank},
                            {points.end.begin(), points.end.begin() + rank}};
    const ElementBox box = moved(output, origin, -1);
    if (!is_in_buffer(s, *cell, box)) return;
    if (compute.part != Compute::Part::map) check_there(s, *cell, box, origin);
    check_free(s, *cell, box, false);
    if (compute.part == Compute::Part::update) return ldm_->add(*cell, {box, origin, now(s)}, compute, points);
    if (compute.part == Compute::Part::finish) check_summed(s, *cell, box, origin, "finished", true);
    ldm_->write(*cell, {box, origin, now(s)});
  }

  /// What lies at the bytes of the result is read in place: each element for the one that is put there.
  void check_kept(const Stmt& s, const Compute& compute, ReadId r, const SlotOfBuffer& written) {
    const BufferUse& use = *compute.read_buffers[r];
    const SlotOfBuffer cell{use.buffer, numbers_.value(use.slot)};
    if (!share_bytes(nest_, cell, written)) return;
    const Stage& stage = nest_.stages.stages[compute.stage];
    bool in_place = compute.part != Compute::Part::update && match(nest_, cell, written) &&
                    numbers_.all(origin_of(nest_, use)) == numbers_.all(origin_of(nest_, compute.output_buffer));
    for (std::size_t d = 0; d < stage.reads[r].index.size(); ++d)
      in_place = in_place && stage.reads[r].index[d].is_variable(VarId(d));
    if (in_place) return;
    add(FaultFamily::race, now(s),
        fmt::format("{} is read while the result is written to the same bytes, in {}", nest_.buffers[use.buffer].name,
                    nest_.buffers[written.buffer].name));
  }

  void read(const Stmt& s, const Access& access, const BufferUse& use, const std::vector<Interval>& axes) {
    const auto cell = cell_of(s, use);
    if (!cell) return;
    const Values origin = numbers_.all(origin_of(nest_, use));
    ElementBox box;
    for (const IndexExpr& e : access.index) {
      const auto span = span_of(e, axes);
      if (!span) {
        ++result_.not_looked_at;
        return;
      }
      box.low.push_back(span->low);
      box.end.push_back(span->high + 1);
    }
    box = moved(std::move(box), origin, -1);
    if (!is_in_buffer(s, *cell, box)) return;
    check_free(s, *cell, box, true);
    check_there(s, *cell, box, origin);
    check_summed(s, *cell, box, origin, "read");
  }

  // --- of all cores --------------------------------------------------------------------------------------------------

  void check_teams() {
    for (const TeamMismatch& mismatch : events_.mismatches()) {
      core_ = mismatch.core;
      add(FaultFamily::message, mismatch.at, mismatch.what, mismatch.other ? &*mismatch.other : nullptr,
          mismatch.other_core);
    }
  }

  const LoopNest& nest_;
  const std::int64_t most_;
  NestCheck result_;
  std::set<BufferId> summed_;  ///< in which sums are made
  TeamEvents events_;
  TensorWriters writers_;
  int core_ = 0;
  StatementId walked_;
  std::int64_t event_count_ = 0;
  IndexNumbers numbers_;
  LdmContents* ldm_ = nullptr;
  std::set<std::tuple<FaultFamily, StatementId, std::optional<StatementId>>> told_;
};

}  // namespace

NestCheck check_nest(const LoopNest& nest, const Target& target, std::int64_t most) {
  return NestChecker(nest, target, most).run();
}

}  // namespace stowage
