// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/stored_schedule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/text_cursor.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/sharing.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {

namespace {

using Broken = std::optional<std::string>;

constexpr std::int64_t max_parts = 4096;  ///< as many cores as a target may have
constexpr std::int64_t most_slots_read = 1 << 20;

template <class Value>
bool same_keys(const std::map<std::string, Value>& a, const std::map<std::string, Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

/// What the schedule says of loops and transfers, and what the nest has.
class ScheduleCheck {
 public:
  ScheduleCheck(const LoopNest& nest, const GroupModel& model, const Schedule& schedule, const ReadSchedule& read)
      : nest_(nest), model_(model), schedule_(schedule), read_(read) {}

  Broken run() {
    if (schedule_.launch.value_or(LaunchedBy::spawn) != nest_.launch)
      return fmt::format("it begins by a {}", name_of(nest_.launch));
    if (auto broken = grid()) return broken;
    if (auto broken = block(nest_.body, {})) return broken;
    for (std::size_t l = 0; l < read_.order.size(); ++l) {
      if (!seen_.contains(l)) return fmt::format("it has no loop {}", read_.order[l].name);
    }
    return transfers();
  }

 private:
  /// A buffer of several slots is loaded before its loops for the first trips, and in them at its place.
  [[nodiscard]] Broken transfers() const {
    std::vector<std::tuple<StageTensorId, std::string, int, Space>> wanted, found;  // tensor, place, slots, to
    for (const ModelBuffer& buffer : model_.buffers) {
      if (buffer.kind == ModelBuffer::Kind::intermediate) continue;
      const auto place = schedule_.dma.find(buffer.name);
      const auto slots = schedule_.slots.find(buffer.name);
      if (place == schedule_.dma.end() || slots == schedule_.slots.end()) continue;
      const auto shared = schedule_.sharing.find(buffer.name);
      wanted.emplace_back(buffer.tensor, place->second, slots->second,
                          space_of(shared == schedule_.sharing.end() ? SharedBy::core : shared->second));
    }
    for (const BufferId b : nest_.buffers.ids()) {
      const auto moved = transfers_.find(b);
      if (moved == transfers_.end()) continue;
      const int slots = nest_.buffers[b].slots;
      const auto deepest = std::max_element(
          moved->second.begin(), moved->second.end(),
          [](const std::vector<std::size_t>& x, const std::vector<std::size_t>& y) { return x.size() < y.size(); });
      if (moved->second.size() > static_cast<std::size_t>(slots)) {
        return fmt::format("buffer {} is moved by {} statements", nest_.buffers[b].name, moved->second.size());
      }
      found.emplace_back(nest_.buffers[b].tensor, deepest->empty() ? "" : read_.loop(deepest->back()).name, slots,
                         to_.at(b));
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    if (wanted == found) return std::nullopt;
    for (std::size_t i = 0; i < std::min(wanted.size(), found.size()); ++i) {
      const auto& [tensor, place, slots, to] = wanted[i];
      const auto& [moved, at, held, by] = found[i];
      if (tensor != moved || place != at || slots != held) break;
      if (to == by) continue;
      const std::string& name = model_.list->tensors[tensor].name;
      return fmt::format("{} goes to the {}, by the schedule to the {}", name, name_of(by), name_of(to));
    }
    return "its transfers do not stand where the schedule says";
  }

  Broken grid() const {
    const auto same = [](const CoreAxis& axis, const CoreAxis& wanted) {
      return axis.iterator == wanted.iterator && axis.parts == wanted.parts && axis.stride == wanted.stride;
    };
    std::vector<CoreAxis> wanted;
    int stride = 1;
    for (auto split = read_.parallel.rbegin(); split != read_.parallel.rend(); ++split) {
      const auto parts = static_cast<int>(split->parts);
      if (parts > 1) wanted.insert(wanted.begin(), CoreAxis{VarId(0), split->iterator, parts, stride});
      stride *= parts;
    }
    if (std::equal(nest_.core_grid.begin(), nest_.core_grid.end(), wanted.begin(), wanted.end(), same)) {
      return std::nullopt;
    }
    return "its core grid is not that of the schedule";
  }

  /// `inside`: the loops around, by their places in the order.
  Broken block(const Block& statements, const std::vector<std::size_t>& inside) {
    for (const StmtPtr& statement : statements) {
      if (const auto* dma = std::get_if<Dma>(&statement->node)) {
        transfers_[dma->buffer].push_back(inside);
        const auto [to, is_new] = to_.try_emplace(dma->buffer, dma->to);
        if (to->second != dma->to) return fmt::format("buffer {} is loaded by different teams", buffer_name(*dma));
      }
      std::vector<std::size_t> inside_this = inside;
      const auto* loop = std::get_if<Loop>(&statement->node);
      if (loop != nullptr && !counts_parts(model_, loop->iterator)) {
        const std::optional<std::size_t> place = place_of(loop->iterator);
        if (auto broken = at_place(*loop, place, inside)) return broken;
        inside_this.push_back(*place);
        seen_.insert(*place);
      }
      if (const Block* body = body_of(*statement)) {
        if (auto broken = block(*body, inside_this)) return broken;
      }
    }
    return std::nullopt;
  }

  /// The order is one of the loops around the main stage, and one of those of every stage before it, which stand inside
  /// of any of the others.
  [[nodiscard]] bool ordered(std::size_t a, std::size_t b) const {
    const auto in_main = [&](std::size_t loop) {
      return std::find(read_.main.begin(), read_.main.end(), loop) != read_.main.end();
    };
    return in_main(a) ? in_main(b) : !in_main(b) && iterator_of(a).stage == iterator_of(b).stage;
  }

  [[nodiscard]] const ModelIterator& iterator_of(std::size_t loop) const {
    return model_.iterators[read_.loop(loop).iterator];
  }

  [[nodiscard]] std::optional<std::size_t> place_of(const std::string& iterator) const {
    for (std::size_t l = 0; l < read_.order.size(); ++l) {
      if (iterator_of(l).name == iterator) return l;
    }
    return std::nullopt;
  }

  [[nodiscard]] Broken at_place(const Loop& loop, std::optional<std::size_t> place,
                                const std::vector<std::size_t>& inside) const {
    const std::string& name = nest_.variables[loop.variable.index()].name;
    if (!place) return fmt::format("the schedule has no loop of {}, which {} is", quoted_name(loop.iterator), name);
    for (const std::size_t around : inside) {
      if (*place <= around && ordered(*place, around)) {
        return fmt::format("its loop {} stands inside {}", name, read_.loop(around).name);
      }
    }
    const IteratorId iterator = read_.loop(*place).iterator;
    const std::int64_t wanted = ceil_div(read_.ranges[iterator], read_.sizes[iterator]);
    const Interval trips = bounds(loop.extent, [&](VarId v) { return nest_.variables[v.index()].range; });
    if (trips.high == wanted) return std::nullopt;
    return fmt::format("its loop {} has {} trips, the schedule {}", name, trips.high, wanted);
  }

  [[nodiscard]] const std::string& buffer_name(const Dma& dma) const { return nest_.buffers[dma.buffer].name; }

  const LoopNest& nest_;
  const GroupModel& model_;
  const Schedule& schedule_;
  const ReadSchedule& read_;
  std::set<std::size_t> seen_;
  std::map<BufferId, std::vector<std::vector<std::size_t>>> transfers_;  ///< of each the loops around, by their places
  std::map<BufferId, Space> to_;
};

}  // namespace

Json to_json(const Schedule& schedule) {
  Json json = Json::object();
  json["merged"] = schedule.merged.value_or(MergedAxes{});
  json["lanes"] = schedule.lanes.value_or(LaneBlocks{});
  json["copied"] = schedule.copied.value_or(CopiedInputs{});
  json["folded"] = schedule.folded.value_or(false);
  if (const auto& split = schedule.split; split && !split->empty()) json["split_reductions"] = *split;
  if (schedule.parallel) {
    json["parallel"] = Json::array();
    for (const ParallelSplit& split : *schedule.parallel) {
      json["parallel"].push_back({{"iterator", split.iterator}, {"parts", split.parts}});
    }
  }
  json["buffer"] = schedule.buffer;
  if (schedule.order) json["order"] = *schedule.order;
  json["dma"] = schedule.dma;
  json["slots"] = schedule.slots;
  json["sharing"] = Json::object();
  for (const auto& [tensor, shared] : schedule.sharing) json["sharing"][tensor] = name_of(shared);
  json["resident"] = schedule.resident;
  json["launch"] = name_of(schedule.launch.value_or(LaunchedBy::spawn));
  return json;
}

Schedule schedule_of(const Json& json) {
  Schedule schedule;
  // Before axes could be merged none were.
  schedule.merged = json.contains("merged") ? json.at("merged").get<MergedAxes>() : MergedAxes{};
  // Nor cut into blocks for their lanes.
  schedule.lanes.emplace();
  if (json.contains("lanes")) {
    for (const auto& [iterator, block] : json.at("lanes").items()) {
      (*schedule.lanes)[iterator] = whole_number(block, 1, std::int64_t{1} << 40);
    }
  }
  schedule.copied.emplace();  // before inputs could be copied
  if (json.contains("copied")) schedule.copied = json.at("copied").get<CopiedInputs>();
  schedule.folded = json.contains("folded") && json.at("folded").get<bool>();  // before there was one pass for two
  schedule.split.emplace();
  if (json.contains("split_reductions")) {
    for (const auto& [iterator, parts] : json.at("split_reductions").items())
      (*schedule.split)[iterator] = whole_number(parts, 1, max_parts);
  }
  if (json.contains("parallel")) {
    schedule.parallel.emplace();
    for (const Json& split : json.at("parallel")) {
      schedule.parallel->push_back(
          {split.at("iterator").get<std::string>(), whole_number(split.at("parts"), 1, max_parts)});
    }
  }
  for (const auto& [iterator, size] : json.at("buffer").items()) {
    schedule.buffer[iterator] = whole_number(size, 1, std::int64_t{1} << 40);
  }
  if (json.contains("order")) schedule.order = json.at("order").get<std::vector<std::string>>();
  schedule.dma = json.at("dma").get<std::map<std::string, std::string>>();
  for (const auto& [tensor, slots] : json.at("slots").items()) {
    schedule.slots[tensor] = static_cast<int>(whole_number(slots, 1, most_slots_read));
  }
  schedule.launch = LaunchedBy::spawn;  // before kernels could begin behind barriers
  if (json.contains("launch")) {
    const auto launch = launch_named(json.at("launch").get<std::string>());
    if (!launch) throw std::invalid_argument("launch: neither spawn nor barrier");
    schedule.launch = *launch;
  }
  // Before inputs could be resident none was.
  if (json.contains("resident")) schedule.resident = json.at("resident").get<ResidentInputs>();
  for (const auto& [tensor, along] : schedule.resident) {
    if (along.empty()) throw std::invalid_argument("resident: " + tensor + " stays along no iterator");
  }
  if (!json.contains("sharing")) return schedule;  // as before cores could load together
  for (const auto& [tensor, text] : json.at("sharing").items()) {
    const auto shared = sharing_named(text.get<std::string>());
    if (!shared) throw std::invalid_argument("sharing: neither core, row, column nor mesh");
    schedule.sharing[tensor] = *shared;
  }
  return schedule;
}

std::optional<std::string> broken_schedule(const std::string& subject, const GroupModel& model,
                                           const Schedule& schedule, const Target& target) {
  if (!schedule.parallel || !schedule.order) return "it is not complete";
  Schedule chosen;
  chosen.parallel = schedule.parallel;
  chosen.buffer = schedule.buffer;
  chosen.resident = schedule.resident;
  if (!schedule.resident.empty()) chosen.order = schedule.order;  // what may stay depends on it
  const Scheduled filled = run_algorithms(subject, model, chosen, target, {});
  if (const auto* refusal = std::get_if<Decision>(&filled)) return refusal->reason;
  const auto& complete = std::get<Schedule>(filled);
  if (!same_keys(schedule.buffer, complete.buffer)) return "it is not complete";
  if (!same_keys(schedule.dma, complete.dma)) return "dma: the tensors are not those that are transferred";
  if (!same_keys(schedule.slots, complete.slots)) return "slots: the tensors are not those that are transferred";
  for (const auto& [tensor, shared] : schedule.sharing) {
    if (!complete.sharing.contains(tensor)) return fmt::format("sharing: there is no input '{}' to load", tensor);
    const auto found = std::find_if(model.buffers.begin(), model.buffers.end(),
                                    [&, t = tensor](const ModelBuffer& buffer) { return buffer.name == t; });
    const BufferId buffer = model.buffers.id_of(*found);
    const std::string why = why_not_shared(model, buffer, *schedule.parallel, shared, target);
    if (!why.empty()) return fmt::format("sharing: {} {}", tensor, why);
  }
  std::set<std::string> loops;
  for (const std::string& loop : *schedule.order) {
    if (!loops.insert(loop).second) return fmt::format("order: {} is named twice", loop);
  }
  for (const auto& [tensor, loop] : schedule.dma) {
    if (!loop.empty() && !loops.contains(loop)) return fmt::format("dma: there is no loop '{}'", loop);
  }
  for (const auto& [tensor, slots] : schedule.slots) {
    if (slots > max_slots) return fmt::format("slots: {} has {}, and {} are the most", tensor, slots, max_slots);
  }
  return std::nullopt;
}

std::optional<std::string> other_than_schedule(const LoopNest& nest, const GroupModel& model,
                                               const Schedule& schedule) {
  const auto read = read_schedule(model, schedule);
  if (const auto* refused = std::get_if<Decision>(&read)) return refused->reason;
  return ScheduleCheck(nest, model, schedule, std::get<ReadSchedule>(read)).run();
}

}  // namespace stowage
