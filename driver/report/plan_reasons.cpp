// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_reasons.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/json/json.h"
#include "lowering/model/ldm_room.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {

namespace {

/// Calls `visit` with every statement and the loops around it, outermost first.
void visit_in_loops(const Block& block, std::vector<const Loop*>& around,
                    const std::function<void(const Stmt&, const std::vector<const Loop*>&)>& visit) {
  for (const StmtPtr& statement : block) {
    visit(*statement, around);
    const Block* const body = body_of(*statement);
    if (body == nullptr) continue;
    const auto* const loop = std::get_if<Loop>(&statement->node);
    if (loop != nullptr) around.push_back(loop);
    visit_in_loops(*body, around, visit);
    if (loop != nullptr) around.pop_back();
  }
}

std::vector<const Loop*> loops_around(const LoopNest& nest, int statement) {
  std::vector<const Loop*> found;
  std::vector<const Loop*> around;
  visit_in_loops(nest.body, around, [&](const Stmt& each, const std::vector<const Loop*>& loops) {
    if (each.id == statement) found = loops;
  });
  return found;
}

std::int64_t max_trips(const LoopNest& nest, const Loop& loop) {
  return nest.variables[loop.variable.index()].range.high + 1;
}

const std::string& name_of_loop(const LoopNest& nest, const Loop& loop) {
  return nest.variables[loop.variable.index()].name;
}

std::string joined(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "nothing" : names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

std::string count_times(std::int64_t count) {
  return count == 1 ? std::string("once") : grouped_digits(count) + " times";
}

std::string value_of(const TraceRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.values) {
    if (key == name) return value;
  }
  return {};
}

std::int64_t number_of(const TraceRecord& record, std::string_view name) {
  const std::string value = value_of(record, name);
  return value.empty() ? 0 : std::stoll(value);
}

/// As far as they can be counted: a trace may say any number of turns.
std::int64_t operations_of(std::int64_t turns, std::int64_t each) {
  return each > 0 && turns > max_cycles / each ? max_cycles : turns * each;
}

/// The records that led to a schedule: of planners that try several, those of the run that gave it.
struct Decisions {
  std::vector<LoopRound> rounds;
  std::optional<TraceRecord> sizes;    ///< the end of algorithm 1
  std::optional<TraceRecord> refused;  ///< the doubling that did not fit
};

Decisions decisions_of(const GroupModel& model, const Schedule& schedule, const std::vector<std::int64_t>& sizes,
                       std::span<const TraceRecord> records) {
  Decisions found;
  std::optional<TraceRecord> refused;
  std::vector<LoopRound> rounds;
  LoopRound open;
  std::vector<std::string> order;  // innermost first
  for (const TraceRecord& record : records) {
    if (record.algorithm == "alg1") {
      if (record.place == "1:7-11") refused.reset();
      if (record.place == "1:38-40") refused = record;
      const bool ends = record.place == "1" && value_of(record, "step") == "chosen";
      bool same = ends;
      for (std::size_t i = 0; i < model.iterators.size(); ++i) {
        same = same && number_of(record, "buffer " + model.iterators[i].name) == sizes[i];
      }
      if (same) {
        found.sizes = record;
        found.refused = refused;
      }
    } else if (record.algorithm == "alg2") {
      if (follow(open, model, sizes, record)) {
        for (const LoopCandidate& candidate : open.candidates) {
          if (candidate.chosen) order.push_back(candidate.loop);
        }
        rounds.push_back(std::move(open));
        open = {};
      }
      if (record.place == "2:23") {
        std::reverse(order.begin(), order.end());
        if (schedule.order && order == *schedule.order) found.rounds = rounds;
        order.clear();
        rounds.clear();
      }
    }
  }
  return found;
}

class Reasons {
 public:
  Reasons(const Plan& plan, const Target& target, std::span<const TraceRecord> records)
      : plan_(plan),
        nest_(plan.nest),
        target_(target),
        model_(build_group_model(plan.nest.stages)),
        ranges_(core_ranges(model_, plan.schedule.parallel.value_or(std::vector<ParallelSplit>{}))) {
    for (const ModelIterator& iterator : model_.iterators) {
      const auto size = plan.schedule.buffer.find(iterator.name);
      sizes_.push_back(size == plan.schedule.buffer.end() ? 1 : size->second);
    }
    decisions_ = decisions_of(model_, plan.schedule, sizes_, records);
  }

  PlanReasons run() {
    PlanReasons reasons;
    std::vector<const Loop*> around;
    visit_in_loops(nest_.body, around, [&](const Stmt& statement, const std::vector<const Loop*>& loops) {
      if (const auto* dma = std::get_if<Dma>(&statement.node)) {
        reasons.transfers.push_back(transfer(statement.id, *dma, loops));
      }
    });
    reasons.sizes = size_sentences();
    for (LoopRound& round : decisions_.rounds) {
      if (round.candidates.size() > 1) reasons.rounds.push_back(std::move(round));
    }
    return reasons;
  }

 private:
  [[nodiscard]] bool moves_with(int buffer, const std::string& iterator) const {
    const auto found = model_.iterator_named(iterator);
    return found && model_.buffers[static_cast<std::size_t>(buffer)].all_iterators().contains(*found);
  }

  /// Loops around the computations that use a buffer, but not around its transfer.
  [[nodiscard]] std::vector<const Loop*> loops_inside(int buffer, const std::vector<const Loop*>& of_transfer) const {
    std::vector<const Loop*> inside;
    std::vector<const Loop*> around;
    visit_in_loops(nest_.body, around, [&](const Stmt& statement, const std::vector<const Loop*>& loops) {
      const auto* const compute = std::get_if<Compute>(&statement.node);
      if (compute == nullptr) return;
      const auto& reads = compute->read_buffers;
      if (compute->output_buffer != buffer && std::find(reads.begin(), reads.end(), buffer) == reads.end()) return;
      for (const Loop* loop : loops) {
        const auto known = [&](const std::vector<const Loop*>& list) {
          return std::find(list.begin(), list.end(), loop) != list.end();
        };
        if (!known(of_transfer) && !known(inside)) inside.push_back(loop);
      }
    });
    return inside;
  }

  TransferReason transfer(int id, const Dma& dma, const std::vector<const Loop*>& loops) const {
    TransferReason reason;
    reason.statement = id;
    reason.get = dma.direction == DmaDirection::get;
    reason.tensor = model_.buffers[static_cast<std::size_t>(dma.buffer)].name;
    reason.where = fmt::format("{} is {} {}: {}.", reason.tensor, reason.get ? "loaded" : "stored",
                               place_text(plan_, id), product_text(turns_of(plan_, id)));
    std::vector<std::string> sentences;
    std::vector<std::string> moving;
    const Loop* last = nullptr;
    for (const Loop* loop : loops) {
      if (!moves_with(dma.buffer, loop->iterator)) continue;
      moving.push_back(name_of_loop(nest_, *loop));
      last = loop;
    }
    if (last != nullptr) {
      sentences.push_back(fmt::format("Its part moves with {} and is known there.", joined(moving)));
    } else if (!loops.empty()) {
      sentences.emplace_back("Its part is the same in every turn.");
    }
    for (const Loop* loop : loops) again(reason.tensor, dma, *loop, last, reason.get, sentences);
    stays(dma, loops, reason.get, sentences);
    size_moved(id, dma, loops, sentences);
    reason.why = fmt::format("{}", fmt::join(sentences, " "));
    return reason;
  }

  /// A loop around a transfer that does not move its part.
  void again(const std::string& tensor, const Dma& dma, const Loop& loop, const Loop* last, bool get,
             std::vector<std::string>& sentences) const {
    if (moves_with(dma.buffer, loop.iterator) || max_trips(nest_, loop) == 1) return;
    const std::string& name = name_of_loop(nest_, loop);
    sentences.push_back(
        fmt::format("It does not move with {}, yet each of the {} turns of {} {} it again{}.", name,
                    grouped_digits(max_trips(nest_, loop)), name, get ? "loads" : "stores",
                    last == nullptr ? "" : ", because " + name_of_loop(nest_, *last) + " turns inside"));
    if (last == nullptr) return;
    for (const LoopRound& round : decisions_.rounds) {
      const LoopCandidate* chosen = nullptr;
      const LoopCandidate* lost = nullptr;
      for (const LoopCandidate& candidate : round.candidates) {
        if (candidate.chosen && candidate.loop == name_of_loop(nest_, *last)) chosen = &candidate;
        if (candidate.loop == name) lost = &candidate;
      }
      const auto at = std::find(round.tensors.begin(), round.tensors.end(), tensor);
      if (chosen == nullptr || lost == nullptr || at == round.tensors.end()) continue;
      sentences.push_back(alternative(tensor, round, *chosen, *lost, at - round.tensors.begin()));
    }
  }

  [[nodiscard]] std::string alternative(const std::string& tensor, const LoopRound& round, const LoopCandidate& chosen,
                                        const LoopCandidate& lost, std::ptrdiff_t at) const {
    const auto t = static_cast<std::size_t>(at);
    const char* const core = nest_.cores_used() > 1 ? " on a core" : "";
    std::string text = fmt::format("With {} inside instead, {} would be moved {}{} rather than {}", lost.loop, tensor,
                                   count_times(lost.transfers[t]), core, grouped_digits(chosen.transfers[t]));
    const char* const all = round.tensors.size() == 2 ? "both tensors" : "all tensors";
    const bool costs_more = lost.operations > chosen.operations || lost.total > chosen.total;
    if (lost.operations > chosen.operations) {
      text += fmt::format(", but the group would compute {} operations rather than {}", grouped_digits(lost.operations),
                          grouped_digits(chosen.operations));
    } else if (lost.total > chosen.total) {
      text += fmt::format(", but {} together {} rather than {}", all, count_times(lost.total),
                          grouped_digits(chosen.total));
    } else if (lost.total == chosen.total) {
      text += fmt::format(", and {} together {} as now", all, count_times(lost.total));
    } else {
      text += fmt::format(", and {} together {} rather than {}", all, count_times(lost.total),
                          grouped_digits(chosen.total));
    }
    if (lost.barred) {
      text +=
          fmt::format("; {} a loop over the output may not stand inside a sum, or results would be stored unfinished",
                      costs_more ? "besides," : "but");
    } else if (!costs_more) {
      text += "; among equals the order of the iterators stays";
    }
    return text + ".";
  }

  /// Loops inside that reuse what the LDM holds.
  void stays(const Dma& dma, const std::vector<const Loop*>& loops, bool get,
             std::vector<std::string>& sentences) const {
    std::vector<std::string> reused;
    for (const Loop* loop : loops_inside(dma.buffer, loops)) {
      if (max_trips(nest_, *loop) == 1) continue;
      reused.push_back(
          fmt::format("the {} turns of {}", grouped_digits(max_trips(nest_, *loop)), name_of_loop(nest_, *loop)));
    }
    if (reused.empty()) return;
    sentences.push_back(
        get ? fmt::format("It stays in the LDM for {}.", joined(reused))
            : fmt::format("It stays in the LDM for {}, which add up there; then it is complete.", joined(reused)));
  }

  /// All bytes against the tensor's size, and which factors are known.
  void size_moved(int id, const Dma& dma, const std::vector<const Loop*>& loops,
                  std::vector<std::string>& sentences) const {
    const NestTensor& tensor = nest_.tensors[static_cast<std::size_t>(dma.nest_tensor)];
    const StageTensor& held = nest_.stages.tensors[static_cast<std::size_t>(tensor.tensor)];
    const std::int64_t size = element_count(held.shape) * byte_size(held.type);
    if (size == 0) return;
    std::int64_t cores = 1;
    for (const CoreAxis& axis : nest_.core_grid) {
      if (!moves_with(dma.buffer, axis.iterator)) cores *= axis.parts;
    }
    double known = static_cast<double>(cores);
    for (const Loop* loop : loops) {
      if (!moves_with(dma.buffer, loop->iterator)) known *= static_cast<double>(max_trips(nest_, *loop));
    }
    if (cores > 1) {
      sentences.push_back(fmt::format("{} cores need the same part, and each loads it for itself.", cores));
    }
    const double times = static_cast<double>(plan_.counts.dma.at(id).bytes) / static_cast<double>(size);
    constexpr double equal = 0.005;
    if (std::abs(times - 1) < equal) {
      sentences.emplace_back("In all every element is moved once.");
    } else if (times < 1) {
      sentences.push_back(fmt::format("In all {:.1f} % of it is moved.", 100 * times));
    } else if (times > known * (1 + equal)) {
      sentences.push_back(
          fmt::format("In all {:.2f} times its size is moved: windows of neighbouring tiles overlap.", times));
    } else {
      sentences.push_back(fmt::format("In all {:.2f} times its size is moved.", times));
    }
  }

  [[nodiscard]] std::vector<std::string> size_sentences() const {
    std::vector<std::string> sentences;
    std::vector<std::string> parts;
    bool all_whole = true;
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      parts.push_back(
          fmt::format("{} {} of {}", model_.iterators[i].name, grouped_digits(sizes_[i]), grouped_digits(ranges_[i])));
      all_whole = all_whole && sizes_[i] == ranges_[i];
    }
    const std::int64_t room = ldm_for_buffers(nest_, target_);
    sentences.push_back(fmt::format("Buffered elements of what {} has: {}. That takes {} of {}; {} stay free.",
                                    nest_.cores_used() > 1 ? "a core" : "the core", fmt::join(parts, ", "),
                                    bytes_text(nest_.ldm_bytes), bytes_text(room), bytes_text(room - nest_.ldm_bytes)));
    if (all_whole) {
      sentences.emplace_back("Everything is buffered whole, so nothing is left to grow.");
      return sentences;
    }
    if (!decisions_.sizes) return sentences;
    if (decisions_.refused) {
      std::vector<std::string> tried;
      std::string grown;
      for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
        const std::string& name = model_.iterators[i].name;
        const std::int64_t size = number_of(*decisions_.refused, "buffer " + name);
        tried.push_back(fmt::format("{} {}", name, size));
        if (size != sizes_[i]) grown = fmt::format("{} from {} to {}", name, sizes_[i], size);
      }
      sentences.push_back(fmt::format("Growing ended at {}: with {} the buffers would take {}.", grown,
                                      fmt::join(tried, ", "), bytes_text(number_of(*decisions_.refused, "ldm bytes"))));
      sentences.emplace_back(
          "Sizes only double, in turn, and the first doubling that does not fit ends it; to shrink one so that another "
          "can grow is not tried (a schedule of one's own can).");
      return sentences;
    }
    std::vector<std::string> rows;
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      if (sizes_[i] == ranges_[i]) continue;
      const std::string& name = model_.iterators[i].name;
      (value_of(*decisions_.sizes, "class " + name) == "num" ? rows : rest).push_back(name);
    }
    if (!rows.empty()) {
      sentences.push_back(fmt::format("{} would only add rows and make no block longer, so {} not grown.", joined(rows),
                                      rows.size() == 1 ? "it is" : "they are"));
    }
    if (!rest.empty()) {
      sentences.push_back(fmt::format("{} {} fixed: by the schedule, or by the values of a tensor.", joined(rest),
                                      rest.size() == 1 ? "is" : "are"));
    }
    return sentences;
  }

  const Plan& plan_;
  const LoopNest& nest_;
  const Target& target_;
  GroupModel model_;
  std::vector<std::int64_t> ranges_;
  std::vector<std::int64_t> sizes_;
  Decisions decisions_;
};

}  // namespace

Turns turns_of(const Plan& plan, int statement) {
  Turns turns;
  turns.cores = plan.nest.cores_used();
  for (const Loop* loop : loops_around(plan.nest, statement)) {
    const std::int64_t trips = max_trips(plan.nest, *loop);
    turns.loops.emplace_back(name_of_loop(plan.nest, *loop), trips);
    turns.on_a_core *= trips;
    turns.even = turns.even && loop->extent.is_constant();
  }
  const auto counted = plan.counts.dma.find(statement);
  if (counted == plan.counts.dma.end()) return turns;
  turns.in_all = counted->second.transfers;
  // No core takes more turns than all trips together, so the sum shows whether all take as many.
  turns.even = turns.in_all == turns.on_a_core * turns.cores;
  return turns;
}

std::string times_text(const Turns& turns) {
  const bool counted = turns.in_all > 0;
  if (turns.cores == 1) return count_times(counted ? turns.in_all : turns.on_a_core);
  if (turns.even) {
    const std::string each = fmt::format("{} on each of {} cores", count_times(turns.on_a_core), turns.cores);
    return counted ? fmt::format("{} = {}", each, grouped_digits(turns.in_all)) : each;
  }
  if (!counted) return fmt::format("at most {} on each of {} cores", count_times(turns.on_a_core), turns.cores);
  return fmt::format("{} on {} cores together, at most {} on one", count_times(turns.in_all), turns.cores,
                     grouped_digits(turns.on_a_core));
}

std::string product_text(const Turns& turns) {
  if (turns.loops.size() < 2 || !turns.even) return times_text(turns);
  std::vector<std::string> factors;
  for (const auto& [name, trips] : turns.loops) factors.push_back(fmt::format("{} {}", name, trips));
  return fmt::format("{} = {}", fmt::join(factors, " × "), times_text(turns));
}

std::string place_text(const Plan& plan, int statement) {
  const std::vector<const Loop*> loops = loops_around(plan.nest, statement);
  if (!loops.empty()) return "inside " + name_of_loop(plan.nest, *loops.back());
  const Stmt* found = find_statement(plan.nest, statement);
  const auto* dma = found != nullptr ? std::get_if<Dma>(&found->node) : nullptr;
  const bool put = dma != nullptr && dma->direction == DmaDirection::put;
  bool any_loop = false;
  visit_statements(plan.nest.body,
                   [&](const Stmt& each) { any_loop = any_loop || std::holds_alternative<Loop>(each.node); });
  if (!any_loop) return put ? "at the end" : "at the start";
  return put ? "after the last loop" : "before the first loop";
}

bool follow(LoopRound& round, const GroupModel& model, const std::vector<std::int64_t>& sizes,
            const TraceRecord& record) {
  if (const std::string loop = value_of(record, "candidate"); !loop.empty()) {
    LoopCandidate candidate;
    candidate.loop = loop;
    candidate.total = number_of(record, "transfers");
    std::vector<std::string> tensors;
    for (const ModelBuffer& buffer : model.buffers) {
      if (buffer.kind == ModelBuffer::Kind::intermediate) {
        candidate.operations += operations_of(number_of(record, "computations " + buffer.name),
                                              stage_operations(model, buffer.stage, sizes));
      } else if (!value_of(record, "transfers " + buffer.name).empty()) {
        tensors.push_back(buffer.name);
        candidate.transfers.push_back(number_of(record, "transfers " + buffer.name));
      }
    }
    // All candidates count the same tensors; in a trace that was damaged one may not, and is none.
    if (!round.candidates.empty() && tensors != round.tensors) return false;
    round.tensors = std::move(tensors);
    round.candidates.push_back(std::move(candidate));
    return false;
  }
  const std::string chosen = value_of(record, "chosen");
  if (chosen.empty()) return false;
  const auto spatial = [&](const LoopCandidate& candidate) {
    return std::any_of(model.iterators.begin(), model.iterators.end(), [&](const ModelIterator& iterator) {
      return iterator.spatial && (candidate.loop == iterator.name || candidate.loop == iterator.name + "o");
    });
  };
  const bool sum_left = !std::all_of(round.candidates.begin(), round.candidates.end(), spatial);
  for (LoopCandidate& candidate : round.candidates) {
    candidate.chosen = candidate.loop == chosen;
    candidate.barred = sum_left && spatial(candidate);
  }
  return true;
}

PlanReasons reasons_of(const Plan& plan, const Target& target, std::span<const TraceRecord> records) {
  return Reasons(plan, target, records).run();
}

}  // namespace stowage
