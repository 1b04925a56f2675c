// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/ldm_pane.h"

#include <QVBoxLayout>
#include <algorithm>

#include "inspector/ldm/ldm_map.h"

namespace stowage::inspector {

LdmPane::LdmPane(const PaneContext& context)
    : Pane(context), scratchpad_(new DrawingView(look(), this)), memory_(new DrawingView(look(), this)) {
  auto* split = new QSplitter(Qt::Vertical, this);
  split->setChildrenCollapsible(true);
  split->addWidget(scratchpad_);
  split->addWidget(memory_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split);
  scratchpad_->setAccessibleName(tr("LDM map"));
  memory_->setAccessibleName(tr("Main memory map"));
  scratchpad_->setBuilder([this](QSizeF room) {
    if (!plan()) return Drawing();
    const bool has_nest = step() != nullptr && step()->plan != nullptr;
    return has_nest ? ldm_map(*plan(), place().step, look(), room) : ldm_peaks(*plan(), look(), room);
  });
  memory_->setBuilder([this](QSizeF room) { return plan() ? dram_map(*plan(), place(), look(), room) : Drawing(); });
  for (DrawingView* view : {scratchpad_, memory_}) {
    connect(view, &DrawingView::chosen, &selection(), &Selection::select);
    connect(view, &DrawingView::hovered, &selection(), &Selection::hover);
  }
}

void LdmPane::refresh(unsigned changes) {
  if ((changes & (plan_changed | look_changed)) != 0 || place().step != shown_step_) {
    shown_step_ = place().step;
    scratchpad_->rebuild();
    memory_->rebuild();
  }
  scratchpad_->setLit(place(), selection().hovered());
  memory_->setLit(place(), selection().hovered());
}

QSizeF LdmPane::exportSize(QSizeF room) {
  const QSizeF upper = scratchpad_->build({room.width(), room.height() * 0.6}).size;
  const QSizeF lower = memory_->build({room.width(), room.height() * 0.4}).size;
  return {std::max(upper.width(), lower.width()), upper.height() + lower.height()};
}

void LdmPane::draw(QPainter& painter, QSizeF size) {
  const Drawing lower = memory_->build({size.width(), size.height() * 0.4});
  const Drawing upper = scratchpad_->build({size.width(), size.height() - lower.size.height()});
  paint(painter, upper);
  paint_lit(painter, upper, place(), {}, theme());
  painter.translate(0, upper.size.height());
  paint(painter, lower);
}

}  // namespace stowage::inspector
