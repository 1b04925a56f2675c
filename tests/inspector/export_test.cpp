// SPDX-License-Identifier: Apache-2.0
#include <QDir>
#include <QFile>
#include <QImage>
#include <QImageReader>
#include <QProcess>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "inspector/application.h"
#include "inspector/panes/export.h"
#include "tests/disk_limit.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("every pane exports as SVG, PNG and PDF in both themes", "[inspector]") {
  QImageReader::setAllocationLimit(512);  // of MiB, for the code of a whole kernel
  const QTemporaryDir folder;
  Look look;
  Document document;
  Selection selection(document);
  document.show(sample_plan("matmul"));
  selection.select(step_subject(StepId(0)));
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

TEST_CASE("times and sizes follow the units in every pane that has them", "[inspector]") {
  const QTemporaryDir folder;
  Look look;
  Document document;
  Selection selection(document);
  const PlanPtr plan = sample_plan("lenet");
  document.show(plan);
  document.showBaseline(plan);
  REQUIRE(wait_until([&] { return !document.comparing(); }));
  selection.select(step_subject(StepId(0)));
  const auto text_of = [&](Pane& pane, Units units) {
    look.setUnits(units);
    const QString path = folder.filePath(QStringLiteral("pane.svg"));
    REQUIRE(export_pane(pane, path).isEmpty());
    QFile file(path);
    REQUIRE(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll());
  };
  for (const char* name : {"graph", "loops", "ldm", "cost", "tables", "compare", "whatif"}) {
    INFO(name);
    const std::unique_ptr<Pane> pane(find_pane(name)->make({document, selection, look}));
    const QString rounded = text_of(*pane, {});
    const QString exact = text_of(*pane, {TimeUnit::seconds, ByteUnit::exact});
    CHECK(rounded.contains(QStringLiteral(" KiB")));
    CHECK_FALSE(exact.contains(QStringLiteral(" KiB")));
    if (name == std::string("ldm")) continue;  // no times
    CHECK(exact.contains(QStringLiteral(" µs")));
    if (name == std::string("graph")) CHECK_FALSE(rounded.contains(QStringLiteral(" µs")));
  }
}

TEST_CASE("what cannot be exported is said in a sentence", "[inspector]") {
  const QTemporaryDir folder;
  Look look;
  Document document;
  Selection selection(document);
  document.show(sample_plan("matmul"));
  selection.select(step_subject(StepId(0)));
  const std::unique_ptr<Pane> pane(find_pane("ldm")->make({document, selection, look}));
  const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
  SECTION("a full disk") {
    for (const char* ending : {".svg", ".png", ".pdf"}) {
      const QString file = path("full") + QLatin1String(ending);
      QString said;
      {
        const DiskLimit limit(100);
        said = export_pane(*pane, file);
      }
      CHECK(said == file + QStringLiteral(" cannot be written: File too large"));
    }
    CHECK(QDir(folder.path()).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
  }
  SECTION("a device without room") {
    if (!is_character_device("/dev/full")) return;
    const QString file = path("device.svg");
    REQUIRE(QFile::link(QStringLiteral("/dev/full"), file));
    CHECK(export_pane(*pane, file) == file + QStringLiteral(" cannot be written: No space left on device"));
    CHECK(is_character_device("/dev/full"));
  }
  SECTION("a folder that is not there, and one that is in the way") {
    CHECK(export_pane(*pane, QStringLiteral("/nowhere/x.png")) ==
          QStringLiteral("/nowhere/x.png cannot be written: No such file or directory"));
    REQUIRE(QDir(folder.path()).mkdir(QStringLiteral("x.png")));
    CHECK(export_pane(*pane, path("x.png")) == path("x.png") + QStringLiteral(" cannot be written: Is a directory"));
  }
  SECTION("a picture that no image holds") {
    const QString said = export_pane(*pane, path("large.png"), {{20000, 400}, 2});
    CHECK(said.startsWith(path("large.png") + QStringLiteral(": a picture of 40000 × ")));
    const QRegularExpressionMatch scale = QRegularExpression(QStringLiteral("--scale ([0-9.]+)")).match(said);
    REQUIRE(scale.hasMatch());
    CHECK(export_pane(*pane, path("large.png"), {{20000, 400}, scale.captured(1).toDouble() + 0.02}) != QString());
    CHECK(export_pane(*pane, path("large.png"), {{20000, 400}, scale.captured(1).toDouble()}) == QString());
    CHECK(QImageReader(path("large.png")).size().width() > 32000);
  }
  SECTION("a window") {
    QWidget window;
    window.resize(100, 80);
    CHECK(export_window(window, path("w.svg")).contains(QStringLiteral("as .png")));
    CHECK(export_window(window, QStringLiteral("/nowhere/w.png")).contains(QStringLiteral("cannot be written")));
    CHECK(export_window(window, path("w.png")) == QString());
    window.resize(40000, 80);
    CHECK(export_window(window, path("w.png")).contains(QStringLiteral("more than an image holds")));
  }
}

std::pair<int, QString> run(const QStringList& arguments) {
  QProcess program;
  program.start(QStringLiteral(STOWAGE_INSPECTOR), arguments);
  REQUIRE(program.waitForFinished(60000));
  return {program.exitCode(), QString::fromUtf8(program.readAllStandardError())};
}

TEST_CASE("a pane that shows one fused operator is not exported without one", "[inspector]") {
  const QTemporaryDir folder;
  const QString file = folder.filePath(QStringLiteral("a.png"));
  const QString plan = sample_folder("lenet");
  int of_group = 0;
  for (const PaneRow& row : pane_table()) {
    if (!row.of_group) continue;
    ++of_group;
    const QString pane = QString::fromUtf8(row.name.data(), static_cast<qsizetype>(row.name.size()));
    const QStringList without = {QStringLiteral("--export"), pane, QStringLiteral("-o"), file, plan};
    const auto [code, said] = run(without);
    CHECK(code == 2);
    CHECK(said.contains(QStringLiteral("--export %1 wants a fused operator: --op NAME").arg(pane)));
    CHECK_FALSE(QFile::exists(file));
    CHECK(run(without + QStringList{QStringLiteral("--op"), QStringLiteral("conv2")}).first == 0);
    CHECK(QFile::remove(file));
  }
  CHECK(of_group >= 3);
  // What has no nest says so, in a picture as wide as the sentence.
  const auto [code, said] = run({QStringLiteral("--export"), QStringLiteral("loops"), QStringLiteral("--op"),
                                 QStringLiteral("flatten"), QStringLiteral("-o"), file, plan});
  INFO(said.toStdString());
  CHECK(code == 0);
  CHECK(QImage(file).width() > 600);
}

TEST_CASE("the program fails with a sentence where it cannot write", "[inspector]") {
  const QString plan = sample_folder("matmul");
  const QTemporaryDir folder;
  const QString full = folder.filePath(QStringLiteral("full.png"));
  const bool has_device = is_character_device("/dev/full");
  REQUIRE(QFile::link(has_device ? QStringLiteral("/dev/full") : QStringLiteral("/nowhere/full.png"), full));
  for (const char* pane : {"ldm", "window"}) {
    const auto [code, said] =
        run({QStringLiteral("--export"), QString::fromLatin1(pane), QStringLiteral("-o"), full, plan});
    INFO(said.toStdString());
    CHECK(code == 1);
    CHECK(said.contains(QStringLiteral("full.png cannot be written: ")));
  }
  const auto [code, said] = run({QStringLiteral("--export"), QStringLiteral("ldm"), QStringLiteral("--scale"),
                                 QStringLiteral("0"), QStringLiteral("-o"), full, plan});
  CHECK(code == 2);
  CHECK(said.contains(QStringLiteral("--scale")));
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
