// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFont>
#include <QStringList>

namespace stowage::inspector {

/// A sentence in lines that are no wider than that, broken at spaces, and a word that is wider where it must be. An
/// empty sentence is one empty line.
QStringList wrapped(const QString& text, const QFont& font, double width);

}  // namespace stowage::inspector
