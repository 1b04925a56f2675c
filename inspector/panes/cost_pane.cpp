// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/cost_pane.h"

#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "driver/backend/backend.h"
#include "inspector/cost/cost_chart.h"

namespace stowage::inspector {

CostPane::CostPane(const PaneContext& context)
    : Pane(context), terms_(new DrawingView(look(), this)), roofs_(new DrawingView(look(), this)) {
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(terms_);
  split->addWidget(roofs_);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split);
  terms_->setAccessibleName(tr("Terms of the estimate"));
  roofs_->setAccessibleName(tr("Roofline"));
  terms_->setBuilder([this](QSizeF room) {
    return plan() ? cost_terms(*plan(), subject().step, look(), room, comparison(), simulated_) : Drawing();
  });
  roofs_->setBuilder([this](QSizeF room) { return plan() ? roofline(*plan(), look(), room) : Drawing(); });
  for (DrawingView* view : {terms_, roofs_}) {
    connect(view, &DrawingView::chosen, &selection(), &Selection::select);
    connect(view, &DrawingView::hovered, &selection(), &Selection::hover);
  }
}

void CostPane::simulate() {
  if (simulated_plan_ == plan()) return;
  simulating_.cancel();
  simulated_plan_ = plan();
  simulated_ = {};
  if (!simulated_plan_ || simulated_plan_->compilation.backend == nullptr) return;
  simulating_.start(
      [this, of = simulated_plan_](const std::stop_token& stop, const ProgressSink& progress) -> Background::Deliver {
        Diagnostics ignored;  // of a family without a simulator the pane shows the closed form alone
        auto steps = backend_of(of->compilation).simulate(of->program(), DmaOrder::shared, {ignored, stop, progress});
        return [this, steps = steps ? *std::move(steps) : IdVector<StepId, SimulatedStep>()]() mutable {
          simulated_ = std::move(steps);
          terms_->rebuild();
        };
      });
}

void CostPane::refresh(unsigned changes) {
  simulate();
  const bool all = (changes & (plan_changed | comparison_changed | look_changed)) != 0;
  if (all || subject().step != shown_step_) terms_->rebuild();
  if (all) roofs_->rebuild();
  shown_step_ = subject().step;
  terms_->setLit(subject(), selection().hovered());
  roofs_->setLit(subject(), selection().hovered());
}

QSizeF CostPane::exportSize(QSizeF room) {
  const QSizeF upper = terms_->build({room.width(), room.height() / 2}).size;
  const QSizeF lower = roofs_->build({room.width(), room.height() / 2}).size;
  return {std::max(upper.width(), lower.width()), upper.height() + lower.height()};
}

void CostPane::draw(QPainter& painter, QSizeF size) {
  const Drawing upper = terms_->build({size.width(), 0});
  const Drawing lower = roofs_->build({size.width(), size.height() - upper.size.height()});
  paint(painter, upper);
  painter.translate(0, upper.size.height());
  paint(painter, lower);
  paint_lit(painter, lower, subject(), {}, theme());
}

}  // namespace stowage::inspector
