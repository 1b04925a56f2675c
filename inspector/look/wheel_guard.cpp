// SPDX-License-Identifier: Apache-2.0
#include "inspector/look/wheel_guard.h"

#include <QEvent>

namespace stowage::inspector {

namespace {

class WheelGuard : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* object, QEvent* event) override {
    const auto* field = qobject_cast<QWidget*>(object);
    if (event->type() != QEvent::Wheel || field == nullptr || field->hasFocus()) return false;
    event->ignore();  // so that Qt offers it to what is around
    return true;
  }
};

}  // namespace

void guard_wheel(QWidget* field) {
  field->setFocusPolicy(Qt::StrongFocus);
  field->installEventFilter(new WheelGuard(field));
}

}  // namespace stowage::inspector
