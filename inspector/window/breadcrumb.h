// SPDX-License-Identifier: Apache-2.0
// network > group > operator > loop > DMA: where the selection is; each part can be chosen.
#pragma once

#include <QHBoxLayout>
#include <QWidget>

#include "inspector/state/document.h"
#include "inspector/state/selection.h"

namespace stowage::inspector {

class Breadcrumb : public QWidget {
  Q_OBJECT
 public:
  Breadcrumb(const Document& document, Selection& selection, QWidget* parent = nullptr);
  /// "resnet50 › res2a › for ko › get A".
  [[nodiscard]] QString text() const;

 private:
  void rebuild();
  const Document& document_;
  Selection& selection_;
  QHBoxLayout* layout_;
};

}  // namespace stowage::inspector
