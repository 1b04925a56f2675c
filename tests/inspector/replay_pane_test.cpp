// SPDX-License-Identifier: Apache-2.0
// The pane of the replay by keyboard, and what can be saved of it.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "inspector/panes/export.h"
#include "inspector/panes/replay_pane.h"
#include "inspector/replay/replay.h"
#include "inspector/replay/replay_picture.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("the replay is driven by keyboard", "[inspector][replay]") {
  OpenPane<ReplayPane> opened;
  ReplayPane& pane = opened.pane;
  opened.show(1000, 700);
  opened.open("matmul");
  pane.flush();
  const std::size_t count = pane.replay().steps.size();
  REQUIRE(count > 20);
  CHECK(pane.current() == 0);
  QTest::keyClick(&pane, Qt::Key_Right);
  QTest::keyClick(&pane, Qt::Key_Right);
  CHECK(pane.current() == 2);
  QTest::keyClick(&pane, Qt::Key_Left);
  CHECK(pane.current() == 1);
  QTest::keyClick(&pane, Qt::Key_End);
  CHECK(pane.current() == count - 1);
  QTest::keyClick(&pane, Qt::Key_Right);
  CHECK(pane.current() == count - 1);
  QTest::keyClick(&pane, Qt::Key_Home);
  CHECK(pane.current() == 0);
  while (pane.replay().steps[pane.current()].outcome != TraceOutcome::refused) {
    const std::size_t before = pane.current();
    QTest::keyClick(&pane, Qt::Key_PageDown);
    REQUIRE(pane.current() > before);
  }
  CHECK(pane.replay().steps[pane.current()].message.find("needs 65 KiB, only 63.96 KiB") != std::string::npos);
  CHECK(pane.slider().value() == static_cast<int>(pane.current()));
  QTest::keyClick(&pane, Qt::Key_Space);
  CHECK(pane.playing());
  QTest::keyClick(&pane, Qt::Key_Space);
  CHECK_FALSE(pane.playing());
  CHECK(pane.decisions().count() > 5);
  pane.slider().setValue(3);
  CHECK(pane.current() == 3);
  opened.selection.select(network_subject());
  pane.flush();
  CHECK(pane.replay().steps.empty());
}

TEST_CASE("a replay is a page for a lecture and a sequence of pictures", "[inspector][replay]") {
  const QTemporaryDir folder;
  OpenPane<ReplayPane> opened;
  ReplayPane& pane = opened.pane;
  const QString page = folder.filePath(QStringLiteral("replay.html"));
  CHECK(export_pane(pane, page).contains(QStringLiteral("--op")));
  opened.open("matmul");
  REQUIRE(export_pane(pane, page).isEmpty());
  QFile file(page);
  REQUIRE(file.open(QIODevice::ReadOnly));
  const QByteArray text = file.readAll();
  const auto steps = static_cast<qsizetype>(pane.replay().steps.size());
  CHECK(text.count("<section") == steps);
  CHECK(text.count("<svg") == steps);
  CHECK(text.contains("128 times"));
  // Nothing is loaded from anywhere: no address but the names of XML's own vocabularies.
  for (const char* word : {"src=", "<link", "@import", "url("}) CHECK_FALSE(text.contains(word));
  const QString pictures = folder.filePath(QStringLiteral("steps"));
  REQUIRE(export_pane(pane, pictures).isEmpty());
  CHECK(QDir(pictures).entryList({QStringLiteral("step-*.png")}).size() == steps);
  CHECK(QImage(pictures + QStringLiteral("/step-01.png")).size() ==
        QImage(pictures + QStringLiteral("/step-%1.png").arg(steps)).size());
}

TEST_CASE("pictures of steps replace no file of anybody's", "[inspector][replay]") {
  const QTemporaryDir folder;
  OpenPane<ReplayPane> opened;
  ReplayPane& pane = opened.pane;
  opened.open("matmul");
  const QDir inside(folder.path());
  for (const bool link : {false, true}) {
    const QString taken = folder.filePath(QStringLiteral("step-03.png"));
    if (link) {
      REQUIRE(QFile::link(QStringLiteral("/nowhere/at/all"), taken));
    } else {
      QFile file(taken);
      REQUIRE(file.open(QIODevice::WriteOnly));
      file.write("a holiday");
    }
    CHECK(export_pane(pane, folder.path()) == taken + QStringLiteral(" exists already; choose another folder"));
    CHECK(inside.entryList(QDir::AllEntries | QDir::System | QDir::Hidden | QDir::NoDotAndDotDot) ==
          QStringList{QStringLiteral("step-03.png")});
    if (!link) {
      QFile file(taken);
      REQUIRE(file.open(QIODevice::ReadOnly));
      CHECK(file.readAll() == QByteArray("a holiday"));
    }
    REQUIRE(QFile::remove(taken));
  }
  CHECK(export_pane(pane, folder.path()).isEmpty());
}

}  // namespace
}  // namespace stowage::test
