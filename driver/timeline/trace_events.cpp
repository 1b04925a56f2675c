// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/trace_events.h"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "driver/json/json.h"

namespace stowage {

namespace {

std::string json_text(const std::string& text) { return dumped(Json(text)); }

}  // namespace

TraceEvents::TraceEvents(double clock_hz, const std::string& origin) : clock_hz_(clock_hz) {
  text_ = fmt::format("{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"origin\": {}}}, \"traceEvents\": [",
                      json_text(origin));
}

std::int64_t TraceEvents::nanoseconds_of(std::int64_t cycle) const {
  return std::llround(static_cast<double>(start_ + cycle) / clock_hz_ * 1e9);
}

std::string TraceEvents::time_of(std::int64_t cycle) const {
  const std::int64_t nanoseconds = nanoseconds_of(cycle);
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

void TraceEvents::begin_event() { text_ += text_.back() == '[' ? "\n" : ",\n"; }

int TraceEvents::process(const std::string& name) {
  const auto [found, is_new] = processes_.try_emplace(name, static_cast<int>(processes_.size()) + 1);
  if (is_new) {
    for (const auto& [key, value] :
         {std::pair("process_name", fmt::format("{{\"name\": {}}}", json_text(name))),
          std::pair("process_sort_index", fmt::format("{{\"sort_index\": {}}}", found->second))}) {
      begin_event();
      fmt::format_to(std::back_inserter(text_), R"({{"ph": "M", "pid": {}, "name": "{}", "args": {}}})", found->second,
                     key, value);
    }
  }
  return found->second;
}

void TraceEvents::name_tracks(const StepTimeline& step) {
  for (const StepTimeline::Track& track : step.tracks) {
    const int pid = process(track.process);
    if (!named_.try_emplace({pid, track.number}, true).second) continue;
    for (const auto& [key, value] :
         {std::pair("thread_name", fmt::format("{{\"name\": {}}}", json_text(track.name))),
          std::pair("thread_sort_index", fmt::format("{{\"sort_index\": {}}}", track.number))}) {
      begin_event();
      fmt::format_to(std::back_inserter(text_), R"({{"ph": "M", "pid": {}, "tid": {}, "name": "{}", "args": {}}})", pid,
                     track.number, key, value);
    }
  }
}

void TraceEvents::add_slice(int process, int thread, const std::string& name, const std::string& category,
                            std::optional<StatementId> statement, std::int64_t from, std::int64_t to) {
  // The difference of rounded times, so that slices that meet do not overlap.
  const std::int64_t length = nanoseconds_of(to) - nanoseconds_of(from);
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}.{:03}, "name": {}, "cat": {})", process,
                 thread, time_of(from), length / 1000, length % 1000, name, category);
  if (statement) fmt::format_to(std::back_inserter(text_), R"(, "args": {{"statement": {}}})", statement->index());
  text_ += "}";
  ++slices_;
}

void TraceEvents::add(const std::string& name, const StepTimeline& step) {
  add_slice(process("program"), 0, json_text(name), "\"step\"", std::nullopt, 0, step.cycles);
  name_tracks(step);
  std::vector<std::pair<std::string, std::string>> labels;  // name and category
  for (const StepTimeline::Label& label : step.labels)
    labels.emplace_back(json_text(label.name), json_text(label.category));
  std::vector<int> pids;  // by track
  for (const StepTimeline::Track& track : step.tracks) pids.push_back(process(track.process));
  const auto pid_of = [&](const StepTimeline::Slice& slice) { return pids[static_cast<std::size_t>(slice.track)]; };
  const auto tid_of = [&](const StepTimeline::Slice& slice) {
    return step.tracks[static_cast<std::size_t>(slice.track)].number;
  };
  for (const StepTimeline::Slice& slice : step.slices) {
    const auto label = static_cast<std::size_t>(slice.label);
    add_slice(pid_of(slice), tid_of(slice), labels[label].first, labels[label].second, step.labels[label].statement,
              slice.from, slice.to);
  }
  for (const StepTimeline::Flow& flow : step.flows) {
    const StepTimeline::Slice& from = step.slices[flow.from];
    const StepTimeline::Slice& to = step.slices[flow.to];
    ++flows_;
    begin_event();
    fmt::format_to(
        std::back_inserter(text_),
        R"({{"ph": "s", "pid": {}, "tid": {}, "ts": {}, "id": {}, "name": "awaited", "cat": "flow"}},)"
        "\n"
        R"({{"ph": "f", "bp": "e", "pid": {}, "tid": {}, "ts": {}, "id": {}, "name": "awaited", "cat": "flow"}})",
        pid_of(from), tid_of(from), time_of(from.from), flows_, pid_of(to), tid_of(to), time_of(to.from), flows_);
  }
  for (const StepTimeline::Counter& counter : step.counters) {
    for (const StepTimeline::Counter::Value& value : counter.values) {
      begin_event();
      fmt::format_to(std::back_inserter(text_),
                     R"({{"ph": "C", "pid": {}, "tid": 0, "ts": {}, "name": {}, "args": {{"value": {:.6g}}}}})",
                     process("program"), time_of(value.cycle), json_text(counter.name), value.value);
    }
  }
  start_ += step.cycles;
}

std::string TraceEvents::finished() { return std::move(text_) + "\n]}\n"; }

}  // namespace stowage
