// SPDX-License-Identifier: Apache-2.0
#include "driver/store/trace_file.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver/json/json_rows.h"
#include "driver/store/fusion_file.h"
#include "driver/store/trace_records.h"
#include "lowering/model/group_model.h"

namespace stowage {

namespace {

constexpr std::string_view trace_format = "stowage-trace";
constexpr int trace_version = 4;
constexpr int written_out_version = 3;  // before what a planner recorded of fused operators planned alike stood once
constexpr int text_version = 2;         // records of text, which are read as such

void check_iterators(const TraceRecord& record, const std::vector<GroupIterator>& iterators, int cores) {
  const auto damage = [&](std::string_view what, IteratorId i, std::int64_t number) {
    const GroupIterator& iterator = iterators[i.index()];
    throw std::invalid_argument(fmt::format("the {} of iterator '{}' of '{}' is {} of {}", what, iterator.name,
                                            record.subject, number, iterator.extent));
  };
  const bool same_names =
      std::equal(record.names->iterators.begin(), record.names->iterators.end(), iterators.begin(), iterators.end(),
                 [](const std::string& name, const GroupIterator& iterator) { return name == iterator.name; });
  if (!same_names) throw std::invalid_argument(fmt::format("'{}' has other iterators", record.subject));
  const auto check_up_to_extent = [&](std::string_view what, const IdVector<IteratorId, std::int64_t>& numbers) {
    for (const IteratorId i : numbers.ids()) {
      if (numbers[i] > std::max<std::int64_t>(1, iterators[i.index()].extent)) damage(what, i, numbers[i]);
    }
  };
  if (const LdmState* state = ldm_state(record.what)) check_up_to_extent("buffer size", state->sizes);
  const auto* const split = std::get_if<CoresSplit>(&record.what);
  if (split == nullptr) return;
  check_up_to_extent("range", split->ranges);
  std::int64_t used = 1;
  for (const TracedSplit& part : split->split) {
    if (part.parts < 1 || part.parts > cores / used) damage("split", part.iterator, part.parts);
    used *= part.parts;
  }
}

std::string json_string(const std::string& text) {
  std::string line = dumped(Json(text));
  line.pop_back();  // the line break
  return line;
}

}  // namespace

std::string trace_json(const Compilation& compilation) {
  // One record a line.
  std::string text = fmt::format("{{\"command\": {}, \"format\": \"{}\", \"version\": {}, \"groups\": [\n",
                                 json_string(compilation.command_line), trace_format, trace_version);
  bool first = true;
  const auto add_row = [&](const Json& row) {
    if (!first) text += ",";
    text += dumped(row);
    first = false;
  };
  write_names(compilation.trace.records, add_row);
  text += "],\n\"records\": [\n";
  first = true;
  write_records(compilation.trace.records, add_row);
  text += "],\n\"fusion\": " + fusion_json(compilation.fusion, compilation.program.fused.graph);
  return text + "}\n";
}

StoredTrace read_trace(std::string_view text, const GraphWhenRead& graph, const std::stop_token& stop) {
  const auto check_version = [](const Json& file) {
    if (file.value("format", "") != trace_format) throw std::runtime_error("it is not a trace file of Stowage");
    const Json& version = file.at("version");
    if (!version.is_number_integer() || version < text_version || version > trace_version) {
      throw std::runtime_error(fmt::format("its version is {}, this tool reads versions {} to {}", version.dump(),
                                           text_version, trace_version));
    }
  };
  StoredTrace stored;
  std::vector<CandidateRecord> candidates;
  RecordReader records;
  // Rows of another version may be of another form; that it is one says more.
  const auto check_first = [&](bool is_first, const Json& before) {
    if (is_first && before.contains("version")) check_version(before);
  };
  const auto add_record = [&](const Json& row, const Json& before) {
    check_first(records.is_empty(), before);
    const Json version = before.value("version", Json());
    if (version == text_version) {
      records.add_text(row);
    } else if (version != written_out_version && row.contains("same_as")) {
      records.repeat(row);
    } else {
      records.add(row);
    }
  };
  const auto add_candidate = [&](const Json& row, const Json&) { candidates.push_back(candidate_of(row, graph())); };
  const auto add_group = [&](const Json& row, const Json& before) {
    check_first(!records.has_names(), before);
    records.add_names(row);
  };
  const Json file =
      parse_rows(text, {{"groups", add_group}, {"records", add_record}, {"fusion/candidates", add_candidate}}, stop);
  check_version(file);
  static_cast<void>(file.at("records").get_ref<const Json::array_t&>());  // to have none is damage
  stored.trace.records = std::move(records).take();
  stored.fusion = fusion_of(file.at("fusion"), std::move(candidates));
  return stored;
}

void check_trace(const Program& program, const Trace& trace) {
  std::map<std::string_view, std::vector<GroupIterator>> iterators;  // by fused operator
  for (const ProgramStep& step : program.steps) {
    if (step.plan() != nullptr) iterators[step.group.name] = group_iterators(step.plan()->nest.stages);
  }
  for (const TraceRecord& record : trace.records) {
    const auto of = iterators.find(record.subject);
    if (record.names != nullptr && of != iterators.end())
      check_iterators(record, of->second, program.target.cores.count);
  }
}

}  // namespace stowage
