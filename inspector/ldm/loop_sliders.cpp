// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/loop_sliders.h"

#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

namespace stowage::inspector {

LoopSliders::LoopSliders(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 0);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
}

QSlider* LoopSliders::add(const QString& name, const QString& tip, std::int64_t count,
                          const std::function<void(int)>& set) {
  constexpr int across = 2;  // a nest of eight loops would take the room of the picture
  const int number = grid_->count() / 3;
  const int row = number / across;
  const int column = number % across * 3;
  auto* title = new QLabel(name, rows_);
  auto* slider = new QSlider(Qt::Horizontal, rows_);
  auto* value = new QLabel(rows_);
  const auto most = static_cast<int>(std::min<std::int64_t>(count - 1, std::numeric_limits<int>::max()));
  slider->setRange(0, most);
  slider->setPageStep(std::max(1, most / 8));
  slider->setMinimumWidth(8 * fontMetrics().averageCharWidth());
  slider->setAccessibleName(tip);
  slider->setToolTip(tip);
  slider->setEnabled(most > 0);
  value->setMinimumWidth(value->fontMetrics().horizontalAdvance(tr("%1 of %2").arg(most).arg(count)));
  const auto show = [value, count](int at) { value->setText(tr("%1 of %2").arg(at).arg(count)); };
  show(0);
  grid_->addWidget(title, row, column);
  grid_->addWidget(slider, row, column + 1);
  grid_->addWidget(value, row, column + 2);
  grid_->setColumnStretch(column + 1, 1);
  connect(slider, &QSlider::valueChanged, this, [this, show, set](int at) {
    show(at);
    set(at);
    Q_EMIT moved();
  });
  return slider;
}

void LoopSliders::setStep(const StepFacts* step) {
  delete rows_;  // with everything in it
  rows_ = nullptr;
  core_ = nullptr;
  loops_.clear();
  loop_of_statement_.clear();
  position_ = {};
  if (step == nullptr || step->plan == nullptr) return;
  rows_ = new QWidget(this);
  grid_ = new QGridLayout(rows_);
  grid_->setContentsMargins(0, 0, 0, 0);
  const int cores = step->plan->nest.cores_used();
  if (cores > 1) {
    core_ = add(tr("core"), tr("Core whose LDM is shown"), cores, [this](int core) { position_.core = core; });
  }
  for (const LoopRange& loop : loops_of(*step)) {
    loop_of_statement_[loop.statement] = loops_[loop.name] =
        add(qt(loop.name), tr("Trip of the loop %1").arg(qt(loop.name)), loop.trips,
            [this, statement = loop.statement](int trip) { position_.trips[statement] = trip; });
  }
  layout()->addWidget(rows_);
}

void LoopSliders::setPosition(const LoopPosition& position) {
  if (position == position_) return;
  {
    // Each says that it has moved; the pictures are to be drawn once.
    const QSignalBlocker quiet(this);
    if (core_ != nullptr) core_->setValue(position.core);
    for (const auto& [statement, slider] : loop_of_statement_) {
      const auto trip = position.trips.find(statement);
      slider->setValue(trip == position.trips.end() ? 0 : static_cast<int>(trip->second));
    }
  }
  position_ = position;
  Q_EMIT moved();
}

QSlider* LoopSliders::loop(const std::string& name) const {
  const auto found = loops_.find(name);
  return found != loops_.end() ? found->second : nullptr;
}

}  // namespace stowage::inspector
