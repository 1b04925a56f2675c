// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/breadcrumb.h"

#include <QLabel>
#include <QToolButton>

#include "inspector/look/look.h"

namespace stowage::inspector {

Breadcrumb::Breadcrumb(const Document& document, Selection& selection, QWidget* parent)
    : QWidget(parent), document_(document), selection_(selection), layout_(new QHBoxLayout(this)) {
  layout_->setContentsMargins(4, 0, 4, 0);
  layout_->setSpacing(0);
  connect(&selection, &Selection::changed, this, &Breadcrumb::rebuild);
}

QString Breadcrumb::text() const {
  QStringList parts;
  for (const auto* button : findChildren<QToolButton*>(QString(), Qt::FindDirectChildrenOnly)) {
    parts.push_back(button->text());
  }
  return parts.join(QStringLiteral(" › "));
}

void Breadcrumb::rebuild() {
  while (QLayoutItem* item = layout_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const PlanPtr plan = document_.plan();
  if (!plan) return;
  const std::vector<Subject> path = ancestors(*plan, selection_.subject());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) layout_->addWidget(new QLabel(QStringLiteral("›"), this));
    auto* button = new QToolButton(this);
    button->setAutoRaise(true);
    QString text = qt(describe(*plan, path[i]));
    // A group is called like one of its operators.
    if (i > 0 && path[i].op && !path[i].statement && text == qt(describe(*plan, path[i - 1]))) {
      text = qt(plan->graph().op(*path[i].op).kind) + QLatin1Char(' ') + text;
    }
    button->setText(text);
    button->setFocusPolicy(Qt::TabFocus);
    if (i + 1 == path.size()) {
      QFont bold = button->font();
      bold.setBold(true);
      button->setFont(bold);
    }
    // Deferred, because choosing rebuilds this very row of buttons.
    connect(
        button, &QToolButton::clicked, this, [this, subject = path[i]] { selection_.select(subject); },
        Qt::QueuedConnection);
    layout_->addWidget(button);
  }
  layout_->addStretch(1);
}

}  // namespace stowage::inspector
