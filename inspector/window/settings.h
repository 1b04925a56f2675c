// SPDX-License-Identifier: Apache-2.0
// What is remembered between runs: recent files, looks, layouts. Read once, before there is a window; kept in memory,
// and written beside the window's thread whenever something changes.
#pragma once

#include <QByteArray>
#include <QStringList>
#include <QVariantMap>
#include <memory>
#include <mutex>

#include "inspector/look/look.h"
#include "inspector/state/background.h"

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
  [[nodiscard]] QVariant value(const QString& key, const QVariant& otherwise = {}) const;
  void setValue(const QString& key, const QVariant& value);

  /// Writers that overlap write one after the other, and never something older.
  struct Store {
    std::mutex mutex;
    std::uint64_t written = 0;
  };
  QVariantMap values_;
  QVariantMap changed_;  ///< since the start: what another window wrote meanwhile stays
  std::uint64_t version_ = 0;
  std::shared_ptr<Store> store_ = std::make_shared<Store>();
  Background writing_;  ///< last: joins, so that the newest values are written before the end
};

}  // namespace stowage::inspector
