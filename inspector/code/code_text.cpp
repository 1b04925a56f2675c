// SPDX-License-Identifier: Apache-2.0
#include "inspector/code/code_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/number_text.h"
#include "driver/report/plan_reasons.h"

namespace stowage::inspector {

namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

QString block_text(const DmaTotals& totals, Units units) {
  if (totals.operations_by_block.empty()) return {};
  const std::int64_t low = totals.operations_by_block.begin()->first;
  const std::int64_t high = totals.operations_by_block.rbegin()->first;
  return low == high ? size_text(low, units) : size_text(low, units) + QStringLiteral(" – ") + size_text(high, units);
}

double bandwidth_of(const LoadedPlan& plan, const StatementFacts& facts, const DmaTotals& totals) {
  if (facts.own_cycles <= 0) return 0;
  return static_cast<double>(totals.bytes) * plan.program().target.clock_hz / static_cast<double>(facts.own_cycles);
}

void fill_dma(const LoadedPlan& plan, const StepFacts& step, const StatementFacts& facts, const Look& look,
              CodeLine& line) {
  const Theme& theme = look.theme();
  if (const auto* dma = std::get_if<Dma>(&facts.statement->node)) {
    const DmaTotals& totals = step.plan->counts.dma.at(facts.statement->id);
    const bool get = dma->direction == DmaDirection::get;
    line.badge = get ? QStringLiteral("get") : QStringLiteral("put");
    line.badge_color = theme.state(get ? BufferState::filling : BufferState::draining);
    line.gutter[1] = count_text(totals.transfers);
    line.gutter[2] = size_text(totals.bytes, look.units());
    line.gutter[3] = block_text(totals, look.units());
    line.gutter[4] = facts.own_cycles > 0 ? rate_text(bandwidth_of(plan, facts, totals)) : QString();
  } else if (std::holds_alternative<Wait>(facts.statement->node)) {
    line.badge = QStringLiteral("wait");
    line.badge_color = theme.state(BufferState::idle);
  }
}

/// Why each transfer stands where it stands, a sentence a line, by statement.
std::map<StatementId, QString> reasons_by_statement(const LoadedPlan& plan, const StepFacts& step) {
  std::vector<TraceRecord> records;
  for (const TraceRecord& record : plan.compilation.trace.records) {
    if (record.subject == step.step->group.name) records.push_back(record);
  }
  std::map<StatementId, QString> texts;
  for (const TransferReason& reason : reasons_of(*step.plan, plan.program().target, records).transfers) {
    texts[reason.statement] = qt(reason.where + " " + reason.why).replace(QStringLiteral(". "), QStringLiteral(".\n"));
  }
  return texts;
}

}  // namespace

QString CodeLine::text() const {
  QString text;
  for (const CodeRun& run : runs) text += run.text;
  return text;
}

QString statement_tip(const LoadedPlan& plan, std::optional<StepId> index, StatementId statement, const Look& look) {
  const StepFacts* step = plan.step(index);
  const StatementFacts* facts = step != nullptr ? step->find(statement) : nullptr;
  if (facts == nullptr) return {};
  const double clock = plan.program().target.clock_hz;
  QString tip = qt(describe(plan, statement_subject(index, statement)));
  if (std::holds_alternative<Dma>(facts->statement->node)) {
    const DmaTotals& totals = step->plan->counts.dma.at(statement);
    tip += format("\n{} {} = {} {}, {} {} in all (all cores)", count_text(totals.transfers).toStdString(),
                  for_number(totals.transfers, "transfer", "transfers"), count_text(totals.operations).toStdString(),
                  for_number(totals.operations, "operation", "operations"), count_text(totals.bytes).toStdString(),
                  for_number(totals.bytes, "byte", "bytes"));
    for (const auto& [block, operations] : totals.operations_by_block) {
      tip += format("\n  {} {} with blocks of {}", count_text(operations).toStdString(),
                    for_number(operations, "operation", "operations"), size_text(block, look.units()).toStdString());
    }
    tip += format("\nbandwidth = bytes / predicted time, start-up of every operation included = {}",
                  rate_text(bandwidth_of(plan, *facts, totals)).toStdString());
  }
  if (const auto work = step->plan->counts.compute.find(statement); work != step->plan->counts.compute.end()) {
    tip += format("\n{} {} on all cores, {} on the busiest", count_text(work->second.points).toStdString(),
                  for_number(work->second.points, "point", "points"),
                  count_text(work->second.points_of_busiest).toStdString());
  }
  if (const auto filled = step->plan->counts.fill.find(statement); filled != step->plan->counts.fill.end()) {
    tip += format("\n{} {} on all cores in {} {}, {} on the busiest", count_text(filled->second.elements).toStdString(),
                  for_number(filled->second.elements, "element", "elements"),
                  count_text(filled->second.executions).toStdString(),
                  for_number(filled->second.executions, "fill", "fills"),
                  count_text(filled->second.elements_of_busiest).toStdString());
  }
  if (facts->inclusive_cycles > 0) {
    tip += format("\n{} of the group's {} ({})", time_text(facts->inclusive_cycles, clock, look.units()).toStdString(),
                  full_time_text(step->cycles, clock, look.units()).toStdString(),
                  percent_text(share_of(facts->inclusive_cycles, step->cycles)).toStdString());
  }
  return tip;
}

CodeText nest_code(const LoadedPlan& plan, std::optional<StepId> index, bool declarations, const Look& look) {
  CodeText code;
  code.gutter_titles = {QStringLiteral("#"), QStringLiteral("times"), QStringLiteral("bytes"), QStringLiteral("block"),
                        QStringLiteral("bandwidth")};
  code.has_badges = true;
  code.has_costs = true;
  const StepFacts* step = plan.step(index);
  if (step == nullptr || step->plan == nullptr) return code;
  const Theme& theme = look.theme();
  const QStringList lines = qt(step->text.text).split(QLatin1Char('\n'));
  std::vector<std::optional<StatementId>> statement_of(static_cast<std::size_t>(lines.size()));
  int first = static_cast<int>(lines.size());
  for (const StatementFacts& facts : step->statements) {
    if (facts.statement == nullptr) continue;
    statement_of[static_cast<std::size_t>(facts.text_line)] = facts.statement->id;
    first = std::min(first, facts.text_line);
  }
  const std::map<StatementId, QString> reasons = reasons_by_statement(plan, *step);
  constexpr qsizetype number_width = 7;  // of the statement's number, which has a column of its own here
  for (int i = declarations ? 0 : first; i < lines.size(); ++i) {
    const bool numbered = i >= first && lines[i].size() > number_width;
    if (!numbered && i >= first && !declarations) break;  // the braces that close body and nest
    if (i + 1 == lines.size() && lines[i].isEmpty()) break;
    CodeLine line;
    line.gutter.resize(code.gutter_titles.size());
    line.runs = highlight_nest(numbered ? lines[i].mid(number_width) : lines[i], theme);
    const std::optional<StatementId> id = statement_of[static_cast<std::size_t>(i)];
    if (const StatementFacts* facts = step->find(id)) {
      line.subject = statement_subject(index, *id);
      line.gutter[0] = QString::number(id->index());
      line.own = share_of(facts->own_cycles, step->cycles);
      line.inclusive = share_of(facts->inclusive_cycles, step->cycles);
      line.buffers = buffers_of(*facts->statement, step->plan->nest);
      line.tip = statement_tip(plan, index, *id, look);
      if (const auto why = reasons.find(*id); why != reasons.end()) line.tip += QStringLiteral("\n\n") + why->second;
      fill_dma(plan, *step, *facts, look, line);
    }
    code.lines.push_back(std::move(line));
  }
  return code;
}

CodeText emitted_code(const LoadedPlan& plan, std::optional<StepId> index, const Theme& theme) {
  CodeText code;
  code.gutter_titles = {QStringLiteral("line")};
  const StepFacts* step = plan.step(index);
  if (step == nullptr || !step->file) return code;
  const EmittedFile& file = plan.compilation.emitted.files[static_cast<std::size_t>(*step->file)];
  const QStringList lines = qt(file.text).split(QLatin1Char('\n'));
  bool in_comment = false;
  for (const QString& text : lines) {
    CodeLine line;
    line.runs = highlight_c(text, in_comment, theme);
    line.gutter = {QString::number(code.lines.size() + 1)};
    code.lines.push_back(std::move(line));
  }
  if (!code.lines.empty() && lines.back().isEmpty()) code.lines.pop_back();
  for (const StatementFacts& facts : step->statements) {
    for (const int number : facts.code_lines) {
      if (number < 1 || static_cast<std::size_t>(number) > code.lines.size()) continue;
      CodeLine& line = code.lines[static_cast<std::size_t>(number - 1)];
      line.subject = statement_subject(index, facts.statement->id);
      line.buffers = buffers_of(*facts.statement, step->plan->nest);
    }
  }
  return code;
}

}  // namespace stowage::inspector
