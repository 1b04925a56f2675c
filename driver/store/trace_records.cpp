// SPDX-License-Identifier: Apache-2.0
#include "driver/store/trace_records.h"

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/trace/of_planner.h"
#include "driver/json/trace_row.h"

namespace stowage {

namespace {

/// A short file may stand for no more bytes than this by repeating records, as size_when_repeated() counts them.
constexpr std::size_t max_repeated = std::size_t{256} << 20;

/// About what an event takes in memory: 16 bytes for each value, and its texts as they are written. Those of a file
/// that is written are as long as those of it when it is read, also where names are no UTF-8.
std::size_t size_of(const Json& json) {
  if (json.is_string()) return 16 + dumped(json).size();
  std::size_t size = 16;
  if (json.is_structured()) {
    for (const Json& part : json) size += size_of(part);
  }
  return size;
}

/// What records of a fused operator take, whose events take `events` together.
std::size_t size_when_repeated(const std::string& subject, std::size_t records, std::size_t events) {
  constexpr std::size_t record = 256;
  return events + records * (record + dumped(Json(subject)).size());
}

std::string_view name_of(TraceOutcome outcome) {
  switch (outcome) {
    case TraceOutcome::step: return "step";
    case TraceOutcome::accepted: return "accepted";
    case TraceOutcome::refused: return "refused";
  }
  fail_check("unknown trace outcome");
}

/// What is said besides the event is for readers of the file; it is made again, not read.
Json row_of(const TraceRecord& record, Json event) {
  const TraceHeading heading = heading_of(record);
  return {{"algorithm", heading.algorithm},      {"subject", record.subject},   {"place", heading.rule},
          {"outcome", name_of(heading.outcome)}, {"message", sentence(record)}, {"event", std::move(event)}};
}

/// Of a planner, in terms of the names of its fused operator.
bool is_of_plan(const TraceRecord& record) { return record.names != nullptr && is_of_planner(record); }

/// Where the records that begin at `first` end, if they are what a planner recorded of one fused operator; else
/// `first`.
std::size_t end_of_plan(const std::vector<TraceRecord>& records, std::size_t first) {
  std::size_t end = first;
  while (end < records.size() && is_of_plan(records[end]) && records[end].subject == records[first].subject) ++end;
  return end;
}

void clear_texts(Json& json) {
  if (json.is_string()) {
    json = "";
  } else if (json.is_structured()) {
    for (Json& part : json) clear_texts(part);
  }
}

/// Of the kind and the numbers of an event.
std::size_t hash_without_texts(Json event) {
  const Json kind = event.at("kind");
  clear_texts(event);
  event["kind"] = kind;
  return std::hash<Json>()(event);
}

/// What a planner recorded of a fused operator.
struct PlanRows {
  std::string subject;
  std::vector<std::string> events;  ///< as they are written
  std::size_t size = 0;             ///< of all events
  std::size_t iterators = 0, buffers = 0;
};

bool are_alike(const PlanRows& a, const PlanRows& b) {
  return a.events.size() == b.events.size() && a.iterators == b.iterators && a.buffers == b.buffers;
}

/// The row that stands for a plan's records by those of another plan, with the events that differ.
Json repeating_row(const PlanRows& rows, const std::vector<Json>& events, const PlanRows& source) {
  Json row = {{"subject", rows.subject}, {"same_as", source.subject}};
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (rows.events[i] != source.events[i]) row["except"].push_back({{"record", i}, {"event", events[i]}});
  }
  return row;
}

}  // namespace

void write_names(const std::vector<TraceRecord>& records, const AddRow& add) {
  std::map<std::string_view, std::shared_ptr<const GroupNames>> known;
  for (const TraceRecord& record : records) {
    if (record.names == nullptr) continue;
    auto& names = known[record.subject];
    if (names == record.names) continue;
    check(names == nullptr || *names == *record.names, "records about a fused operator have several names for a thing");
    if (names == nullptr) {
      add({{"name", record.subject}, {"iterators", record.names->iterators}, {"buffers", record.names->buffers}});
    }
    names = record.names;
  }
}

void write_records(const std::vector<TraceRecord>& records, const AddRow& add) {
  std::map<std::size_t, PlanRows> known;  // by a hash of their events without texts
  std::set<std::string_view> planned;
  std::size_t repeated = 0;
  for (std::size_t at = 0; at < records.size();) {
    const std::size_t end = end_of_plan(records, at);
    if (end == at) {
      add(row_of(records[at], row_of(records[at].what)));
      ++at;
      continue;
    }
    const TraceRecord& first = records[at];
    PlanRows rows{first.subject, {}, 0, first.names->iterators.size(), first.names->buffers.size()};
    std::vector<Json> events;
    std::size_t hash = 0;
    for (std::size_t i = at; i < end; ++i) {
      events.push_back(row_of(records[i].what));
      rows.events.push_back(dumped(events.back()));
      hash = hash * 31 + hash_without_texts(events.back());
      rows.size += size_of(events.back());
    }
    const auto source = known.find(hash);
    // A row that repeats others names them by subject, which stands for the first plan of this subject.
    const bool is_first = planned.insert(first.subject).second;
    const bool is_repeated = is_first && source != known.end() && are_alike(source->second, rows);
    const std::size_t size = is_repeated ? size_when_repeated(first.subject, events.size(), source->second.size) : 0;
    if (is_repeated && size <= max_repeated - repeated) {
      add(repeating_row(rows, events, source->second));
      repeated += size;
    } else {
      for (std::size_t i = at; i < end; ++i) add(row_of(records[i], std::move(events[i - at])));
      if (is_first) known.emplace(hash, std::move(rows));
    }
    at = end;
  }
}

void RecordReader::add_names(const Json& row) {
  auto found = std::make_shared<const GroupNames>(
      GroupNames{IdVector<IteratorId, std::string>(row.at("iterators").get<std::vector<std::string>>()),
                 IdVector<BufferId, std::string>(row.at("buffers").get<std::vector<std::string>>())});
  const auto& name = row.at("name").get_ref<const std::string&>();
  if (!names_.emplace(name, std::move(found)).second) {
    throw std::invalid_argument(fmt::format("'{}' is named twice", name));
  }
}

void RecordReader::add(const Json& row) {
  TraceRecord record;
  record.subject = row.at("subject").get<std::string>();
  const auto named = names_.find(record.subject);
  const Json& event = row.at("event");
  record.what = event_of(event, named == names_.end() ? nullptr : named->second.get());
  if (named != names_.end() && is_of_planner(record)) record.names = named->second;
  append(std::move(record), size_of(event));
}

void RecordReader::add_text(const Json& row) {
  Json event = row;
  event["kind"] = "text";
  append({row.at("subject").get<std::string>(), event_of(event, nullptr), nullptr}, size_of(event));
}

void RecordReader::append(TraceRecord record, std::size_t size) {
  const bool goes_on = !records_.empty() && records_.back().subject == record.subject;
  if (!is_of_plan(record)) {
    open_ = nullptr;
  } else if (!goes_on || open_ == nullptr) {
    const auto [range, is_first] = plans_.try_emplace(record.subject, Range{records_.size(), 0, 0});
    open_ = is_first ? &range->second : nullptr;
  }
  if (open_ != nullptr) {
    ++open_->count;
    open_->events += size;
  }
  records_.push_back(std::move(record));
}

void RecordReader::repeat(const Json& row) {
  const auto& subject = row.at("subject").get_ref<const std::string&>();
  const auto& source = row.at("same_as").get_ref<const std::string&>();
  const auto range = plans_.find(source);
  if (range == plans_.end()) throw std::invalid_argument(fmt::format("'{}' has no records of a plan before", source));
  const auto [first, count, events] = range->second;
  const auto named = names_.find(subject);
  const GroupNames& known = *records_[first].names;
  if (named == names_.end() || named->second->iterators.size() != known.iterators.size() ||
      named->second->buffers.size() != known.buffers.size()) {
    throw std::invalid_argument(fmt::format("'{}' has not as many iterators and buffers as '{}'", subject, source));
  }
  const std::size_t size = size_when_repeated(subject, count, events);
  if (size > max_repeated - repeated_) throw std::invalid_argument("records of more than 256 MiB are repeated");
  repeated_ += size;
  for (std::size_t i = first; i < first + count; ++i) records_.push_back({subject, records_[i].what, named->second});
  if (row.contains("except")) replace(row.at("except"), records_.size() - count, *named->second);
  open_ = nullptr;
}

void RecordReader::replace(const Json& others, std::size_t first, const GroupNames& names) {
  const auto count = static_cast<std::int64_t>(records_.size() - first);
  for (const Json& other : others.get_ref<const Json::array_t&>()) {
    TraceRecord& record = records_[first + static_cast<std::size_t>(whole_number(other.at("record"), 0, count - 1))];
    record.what = event_of(other.at("event"), &names);
    if (!is_of_planner(record)) throw std::invalid_argument("a record of a plan is replaced by one of no planner");
  }
}

}  // namespace stowage
