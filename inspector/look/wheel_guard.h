// SPDX-License-Identifier: Apache-2.0
// A wheel over a slider or a number that is not being edited scrolls what it lies in, instead of changing it unseen.
#pragma once

#include <QWidget>

namespace stowage::inspector {

/// `field` takes the wheel only while it has the keyboard, and does not take the keyboard by the wheel.
void guard_wheel(QWidget* field);

}  // namespace stowage::inspector
