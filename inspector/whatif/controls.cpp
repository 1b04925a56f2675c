// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/controls.h"

#include <QFormLayout>
#include <QGroupBox>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "inspector/look/wheel_guard.h"
#include "lowering/time/rates.h"

namespace stowage::inspector {

namespace {

int as_int(std::int64_t number) {
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, std::numeric_limits<int>::max()));
}

/// The nest as it was asked for, also where that cannot be: order and places that are fixed, as far as they name loops
/// that there are.
GroupControls asked_nest(GroupControls controls, const Schedule& fixed) {
  if (fixed.order && fixed.order->size() == controls.loops.size()) {
    std::vector<LoopControl> loops;
    for (const std::string& name : *fixed.order) {
      for (const LoopControl& loop : controls.loops) {
        if (loop.name == name) loops.push_back(loop);
      }
    }
    if (loops.size() == controls.loops.size()) controls.loops = std::move(loops);
  }
  for (PlaceControl& place : controls.places) {
    const auto asked = fixed.dma.find(place.tensor);
    if (asked == fixed.dma.end()) continue;
    const bool there =
        asked->second.empty() || std::any_of(controls.loops.begin(), controls.loops.end(),
                                             [&](const LoopControl& loop) { return loop.name == asked->second; });
    if (there) place.loop = asked->second;
  }
  return controls;
}

/// A number grouped by narrow spaces, as all others are.
class CountBox : public QSpinBox {
 public:
  using QSpinBox::QSpinBox;

 protected:
  [[nodiscard]] QString textFromValue(int value) const override { return count_text(value); }
  [[nodiscard]] int valueFromText(const QString& text) const override { return digits_of(text).toInt(); }
  QValidator::State validate(QString& text, int&) const override {
    const QString digits = digits_of(text);
    if (digits.isEmpty()) return QValidator::Intermediate;
    bool read = false;
    const int value = digits.toInt(&read);
    if (!read || value > maximum()) return QValidator::Invalid;
    return value < minimum() ? QValidator::Intermediate : QValidator::Acceptable;
  }

 private:
  /// Without spaces; empty where there is anything else.
  static QString digits_of(const QString& text) {
    QString digits;
    for (const QChar c : text) {
      if (c.isDigit()) digits += c;
      if (!c.isDigit() && !c.isSpace()) return {};
    }
    return digits;
  }
};

template <class Box, class Value>
void put(Box* box, Value value) {
  const QSignalBlocker blocker(box);
  box->setValue(value);
}

}  // namespace

WhatIfControls::WhatIfControls(WhatIfSession& session, const Look& look, QWidget* parent)
    : QWidget(parent),
      session_(session),
      grid_(nullptr),
      cores_lock_(new QCheckBox(tr("keep this split over the cores"), this)),
      order_lock_(new QCheckBox(tr("keep this order of the loops"), this)),
      nest_(new NestList(look, this)),
      transfers_(new ChoiceGrid(ChoiceGrid::Of::tensors, session, this)),
      form_(new ChoiceGrid(ChoiceGrid::Of::group, session, this)),
      groups_(new GroupsList(session, look, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  auto* iterators = new QGroupBox(tr("Iterators: parts, and elements in LDM"), this);
  auto* inside = new QVBoxLayout(iterators);
  grid_ = new QGridLayout;
  grid_->setColumnStretch(3, 1);
  inside->addLayout(grid_);
  inside->addWidget(cores_lock_);
  layout->addWidget(iterators);
  auto* nest = new QGroupBox(tr("Loops and transfers (drag, Ctrl+Up, Ctrl+Down)"), this);
  auto* nest_layout = new QVBoxLayout(nest);
  nest_layout->addWidget(nest_);
  nest_layout->addWidget(order_lock_);
  layout->addWidget(nest);
  auto* transfers = new QGroupBox(tr("Transfers: slots, sharing, what stays"), this);
  (new QVBoxLayout(transfers))->addWidget(transfers_);
  layout->addWidget(transfers);
  auto* form = new QGroupBox(tr("Form and launch"), this);
  (new QVBoxLayout(form))->addWidget(form_);
  layout->addWidget(form);
  auto* groups = new QGroupBox(tr("Other groups (double click, Enter)"), this);
  auto* groups_layout = new QVBoxLayout(groups);
  groups_layout->addWidget(groups_);
  layout->addWidget(groups);
  for (QGroupBox* const box : {transfers, form}) box->hide();  // until there is something to choose
  adjusting_ = {iterators, order_lock_, transfers, form};
  makeTarget(this);
  layout->addStretch();
  cores_lock_->setToolTip(tr("Ticked: fixed. Otherwise the planner splits as it sees fit."));
  order_lock_->setToolTip(tr("Ticked: fixed. Otherwise the planner orders the loops."));

  connect(cores_lock_, &QCheckBox::toggled, this, [this](bool fixed) {
    Schedule schedule = session_.fixed();
    schedule.parallel.reset();
    if (fixed && session_.legal() != nullptr) schedule.parallel = session_.legal()->plan().schedule.parallel;
    session_.fix(std::move(schedule), fixed ? tr("keep the split") : tr("free the split"));
  });
  connect(order_lock_, &QCheckBox::toggled, this, [this](bool fixed) {
    Schedule schedule = session_.fixed();
    schedule.order.reset();
    if (fixed && session_.legal() != nullptr) schedule.order = session_.legal()->plan().schedule.order;
    session_.fix(std::move(schedule), fixed ? tr("keep the loop order") : tr("free the loop order"));
  });
  connect(&session_, &WhatIfSession::priced, groups_, &GroupsList::refresh);
  connect(nest_, &NestList::moved, this, [this](std::size_t from, std::size_t to) {
    session_.fix(with_row_moved(session_.fixed(), asked_nest(controls(), session_.fixed()), from, to),
                 tr("rearrange the nest"));
    refresh();
  });
  connect(nest_, &NestList::stepped, this, [this](std::size_t row, int direction) {
    session_.fix(with_row_stepped(session_.fixed(), asked_nest(controls(), session_.fixed()), row, direction),
                 tr("rearrange the nest"));
  });
  connect(nest_, &NestList::tickChanged, this, [this](const std::string& tensor, bool fixed) {
    Schedule schedule = session_.fixed();
    schedule.dma.erase(tensor);
    if (fixed && session_.legal() != nullptr) schedule.dma[tensor] = session_.legal()->plan().schedule.dma.at(tensor);
    session_.fix(std::move(schedule),
                 (fixed ? tr("keep the transfer of %1") : tr("free the transfer of %1")).arg(qt(tensor)));
  });
}

void WhatIfControls::makeTarget(QWidget* parent) {
  target_ = new QGroupBox(tr("Target (for all groups with Plan network)"), parent);
  auto* form = new QFormLayout(target_);
  constexpr int maximum = std::numeric_limits<int>::max();
  const auto add = [&](auto* field, const char* key, const QString& title, auto change) {
    field->setKeyboardTracking(false);
    guard_wheel(field);
    field->setAccessibleName(title);
    field->setToolTip(tr("target.%1").arg(QLatin1String(key)));
    form->addRow(title, field);
    connect(field, &std::remove_pointer_t<decltype(field)>::valueChanged, this, change);
    return field;
  };
  const auto whole = [&](const char* key, const QString& title, int low, int step) {
    auto* field = new CountBox(target_);
    field->setRange(low, maximum);
    field->setSingleStep(step);
    return add(field, key, title, [this, key, title](int value) {
      session_.setTarget(key, std::to_string(value), tr("%1 %2").arg(title).arg(value));
    });
  };
  ldm_bytes_ = whole("ldm.bytes", tr("LDM bytes"), 1024, 1024);
  reserved_ = whole("ldm.reserved", tr("reserved bytes"), 0, 512);
  cores_ = whole("cores.count", tr("cores"), 1, 1);
  startup_ = new QDoubleSpinBox(target_);
  startup_->setRange(0, 1e9);
  startup_->setDecimals(1);
  startup_->setSingleStep(10);
  add(startup_, "dma.startup_cycles", tr("DMA start-up cycles"), [this](double value) {
    session_.setTarget("dma.startup_cycles", fmt::format("{:.1f}", value), tr("start-up %1").arg(value));
  });
  bandwidth_ = new QSpinBox(target_);
  bandwidth_->setRange(1, 10000);
  bandwidth_->setSingleStep(10);
  bandwidth_->setSuffix(tr(" %"));
  add(bandwidth_, "dma.bandwidth", tr("DMA bandwidth"), [this](int value) {
    if (!session_.base()) return;
    session_.setTarget("dma.bandwidth",
                       value == 100 ? "" : scaled_bandwidth(session_.base()->program().target, value / 100.0),
                       tr("bandwidth %1 %").arg(value));
  });
  qobject_cast<QVBoxLayout*>(layout())->addWidget(target_);
}

const GroupControls& WhatIfControls::controls() const {
  static const GroupControls none;
  return session_.legal() != nullptr ? session_.legal()->controls : none;
}

void WhatIfControls::setBuffer(const std::string& iterator, std::int64_t size, int stroke) {
  session_.fix(with_buffer(session_.fixed(), controls(), iterator, size),
               tr("buffer %1 by %2").arg(qt(iterator)).arg(size), stroke);
}

void WhatIfControls::makeRows(const GroupControls& controls) {
  delete rows_parent_;  // with everything in it
  rows_parent_ = new QWidget(this);
  rows_.clear();
  auto* grid = new QGridLayout(rows_parent_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(2, 1);
  const auto head = [&](int column, const QString& text) {
    grid->addWidget(new QLabel(text, rows_parent_), 0, column);
  };
  head(1, tr("parts"));
  head(2, tr("in LDM"));
  head(4, tr("fixed"));
  int line = 1;
  for (const IteratorControl& control : controls.iterators) {
    const std::string name = control.name;
    IteratorRow row;
    row.name = new QLabel(rows_parent_);
    row.slider = new QSlider(Qt::Horizontal, rows_parent_);
    row.buffer = new CountBox(rows_parent_);
    row.lock = new QCheckBox(rows_parent_);
    row.buffer->setKeyboardTracking(false);
    guard_wheel(row.buffer);
    guard_wheel(row.slider);
    row.buffer->setAccessibleName(tr("elements of %1 in LDM").arg(qt(name)));
    row.slider->setAccessibleName(row.buffer->accessibleName());
    row.lock->setAccessibleName(tr("keep the buffer size of %1").arg(qt(name)));
    row.lock->setToolTip(tr("Ticked: fixed. Otherwise the planner chooses the size."));
    row.slider->setMinimumWidth(7 * fontMetrics().averageCharWidth());
    row.name->setToolTip(control.spatial ? tr("%1 iterates over the output").arg(qt(name))
                                         : tr("%1 is a reduction and cannot be split over cores").arg(qt(name)));
    if (control.spatial) {
      row.parts = new QSpinBox(rows_parent_);
      row.parts->setKeyboardTracking(false);
      guard_wheel(row.parts);
      row.parts->setRange(1, as_int(control.extent));
      row.parts->setAccessibleName(tr("parts of %1 over the cores").arg(qt(name)));
      grid->addWidget(row.parts, line, 1);
      connect(row.parts, &QSpinBox::valueChanged, this, [this, name](int parts) {
        session_.fix(with_parts(session_.fixed(), this->controls(), name, parts),
                     tr("split %1 into %2").arg(qt(name)).arg(parts));
      });
    }
    grid->addWidget(row.name, line, 0);
    grid->addWidget(row.slider, line, 2);
    grid->addWidget(row.buffer, line, 3);
    grid->addWidget(row.lock, line, 4);
    connect(row.buffer, &QSpinBox::valueChanged, this, [this, name](int size) { setBuffer(name, size, 0); });
    connect(row.slider, &QSlider::sliderPressed, this, [this] { ++stroke_; });
    connect(row.slider, &QSlider::valueChanged, this, [this, name, slider = row.slider](int size) {
      setBuffer(name, size, slider->isSliderDown() ? stroke_ : 0);
    });
    connect(row.lock, &QCheckBox::toggled, this, [this, name](bool fixed) {
      Schedule schedule = session_.fixed();
      schedule.buffer.erase(name);
      if (fixed && session_.legal() != nullptr)
        schedule.buffer[name] = session_.legal()->plan().schedule.buffer.at(name);
      session_.fix(std::move(schedule),
                   (fixed ? tr("keep the buffer of %1") : tr("free the buffer of %1")).arg(qt(name)));
    });
    rows_[name] = row;
    ++line;
  }
  grid_->addWidget(rows_parent_, 0, 0);
}

void WhatIfControls::refresh() {
  setEnabled(session_.step().has_value());
  groups_->refresh();
  for (QWidget* box : adjusting_) {
    // What is disabled hands the keyboard on to what comes next, and the form would scroll there.
    if (!session_.adjustable() && box->isAncestorOf(focusWidget())) nest_->setFocus(Qt::OtherFocusReason);
    box->setEnabled(session_.adjustable());
  }
  if (session_.base()) refreshTarget();
  if (session_.adjustable()) {
    refreshGroup();
  } else {
    nest_->freeze();
  }
}

void WhatIfControls::refreshGroup() {
  const GroupControls& now = controls();
  const Schedule fixed = session_.fixed();
  const bool same_rows = rows_.size() == now.iterators.size() &&
                         std::all_of(now.iterators.begin(), now.iterators.end(), [&](const IteratorControl& control) {
                           const auto row = rows_.find(control.name);
                           return row != rows_.end() && (row->second.parts != nullptr) == control.spatial;
                         });
  if (!same_rows) makeRows(now);
  for (const IteratorControl& control : now.iterators) {
    const IteratorRow& row = rows_.at(control.name);
    const auto wanted = fixed.buffer.find(control.name);
    const std::int64_t size = wanted != fixed.buffer.end() ? wanted->second : control.buffer;
    row.name->setText(tr("%1 of %2").arg(qt(control.name), count_text(control.extent)));
    {
      // Up to the whole iterator, so that what does not fit on one core is refused with its reason.
      const QSignalBlocker box(row.buffer);
      const QSignalBlocker slider(row.slider);
      row.buffer->setRange(1, as_int(std::max(control.extent, size)));
      row.slider->setRange(1, as_int(std::max(control.range, size)));
      row.buffer->setValue(as_int(size));
      row.slider->setValue(as_int(size));
    }
    row.buffer->setToolTip(tr("1 to %1, its range on one core").arg(count_text(control.range)));
    if (row.parts != nullptr) {
      std::int64_t parts = control.parts;
      if (fixed.parallel) {
        parts = 1;
        for (const ParallelSplit& split : *fixed.parallel) parts = split.iterator == control.name ? split.parts : parts;
      }
      const QSignalBlocker blocker(row.parts);
      row.parts->setRange(1, as_int(control.extent));
      row.parts->setValue(as_int(parts));
    }
    const QSignalBlocker blocker(row.lock);
    row.lock->setChecked(wanted != fixed.buffer.end());
  }
  const QSignalBlocker cores(cores_lock_);
  const QSignalBlocker order(order_lock_);
  cores_lock_->setChecked(fixed.parallel.has_value());
  order_lock_->setChecked(fixed.order.has_value());
  nest_->setNest(asked_nest(now, fixed), fixed);
  for (ChoiceGrid* grid : {transfers_, form_}) {
    grid->refresh(now, fixed);
    grid->parentWidget()->setVisible(!grid->isEmpty());
  }
}

void WhatIfControls::refreshTarget() {
  const Target& base = session_.base()->program().target;
  const bool has_keys = base.family == athread_family;  // the fields set keys of Athread's machines
  target_->setVisible(has_keys);
  if (!has_keys) return;
  Diagnostics ignored;  // the result tells of them
  const auto edited = edited_target(session_.base()->compilation, session_.edit(), ignored);
  const Target& target = edited ? *edited : base;
  put(ldm_bytes_, as_int(target.ldm.bytes));
  put(reserved_, as_int(target.ldm.reserved));
  put(cores_, target.cores.count);
  put(startup_, target.dma.startup_cycles);
  const double factor = peak_dma_bandwidth(target) / peak_dma_bandwidth(base);
  put(bandwidth_, static_cast<int>(std::lround(factor * 100)));
}

QSpinBox* WhatIfControls::bufferBox(const std::string& iterator) {
  const auto row = rows_.find(iterator);
  return row != rows_.end() ? row->second.buffer : nullptr;
}
QSpinBox* WhatIfControls::partsBox(const std::string& iterator) {
  const auto row = rows_.find(iterator);
  return row != rows_.end() ? row->second.parts : nullptr;
}
QCheckBox* WhatIfControls::bufferLock(const std::string& iterator) {
  const auto row = rows_.find(iterator);
  return row != rows_.end() ? row->second.lock : nullptr;
}

QComboBox* WhatIfControls::choiceBox(ChosenPart part, const std::string& tensor) {
  QComboBox* const of_tensor = transfers_->box(part, tensor);
  return of_tensor != nullptr ? of_tensor : form_->box(part, tensor);
}

}  // namespace stowage::inspector
