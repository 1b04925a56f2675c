// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "driver/files/files.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

QString write_file(const QString& path, const QByteArray& bytes, Existing existing) {
  off_window_thread("a file was written");
  Diagnostics diagnostics;
  const std::string_view text(bytes.constData(), static_cast<std::size_t>(bytes.size()));
  if (write_file_whole(path.toStdString(), text, existing, diagnostics)) return {};
  return path + QLatin1Char(' ') + QString::fromStdString(diagnostics.entries().front().message);
}

bool is_file(const QString& path) {
  off_window_thread("a file was looked for");
  return QFileInfo(path).isFile();
}

bool is_taken(const QString& path) {
  off_window_thread("a file was looked for");
  return QFileInfo::exists(path) || QFileInfo(path).isSymLink();
}

bool is_folder(const QString& path) {
  off_window_thread("a folder was looked for");
  return QFileInfo(path).isDir();
}

QString make_folder(const QString& path) {
  off_window_thread("a folder was made");
  return QDir().mkpath(path) ? QString() : QCoreApplication::translate("Files", "%1 cannot be made").arg(path);
}

}  // namespace stowage::inspector
