// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/settings.h"

#include <QSettings>

namespace stowage::inspector {

namespace {

constexpr int most_recent = 10;
QString layout_key(const QString& name) {
  return QStringLiteral("layout/") + (name.isEmpty() ? QStringLiteral("last") : name);
}

}  // namespace

Settings::Settings() {
  values_ = beside([] {
    const QSettings file(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("stowage"),
                         QStringLiteral("inspector"));
    QVariantMap values;
    for (const QString& key : file.allKeys()) values.insert(key, file.value(key));
    return values;
  });
}

QVariant Settings::value(const QString& key, const QVariant& otherwise) const { return values_.value(key, otherwise); }

void Settings::setValue(const QString& key, const QVariant& value) {
  if (values_.value(key) == value) return;
  values_.insert(key, value);
  changed_.insert(key, value);
  writing_.start([store = store_, values = changed_, version = ++version_](const std::stop_token&,
                                                                           const ProgressSink&) -> Background::Deliver {
    off_window_thread("settings were written");
    const std::scoped_lock lock(store->mutex);
    if (store->written > version) return {};
    store->written = version;
    QSettings file(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("stowage"), QStringLiteral("inspector"));
    for (auto entry = values.begin(); entry != values.end(); ++entry) file.setValue(entry.key(), entry.value());
    file.sync();
    return {};
  });
}

QStringList Settings::recent() const { return value(QStringLiteral("recent")).toStringList(); }

void Settings::addRecent(const QString& path) {
  QStringList list = recent();
  list.removeAll(path);
  list.prepend(path);
  while (list.size() > most_recent) list.removeLast();
  setValue(QStringLiteral("recent"), list);
}

void Settings::removeRecent(const QString& path) {
  QStringList list = recent();
  list.removeAll(path);
  setValue(QStringLiteral("recent"), list);
}

void Settings::restore(Look& look) const {
  look.setDark(value(QStringLiteral("dark"), false).toBool());
  look.setUnits({value(QStringLiteral("seconds"), false).toBool() ? TimeUnit::seconds : TimeUnit::cycles,
                 value(QStringLiteral("exact-bytes"), false).toBool() ? ByteUnit::exact : ByteUnit::rounded});
  look.setPointSize(value(QStringLiteral("points"), 10.0).toDouble());
}

void Settings::save(const Look& look) {
  setValue(QStringLiteral("dark"), look.theme().dark);
  setValue(QStringLiteral("seconds"), look.units().time == TimeUnit::seconds);
  setValue(QStringLiteral("exact-bytes"), look.units().bytes == ByteUnit::exact);
  setValue(QStringLiteral("points"), look.pointSize());
}

QByteArray Settings::layout(const QString& name) const { return value(layout_key(name)).toByteArray(); }
void Settings::saveLayout(const QString& name, const QByteArray& state) { setValue(layout_key(name), state); }
QByteArray Settings::geometry() const { return value(QStringLiteral("geometry")).toByteArray(); }
void Settings::saveGeometry(const QByteArray& geometry) { setValue(QStringLiteral("geometry"), geometry); }

}  // namespace stowage::inspector
