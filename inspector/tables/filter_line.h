// SPDX-License-Identifier: Apache-2.0
// A line that takes a regular expression and says when it is none.
#pragma once

#include <QLineEdit>
#include <QRegularExpression>

namespace stowage::inspector {

class FilterLine : public QLineEdit {
  Q_OBJECT
 public:
  explicit FilterLine(QWidget* parent = nullptr);
  /// Wide enough for an expression of some words.
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  /// A new expression, not case-sensitive; only valid ones.
  void patternChanged(const QRegularExpression& pattern);
  /// A sentence about the text, which is no expression.
  void refused(const QString& sentence);
  /// That sentence no longer holds.
  void accepted(const QString& sentence);

 private:
  void read(const QString& text);
  QString problem_;
};

/// Borders the line in the colour of errors, or no longer.
void mark_invalid(QLineEdit& line, bool invalid);

}  // namespace stowage::inspector
