// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/ldm_pane.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "inspector/ldm/ldm_map.h"
#include "inspector/ldm/regions.h"

namespace stowage::inspector {

LdmPane::LdmPane(const PaneContext& context)
    : Pane(context),
      split_(new QSplitter(Qt::Vertical, this)),
      scratchpad_(new DrawingView(look(), this)),
      lower_(new QTabWidget(this)),
      sliders_(new LoopSliders(this)),
      regions_(new DrawingView(look(), this)),
      memory_(new DrawingView(look(), this)) {
  auto* held = new QWidget(this);
  auto* held_layout = new QVBoxLayout(held);
  held_layout->setContentsMargins(0, 0, 0, 0);
  held_layout->setSpacing(0);
  held_layout->addWidget(sliders_);
  held_layout->addWidget(regions_, 1);
  lower_->setDocumentMode(true);
  lower_->addTab(held, tr("Regions of the tensors"));
  lower_->addTab(memory_, tr("Main memory"));
  split_->setChildrenCollapsible(true);
  split_->addWidget(scratchpad_);
  split_->addWidget(lower_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split_);
  scratchpad_->setAccessibleName(tr("LDM map"));
  regions_->setAccessibleName(tr("Regions that the buffers hold of their tensors"));
  memory_->setAccessibleName(tr("Main memory map"));
  scratchpad_->setBuilder([this](QSizeF room) {
    if (!plan()) return Drawing();
    const bool has_nest = step() != nullptr && step()->plan != nullptr;
    return has_nest ? ldm_map(*plan(), subject().step, look(), room, cursor()) : ldm_peaks(*plan(), look(), room);
  });
  regions_->setBuilder([this](QSizeF room) {
    return plan() ? regions_drawing(*plan(), subject().step, sliders_->position(), look(), room) : Drawing();
  });
  memory_->setBuilder([this](QSizeF room) { return plan() ? dram_map(*plan(), subject(), look(), room) : Drawing(); });
  connect(sliders_, &LoopSliders::moved, this, [this] {
    regions_->rebuild();
    regions_->setLit(subject(), selection().hovered());
  });
  connect(split_, &QSplitter::splitterMoved, this, [this] { by_hand_ = true; });
  for (DrawingView* view : {scratchpad_, regions_, memory_}) {
    connect(view, &DrawingView::chosen, &selection(), &Selection::select);
    connect(view, &DrawingView::hovered, &selection(), &Selection::hover);
  }
}

const TimeCursor* LdmPane::cursor() const {
  const auto& cursor = selection().timeCursor();
  return cursor && cursor->step == subject().step ? &*cursor : nullptr;
}

void LdmPane::followCursor() {
  scratchpad_->rebuild();
  if (const TimeCursor* const now = cursor()) sliders_->setPosition({now->core, now->point.trips});
}

/// The scratchpad takes what it needs to be seen whole, and five eighths at least; below some room stays.
void LdmPane::divide() {
  if (by_hand_) return;
  const int all = split_->height() - split_->handleWidth();
  const int least_below = look().lines(7);
  const double needed = std::ceil(scratchpad_->build({static_cast<double>(width()), 0}).size.height());
  const int above = std::clamp(std::max(all * 5 / 8, static_cast<int>(needed)), 0, std::max(0, all - least_below));
  split_->setSizes({above, all - above});
}

void LdmPane::resizeEvent(QResizeEvent* event) {
  Pane::resizeEvent(event);
  divide();
}

void LdmPane::refresh(unsigned changes) {
  if ((changes & (plan_changed | look_changed)) != 0 || subject().step != shown_step_) {
    if ((changes & plan_changed) != 0 || subject().step != shown_step_) sliders_->setStep(step());
    shown_step_ = subject().step;
    divide();
    scratchpad_->rebuild();
    regions_->rebuild();
    memory_->rebuild();
    if (cursor() != nullptr) followCursor();
  } else if ((changes & time_changed) != 0) {
    followCursor();
  }
  for (DrawingView* view : {scratchpad_, regions_, memory_}) view->setLit(subject(), selection().hovered());
}

std::vector<Drawing> LdmPane::pages(QSizeF room) {
  const double needed = scratchpad_->build({room.width(), 0}).size.height();
  return {scratchpad_->build({room.width(), std::max(room.height() * 0.5, needed)}), regions_->build({room.width(), 0}),
          memory_->build({room.width(), room.height() * 0.3})};
}

QSizeF LdmPane::exportSize(QSizeF room) {
  export_height_ = room.height();
  QSizeF size(0, 0);
  for (const Drawing& page : pages(room)) {
    size = QSizeF(std::max(size.width(), page.size.width()), size.height() + page.size.height());
  }
  return size;
}

void LdmPane::draw(QPainter& painter, QSizeF size) {
  // The map of the scratchpad takes what the others leave.
  std::vector<Drawing> all = pages({size.width(), export_height_});
  double others = 0;
  for (std::size_t i = 1; i < all.size(); ++i) others += all[i].size.height();
  all.front() = scratchpad_->build({size.width(), size.height() - others});
  for (const Drawing& page : all) {
    paint(painter, page);
    paint_lit(painter, page, subject(), {}, theme());
    painter.translate(0, page.size.height());
  }
}

}  // namespace stowage::inspector
