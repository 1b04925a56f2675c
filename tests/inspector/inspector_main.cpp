// SPDX-License-Identifier: Apache-2.0
// One application for all tests, without a display and without the settings of whoever runs them. A warning of Qt's is
// a failure: it means that a slot, a model or a painter is wrong.
#define CATCH_CONFIG_RUNNER
#include <QApplication>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <iostream>
#include <string>

#include "inspector/look/look.h"

namespace {

void fail_on_warning(QtMsgType type, const QMessageLogContext&, const QString& message) {
  std::cerr << message.toStdString() << '\n';
  const bool harmless =
      message.contains(QLatin1String("propagateSizeHints")) || message.contains(QLatin1String("XDG_RUNTIME_DIR"));
  if (type != QtDebugMsg && type != QtInfoMsg && !harmless) FAIL_CHECK(message.toStdString());
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir home;
  qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
  qputenv("XDG_CACHE_HOME", home.path().toUtf8());
  QApplication application(argc, argv);
  stowage::inspector::Look look;
  stowage::inspector::apply_to_application(look);
  Catch::Session session;
  if (const int refused = session.applyCommandLine(argc, argv); refused != 0) return refused;
  const bool lists = session.configData().listTests || session.configData().listTestNamesOnly;
  if (!lists) qInstallMessageHandler(fail_on_warning);
  const int failed = session.run();
  qInstallMessageHandler(nullptr);
  return failed;
}
