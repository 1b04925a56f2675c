// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QImage>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "inspector/application.h"
#include "inspector/panes/export.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("every pane exports as SVG, PNG and PDF in both themes", "[inspector]") {
  const QTemporaryDir folder;
  Look look;
  Document document;
  Selection selection(document);
  document.show(sample_plan("matmul"));
  selection.select(step_place(0));
  for (const PaneRow& row : pane_table()) {
    INFO(row.name);
    const std::unique_ptr<Pane> pane(row.make({document, selection, look}));
    for (const bool dark : {false, true}) {
      look.setDark(dark);
      const QString name = folder.filePath(QString::fromUtf8(row.name.data(), static_cast<qsizetype>(row.name.size())));
      CHECK(export_pane(*pane, name + QStringLiteral(".svg")).isEmpty());
      CHECK(QSvgRenderer(name + QStringLiteral(".svg")).isValid());
      CHECK(export_pane(*pane, name + QStringLiteral(".png")).isEmpty());
      CHECK(QImage(name + QStringLiteral(".png")).width() >= 400);
      CHECK(export_pane(*pane, name + QStringLiteral(".pdf")).isEmpty());
      QFile pdf(name + QStringLiteral(".pdf"));
      REQUIRE(pdf.open(QIODevice::ReadOnly));
      CHECK(pdf.read(5) == QByteArray("%PDF-"));
    }
    CHECK(export_pane(*pane, QStringLiteral("/nowhere/at/all.svg")).contains(QStringLiteral("cannot be written")));
    CHECK(export_pane(*pane, folder.filePath(QStringLiteral("x.gif"))).contains(QStringLiteral(".svg")));
  }
}

TEST_CASE("panes without a plan export too", "[inspector]") {
  const QTemporaryDir folder;
  Look look;
  Document document;
  Selection selection(document);
  for (const PaneRow& row : pane_table()) {
    const std::unique_ptr<Pane> pane(row.make({document, selection, look}));
    CHECK(export_pane(*pane, folder.filePath(QStringLiteral("empty.png"))).isEmpty());
  }
}

}  // namespace
}  // namespace stowage::test
