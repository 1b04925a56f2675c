// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/record_steps.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/overloaded.h"
#include "driver/report/iterations.h"
#include "driver/report/plan_decisions.h"
#include "driver/text/listed.h"
#include "inspector/replay/classification_steps.h"
#include "lowering/model/group_trace.h"

namespace stowage::inspector {

namespace {

/// Which lines of an algorithm's text are lit: mostly those of the rule that the record names.
std::string mark_of(const TraceRecord& record) {
  if (const auto* tried = std::get_if<SizeTried>(&record.what)) {
    if (tried->step == SizeTried::Step::fixed) return "1:fixed";
    if (tried->step == SizeTried::Step::whole) return tried->fits ? "1:whole" : "1:exceeds";
  }
  if (std::holds_alternative<SizesChosen>(record.what)) return "1:chosen";
  if (const auto* split = std::get_if<CoresSplit>(&record.what)) {
    if (split->by == SplitBy::published) return "section";
  }
  if (const auto* placed = std::get_if<TransferPlaced>(&record.what)) {
    if (!placed->inside) return "3:before";
  }
  return heading_of(record).rule;
}

class RecordFollower {
 public:
  explicit RecordFollower(StepMaker& maker)
      : maker_(maker),
        state_(maker.state),
        model_(maker.model()),
        names_(names_of(maker.model())),
        moves_(model_.buffers.size()),
        left_(model_.buffers.size()) {}

  void run(const std::vector<TraceRecord>& records) {
    std::vector<const TraceRecord*> placed;  // algorithm 3 goes through all tensors at once
    for (const TraceRecord& record : records) {
      if (record.names == nullptr || *record.names != names_) continue;
      if (std::holds_alternative<TransferPlaced>(record.what)) {
        placed.push_back(&record);
      } else {
        follow(record);
      }
    }
    if (!placed.empty() && !state_.sizes.empty()) insert_transfers(placed);
  }

 private:
  ReplayStep& add(const TraceRecord& record) {
    TraceHeading heading = heading_of(record);
    // The end of algorithm 1 is a choice like the others.
    if (std::holds_alternative<SizesChosen>(record.what)) heading.outcome = TraceOutcome::accepted;
    return maker_.add(std::move(heading.algorithm), mark_of(record), heading.outcome, sentence(record));
  }

  void follow(const TraceRecord& record) {
    std::visit(Overloaded{[&](const BufferCorrelated&) {
                            ReplayStep& step = add(record);
                            step.why = "An iterator in the subscript moves the part that is read or written.";
                            describe_ranges(step);
                          },
                          [&](const CoresSplit& split) { follow_split(record, split); },
                          [&](const SplitUnaligned&) {
                            ReplayStep& step = add(record);
                            step.why = "DMA moves whole units, so another split over the cores is looked for.";
                            describe_ranges(step);
                          },
                          [&](const GivenToManagementCore&) {
                            ReplayStep& step = add(record);
                            step.why = "It has a cache and reads main memory, so that nothing has to fit.";
                          },
                          [&](const IteratorsClassified& classified) {
                            take(classified.state);
                            for (const IteratorClassified& each : classified.changed) add_class(each);
                            know(classified.state);
                            add_sizes(record,
                                      "Growing a size iterator makes DMA blocks longer, a num one adds blocks, a comp "
                                      "one does both. Size and comp ones are worth growing.");
                          },
                          [&](const SizeTried& tried) {
                            take(tried.state);
                            know(tried.state);
                            add_sizes(record, why(tried));
                          },
                          [&](const SizesChosen& chosen) {
                            take(chosen.state);
                            know(chosen.state);
                            add_sizes(record, "What is not buffered whole becomes an outer loop over tiles.");
                          },
                          [&](const LoopTried& tried) { follow_candidate(record, tried); },
                          [&](const LoopBarred&) {
                            if (state_.sizes.empty()) return;
                            state_.changed.clear();
                            add_order(record).why = "A result must be complete before it is stored.";
                          },
                          [&](const LoopPlaced& placed) { follow_choice(record, placed); },
                          [&](const LoopsOrdered&) {
                            if (state_.sizes.empty()) return;
                            state_.changed.clear();
                            state_.open = 0;
                            add_order(record).why = "Every loop has its place.";
                          },
                          // What was tried before these algorithms filled the rest has no state of theirs.
                          [](const auto&) {}},
               record.what);
  }

  // --- the split over the cores --------------------------------------------------------------------------------------

  void follow_split(const TraceRecord& record, const CoresSplit& split) {
    state_.parallel.clear();
    for (const TracedSplit& part : split.split) {
      state_.parallel.push_back({names_.iterators[part.iterator], part.parts});
    }
    state_.ranges = split.ranges;
    maker_.loop_over_iterators();
    ReplayStep& step = add(record);
    step.why = split.split.empty() ? "All loops run on one core."
                                   : "Every core computes its own part of the output; none writes another's.";
    describe_ranges(step);
  }

  void describe_ranges(ReplayStep& step) {
    for (const IteratorId i : model_.iterators.ids()) {
      const ModelIterator& iterator = model_.iterators[i];
      maker_.add_variable(
          step, iterator.name,
          fmt::format("0 … {} on one core, {}", state_.ranges[i] - 1, iterator.spatial ? "output" : "reduction"));
    }
  }

  // --- algorithms 1 and 5 --------------------------------------------------------------------------------------------

  void take(const LdmState& buffers) {
    maker_.loop_over_tiles(buffers);
    state_.changed.clear();
    ordering_ = false;  // other loops, of which none has a place
  }

  void know(const LdmState& buffers) {
    classes_ = {};
    for (const IteratorClass known : buffers.classes) classes_.push_back(known);
  }

  /// Algorithm 5, one step for every iterator whose class is new.
  void add_class(const IteratorClassified& classified) {
    const ClassificationStep found = classification_step(classified, names_);
    ReplayStep& step = maker_.add("alg5", found.mark, TraceOutcome::step, found.message);
    step.why = found.why;
    classes_.resize(model_.iterators.size());
    classes_[classified.iterator] = classified.found;
    for (const IteratorId i : classes_.ids()) {
      step.variables.push_back({names_.iterators[i],
                                classes_[i] ? std::string(name_of(*classes_[i])) : "not yet classified",
                                i == classified.iterator});
    }
  }

  void add_sizes(const TraceRecord& record, std::string why) {
    ReplayStep& step = add(record);
    step.why = std::move(why);
    for (const IteratorId i : state_.sizes.ids()) {
      maker_.add_variable(
          step, names_.iterators[i],
          fmt::format("buffer {} of {}, {}", state_.sizes[i], state_.ranges[i], name_of(classes_[i].value())));
    }
    maker_.add_variable(step, "LDM used",
                        fmt::format("{} of {}", bytes_text(step.ldm_bytes), bytes_text(maker_.replay().capacity)));
  }

  [[nodiscard]] std::string why(const SizeTried& tried) const {
    const std::string used = bytes_text(maker_.ldm_bytes());
    const std::string has = bytes_text(maker_.replay().capacity);
    const std::string must_fit = fmt::format("The buffers must fit: {} is what there is.", has);
    switch (tried.step) {
      case SizeTried::Step::fixed: return {};
      case SizeTried::Step::whole:
        return tried.fits ? "Held at once, nothing of it is computed or fetched again for the next tile." : must_fit;
      case SizeTried::Step::start: return "A contiguous block of that length is one that DMA moves at a good rate.";
      case SizeTried::Step::exceeds:
      case SizeTried::Step::halved: return must_fit;
      case SizeTried::Step::grown:
        return tried.fits ? fmt::format("A larger tile needs fewer transfers, and {} still fits {}.", used, has)
                          : fmt::format("{} would be needed, there is {}: the doubling is taken back and growing ends.",
                                        used, has);
    }
    return {};
  }

  // --- algorithm 2 ---------------------------------------------------------------------------------------------------

  /// The loop stands innermost of those without a place; the others keep the order of the iterators. False before
  /// there are sizes: where a trace was damaged the first may be missing, and without any there is nothing to show.
  bool move_innermost(const TracedLoop& loop) {
    if (state_.sizes.empty()) return false;
    state_.ordering = true;
    if (!ordering_) {
      ordering_ = true;
      state_.open = state_.loops.size();
    }
    state_.changed = name_of(loop, names_);
    const auto begin = state_.loops.begin();
    const auto end_of_open = begin + static_cast<std::ptrdiff_t>(state_.open);
    std::sort(begin, end_of_open, [](const OuterLoop& a, const OuterLoop& b) { return a.iterator < b.iterator; });
    const auto found = std::find_if(begin, end_of_open, [&](const OuterLoop& l) { return l.name == state_.changed; });
    if (found != end_of_open) std::rotate(found, found + 1, end_of_open);
    return true;
  }

  void follow_candidate(const TraceRecord& record, const LoopTried& tried) {
    if (!move_innermost(tried.loop)) return;
    ReplayStep& step = compare(record);
    step.why = why(tried);
    maker_.add_variable(step, "candidate", state_.changed);
    for (const BufferCount& count : tried.counts) {
      maker_.add_variable(
          step, fmt::format("{} {}", count.computed ? "computations" : "transfers", names_.buffers[count.buffer]),
          std::to_string(count.count));
    }
    maker_.add_variable(step, "transfers", std::to_string(tried.transfers));
    describe_order(step);
  }

  void follow_choice(const TraceRecord& record, const LoopPlaced& placed) {
    if (!move_innermost(placed.loop)) return;
    if (state_.open > 0) --state_.open;
    ReplayStep& step = compare(record);
    step.why = "Nothing that is left needs less; the place just outside of it is next.";
    maker_.add_variable(step, "chosen", state_.changed);
    describe_order(step);
  }

  ReplayStep& add_order(const TraceRecord& record) {
    const bool is_end = std::holds_alternative<LoopsOrdered>(record.what);
    ReplayStep& step = is_end ? add(record) : compare(record);
    describe_order(step);
    return step;
  }

  /// With the candidates of this place beside each other, as far as they are counted.
  ReplayStep& compare(const TraceRecord& record) {
    if (round_ended_) round_ = {};
    round_ended_ = stowage::follow(round_, record);
    ReplayStep& step = add(record);
    if (!round_.candidates.empty()) step.rounds.push_back(round_);
    return step;
  }

  void describe_order(ReplayStep& step) {
    std::vector<std::string> order;
    for (std::size_t l = state_.open; l < state_.loops.size(); ++l) order.push_back(state_.loops[l].name);
    maker_.add_variable(step, "order so far", order.empty() ? "none yet" : fmt::format("… {}", fmt::join(order, ", ")));
  }

  [[nodiscard]] std::string why(const LoopTried& tried) const {
    const std::string& name = state_.changed;
    std::vector<std::string> staying;
    for (const BufferCount& count : tried.counts) {
      const ModelBuffer& buffer = model_.buffers[count.buffer];
      const bool moves = buffer.moved_by.contains(tried.loop.iterator);
      if (!count.computed && !moves) staying.push_back(buffer.name);
    }
    if (staying.empty()) {
      return fmt::format("Nothing that is still counted could stay in the LDM while {} iterates.", name);
    }
    const auto loop = std::find_if(state_.loops.begin(), state_.loops.end(),
                                   [&](const OuterLoop& each) { return each.name == name; });
    const std::int64_t trips = loop == state_.loops.end() ? 1 : loop->trips;
    return fmt::format("{} {} not move with {}, {}.", listed(staying), staying.size() == 1 ? "does" : "do", name,
                       trips == 1 ? "but that has one iteration only, so nothing is saved"
                                  : fmt::format("and stays in the LDM for all its {} iterations", trips));
  }

  // --- algorithm 3 ---------------------------------------------------------------------------------------------------

  /// A line at a time: the loops that every tensor moves with are struck one after the other, and a tensor with none
  /// left has its place.
  void insert_transfers(const std::vector<const TraceRecord*>& records) {
    maker_.arrange_finally();
    state_.changed.clear();
    IdVector<BufferId, const TraceRecord*> open(model_.buffers.size(), nullptr);  // while it has no place
    for (const TraceRecord* record : records) {
      const auto& placed = std::get<TransferPlaced>(record->what);
      const BufferId b = placed.buffer;
      open[b] = record;
      moves_[b].clear();
      for (const TracedLoop& loop : placed.moves_with) moves_[b].push_back(name_of(loop, names_));
    }
    left_ = moves_;
    std::vector<std::string> starts;
    for (const BufferId b : left_.ids()) {
      if (!left_[b].empty()) starts.push_back(fmt::format("{}: {}", names_.buffers[b], listed(left_[b])));
    }
    add_strike("3:3-4",
               starts.empty()
                   ? std::string("No tensor moves with an outer loop")
                   : fmt::format("Every tensor starts with the loops that it moves with: {}", fmt::join(starts, "; ")),
               "As long as one of them is still open, it is not known which part of the tensor is meant.");
    place_known(open);
    for (const OuterLoop& loop : state_.loops) {
      std::vector<std::string> struck;
      for (const BufferId b : left_.ids()) {
        if (std::erase(left_[b], loop.name) > 0) struck.push_back(names_.buffers[b]);
      }
      if (std::all_of(open.begin(), open.end(), [](const auto* record) { return record == nullptr; })) break;
      state_.changed.clear();
      add_strike("3:12-17",
                 struck.empty()
                     ? fmt::format("No tensor that is left moves with {}: nothing is struck", loop.name)
                     : fmt::format("Inside {} its iteration is known: it is struck from {}", loop.name, listed(struck)),
                 struck.empty() ? "A transfer must not stand inside a loop that it does not need." : "");
      place_known(open);
    }
  }

  void add_strike(const char* mark, std::string message, std::string why) {
    ReplayStep& step = maker_.add("alg3", mark, TraceOutcome::step, std::move(message));
    step.why = std::move(why);
    describe_places(step);
  }

  /// Those of which no loop is left.
  void place_known(IdVector<BufferId, const TraceRecord*>& open) {
    for (const BufferId b : open.ids()) {
      if (open[b] == nullptr || !left_[b].empty()) continue;
      const auto& placed = std::get<TransferPlaced>(open[b]->what);
      state_.changed = names_.buffers[b];
      maker_.place(state_.changed, placed.inside ? name_of(*placed.inside, names_) : "");
      ReplayStep& step = add(*open[b]);
      step.why = why_there(b, placed);
      describe_places(step);
      open[b] = nullptr;
    }
  }

  void describe_places(ReplayStep& step) {
    for (const BufferId b : model_.buffers.ids()) {
      const std::string moves = moves_[b].empty() ? "moves with no loop" : "moves with " + listed(moves_[b]);
      const std::string place = state_.depth[b]    ? place_text(b)
                                : left_[b].empty() ? std::string("none left")
                                                   : "left: " + listed(left_[b]);
      maker_.add_variable(step, names_.buffers[b], fmt::format("{}; {}", moves, place));
    }
  }

  [[nodiscard]] std::string place_text(BufferId b) const {
    const std::vector<OuterLoop> loops = loops_around(model_, state_, b);
    return loops.empty() ? "before the first loop" : "inside " + loops.back().name;
  }

  /// "yo 8 × ko 16 = 128 times on each core".
  [[nodiscard]] std::string product_text(BufferId b) const {
    std::vector<std::string> factors;
    for (const OuterLoop& loop : loops_around(model_, state_, b)) {
      factors.push_back(fmt::format("{} {}", loop.name, loop.trips));
    }
    const std::string times =
        times_text(iterations_around(model_, state_, b)) + (state_.parallel.empty() ? "" : " on each core");
    return factors.size() > 1 ? fmt::format("{} = {}", fmt::join(factors, " × "), times) : times;
  }

  [[nodiscard]] std::string why_there(BufferId b, const TransferPlaced& placed) const {
    using What = TransferPlaced::What;
    const std::string& tensor = names_.buffers[b];
    const char* const verb = placed.what == What::load          ? "loaded"
                             : placed.what == What::computation ? "computed"
                                                                : "stored";
    if (moves_[b].empty()) {
      return fmt::format("{} is the same part in all iterations of all loops: {} once, before them.", tensor, verb);
    }
    const bool is_result = placed.what == What::store || placed.what == What::sum;
    return fmt::format("{} moves with {}; {} its part is known{}. So it is {} there ({}).", tensor, listed(moves_[b]),
                       place_text(b), is_result ? ", and sums inside of that loop are added up in the LDM" : "", verb,
                       product_text(b));
  }

  StepMaker& maker_;
  NestState& state_;
  const GroupModel& model_;
  GroupNames names_;
  IdVector<IteratorId, std::optional<IteratorClass>> classes_;  ///< by iterator, as far as they are known
  bool ordering_ = false;
  LoopRound round_;  ///< of algorithm 2, as far as it is followed
  bool round_ended_ = false;
  IdVector<BufferId, std::vector<std::string>> moves_;  ///< of algorithm 3: loops that it moves with
  IdVector<BufferId, std::vector<std::string>> left_;   ///< those of them that are not struck yet
};

}  // namespace

void add_record_steps(StepMaker& maker, const std::vector<TraceRecord>& records) { RecordFollower(maker).run(records); }

void add_text_steps(StepMaker& maker, const std::vector<TraceRecord>& records) {
  bool first = true;
  for (const TraceRecord& record : records) {
    const TraceHeading heading = heading_of(record);
    if (first) {
      ReplayStep& step = maker.add(heading.algorithm, "", TraceOutcome::step,
                                   "This plan was written by an earlier version of Stowage");
      step.why = "Its steps are shown as that version told them; what stood in the LDM and in the loops was not kept.";
      step.is_text = true;
      step.nest.clear();
      first = false;
    }
    ReplayStep& step = maker.add(heading.algorithm, heading.rule, heading.outcome, sentence(record));
    step.is_text = true;
    step.nest.clear();
  }
}

}  // namespace stowage::inspector
