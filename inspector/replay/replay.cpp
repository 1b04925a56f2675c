// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/report/nest_rows.h"
#include "driver/report/plan_reasons.h"
#include "inspector/replay/classification_steps.h"
#include "inspector/replay/finished_nest.h"
#include "inspector/replay/fusion_steps.h"
#include "inspector/replay/nest_so_far.h"
#include "inspector/state/background.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/planner.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"

namespace stowage::inspector {

namespace {

bool of_planner(const TraceRecord& record) {
  return record.algorithm == "parallel" || record.algorithm.starts_with("alg");
}

/// The records of a planner for one fused operator: those that were kept, or those of planning it again.
std::vector<TraceRecord> planner_records(const LoadedPlan& plan, const StepFacts& step) {
  const std::string& subject = step.step->group.name;
  std::vector<TraceRecord> records;
  for (const TraceRecord& record : plan.compilation.trace.records) {
    if (record.subject == subject && of_planner(record)) records.push_back(record);
  }
  const Planner* planner = find_planner(plan.program().planner);
  if (!records.empty() || planner == nullptr) return records;
  off_window_thread("a group was planned");
  // What a person fixed is not kept: where planning freely gives another schedule, all of it counts as fixed.
  for (const Schedule& fixed : {Schedule{}, step.plan->schedule}) {
    Trace trace;
    const Scheduled scheduled =
        planner->complete(subject, step.plan->nest.stages, fixed, plan.program().target, TraceSink(&trace));
    const auto* schedule = std::get_if<Schedule>(&scheduled);
    records = std::move(trace.records);
    if (schedule != nullptr && *schedule == step.plan->schedule) break;
  }
  return records;
}

std::string value_of(const TraceRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.values) {
    if (key == name) return value;
  }
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  if (names.empty()) return "nothing";
  if (names.size() == 1) return names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

std::string times_text(std::int64_t count) {
  return count == 1 ? std::string("once") : fmt::format("{} times", grouped_digits(count));
}

/// Follows the records and keeps everything as it stands after each.
class Replayer {
 public:
  Replayer(const LoadedPlan& plan, const StepFacts& facts, Replay& replay)
      : plan_(plan), facts_(facts), replay_(replay), model_(build_group_model(facts.plan->nest.stages)) {
    state_.ranges = core_ranges(model_, {});
    state_.depth.assign(model_.buffers.size(), std::nullopt);
    whole_.assign(model_.iterators.size(), false);
    classes_.assign(model_.iterators.size(), "");
    whole_loops();
  }

  void run(const std::vector<TraceRecord>& records) {
    for (ReplayStep& step : replay_.steps) step.nest = nest_so_far(model_, state_);
    std::vector<TraceRecord> places;  // Algorithm 3 goes through all tensors at once
    for (const TraceRecord& record : records) {
      if (record.algorithm == "alg3") {
        places.push_back(record);
      } else {
        follow(record);
      }
    }
    if (!places.empty() && !state_.sizes.empty()) insert_transfers(places);
    arrive(records);
  }

 private:
  [[nodiscard]] const Schedule& schedule() const { return facts_.plan->schedule; }
  [[nodiscard]] const Target& target() const { return plan_.program().target; }

  /// Before anything is buffered the loops are the iterators.
  void whole_loops() {
    state_.loops.clear();
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      state_.loops.push_back({static_cast<int>(i), model_.iterators[i].name, state_.ranges[i]});
    }
  }

  void follow(const TraceRecord& record) {
    if (record.algorithm == "parallel") {
      if (schedule().parallel) state_.parallel = *schedule().parallel;
      state_.ranges = core_ranges(model_, state_.parallel);
      whole_loops();
    }
    if (record.algorithm == "alg1") follow_sizes(record);
    // Where a trace was damaged the first sizes may be missing, and without any there is nothing to show.
    if (state_.sizes.empty() && (record.algorithm == "alg1" || record.algorithm == "alg2")) return;
    if (record.algorithm == "alg2") follow_order(record);
    if (record.algorithm == "alg3") follow_place(record);
    // The end of algorithm 1 is a choice like the others.
    const bool sizes_chosen = record.algorithm == "alg1" && value_of(record, "step") == "chosen";
    const TraceOutcome outcome = sizes_chosen ? TraceOutcome::accepted : record.outcome;
    ReplayStep& step = add(record.algorithm, mark_of(record), outcome, record.message);
    step.why = why(record);
    if (record.algorithm == "alg2") compare_loops(record, step);
    describe(record, step);
  }

  static std::string mark_of(const TraceRecord& record) {
    if (record.place == "1") return "1:" + value_of(record, "step");
    if (record.algorithm == "alg3" && value_of(record, "place").empty()) return "3:before";
    return record.place == "section 5.4" ? "section" : record.place;
  }

  void follow_sizes(const TraceRecord& record) {
    std::vector<std::string> classes = classes_;
    std::vector<std::int64_t> sizes(model_.iterators.size(), 1);
    state_.changed.clear();
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      const std::string& name = model_.iterators[i].name;
      const std::string size = value_of(record, "buffer " + name);
      if (size.empty()) return;  // a refusal has no state
      sizes[i] = std::stoll(size);
      classes[i] = value_of(record, "class " + name);
      whole_[i] = classes[i] == "whole";
    }
    state_.sizes = sizes;
    state_.loops = outer_loops(model_, state_.ranges, {sizes, whole_});
    order_started_ = false;  // other loops, of which none has a place
    state_.ordering = false;
    state_.open = 0;
    if (value_of(record, "step") == "classify") classify(classes);
    classes_ = classes;
  }

  /// Algorithm 5, one step for every iterator whose class is new.
  void classify(const std::vector<std::string>& classes) {
    for (const ClassificationStep& found : classification_steps(model_, classes_, classes)) {
      ReplayStep& step = add("alg5", found.type, TraceOutcome::step, found.message);
      step.why = found.why;
      for (std::size_t i = 0; i < classes.size(); ++i) {
        const bool known = static_cast<int>(i) <= found.iterator || !classes_[i].empty();
        const std::string& shown = static_cast<int>(i) <= found.iterator ? classes[i] : classes_[i];
        step.variables.push_back(
            {model_.iterators[i].name, known ? shown : "not yet classified", static_cast<int>(i) == found.iterator});
      }
    }
  }

  void follow_order(const TraceRecord& record) {
    state_.ordering = true;
    if (!order_started_) {
      order_started_ = true;
      state_.open = state_.loops.size();
    }
    const std::string candidate = value_of(record, "candidate");
    const std::string chosen = value_of(record, "chosen");
    const std::string& moved = candidate.empty() ? chosen : candidate;
    state_.changed = moved;
    const auto begin = state_.loops.begin();
    const auto end_of_open = begin + static_cast<std::ptrdiff_t>(state_.open);
    // The candidate stands innermost of those without a place; the others keep the order of the iterators.
    std::sort(begin, end_of_open, [](const OuterLoop& a, const OuterLoop& b) { return a.iterator < b.iterator; });
    const auto found = std::find_if(begin, end_of_open, [&](const OuterLoop& l) { return l.name == moved; });
    if (found != end_of_open) std::rotate(found, found + 1, end_of_open);
    if (!chosen.empty() && state_.open > 0) --state_.open;
    if (record.place == "2:23") state_.open = 0;
  }

  /// The candidates of this place beside each other, as far as they are counted.
  void compare_loops(const TraceRecord& record, ReplayStep& step) {
    if (round_ended_) round_ = {};
    round_ended_ = stowage::follow(round_, model_, state_.sizes, record);
    const bool is_end = record.place == "2:23";
    if (!is_end && !round_.candidates.empty()) step.rounds.push_back(round_);
  }

  void arrange_finally() {
    state_.open = 0;
    state_.ordering = false;
    if (!schedule().order) return;
    std::vector<OuterLoop> order;
    for (const std::string& name : *schedule().order) {
      for (const OuterLoop& loop : state_.loops) {
        if (loop.name == name) order.push_back(loop);
      }
    }
    if (order.size() == state_.loops.size()) state_.loops = order;
  }

  /// Algorithm 3 a line at a time: the loops that every tensor moves with are struck one after the other, and a tensor
  /// with none left has its place.
  void insert_transfers(const std::vector<TraceRecord>& places) {
    arrange_finally();
    state_.changed.clear();
    std::vector<std::string> starts;
    left_.clear();
    for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
      left_.push_back(moving_loops(b));
      if (!left_.back().empty()) starts.push_back(fmt::format("{}: {}", model_.buffers[b].name, joined(left_.back())));
    }
    const auto step = [&](const char* mark, std::string message, std::string why) {
      ReplayStep& made = add("alg3", mark, TraceOutcome::step, std::move(message));
      made.why = std::move(why);
      describe({"alg3", {}, {}, TraceOutcome::step, {}, {}}, made);
    };
    step("3:3-4",
         starts.empty()
             ? std::string("No tensor moves with an outer loop")
             : fmt::format("Every tensor starts with the loops that it moves with: {}", fmt::join(starts, "; ")),
         "As long as one of them is still open, it is not known which part of the tensor is meant.");
    std::vector<bool> placed(model_.buffers.size(), false);
    const auto place_known = [&] {
      for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
        const auto record = std::find_if(places.begin(), places.end(), [&](const TraceRecord& entry) {
          return value_of(entry, "tensor") == model_.buffers[b].name;
        });
        if (placed[b] || !left_[b].empty() || record == places.end()) continue;
        placed[b] = true;
        follow(*record);
      }
    };
    place_known();
    for (const OuterLoop& loop : state_.loops) {
      std::vector<std::string> struck;
      for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
        if (std::erase(left_[b], loop.name) > 0) struck.push_back(model_.buffers[b].name);
      }
      if (std::all_of(placed.begin(), placed.end(), [](bool done) { return done; })) break;
      state_.changed.clear();
      step("3:12-17",
           struck.empty() ? fmt::format("No tensor that is left moves with {}: nothing is struck", loop.name)
                          : fmt::format("Inside {} its turn is known: it is struck from {}", loop.name, joined(struck)),
           struck.empty() ? std::string("A transfer must not stand inside a loop that it does not need.")
                          : std::string());
      place_known();
    }
  }

  void follow_place(const TraceRecord& record) {
    state_.changed = value_of(record, "tensor");
    place(state_.changed, value_of(record, "place"));
  }

  void place(const std::string& tensor, const std::string& loop) {
    for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
      if (model_.buffers[b].name != tensor) continue;
      const std::vector<int> path = path_of(model_, state_.loops, model_.buffers[b]);
      state_.depth[b] = 0;
      for (std::size_t p = 0; p < path.size(); ++p) {
        if (state_.loops[static_cast<std::size_t>(path[p])].name == loop) state_.depth[b] = static_cast<int>(p) + 1;
      }
    }
  }

  ReplayStep& add(std::string algorithm, std::string mark, TraceOutcome outcome, std::string message) {
    ReplayStep step;
    step.algorithm = std::move(algorithm);
    step.mark = std::move(mark);
    step.outcome = outcome;
    step.message = std::move(message);
    step.nest = nest_so_far(model_, state_);
    if (!state_.sizes.empty()) {
      const std::vector<std::int64_t> bytes = buffer_bytes(model_, state_.sizes, target().ldm_alignment);
      for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
        const ModelBuffer& buffer = model_.buffers[b];
        const std::vector<std::int64_t> elements = buffer_extents(model_, buffer, state_.sizes);
        const std::string extents = extents_text(elements);
        const bool changed = b < extents_before_.size() && extents_before_[b] != extents;
        const ElementType type = model_.list->tensors[static_cast<std::size_t>(buffer.tensor)].type;
        const std::int64_t own = element_count(elements) * byte_size(type);
        const std::string inside =
            buffer.shares_with ? model_.buffers[static_cast<std::size_t>(*buffer.shares_with)].name : "";
        step.buffers.push_back({buffer.name, extents, own, bytes[b], buffer.kind, inside, changed});
      }
      extents_before_.clear();
      for (const ReplayBuffer& buffer : step.buffers) extents_before_.push_back(buffer.extents);
      step.ldm_bytes = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    }
    return replay_.steps.emplace_back(std::move(step));
  }

  void variable(ReplayStep& step, const std::string& name, const std::string& value) {
    const std::string key = step.algorithm + "/" + name;
    const auto before = values_before_.find(key);
    step.variables.push_back({name, value, before == values_before_.end() || before->second != value});
    values_before_[key] = value;
  }

  void describe(const TraceRecord& record, ReplayStep& step) {
    if (record.algorithm == "alg4" || record.algorithm == "parallel") {
      for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
        const ModelIterator& iterator = model_.iterators[i];
        variable(
            step, iterator.name,
            fmt::format("0 … {} on one core, {}", state_.ranges[i] - 1, iterator.spatial ? "output" : "reduction"));
      }
    } else if (record.algorithm == "alg1") {
      for (std::size_t i = 0; i < state_.sizes.size(); ++i) {
        variable(step, model_.iterators[i].name,
                 fmt::format("buffer {} of {}, {}", state_.sizes[i], state_.ranges[i], classes_[i]));
      }
      variable(step, "LDM used", fmt::format("{} of {}", bytes_text(step.ldm_bytes), bytes_text(replay_.capacity)));
    } else if (record.algorithm == "alg2") {
      for (const auto& [name, value] : record.values) variable(step, name, value);
      std::vector<std::string> order;
      for (std::size_t l = state_.open; l < state_.loops.size(); ++l) order.push_back(state_.loops[l].name);
      variable(step, "order so far", order.empty() ? "none yet" : fmt::format("… {}", fmt::join(order, ", ")));
    } else if (record.algorithm == "alg3") {
      for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
        const std::vector<std::string> loops = moving_loops(b);
        const std::string moves = loops.empty() ? "moves with no loop" : "moves with " + joined(loops);
        const std::string state = state_.depth[b]    ? place_text(b)
                                  : left_[b].empty() ? std::string("none left")
                                                     : "left: " + joined(left_[b]);
        variable(step, model_.buffers[b].name, fmt::format("{}; {}", moves, state));
      }
    }
  }

  /// Outer loops on a buffer's path that it moves with.
  [[nodiscard]] std::vector<std::string> moving_loops(std::size_t b) const {
    std::vector<std::string> names;
    const std::set<int> own = model_.buffers[b].all_iterators();
    for (const int l : path_of(model_, state_.loops, model_.buffers[b])) {
      const OuterLoop& loop = state_.loops[static_cast<std::size_t>(l)];
      if (own.contains(loop.iterator)) names.push_back(loop.name);
    }
    return names;
  }

  [[nodiscard]] std::string place_text(std::size_t b) const {
    const int depth = state_.depth[b].value_or(0);
    if (depth == 0) return "before the first loop";
    const std::vector<int> path = path_of(model_, state_.loops, model_.buffers[b]);
    const int loop = path[static_cast<std::size_t>(depth - 1)];
    return "inside " + state_.loops[static_cast<std::size_t>(loop)].name;
  }

  /// "yo 8 × ko 16 = 128 times on each core".
  [[nodiscard]] std::string turns_text(std::size_t b) const {
    std::vector<std::string> factors;
    const std::vector<int> path = path_of(model_, state_.loops, model_.buffers[b]);
    for (int p = 0; p < state_.depth[b].value_or(0); ++p) {
      const OuterLoop& loop = state_.loops[static_cast<std::size_t>(path[static_cast<std::size_t>(p)])];
      factors.push_back(fmt::format("{} {}", loop.name, loop.trips));
    }
    const std::string times =
        times_text(turns_around(model_, state_, b)) + (state_.parallel.empty() ? "" : " on each core");
    return factors.size() > 1 ? fmt::format("{} = {}", fmt::join(factors, " × "), times) : times;
  }

  [[nodiscard]] std::string why(const TraceRecord& record) const {
    if (record.algorithm == "alg4") return "An iterator in the subscript moves the part that is read or written.";
    if (record.algorithm == "parallel" && state_.parallel.empty()) return "All loops run on one core.";
    if (record.algorithm == "parallel") return "Every core computes its own part of the output; none writes another's.";
    if (record.algorithm == "alg1") return why_sizes(record);
    if (record.algorithm == "alg2") return why_order(record);
    if (record.algorithm == "alg3") return why_place(state_.changed);
    return {};
  }

  [[nodiscard]] std::string why_sizes(const TraceRecord& record) const {
    const std::string used = bytes_text(total_bytes());
    const std::string has = bytes_text(replay_.capacity);
    const std::string what =
        record.outcome == TraceOutcome::refused && record.place == "1:21" ? "exceeds" : value_of(record, "step");
    if (what == "whole") return "Held at once, nothing of it is computed or fetched again for the next tile.";
    if (what == "classify")
      return "Growing a size iterator makes DMA blocks longer, a num one adds blocks, a comp one does both. Size and "
             "comp ones are worth growing.";
    if (what == "initialise") return "A contiguous block of that length is one that DMA moves at a good rate.";
    if (what == "exceeds" || what == "halve") return fmt::format("The buffers must fit: {} is what there is.", has);
    if (what == "expand") return fmt::format("A larger tile needs fewer transfers, and {} still fits {}.", used, has);
    if (what == "refused") {
      return fmt::format("{} would be needed, there is {}: the doubling is taken back and growing ends.", used, has);
    }
    if (what == "chosen") return "What is not buffered whole becomes an outer loop over tiles.";
    return {};
  }

  [[nodiscard]] std::int64_t total_bytes() const {
    const auto bytes = buffer_bytes(model_, state_.sizes, target().ldm_alignment);
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
  }

  [[nodiscard]] std::string why_order(const TraceRecord& record) const {
    if (record.place == "2:23") return "Every loop has its place.";
    if (record.outcome == TraceOutcome::accepted) {
      return "Nothing that is left needs less; the place just outside of it is next.";
    }
    if (record.outcome == TraceOutcome::refused) return "A result must be complete before it is stored.";
    const std::string name = value_of(record, "candidate");
    for (const OuterLoop& loop : state_.loops) {
      if (loop.name != name) continue;
      std::vector<std::string> staying;
      for (const ModelBuffer& buffer : model_.buffers) {
        const bool counted = !value_of(record, "transfers " + buffer.name).empty();
        if (counted && !buffer.all_iterators().contains(loop.iterator)) staying.push_back(buffer.name);
      }
      if (staying.empty())
        return fmt::format("Nothing that is still counted could stay in the LDM while {} turns.", name);
      return fmt::format("{} {} not move with {}, {}.", joined(staying), staying.size() == 1 ? "does" : "do", name,
                         loop.trips == 1 ? "but that turns only once, so nothing is saved"
                                         : fmt::format("and stays in the LDM for all its {} turns", loop.trips));
    }
    return {};
  }

  [[nodiscard]] std::string why_place(const std::string& tensor) const {
    for (std::size_t b = 0; b < model_.buffers.size(); ++b) {
      const ModelBuffer& buffer = model_.buffers[b];
      if (buffer.name != tensor || !state_.depth[b]) continue;
      const std::vector<std::string> loops = moving_loops(b);
      const std::string verb = buffer.kind == ModelBuffer::Kind::input    ? "loaded"
                               : buffer.kind == ModelBuffer::Kind::output ? "stored"
                                                                          : "computed";
      if (loops.empty()) {
        return fmt::format("{} is the same part in all turns of all loops: {} once, before them.", tensor, verb);
      }
      const bool result = buffer.kind == ModelBuffer::Kind::output;
      return fmt::format("{} moves with {}; {} its part is known{}. So it is {} there ({}).", tensor, joined(loops),
                         place_text(b), result ? ", and sums inside of that loop are added up in the LDM" : "", verb,
                         turns_text(b));
    }
    return {};
  }

  /// The finished plan: every transfer with its counts.
  void arrive(const std::vector<TraceRecord>& records) {
    const LoopNest& nest = facts_.plan->nest;
    std::vector<std::int64_t> sizes;
    std::vector<bool> whole;
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      const auto size = schedule().buffer.find(model_.iterators[i].name);
      sizes.push_back(size == schedule().buffer.end() ? 1 : size->second);
    }
    state_.sizes = sizes;
    state_.loops = outer_loops(model_, state_.ranges, {sizes, whole_});
    arrange_finally();
    for (const auto& [tensor, loop] : schedule().dma) place(tensor, loop);
    const PlanReasons reasons = reasons_of(*facts_.plan, target(), records);
    for (const NestRow& row : nest_rows(*facts_.plan, target())) {
      const auto reason = std::find_if(reasons.transfers.begin(), reasons.transfers.end(),
                                       [&](const TransferReason& r) { return r.statement == row.statement; });
      if (reason == reasons.transfers.end()) continue;
      ReplayStep& step = add("result", reason->get ? "get" : "put", TraceOutcome::step, reason->where);
      step.why = reason->why;
      finish(step, row.statement);
    }
    ReplayStep& step =
        add("result", "all", TraceOutcome::accepted,
            fmt::format("All together: {}, {}; the LDM holds {} of {}.", counted(facts_.dma.transfers, "transfer"),
                        bytes_text(facts_.dma.bytes), bytes_text(nest.ldm_bytes), bytes_text(replay_.capacity)));
    step.why = fmt::format("Predicted to take {} cycles.", grouped_digits(facts_.cycles));
    finish(step, -1);
    ReplayRemarks& moved =
        step.remarks.emplace_back(ReplayRemarks{"Where each tensor is moved, how often, and why", {}});
    for (const TransferReason& reason : reasons.transfers) moved.texts.push_back(reason.where + " " + reason.why);
    step.remarks.push_back({"Why the buffers have these sizes", reasons.sizes});
    for (ReplayStep& each : replay_.steps) {
      if (each.algorithm == "result") each.rounds = reasons.rounds;
    }
  }

  /// What the finished plan holds, in place of what the algorithms knew.
  void finish(ReplayStep& step, int lit) {
    const LoopNest& nest = facts_.plan->nest;
    step.nest = finished_nest(*facts_.plan, model_, lit);
    step.ldm_bytes = nest.ldm_bytes;
    variable(step, "loop order", state_.loops.empty() ? "no outer loops" : order_text());
    visit_statements(nest.body, [&](const Stmt& statement) {
      const auto* const dma = std::get_if<Dma>(&statement.node);
      if (dma == nullptr) return;
      const std::string& name = model_.buffers[static_cast<std::size_t>(dma->buffer)].name;
      step.variables.push_back({fmt::format("{} {}", dma->direction == DmaDirection::get ? "get" : "put", name),
                                fmt::format("{}: {}", stowage::place_text(*facts_.plan, statement.id),
                                            product_text(turns_of(*facts_.plan, statement.id))),
                                statement.id == lit});
    });
  }

  [[nodiscard]] std::string order_text() const {
    std::vector<std::string> names;
    for (const OuterLoop& loop : state_.loops) names.push_back(loop.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const LoadedPlan& plan_;
  const StepFacts& facts_;
  Replay& replay_;
  GroupModel model_;
  NestState state_;
  std::vector<bool> whole_;
  std::vector<std::string> classes_;  ///< by iterator; empty before the first classification
  bool order_started_ = false;
  LoopRound round_;  ///< of algorithm 2, as far as it is followed
  bool round_ended_ = false;
  std::vector<std::vector<std::string>> left_;  ///< of Algorithm 3: by buffer, loops that are not struck yet
  std::vector<std::string> extents_before_;
  std::map<std::string, std::string> values_before_;
};

}  // namespace

std::int64_t Replay::max_bytes() const {
  std::int64_t most = capacity;
  for (const ReplayStep& step : steps) most = std::max(most, step.ldm_bytes);
  return most;
}

std::int64_t Replay::shown_bytes() const { return std::min(max_bytes(), capacity + capacity / 3); }

bool keeps_steps(const LoadedPlan& plan, int step) {
  const StepFacts* facts = plan.step(step);
  if (facts == nullptr || facts->plan == nullptr) return true;
  const auto& records = plan.compilation.trace.records;
  return std::any_of(records.begin(), records.end(), [&](const TraceRecord& record) {
    return of_planner(record) && record.subject == facts->step->group.name;
  });
}

Replay make_replay(const LoadedPlan& plan, int step) {
  Replay replay;
  const StepFacts* facts = plan.step(step);
  if (facts == nullptr) return replay;
  replay.subject = facts->step->group.name;
  const Target& target = plan.program().target;
  replay.capacity = facts->plan == nullptr ? target.ldm_available() : ldm_for_buffers(facts->plan->nest, target);
  replay.alignment = plan.program().target.ldm_alignment;
  replay.steps = fusion_steps(plan, step);
  if (facts->plan == nullptr) return replay;
  replay.formula = to_text(facts->plan->nest.stages);
  Replayer(plan, *facts, replay).run(planner_records(plan, *facts));
  return replay;
}

}  // namespace stowage::inspector
