// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/loops_pane.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

LoopsPane::LoopsPane(const PaneContext& context)
    : Pane(context),
      title_(new QLabel(this)),
      legend_(new DrawingView(look(), this)),
      declarations_(new QCheckBox(tr("Declarations"), this)),
      show_source_(new QCheckBox(tr("Emitted C"), this)),
      split_(new QSplitter(Qt::Horizontal, this)),
      nest_(new CodeView(look(), this)),
      source_(new CodeView(look(), this)) {
  declarations_->setToolTip(tr("Show tensors, stages and buffers of the nest before its statements"));
  show_source_->setToolTip(tr("Show the compute cores' C beside the nest; matching lines light up together"));
  show_source_->setChecked(true);
  title_->setTextFormat(Qt::PlainText);
  title_->setMinimumWidth(40);
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  nest_->setAccessibleName(tr("Loop nest"));
  source_->setAccessibleName(tr("Emitted C"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 3, 8, 3);
  bar->addWidget(title_, 1);
  bar->addWidget(declarations_);
  bar->addWidget(show_source_);
  split_->setChildrenCollapsible(false);
  split_->addWidget(nest_);
  split_->addWidget(source_);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(split_, 1);
  layout->addWidget(legend_);
  legend_->setAccessibleName(tr("Legend"));
  legend_->setFocusPolicy(Qt::NoFocus);
  legend_->setBuilder([this](QSizeF room) { return legend(room.width(), false); });
  legend_->setToolTip(numbersText());
  for (CodeView* view : {nest_, source_}) {
    connect(view, &CodeView::chosen, &selection(), &Selection::select);
    connect(view, &CodeView::hovered, &selection(), &Selection::hover);
  }
  connect(declarations_, &QCheckBox::toggled, this, [this] { refresh(plan_changed); });
  connect(show_source_, &QCheckBox::toggled, source_, &QWidget::setVisible);
}

void LoopsPane::resizeEvent(QResizeEvent* event) {
  Pane::resizeEvent(event);
  // Side by side needs room for the gutter, the nest and the C; in less the C stands below.
  constexpr int ems_side_by_side = 100;
  const bool wide = width() > ems_side_by_side * QFontMetrics(look().codeFont()).horizontalAdvance(QLatin1Char('m'));
  split_->setOrientation(wide ? Qt::Horizontal : Qt::Vertical);
  fitLegend();
}

Drawing LoopsPane::legend(double width, bool notes) const {
  Drawing drawing;
  drawing.size = {0, 0};
  if (nest_->code().lines.empty()) return drawing;
  const QFont font = look().smallFont();
  const std::vector<LegendEntry> entries = {{tr("get: memory to LDM"), theme().state(BufferState::filling)},
                                            {tr("put: LDM to memory"), theme().state(BufferState::draining)},
                                            {tr("time of the line itself"), theme().heat(0.8)},
                                            {tr("outline: with everything inside"), QColor()}};
  double height = add_legend(drawing, {8, 3}, width - 8, entries, theme().muted, theme().heat(0.8), font);
  const QFontMetricsF metrics(font);
  for (const QString& line : notes ? wrapped(numbersText(), font, width - 16) : QStringList()) {
    drawing.text({8, height + 3, width - 16, metrics.height() + 2}, line, theme().muted, font);
    height += metrics.height() + 1;
  }
  drawing.size = {width, height + 7};
  return drawing;
}

QString LoopsPane::numbersText() {
  return tr(
      "times and bytes are sums over all cores; bandwidth is bytes over the whole time of the transfers, their "
      "start-up included");
}

void LoopsPane::fitLegend() {
  legend_->setFixedHeight(static_cast<int>(std::ceil(legend(width(), false).size.height())));
  legend_->rebuild();
}

void LoopsPane::refresh(unsigned changes) {
  const auto index = subject().step;
  if ((changes & (plan_changed | look_changed)) != 0 || index != shown_step_) {
    shown_step_ = index;
    const bool has_nest = step() != nullptr && step()->plan != nullptr;
    nest_->setCode(has_nest ? nest_code(*plan(), index, declarations_->isChecked(), look()) : CodeText());
    source_->setCode(has_nest ? emitted_code(*plan(), index, theme()) : CodeText());
    if (has_nest) {
      const LoopNest& nest = step()->plan->nest;
      title_->setText(tr("%1 · %2 · LDM %3 · %4")
                          .arg(qt(step()->step->group.name),
                               nest.cores_used() == 1 ? tr("one core") : tr("%1 cores").arg(nest.cores_used()),
                               size_text(nest.ldm_bytes, look().units()),
                               full_time_text(step()->cycles, plan()->program().target.clock_hz, look().units())));
    } else if (step() != nullptr) {
      title_->setText(tr("%1 is %2").arg(qt(step()->step->group.name), qt(step()->step->kind().without_nest)));
    } else {
      title_->setText(plan() ? tr("Choose a group to see its loop nest") : tr("Nothing is open"));
    }
    title_->setToolTip(title_->text());
    fitLegend();
  }
  nest_->setLit(subject(), selection().hovered());
  source_->setLit(subject(), selection().hovered());
}

QSizeF LoopsPane::exportSize(QSizeF) {
  const auto size = [&](const CodeView& view) {
    const CodeLayout layout = layout_of(view.code(), look());
    return QSizeF(layout.width,
                  layout.header_height + layout.line_height * static_cast<double>(view.code().lines.size()));
  };
  const QFontMetricsF font(look().titleFont());
  const double title = font.height() + 12;
  QSizeF whole = size(*nest_);
  if (show_source_->isChecked()) {
    const QSizeF source = size(*source_);
    whole = {whole.width() + 12 + source.width(), std::max(whole.height(), source.height())};
  }
  // Of what has no nest the title is all there is.
  whole.setWidth(std::max(whole.width(), font.horizontalAdvance(title_->text()) + 17));
  return {whole.width(), whole.height() + title + legend(whole.width(), true).size.height()};
}

void LoopsPane::draw(QPainter& painter, QSizeF size) {
  const QFont font = look().titleFont();
  const double title = QFontMetricsF(font).height() + 12;
  painter.setFont(font);
  painter.setPen(theme().text);
  painter.drawText(QRectF(8, 0, size.width() - 16, title), Qt::AlignLeft | Qt::AlignVCenter, title_->text());
  painter.translate(0, title);
  const Drawing key = legend(size.width(), true);
  paint(painter, key);
  painter.translate(0, key.size.height());
  const auto draw_code = [&](const CodeView& view, double width) {
    if (view.code().lines.empty()) return;
    const CodeLayout layout = layout_of(view.code(), look());
    paint_code_header(painter, view.code(), layout, look(), width);
    painter.save();
    painter.translate(0, layout.header_height);
    paint_code(painter, view.code(), layout, look(), 0, static_cast<int>(view.code().lines.size()), subject(), {},
               width);
    painter.restore();
  };
  const double nest_width = layout_of(nest_->code(), look()).width;
  draw_code(*nest_, show_source_->isChecked() ? nest_width : size.width());
  if (!show_source_->isChecked()) return;
  painter.translate(nest_width + 12, 0);
  draw_code(*source_, size.width() - nest_width - 12);
}

}  // namespace stowage::inspector
