// SPDX-License-Identifier: Apache-2.0
#include "inspector/tables/filter_line.h"

#include <QStyle>
#include <utility>

namespace stowage::inspector {

FilterLine::FilterLine(QWidget* parent) : QLineEdit(parent) {
  setPlaceholderText(tr("Filter (regular expression)"));
  setClearButtonEnabled(true);
  connect(this, &QLineEdit::textChanged, this, &FilterLine::read);
}

QSize FilterLine::sizeHint() const {
  constexpr int characters = 36;
  return {characters * fontMetrics().averageCharWidth(), QLineEdit::sizeHint().height()};
}

void FilterLine::read(const QString& text) {
  const QRegularExpression pattern(text, QRegularExpression::CaseInsensitiveOption);
  QString problem;
  if (!pattern.isValid()) problem = tr("The filter is no regular expression: %1").arg(pattern.errorString());
  mark_invalid(*this, !pattern.isValid());
  const QString before = std::exchange(problem_, problem);
  if (!before.isEmpty() && before != problem) Q_EMIT accepted(before);
  if (problem.isEmpty()) {
    Q_EMIT patternChanged(pattern);
  } else {
    Q_EMIT refused(problem);
  }
}

void mark_invalid(QLineEdit& line, bool invalid) {
  constexpr const char* property = "invalid";  // the application's style sheet asks for it
  if (line.property(property).toBool() == invalid) return;
  line.setProperty(property, invalid);
  line.style()->unpolish(&line);
  line.style()->polish(&line);
}

}  // namespace stowage::inspector
