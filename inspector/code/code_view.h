// SPDX-License-Identifier: Apache-2.0
// Shows code with its gutter; lines that stand for what is chosen are lit, and can be chosen by mouse and arrow keys.
#pragma once

#include <QAbstractScrollArea>

#include "inspector/code/code_text.h"

namespace stowage::inspector {

/// Where the columns stand, for a text and fonts.
struct CodeLayout {
  double line_height = 0;
  double header_height = 0;
  std::vector<double> gutter_left;
  std::vector<double> gutter_width;
  double badge_left = 0;
  double badge_width = 0;
  double cost_left = 0;
  double cost_width = 0;
  double text_left = 0;
  double width = 0;  ///< of the widest line with everything before it
};
CodeLayout layout_of(const CodeText& code, const Look& look);

/// Draws the lines from `first` to before `last` with line `first` at y = 0.
void paint_code(QPainter& painter, const CodeText& code, const CodeLayout& layout, const Look& look, int first,
                int last, const Subject& chosen, const Subject& hovered, double width);
void paint_code_header(QPainter& painter, const CodeText& code, const CodeLayout& layout, const Look& look,
                       double width);
/// Whether a line is about a subject: its statement, or the buffer that is chosen.
bool is_lit(const CodeLine& line, const Subject& subject);

class CodeView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit CodeView(const Look& look, QWidget* parent = nullptr);
  /// Scrolled so that the first line that stands for something is seen.
  void setCode(CodeText code);
  void setLit(const Subject& chosen, const Subject& hovered);
  [[nodiscard]] const CodeText& code() const { return code_; }
  [[nodiscard]] const CodeLayout& layout() const { return layout_; }
  /// Middle of a line in the viewport.
  [[nodiscard]] QPoint pointOf(int line) const;
  void refreshLayout();

 Q_SIGNALS:
  void chosen(const Subject& subject);
  void hovered(const Subject& subject);

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] const CodeLine* lineAt(QPointF position) const;
  void showLit();

  const Look& look_;
  CodeText code_;
  CodeLayout layout_;
  Subject chosen_;
  Subject hovered_;
};

}  // namespace stowage::inspector
