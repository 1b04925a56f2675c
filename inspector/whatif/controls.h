// SPDX-License-Identifier: Apache-2.0
// The knobs of one group: buffer size and parts of every iterator, the nest to rearrange, slots, sharing and form, the
// machine. They show what a session has and turn what a person does into its edits.
#pragma once

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QGroupBox>
#include <QLabel>
#include <QSlider>
#include <QSpinBox>
#include <QWidget>
#include <map>

#include "inspector/whatif/choice_grid.h"
#include "inspector/whatif/groups_list.h"
#include "inspector/whatif/nest_list.h"
#include "inspector/whatif/session.h"

namespace stowage::inspector {

class WhatIfControls : public QWidget {
  Q_OBJECT
 public:
  WhatIfControls(WhatIfSession& session, const Look& look, QWidget* parent = nullptr);
  /// Shows what the session has now.
  void refresh();

  [[nodiscard]] QSpinBox* bufferBox(const std::string& iterator);
  [[nodiscard]] QSpinBox* partsBox(const std::string& iterator);
  [[nodiscard]] QCheckBox* bufferLock(const std::string& iterator);
  /// Null where there is no such choice.
  [[nodiscard]] QComboBox* choiceBox(ChosenPart part, const std::string& tensor = {});
  [[nodiscard]] NestList& nest() { return *nest_; }
  [[nodiscard]] GroupsList& groups() { return *groups_; }
  [[nodiscard]] QSpinBox& ldmBytes() { return *ldm_bytes_; }

 private:
  struct IteratorRow {
    QLabel* name = nullptr;
    QSpinBox* parts = nullptr;  ///< null for a reduction
    QSlider* slider = nullptr;
    QSpinBox* buffer = nullptr;
    QCheckBox* lock = nullptr;
  };
  void refreshGroup();
  void refreshTarget();
  void makeTarget(QWidget* parent);
  void makeRows(const GroupControls& controls);
  void setBuffer(const std::string& iterator, std::int64_t size, int stroke);
  [[nodiscard]] const GroupControls& controls() const;

  WhatIfSession& session_;
  QGridLayout* grid_;
  QWidget* rows_parent_ = nullptr;
  std::map<std::string, IteratorRow> rows_;
  QCheckBox* cores_lock_;
  QCheckBox* order_lock_;
  NestList* nest_;
  ChoiceGrid* transfers_;
  ChoiceGrid* form_;
  GroupsList* groups_;
  QList<QWidget*> adjusting_;  ///< boxes that need a plan of the group
  QGroupBox* target_ = nullptr;
  QSpinBox* ldm_bytes_ = nullptr;
  QSpinBox* reserved_ = nullptr;
  QSpinBox* cores_ = nullptr;
  QDoubleSpinBox* startup_ = nullptr;
  QSpinBox* bandwidth_ = nullptr;
  int stroke_ = 1;  ///< of the slider that is held
};

}  // namespace stowage::inspector
