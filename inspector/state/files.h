// SPDX-License-Identifier: Apache-2.0
// Files that the program writes and looks for. For worker threads: each call is refused on the window's.
#pragma once

#include <QByteArray>
#include <QString>

#include "core/hidden_temporary.h"

namespace stowage::inspector {

/// Writes a file whole or not at all. What went wrong, in a sentence; empty when done.
QString write_file(const QString& path, const QByteArray& bytes, Existing existing = Existing::replace);
/// Whatever it is: a file, a folder, a link that leads nowhere.
bool is_taken(const QString& path);
bool is_file(const QString& path);
bool is_folder(const QString& path);
/// With its parents. What went wrong, or nothing.
QString make_folder(const QString& path);

}  // namespace stowage::inspector
