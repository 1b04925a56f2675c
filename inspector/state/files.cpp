// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSaveFile>

#include "inspector/state/background.h"

namespace stowage::inspector {

QString write_file(const QString& path, const QByteArray& bytes) {
  off_window_thread("a file was written");
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) return {};
  return QCoreApplication::translate("Files", "%1 cannot be written: %2").arg(path, file.errorString());
}

bool is_file(const QString& path) {
  off_window_thread("a file was looked for");
  return QFileInfo(path).isFile();
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
