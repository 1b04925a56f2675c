// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_reasons.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/report/iterations.h"
#include "driver/report/model_buffers.h"
#include "driver/text/listed.h"
#include "lowering/ir/kept_loads.h"
#include "lowering/ir/mesh.h"
#include "lowering/model/ldm_room.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {

namespace {

class Reasons {
 public:
  Reasons(const Plan& plan, const Target& target, std::span<const TraceRecord> records)
      : plan_(plan),
        nest_(plan.nest),
        target_(target),
        model_(build_group_model(plan.nest.stages, target)),
        ranges_(core_ranges(model_, plan.schedule.parallel.value_or(std::vector<ParallelSplit>{}))) {
    for (const ModelIterator& iterator : model_.iterators) {
      const auto size = plan.schedule.buffer.find(iterator.name);
      sizes_.push_back(size == plan.schedule.buffer.end() ? 1 : size->second);
    }
    decisions_ = decisions_of(model_, plan.schedule, sizes_, records);
    for (const auto& [get, load] : shorter_loads(nest_)) shorter_.insert(get);
  }

  PlanReasons run() {
    PlanReasons reasons;
    visit_in_loops(nest_, [&](const Stmt& statement, const std::vector<const Loop*>& loops) {
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
  [[nodiscard]] bool moves_with(BufferId buffer, const std::string& iterator) const {
    return stowage::moves_with(nest_, model_, buffer, iterator);
  }

  /// Loops around the computations that use a buffer, but not around its transfer.
  [[nodiscard]] std::vector<const Loop*> loops_inside(BufferId buffer,
                                                      const std::vector<const Loop*>& of_transfer) const {
    std::vector<const Loop*> inside;
    visit_in_loops(nest_, [&](const Stmt& statement, const std::vector<const Loop*>& loops) {
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

  TransferReason transfer(StatementId id, const Dma& dma, const std::vector<const Loop*>& loops) const {
    TransferReason reason;
    reason.statement = id;
    reason.get = dma.direction == DmaDirection::get;
    reason.tensor = name_of_buffer(nest_, model_, dma.buffer);
    reason.where = fmt::format("{} is {} {}: {}.", reason.tensor, reason.get ? "loaded" : "stored",
                               place_text(plan_, id), product_text(iterations_of(plan_, id)));
    std::vector<std::string> sentences;
    std::vector<std::string> moving;
    const Loop* last = nullptr;
    for (const Loop* loop : loops) {
      if (!moves_with(dma.buffer, loop->iterator)) continue;
      moving.push_back(name_of(nest_, *loop));
      last = loop;
    }
    if (last != nullptr) {
      sentences.push_back(fmt::format("Its part moves with {} and is known there.", listed(moving)));
    } else if (!loops.empty()) {
      sentences.emplace_back("Its part is the same in every iteration.");
    }
    if (dma.to != Space::ldm) {
      sentences.emplace_back(dma.to == Space::row      ? "One core of each row loads it for all of the row."
                             : dma.to == Space::column ? "One core of each column loads it and sends it to the others."
                                                       : "One core loads it for all of them.");
    }
    const int slots = nest_.buffers[dma.buffer].slots;
    const bool first_trip = reason.get && slots > 1 && !dma.buffer.origin.empty() && dma.buffer.slot.is_constant();
    for (const Loop* loop : loops) again(reason.tensor, dma, *loop, last, reason.get, sentences);
    if (first_trip) {
      const std::int64_t trip = dma.buffer.slot.constant();
      sentences.push_back(fmt::format("This is the part of {}; {}.",
                                      trip == 0 ? "the first trip" : fmt::format("trip {}, from 0", trip),
                                      slots == 2 ? "the others are loaded a trip ahead"
                                                 : fmt::format("later ones are loaded {} trips ahead", slots - 1)));
    } else if (slots > 1) {
      const std::string next =
          slots == 2 ? "the next trip's part is loaded" : fmt::format("the next {} trips' parts are loaded", slots - 1);
      sentences.push_back(fmt::format("It has {} slots, so that {} while another trip is computed.", slots,
                                      reason.get ? next : "a trip's part is stored"));
    }
    if (!first_trip) stays(dma, loops, reason.get, sentences);
    if (shorter_.contains(id)) {
      sentences.emplace_back("What only results are made of that are kept from the trip before is not loaded again.");
    }
    size_moved(id, dma, loops, sentences);
    reason.why = fmt::format("{}", fmt::join(sentences, " "));
    return reason;
  }

  /// A loop around a transfer that does not move its part.
  void again(const std::string& tensor, const Dma& dma, const Loop& loop, const Loop* last, bool get,
             std::vector<std::string>& sentences) const {
    if (moves_with(dma.buffer, loop.iterator) || trip_count(nest_, loop) == 1) return;
    const std::string& name = name_of(nest_, loop);
    sentences.push_back(fmt::format("It does not move with {}, yet each of the {} iterations of {} {} it again{}.",
                                    name, grouped_digits(trip_count(nest_, loop)), name, get ? "loads" : "stores",
                                    last == nullptr ? "" : ", because " + name_of(nest_, *last) + " runs inside"));
    if (last == nullptr) return;
    for (const LoopRound& round : decisions_.rounds) {
      const LoopCandidate* chosen = nullptr;
      const LoopCandidate* lost = nullptr;
      for (const LoopCandidate& candidate : round.candidates) {
        if (candidate.chosen && candidate.loop == name_of(nest_, *last)) chosen = &candidate;
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
                                   times_text(lost.transfers[t]), core, grouped_digits(chosen.transfers[t]));
    const char* const all = round.tensors.size() == 2 ? "both tensors" : "all tensors";
    const bool costs_more = lost.operations > chosen.operations || lost.total > chosen.total;
    if (lost.operations > chosen.operations) {
      text += fmt::format(", but the group would compute {} operations rather than {}", grouped_digits(lost.operations),
                          grouped_digits(chosen.operations));
    } else if (lost.total > chosen.total) {
      text +=
          fmt::format(", but {} together {} rather than {}", all, times_text(lost.total), grouped_digits(chosen.total));
    } else if (lost.total == chosen.total) {
      text += fmt::format(", and {} together {} as now", all, times_text(lost.total));
    } else {
      text +=
          fmt::format(", and {} together {} rather than {}", all, times_text(lost.total), grouped_digits(chosen.total));
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
      if (trip_count(nest_, *loop) == 1) continue;
      reused.push_back(
          fmt::format("the {} iterations of {}", grouped_digits(trip_count(nest_, *loop)), name_of(nest_, *loop)));
    }
    if (reused.empty()) return;
    sentences.push_back(
        get ? fmt::format("It stays in the LDM for {}.", listed(reused))
            : fmt::format("It stays in the LDM for {}, which add up there; then it is complete.", listed(reused)));
  }

  /// All bytes against the tensor's size, and which factors are known.
  void size_moved(StatementId id, const Dma& dma, const std::vector<const Loop*>& loops,
                  std::vector<std::string>& sentences) const {
    const NestTensor& tensor = nest_.tensors[dma.nest_tensor];
    const StageTensor& held = nest_.stages.tensors[tensor.tensor];
    const std::int64_t size = element_count(held.shape) * byte_size(held.type);
    if (size == 0) return;
    std::int64_t cores = 1;
    for (const CoreAxis& axis : nest_.core_grid) {
      if (!moves_with(dma.buffer, axis.iterator)) cores *= axis.parts;
    }
    const std::int64_t team = dma.to == Space::ldm ? 1 : Teams(nest_, dma.to).size();
    const std::int64_t loads = std::max<std::int64_t>(1, cores / team);
    double known = static_cast<double>(loads);
    for (const Loop* loop : loops) {
      if (!moves_with(dma.buffer, loop->iterator)) known *= static_cast<double>(trip_count(nest_, *loop));
    }
    if (loads > 1 && dma.direction == DmaDirection::put) {
      sentences.push_back(fmt::format("All {} cores of a row have it, and the first one stores it.", loads));
    } else if (loads > 1) {
      sentences.push_back(
          fmt::format("{} {} need the same part, and each loads it for itself.", loads, team == 1 ? "cores" : "teams"));
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
    for (const IteratorId i : model_.iterators.ids()) {
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
      for (const IteratorId i : model_.iterators.ids()) {
        const std::string& name = model_.iterators[i].name;
        const std::int64_t size = decisions_.refused->sizes[i];
        tried.push_back(fmt::format("{} {}", name, size));
        if (size != sizes_[i]) grown = fmt::format("{} from {} to {}", name, sizes_[i], size);
      }
      sentences.push_back(fmt::format("Growing ended at {}: with {} the buffers would take {}.", grown,
                                      fmt::join(tried, ", "), bytes_text(decisions_.refused->ldm_bytes)));
      sentences.emplace_back(
          "Sizes only double, in turn, and the first doubling that does not fit ends it; to shrink one so that another "
          "can grow is not tried (a schedule of one's own can).");
      return sentences;
    }
    std::vector<std::string> rows;
    std::vector<std::string> rest;
    for (const IteratorId i : model_.iterators.ids()) {
      if (sizes_[i] == ranges_[i]) continue;
      const std::string& name = model_.iterators[i].name;
      (decisions_.sizes->classes[i] == IteratorClass::num ? rows : rest).push_back(name);
    }
    if (!rows.empty()) {
      sentences.push_back(fmt::format("{} would only add rows and make no block longer, so {} not grown.", listed(rows),
                                      rows.size() == 1 ? "it is" : "they are"));
    }
    if (!rest.empty()) {
      sentences.push_back(fmt::format("{} {} fixed: by the schedule, or by the values of a tensor.", listed(rest),
                                      rest.size() == 1 ? "is" : "are"));
    }
    return sentences;
  }

  const Plan& plan_;
  const LoopNest& nest_;
  const Target& target_;
  GroupModel model_;
  IteratorSizes ranges_;
  IteratorSizes sizes_;
  PlanDecisions decisions_;
  std::set<StatementId> shorter_;  ///< gets of what is not kept from the trip before
};

}  // namespace

PlanReasons reasons_of(const Plan& plan, const Target& target, std::span<const TraceRecord> records) {
  return Reasons(plan, target, records).run();
}

}  // namespace stowage
