// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/choice_grid.h"

#include <QAbstractItemView>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <optional>

#include "inspector/look/wheel_guard.h"

namespace stowage::inspector {

namespace {

constexpr std::array tensor_columns = {ChosenPart::slots, ChosenPart::sharing, ChosenPart::resident};

/// What a tensor's heads and boxes, and a group's, are about.
QString help(ChosenPart part) {
  switch (part) {
    case ChosenPart::slots:
      return ChoiceGrid::tr("Buffers of the tensor: with two, one is moved while the other is computed with");
    case ChosenPart::sharing: return ChoiceGrid::tr("The cores that load the input with one transfer");
    case ChosenPart::resident: return ChoiceGrid::tr("Iterators along which a core keeps all that it needs of it");
    case ChosenPart::lanes: return ChoiceGrid::tr("An iterator in blocks, along which vectors run");
    case ChosenPart::merged: return ChoiceGrid::tr("Neighbouring iterators taken as one");
    case ChosenPart::copied: return ChoiceGrid::tr("Inputs loaded without padding and copied in the LDM");
    case ChosenPart::folded:
      return ChoiceGrid::tr("Constants of one element as literals, and sums finished by what follows them");
    case ChosenPart::split: return ChoiceGrid::tr("A reduction whose parts the cores of a row sum");
    case ChosenPart::launch: return ChoiceGrid::tr("How the kernel begins");
  }
  return {};
}

bool is_same(const std::vector<ChoiceControl>& a, const std::vector<ChoiceControl>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ChoiceControl& one, const ChoiceControl& other) {
    return one.part == other.part && one.tensor == other.tensor;
  });
}

}  // namespace

ChoiceGrid::ChoiceGrid(Of of, WhatIfSession& session, QWidget* parent) : QWidget(parent), of_(of), session_(session) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
}

void ChoiceGrid::refresh(const GroupControls& controls, const Schedule& fixed) {
  std::vector<ChoiceControl> shown;
  for (const ChoiceControl& control : controls.choices) {
    if (control.tensor.empty() == (of_ == Of::group)) shown.push_back(control);
  }
  const bool same = rows_ != nullptr && is_same(shown, controls_);
  controls_ = std::move(shown);
  if (!same) make();
  for (const ChoiceControl& control : controls_) show(boxes_.at({control.tensor, control.part}), control, fixed);
}

void ChoiceGrid::make() {
  const auto focused =
      std::find_if(boxes_.begin(), boxes_.end(), [](const auto& box) { return box.second->hasFocus(); });
  const std::optional<Key> key = focused != boxes_.end() ? std::optional(focused->first) : std::nullopt;
  if (key) setFocus(Qt::OtherFocusReason);  // so that it does not go to what comes next, where the form would scroll
  delete rows_;
  boxes_.clear();
  rows_ = new QWidget(this);
  auto* grid = new QGridLayout(rows_);
  grid->setContentsMargins(0, 0, 0, 0);
  if (of_ == Of::tensors) {
    makeTensors(grid);
  } else {
    makeGroup(grid);
  }
  layout()->addWidget(rows_);
  if (key && boxes_.contains(*key)) boxes_.at(*key)->setFocus(Qt::OtherFocusReason);
}

void ChoiceGrid::makeTensors(QGridLayout* grid) {
  // A name above its boxes: side by side they would be wider than the form.
  int line = 0;
  std::string tensor;
  for (const ChoiceControl& control : controls_) {
    const auto part = std::find(tensor_columns.begin(), tensor_columns.end(), control.part);
    const int column = static_cast<int>(part - tensor_columns.begin());
    if (control.tensor != tensor) {
      tensor = control.tensor;
      auto* label = new QLabel(qt(tensor), rows_);
      label->setToolTip(qt(tensor));
      label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long name is cut at the form's edge
      grid->addWidget(label, line + 1, 0, 1, static_cast<int>(tensor_columns.size()));
      line += 2;
    }
    if (grid->itemAtPosition(0, column) == nullptr) grid->addWidget(head(control.part), 0, column);
    makeBox(grid, line, column, control);
    grid->setColumnStretch(column, 1);
  }
}

void ChoiceGrid::makeGroup(QGridLayout* grid) {
  grid->setColumnStretch(1, 1);
  int line = 0;
  for (const ChoiceControl& control : controls_) {
    grid->addWidget(head(control.part), line, 0);
    makeBox(grid, line++, 1, control);
  }
}

QLabel* ChoiceGrid::head(ChosenPart part) {
  auto* label = new QLabel(qt(title_of(part)), rows_);
  label->setToolTip(help(part));
  return label;
}

void ChoiceGrid::makeBox(QGridLayout* grid, int line, int column, const ChoiceControl& control) {
  auto* box = new QComboBox(rows_);
  guard_wheel(box);
  // What is longer is cut; the list and the tooltip have it whole.
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  const QString title = qt(title_of(control.part));
  box->setAccessibleName(control.tensor.empty() ? title : tr("%1: %2").arg(qt(control.tensor), title));
  grid->addWidget(box, line, column);
  const Key key(control.tensor, control.part);
  connect(box, &QComboBox::activated, this, [this, key](int entry) { choose(key, entry); });
  boxes_[key] = box;
}

void ChoiceGrid::show(QComboBox* box, const ChoiceControl& control, const Schedule& fixed) {
  const Schedule wanted = part_of(fixed, control);
  const bool is_free = wanted == Schedule{};
  QStringList entries = {is_free ? tr("planner: %1").arg(qt(option_text(control, control.options[control.chosen])))
                                 : tr("planner")};
  for (const Schedule& option : control.options) entries.push_back(qt(option_text(control, option)));
  const auto at = std::find(control.options.begin(), control.options.end(), wanted);
  // An edit that is still evaluated, or was refused, has options of the plan before it.
  if (!is_free && at == control.options.end()) entries.push_back(qt(option_text(control, wanted)));
  const int current = is_free ? 0 : 1 + static_cast<int>(at - control.options.begin());
  QStringList shown;
  for (int i = 0; i < box->count(); ++i) shown.push_back(box->itemText(i));
  const QSignalBlocker blocker(box);
  if (shown != entries) {
    box->hidePopup();  // its entries are no more what is chosen
    box->clear();
    box->addItems(entries);
    box->view()->setMinimumWidth(box->view()->sizeHintForColumn(0) + 2 * box->view()->frameWidth());
  }
  box->setCurrentIndex(current);
  box->setToolTip(QStringLiteral("%1: %2").arg(help(control.part), box->currentText()));
}

void ChoiceGrid::choose(const Key& key, int entry) {
  const auto control = std::find_if(controls_.begin(), controls_.end(), [&](const ChoiceControl& each) {
    return each.tensor == key.first && each.part == key.second;
  });
  const auto option = static_cast<std::size_t>(entry);
  if (control == controls_.end() || option > control->options.size()) return;
  const std::string what = (key.first.empty() ? "" : key.first + ": ") + title_of(key.second);
  const Schedule wanted = entry == 0 ? Schedule{} : control->options[option - 1];
  const QString words = entry == 0 ? tr("%1 left to the planner").arg(qt(what))
                                   : tr("%1 %2").arg(qt(what), qt(option_text(*control, wanted)));
  session_.fix(with_choice(session_.fixed(), *control, wanted), words);
}

QComboBox* ChoiceGrid::box(ChosenPart part, const std::string& tensor) {
  const auto found = boxes_.find({tensor, part});
  return found != boxes_.end() ? found->second : nullptr;
}

}  // namespace stowage::inspector
