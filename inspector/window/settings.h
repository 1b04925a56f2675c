// SPDX-License-Identifier: Apache-2.0
// What is remembered between two runs: recent files, theme, units, text size, the arrangement of the panes. The only
// place that knows the store.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QStringList>

#include "inspector/look/look.h"
#include "inspector/state/document.h"

namespace stowage::inspector {

class Settings {
 public:
  Settings();
  [[nodiscard]] QStringList recent() const;  ///< newest first; things that are gone are left out when they are opened
  void addRecent(const QString& path);
  void removeRecent(const QString& path);

  void restore(Look& look) const;
  void save(const Look& look);

  /// An arrangement by name; "" is the one of the last run. Empty if there is none.
  [[nodiscard]] QByteArray layout(const QString& name) const;
  void saveLayout(const QString& name, const QByteArray& state);
  [[nodiscard]] QByteArray geometry() const;
  void saveGeometry(const QByteArray& geometry);

 private:
  mutable QSettings store_;
};

}  // namespace stowage::inspector
