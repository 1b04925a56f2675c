// SPDX-License-Identifier: Apache-2.0
#include "driver/store/fusion_file.h"

#include <cstdint>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace stowage {
namespace {

Json row_of(const CandidateRecord& candidate, const Graph& graph) {
  Json row = Json::object();
  for (const OpId op : candidate.operators) row["operators"].push_back(graph.op(op).name);
  row["templates"] = candidate.templates;
  row["fate"] = name_of(candidate.fate);
  for (const Decision& refusal : candidate.refusals) {
    Json reason = {{"rule", refusal.rule}, {"reason", refusal.reason}};
    if (!refusal.flip.empty()) reason["flip"] = refusal.flip;
    row["refusals"].push_back(std::move(reason));
  }
  if (candidate.fate != CandidateFate::refused) row["cycles"] = candidate.cycles;
  if (candidate.cut_short) row["cut_short"] = true;
  if (!candidate.outbid_by.empty()) row["outbid_by"] = candidate.outbid_by;
  if (candidate.loss) row["loss"] = *candidate.loss;
  return row;
}

Json row_of(const SearchGraph::Node& node) {
  Json row = {{"label", node.label}};
  if (node.best_cycles) row["best_cycles"] = *node.best_cycles;
  if (node.on_path) row["on_path"] = true;
  return row;
}

Json row_of(const SearchGraph::Edge& edge) {
  Json row = {{"from", edge.from}, {"to", edge.to}, {"candidate", edge.candidate}, {"cycles", edge.cycles}};
  if (edge.on_path) row["on_path"] = true;
  return row;
}

Json row_of(const SearchSummary& search) {
  return {{"complete", search.complete},           {"lower_bound", search.lower_bound}, {"segments", search.segments},
          {"beam_segments", search.beam_segments}, {"states", search.states},           {"widest", search.widest}};
}

std::string line(const Json& row) {
  std::string text = dumped(row);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

template <class Rows, class ToRow>
std::string lines(const Rows& rows, ToRow&& to_row) {
  std::string text = "[";
  bool first = true;
  for (const auto& row : rows) {
    text += (first ? "\n" : ",\n") + line(to_row(row));
    first = false;
  }
  return text + "]";
}

std::string text_of(const SearchGraph& graph) {
  const auto row = [](const auto& part) { return row_of(part); };
  return fmt::format("{{\"name\": {}, \"nodes_left_out\": {}, \"nodes\": {}, \"edges\": {}}}", line(Json(graph.name)),
                     graph.nodes_left_out, lines(graph.nodes, row), lines(graph.edges, row));
}

/// Cycles, or a count of something else.
std::int64_t cycles_in(const Json& entry) { return whole_number(entry, 0, max_cycles); }

std::size_t index_in(const Json& entry, std::size_t count) {
  if (count == 0) throw std::invalid_argument("a number stands for one of nothing");
  return static_cast<std::size_t>(whole_number(entry, 0, static_cast<std::int64_t>(count) - 1));
}

CandidateFate fate_of(const std::string& name) {
  for (const CandidateFate fate : {CandidateFate::chosen, CandidateFate::refused, CandidateFate::outbid}) {
    if (name == name_of(fate)) return fate;
  }
  throw std::invalid_argument(fmt::format("'{}' is no fate of a candidate", name));
}

SearchGraph graph_of(const Json& json, std::size_t candidates) {
  SearchGraph graph;
  graph.name = json.at("name").get<std::string>();
  graph.nodes_left_out = cycles_in(json.at("nodes_left_out"));
  for (const Json& row : json.at("nodes")) {
    SearchGraph::Node node;
    node.label = row.at("label").get<std::string>();
    if (row.contains("best_cycles")) node.best_cycles = cycles_in(row.at("best_cycles"));
    node.on_path = row.value("on_path", false);
    graph.nodes.push_back(std::move(node));
  }
  for (const Json& row : json.at("edges")) {
    graph.edges.push_back({index_in(row.at("from"), graph.nodes.size()), index_in(row.at("to"), graph.nodes.size()),
                           index_in(row.at("candidate"), candidates), cycles_in(row.at("cycles")),
                           row.value("on_path", false)});
  }
  return graph;
}

SearchSummary search_of(const Json& json) {
  SearchSummary search;
  search.complete = json.at("complete").get<bool>();
  search.lower_bound = cycles_in(json.at("lower_bound"));
  search.segments = cycles_in(json.at("segments"));
  search.beam_segments = cycles_in(json.at("beam_segments"));
  search.states = cycles_in(json.at("states"));
  search.widest = cycles_in(json.at("widest"));
  return search;
}

}  // namespace

std::string fusion_json(const FusionRecord& record, const Graph& graph) {
  std::string text =
      fmt::format("{{\"strategy\": {}, \"costed\": {},\n\"totals\": {},\n", line(Json(record.strategy)), record.costed,
                  lines(record.totals, [](const StrategyTotal& total) {
                    return Json{{"strategy", total.strategy}, {"cycles", total.cycles}, {"groups", total.groups}};
                  }));
  if (!record.limits.empty()) {
    text += fmt::format("\"limits\": {},\n", lines(record.limits, [](const SearchLimit& limit) {
                          Json row = {{"template", limit.template_name}, {"message", limit.message}};
                          if (limit.of_repeat) row["of_repeat"] = true;
                          return row;
                        }));
  }
  if (record.search) text += fmt::format("\"search\": {},\n", line(row_of(*record.search)));
  text +=
      fmt::format("\"candidates\": {},\n",
                  lines(record.candidates, [&](const CandidateRecord& candidate) { return row_of(candidate, graph); }));
  text += "\"graphs\": [";
  for (std::size_t i = 0; i < record.graphs.size(); ++i) text += (i == 0 ? "\n" : ",\n") + text_of(record.graphs[i]);
  return text + "]}";
}

Json search_json(const FusionRecord& record) {
  check(record.search.has_value() && !record.totals.empty(), "there was no search");
  Json json = row_of(*record.search);
  json["gap"] = record.totals.front().cycles - record.search->lower_bound;
  json["proved"] = is_proved(record);
  json["over"] = proof_text(record, record.totals.front().cycles);
  return json;
}

CandidateRecord candidate_of(const Json& row, const Graph& graph) {
  CandidateRecord candidate;
  for (const Json& name : row.at("operators")) {
    const auto op = graph.find_operator(name.get_ref<const std::string&>());
    if (!op) throw std::invalid_argument(fmt::format("its graph has no operator {}", name.dump()));
    candidate.operators.push_back(*op);
  }
  candidate.templates = row.at("templates").get<std::vector<std::string>>();
  if (candidate.operators.empty() || candidate.templates.empty()) {
    throw std::invalid_argument("a candidate without operators or templates");
  }
  candidate.fate = fate_of(row.at("fate").get<std::string>());
  if (row.contains("refusals")) {
    for (const Json& refusal : row.at("refusals")) {
      candidate.refusals.push_back(Decision::refuse(refusal.at("rule").get<std::string>(),
                                                    refusal.at("reason").get<std::string>(),
                                                    refusal.value("flip", std::string())));
    }
  }
  if (row.contains("cycles")) candidate.cycles = cycles_in(row.at("cycles"));
  candidate.cut_short = row.value("cut_short", false);
  if (row.contains("outbid_by")) {
    // That they are candidates is seen when all are there.
    for (const Json& holder : row.at("outbid_by")) {
      candidate.outbid_by.push_back(index_in(holder, std::numeric_limits<std::uint32_t>::max()));
    }
  }
  if (row.contains("loss")) candidate.loss = whole_number(row.at("loss"), -max_cycles, max_cycles);
  return candidate;
}

FusionRecord fusion_of(const Json& json, std::vector<CandidateRecord> candidates) {
  FusionRecord record;
  record.strategy = json.at("strategy").get<std::string>();
  record.costed = json.at("costed").get<bool>();
  for (const Json& row : json.at("totals")) {
    record.totals.push_back(
        {row.at("strategy").get<std::string>(), cycles_in(row.at("cycles")), cycles_in(row.at("groups"))});
  }
  if (json.contains("limits")) {
    for (const Json& row : json.at("limits")) {
      record.limits.push_back(
          {row.at("template").get<std::string>(), row.at("message").get<std::string>(), row.value("of_repeat", false)});
    }
  }
  if (record.totals.empty()) throw std::invalid_argument("the record of the fusion has no totals");
  if (json.contains("search")) record.search = search_of(json.at("search"));
  static_cast<void>(json.at("candidates").get_ref<const Json::array_t&>());  // whose rows these are
  record.candidates = std::move(candidates);
  for (const CandidateRecord& candidate : record.candidates) {
    for (const std::size_t holder : candidate.outbid_by) {
      if (holder >= record.candidates.size()) throw std::invalid_argument("a candidate is outbid by nothing");
    }
  }
  for (const Json& row : json.at("graphs")) record.graphs.push_back(graph_of(row, record.candidates.size()));
  return record;
}

}  // namespace stowage
