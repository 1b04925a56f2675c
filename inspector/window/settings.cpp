// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/settings.h"

namespace stowage::inspector {

namespace {

constexpr int most_recent = 10;
QString layout_key(const QString& name) {
  return QStringLiteral("layout/") + (name.isEmpty() ? QStringLiteral("last") : name);
}

}  // namespace

Settings::Settings()
    : store_(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("stowage"), QStringLiteral("inspector")) {}

QStringList Settings::recent() const { return store_.value(QStringLiteral("recent")).toStringList(); }

void Settings::addRecent(const QString& path) {
  QStringList list = recent();
  list.removeAll(path);
  list.prepend(path);
  while (list.size() > most_recent) list.removeLast();
  store_.setValue(QStringLiteral("recent"), list);
}

void Settings::removeRecent(const QString& path) {
  QStringList list = recent();
  list.removeAll(path);
  store_.setValue(QStringLiteral("recent"), list);
}

void Settings::restore(Look& look) const {
  look.setDark(store_.value(QStringLiteral("dark"), false).toBool());
  look.setUnits(store_.value(QStringLiteral("seconds"), false).toBool() ? Units::seconds : Units::cycles);
  look.setPointSize(store_.value(QStringLiteral("points"), 10.0).toDouble());
}

void Settings::save(const Look& look) {
  store_.setValue(QStringLiteral("dark"), look.theme().dark);
  store_.setValue(QStringLiteral("seconds"), look.units() == Units::seconds);
  store_.setValue(QStringLiteral("points"), look.pointSize());
}

QByteArray Settings::layout(const QString& name) const { return store_.value(layout_key(name)).toByteArray(); }
void Settings::saveLayout(const QString& name, const QByteArray& state) { store_.setValue(layout_key(name), state); }
QByteArray Settings::geometry() const { return store_.value(QStringLiteral("geometry")).toByteArray(); }
void Settings::saveGeometry(const QByteArray& geometry) { store_.setValue(QStringLiteral("geometry"), geometry); }

}  // namespace stowage::inspector
