// SPDX-License-Identifier: Apache-2.0
// The section of one fused operator: what it computes, its loop nest with DMA at its place, scratchpad, time,
// decisions.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "core/trace/of_planner.h"
#include "driver/page/page_parts.h"
#include "driver/report/nest_rows.h"
#include "driver/report/plan_reasons.h"
#include "driver/report/plan_tables.h"
#include "driver/report/report.h"
#include "lowering/program/program.h"

namespace stowage {

namespace {

std::string tensor_html(const Graph& graph, TensorId id) {
  const GraphTensor& tensor = graph.tensor(id);
  return fmt::format("<code>{}</code> {}{}", escaped(tensor.name), name_of(tensor.type), to_text(tensor.shape));
}

std::string members(const Graph& graph, const FusedOperator& group) {
  std::string html = "<p>";
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    const Operator& op = graph.op(group.operators[i]);
    const std::string role = i < group.roles.size() ? group.roles[i] : "";
    html += fmt::format("{}<b>{}</b> <code>{}</code>{}", i > 0 ? ", then " : "", escaped(op.kind), escaped(op.name),
                        role.empty() ? "" : fmt::format(" <span class=\"soft\">({})</span>", escaped(role)));
  }
  html += ".</p>\n<p>Reads ";
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    html += fmt::format("{}{}{}", i > 0 ? ", " : "", graph.tensor(group.inputs[i]).constant ? "parameter " : "",
                        tensor_html(graph, group.inputs[i]));
  }
  std::vector<std::string> stored;
  for (const TensorId tensor : stored_by(group)) stored.push_back(tensor_html(graph, tensor));
  return html + fmt::format("; writes {}.</p>\n", fmt::join(stored, ", "));
}

/// Class of a row and its mark in the gutter.
std::pair<std::string_view, std::string_view> look_of(NestRow::Kind kind) {
  switch (kind) {
    case NestRow::Kind::loop: return {"loop", "↻"};
    case NestRow::Kind::get: return {"get", "▼ get"};
    case NestRow::Kind::put: return {"put", "▲ put"};
    case NestRow::Kind::wait: return {"wait", "◷ wait"};
    case NestRow::Kind::fill: return {"fill", "▪"};
    case NestRow::Kind::compute: return {"compute", "∑"};
    case NestRow::Kind::other:
    case NestRow::Kind::end: return {"other", ""};
  }
  return {"other", ""};
}

/// One line: what it is, its counts, and the statement.
std::string nest_line(std::string_view css_class, std::string_view mark, const std::vector<std::string>& numbers,
                      const std::string& code) {
  std::string html = fmt::format("<tr class=\"{}\"><td class=\"mark\">{}</td>", css_class, mark);
  for (const std::string& number : numbers) html += fmt::format("<td class=\"number\">{}</td>", number);
  return html + fmt::format("<td class=\"code\">{}</td></tr>\n", code);
}

std::string cores_text(const LoopNest& nest) {
  if (nest.core_grid.empty()) return "on one core:";
  std::vector<std::string> axes;
  for (const CoreAxis& axis : nest.core_grid) {
    axes.push_back(fmt::format("{} &lt; {} <small>of {}</small>", escaped(nest.variables[axis.variable.index()].name),
                               axis.parts, escaped(axis.iterator)));
  }
  return fmt::format("on {} cores at once: {}", nest.cores_used(), fmt::join(axes, ", "));
}

std::string nest_table(const Plan& plan, const Target& target) {
  std::string html =
      "<div class=\"scroll\"><table class=\"nest\"><thead><tr><th></th><th class=\"number\">how often</th>"
      "<th class=\"number\">bytes</th><th class=\"number\">block</th><th class=\"number\">bandwidth</th>"
      "<th class=\"number\">cycles</th><th class=\"code\">statement</th></tr></thead>\n<tbody>\n";
  const std::vector<std::string> nothing(5);
  html += nest_line("other", "", nothing, cores_text(plan.nest));
  for (const NestRow& row : nest_rows(plan, target)) {
    const auto [css_class, mark] = look_of(row.kind);
    std::vector<std::string> numbers = nothing;
    if (row.kind == NestRow::Kind::get || row.kind == NestRow::Kind::put) {
      numbers = {grouped_digits(row.transfers), bytes_text(row.bytes), block_text(row),
                 fmt::format("{:.2f} GB/s", row.bytes_per_second / 1e9), grouped_digits(row.cycles)};
    } else if (row.kind == NestRow::Kind::compute) {
      numbers[0] = grouped_digits(row.points) + " points";
      numbers[4] = grouped_digits(row.cycles);
    } else if (row.kind == NestRow::Kind::fill) {
      numbers[0] = grouped_digits(row.points) + " elements";
      numbers[4] = grouped_digits(row.cycles);
    }
    std::string note = row.note;
    if (note.empty() && row.kind == NestRow::Kind::wait) note = "for " + row.tensor;
    html += nest_line(css_class, mark, numbers,
                      escaped(row.text) + (note.empty() ? "" : fmt::format("  <small>// {}</small>", escaped(note))));
  }
  return html + "</tbody></table></div>\n";
}

std::string schedule_text(const Plan& plan) {
  std::vector<std::string> parts;
  for (const auto& [iterator, size] : plan.schedule.buffer) parts.push_back(fmt::format("{} = {}", iterator, size));
  const bool has_order = plan.schedule.order && !plan.schedule.order->empty();
  return escaped(fmt::format(
      "Outer loops, outermost first: {}. Elements buffered: {}.",
      has_order ? fmt::format("{}", fmt::join(*plan.schedule.order, ", ")) : "none, everything is buffered whole",
      fmt::join(parts, ", ")));
}

/// The candidates for one place of a loop beside each other.
std::string round_table(const LoopRound& round) {
  std::vector<std::string> names;
  for (const LoopCandidate& candidate : round.candidates) names.push_back(candidate.loop);
  const bool computes = std::any_of(round.candidates.begin(), round.candidates.end(),
                                    [](const LoopCandidate& candidate) { return candidate.operations > 0; });
  std::string html = fmt::format(
      "<p>Which of {} goes inside? Transfers on one core with each of them there:</p>\n"
      "<div class=\"scroll\"><table><thead><tr><th>loop</th>",
      escaped(fmt::format("{}", fmt::join(names, ", "))));
  for (const std::string& tensor : round.tensors) {
    html += fmt::format("<th class=\"number\"><code>{}</code></th>", escaped(tensor));
  }
  html += fmt::format("<th class=\"number\">all</th>{}<th></th></tr></thead><tbody>\n",
                      computes ? "<th class=\"number\">operations inside</th>" : "");
  for (const LoopCandidate& candidate : round.candidates) {
    html += fmt::format("<tr><td><code>{}</code></td>", escaped(candidate.loop));
    for (const std::int64_t count : candidate.transfers) {
      html += fmt::format("<td class=\"number\">{}</td>", grouped_digits(count));
    }
    html += fmt::format("<td class=\"number\">{}</td>", grouped_digits(candidate.total));
    if (computes) html += fmt::format("<td class=\"number\">{}</td>", grouped_digits(candidate.operations));
    html += fmt::format("<td>{}</td></tr>\n", candidate.chosen   ? "<b>chosen</b>"
                                              : candidate.barred ? "over the output: not inside a sum"
                                                                 : "");
  }
  return html + "</tbody></table></div>\n";
}

/// What decided where the data is moved, how often, and how much of it the scratchpad holds.
std::string reasons_part(const PageScope& scope, const ProgramStep& step) {
  std::vector<TraceRecord> records;
  for (const TraceRecord* record : scope.records_about(step.group.name)) records.push_back(*record);
  const PlanReasons reasons = reasons_of(*step.plan(), scope.program().target, records);
  std::string html = "<h3>Why the data is moved there</h3>\n<ul>\n";
  for (const TransferReason& reason : reasons.transfers) {
    html += fmt::format("<li>{} {}</li>\n", escaped(reason.where), escaped(reason.why));
  }
  for (const std::string& sentence : reasons.sizes) html += fmt::format("<li>{}</li>\n", escaped(sentence));
  html += "</ul>\n";
  for (const LoopRound& round : reasons.rounds) html += round_table(round);
  return html;
}

std::string plan_parts(const PageScope& scope, StepId number) {
  const ProgramStep& step = scope.program().steps[number];
  const Plan& plan = *step.plan();
  const Target& target = scope.program().target;
  std::string html = fmt::format("<h3>What is computed</h3>\n<pre>{}</pre>\n", escaped(to_text(plan.nest.stages)));
  html += fmt::format("<h3>Loop nest</h3>\n<p>{}</p>\n", schedule_text(plan));
  html += nest_table(plan, target);
  html += reasons_part(scope, step);
  html += "<h3>Scratchpad of a core</h3>\n<figure>" + ldm_chart(scope.program(), number) + "</figure>\n" +
          html_table(step_buffers_table(scope.program(), number),
                     {"buffer", "tensor", "shares_with", "extents", "slots", "address", "bytes"});
  html += fmt::format("<h3>Time: {} cycles, {}</h3>\n<figure>{}</figure>\n", grouped_digits(plan.time.cycles),
                      seconds_text(plan.time.seconds), cost_chart(scope, number));
  return html;
}

}  // namespace

bool is_about_fusion(const TraceRecord& record) { return !is_of_planner(record); }

namespace {

/// That a refused candidate breaks besides the one that its record tells first.
std::span<const Decision> further_rules(const TraceRecord& record) {
  const auto* const candidate = std::get_if<CandidateRefused>(&record.what);
  if (candidate == nullptr || candidate->broken.empty()) return {};
  return std::span(candidate->broken).subspan(1);
}

}  // namespace

std::string decisions_table(std::span<const TraceRecord* const> records, bool with_subjects,
                            bool (*wanted)(const TraceRecord& record)) {
  std::string rows;
  for (const TraceRecord* const pointer : records) {
    const TraceRecord& record = *pointer;
    if (!wanted(record)) continue;
    const TraceHeading at = heading_of(record);
    const bool refused = at.outcome == TraceOutcome::refused;
    const std::string_view outcome = refused ? "refused" : at.outcome == TraceOutcome::accepted ? "accepted" : "";
    std::string message = escaped(sentence(record));
    for (const Decision& rule : further_rules(record)) {
      message += fmt::format("<br/>{}: {}", escaped(rule.rule), escaped(rule.reason));
    }
    rows += fmt::format("<tr>{}<td>{}</td><td>{}</td><td{}>{}</td><td>{}</td></tr>\n",
                        with_subjects ? fmt::format("<td>{}</td>", escaped(record.subject)) : "",
                        escaped(algorithm_title(at.algorithm)), escaped(at.rule), refused ? " class=\"refused\"" : "",
                        outcome, message);
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<div class=\"scroll\"><table><thead><tr>{}<th>algorithm</th><th>line or rule</th><th></th><th>decision</th></tr>"
      "</thead><tbody>\n{}</tbody></table></div>\n",
      with_subjects ? "<th>about</th>" : "", rows);
}

std::string group_section(const PageScope& scope, StepId number, std::int64_t all_cycles) {
  const ProgramStep& step = scope.program().steps[number];
  const Graph& graph = scope.program().fused.graph;
  const FusedOperator& group = step.group;
  std::string words = group.name + " " + group.template_name;
  for (const OpId op : group.operators) words += " " + graph.op(op).kind + " " + graph.op(op).name;
  std::string html =
      fmt::format("<details class=\"group\" id=\"{}\" data-words=\"{}\"><summary><b>{}. {}</b><span>{}</span>",
                  anchor_of(number), escaped(words), number.index(), escaped(group.name), escaped(group.template_name));
  if (step.plan() != nullptr) {
    TimeShares shares;
    shares.add(step.plan()->time);
    const double share =
        all_cycles > 0 ? 100.0 * static_cast<double>(step.plan()->time.cycles) / static_cast<double>(all_cycles) : 0;
    html += fmt::format("<span>{}</span><span>{:.1f} % of time</span>{}", seconds_text(step.plan()->time.seconds),
                        share, time_bar(shares, shares.sum(), "bar"));
  } else {
    html += fmt::format("<span>{}</span><span>{}</span><span></span>",
                        step.kind().by.empty() ? "no kernel" : step.kind().by,
                        step.step_plan() == nullptr ? "" : grouped_digits(step.step_plan()->cycles()) + " cycles");
  }
  html += "</summary>\n" + members(graph, group);
  html +=
      step.plan() != nullptr ? plan_parts(scope, number) : fmt::format("<p>{}</p>\n", escaped(without_nest_text(step)));
  const std::vector<const TraceRecord*>& records = scope.records_about(group.name);
  if (const std::string table = decisions_table(records, false, is_about_fusion); !table.empty()) {
    html += "<h3>Why these operators</h3>\n" + table;
  }
  html += alternatives_part(scope, group);
  const auto planned = [](const TraceRecord& record) { return !is_about_fusion(record); };
  if (const std::string table = decisions_table(records, false, planned); !table.empty()) {
    html += "<details class=\"inner\"><summary>How the schedule came about, step by step</summary>\n" + table +
            "</details>\n";
  }
  return html + "</details>\n";
}

}  // namespace stowage
