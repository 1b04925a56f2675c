// SPDX-License-Identifier: Apache-2.0
#include "tests/inspector/saved_edits.h"

#include <QFile>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <thread>

#include "inspector/state/background.h"
#include "inspector/state/load.h"
#include "inspector/whatif/evaluate.h"
#include "inspector/whatif/regroup.h"

namespace stowage::test {

using namespace inspector;

QByteArray read_file(const QString& path) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

void save_text(const QString& path, const std::string& text) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  REQUIRE(file.write(QByteArray::fromStdString(text)) == static_cast<qint64>(text.size()));
}

QByteArray run_in(const QString& folder, QString line) {
  const QString tool = QStringLiteral("stowage ");
  REQUIRE(line.startsWith(tool));
  line = QStringLiteral("'" STOWAGE_TOOL "' ") + line.mid(tool.size());
  QProcess process;
  process.setWorkingDirectory(folder);
  process.start(QStringLiteral("sh"), {QStringLiteral("-c"), line});
  REQUIRE(process.waitForFinished(120000));
  INFO(line.toStdString() << "\n" << process.readAllStandardError().toStdString());
  REQUIRE(process.exitCode() == 0);
  return process.readAllStandardOutput();
}

PlanPtr loaded(const QString& path, const std::string& job) {
  Loading loading;
  std::jthread([&] { loading = load(path.toStdString(), job, {}, {}); }).join();
  INFO(format_diagnostics(loading.diagnostics));
  REQUIRE(loading.plan);
  return loading.plan;
}

JobForm form_of(const LoadedPlan& plan, const PlanEdit& edit) {
  return beside([&] { return job_form(plan, edit); });
}

QJsonObject saved_totals(const PlanPtr& plan, const PlanEdit& incomplete) {
  const QTemporaryDir folder;
  const auto complete = beside([&] { return complete_edit(plan, incomplete); });
  REQUIRE(complete);
  const PlanEdit& edit = *complete;
  const JobForm job = form_of(*plan, edit);
  const std::string text = schedule_file(edit, job, "edit.toml");
  INFO(text);
  save_text(folder.filePath(QStringLiteral("edit.toml")), text);
  QByteArray printed;
  for (const QString& line : qt(text).split(QLatin1Char('\n'))) {
    if (!line.startsWith(QStringLiteral("# stowage"))) continue;
    const bool compiles = line.startsWith(QStringLiteral("# stowage compile"));
    printed = run_in(folder.path(), line.mid(2) + (compiles ? QStringLiteral(" --json") : QString()));
  }
  QJsonObject compiled = QJsonDocument::fromJson(printed).object();
  save_text(folder.filePath(QStringLiteral("batch.toml")), batch_file(edit, job));
  run_in(folder.path(), QStringLiteral("stowage batch batch.toml -o out"));
  const QByteArray plan_file = read_file(folder.filePath(QStringLiteral("out/what-if/plan.json")));
  const QJsonObject batch = QJsonDocument::fromJson(plan_file).object()[QStringLiteral("totals")].toObject();
  for (const char* key : {"dma_transfers", "dma_operations", "dma_bytes", "ldm_peak_bytes", "cycles", "groups"}) {
    INFO(key);
    CHECK(batch[QLatin1String(key)] == compiled[QLatin1String(key)]);
  }
  return compiled;
}

std::int64_t number(const QJsonObject& json, const char* key) {
  return static_cast<std::int64_t>(json[QLatin1String(key)].toDouble());
}

void check_saved(const PlanPtr& plan, const PlanEdit& edit) {
  Diagnostics diagnostics;
  PlanPtr network;
  std::jthread([&] { network = plan_network(plan, edit, diagnostics, {}, {}); }).join();
  INFO(format_diagnostics(diagnostics));
  REQUIRE(network);
  const QJsonObject json = saved_totals(plan, edit);
  CHECK(number(json, "dma_transfers") == network->totals.dma.transfers);
  CHECK(number(json, "dma_operations") == network->totals.dma.operations);
  CHECK(number(json, "dma_bytes") == network->totals.dma.bytes);
  CHECK(number(json, "ldm_peak_bytes") == network->totals.ldm_peak_bytes);
  CHECK(number(json, "cycles") == network->totals.cycles);
}

}  // namespace stowage::test
