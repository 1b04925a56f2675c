// SPDX-License-Identifier: Apache-2.0
#include "inspector/check/checked_code.h"

#include <QStringList>
#include <map>
#include <optional>

namespace stowage::inspector {

namespace {

/// What stands in the gutter, by statement.
struct FaultMarks {
  QString mark;
  QString tip;
};

std::map<StatementId, FaultMarks> marks_of(const std::vector<Fault>& faults) {
  std::map<StatementId, FaultMarks> marks;
  const auto add = [&](const Execution& execution, const QString& mark, const QString& tip) {
    FaultMarks& at = marks[execution.statement];
    at.mark += (at.mark.isEmpty() ? QString() : QStringLiteral(" ")) + mark;
    at.tip += (at.tip.isEmpty() ? QString() : QStringLiteral("\n")) + tip;
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const FaultRow row = fault_row(faults, i);
    const QString tip = QStringLiteral("%1 [%2] %3\n%4").arg(row.number, row.family, row.what, row.where);
    if (faults[i].at) add(*faults[i].at, QStringLiteral("✖") + row.number, tip);
    if (faults[i].other) add(*faults[i].other, QStringLiteral("↔") + row.number, tip);
  }
  return marks;
}

/// The number that a statement's line begins with; nothing for a line that is none.
std::optional<StatementId> statement_of(const QString& line) {
  const QString text = line.trimmed();
  const qsizetype end = text.indexOf(QLatin1String("  "));
  bool read = false;
  const uint number = text.left(end).toUInt(&read);
  return end > 0 && read ? std::optional(StatementId(number)) : std::nullopt;
}

}  // namespace

FaultRow fault_row(const std::vector<Fault>& faults, std::size_t fault) {
  const Fault& one = faults[fault];
  FaultRow row;
  row.number = QString::number(fault + 1);
  row.family = qt(name_of(one.family));
  row.what = qt(one.what);
  if (one.at) row.where = qt(text_of(*one.at));
  if (one.other) row.other = qt(text_of(*one.other));
  return row;
}

CodeText checked_code(const std::string& text, std::optional<StepId> step, const std::vector<Fault>& faults,
                      const Theme& theme) {
  CodeText code;
  code.gutter_titles = {QStringLiteral("#"), QStringLiteral("fault")};
  const std::map<StatementId, FaultMarks> marks = marks_of(faults);
  constexpr qsizetype number_width = 7;  // of the statement's number, which has a column of its own here
  const QString body_indent(4, QLatin1Char(' '));
  bool in_body = false;
  const QStringList lines = qt(text).split(QLatin1Char('\n'));
  for (qsizetype i = 0; i < lines.size(); ++i) {
    if (i + 1 == lines.size() && lines[i].isEmpty()) break;
    CodeLine line;
    line.gutter.resize(code.gutter_titles.size());
    const std::optional<StatementId> statement = in_body ? statement_of(lines[i]) : std::nullopt;
    const QString shown =
        in_body && lines[i].size() > number_width ? body_indent + lines[i].mid(number_width) : lines[i];
    if (statement) {
      line.gutter[0] = QString::number(statement->index());
      line.subject = statement_subject(step, *statement);
      if (const auto mark = marks.find(*statement); mark != marks.end()) {
        line.gutter[1] = mark->second.mark;
        line.tip = mark->second.tip;
      }
    }
    in_body = in_body || lines[i].trimmed().startsWith(QLatin1String("body {"));
    line.runs = highlight_nest(shown, theme);
    code.lines.push_back(std::move(line));
  }
  return code;
}

}  // namespace stowage::inspector
