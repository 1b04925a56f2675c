// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <thread>

#include "core/check.h"
#include "inspector/state/load.h"
#include "inspector/state/selection.h"
#include "inspector/whatif/evaluate.h"
#include "tests/inspector/window_fixture.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("a compiled folder opens beside the window's thread", "[inspector]") {
  Document document;
  QSignalSpy opened(&document, &Document::opened);
  document.open({sample_folder("matmul"), {}});
  CHECK(document.busy());
  CHECK(document.plan() == nullptr);
  REQUIRE(wait_until([&] { return opened.count() == 1; }));
  CHECK_FALSE(document.busy());
  CHECK(document.plan()->compilation.network == "matmul");
}

TEST_CASE("a folder of an older version opens", "[inspector]") {
  struct Old {
    std::string folder;
    std::size_t steps;
    std::string first_template;
  };
  const Old old =
      GENERATE(Old{"version-1/inception", 8, "parallel_convolutions"}, Old{"version-2-first/matmul", 1, "matmul"},
               Old{"version-2-first/small_lenet", 6, "convolution_pool"},
               Old{"version-2-before-kinds/small_lenet", 6, "convolution_pool"},
               Old{"version-2-before-kinds/mirror", 3, "single"});
  CAPTURE(old.folder);
  Document document;
  QSignalSpy opened(&document, &Document::opened);
  const auto folder = source_folder() / "tests" / "driver" / "data" / old.folder;
  document.open({QString::fromStdString(folder.string()), {}});
  REQUIRE(wait_until([&] { return !document.busy(); }));
  INFO(format_diagnostics(document.diagnostics()));
  REQUIRE(opened.count() == 1);
  CHECK(document.plan()->steps.size() == old.steps);
  CHECK(document.plan()->compilation.program.steps.front().group.template_name == old.first_template);
}

TEST_CASE("loading on the window's thread is a fault", "[inspector]") {
  CHECK_THROWS_AS(load(sample_folder("matmul").toStdString(), "", {}, {}), InternalError);
}

TEST_CASE("what cannot be opened leaves what is open and says why", "[inspector]") {
  Document document;
  document.show(sample_plan("matmul"));
  QSignalSpy failed(&document, &Document::openingFailed);
  SECTION("a folder that is not there") {
    document.open({QStringLiteral("/nowhere/at/all"), {}});
    REQUIRE(wait_until([&] { return failed.count() == 1; }));
  }
  SECTION("an empty folder") {
    const QTemporaryDir folder;
    document.open({folder.path(), {}});
    REQUIRE(wait_until([&] { return failed.count() == 1; }));
  }
  SECTION("a damaged plan") {
    const QTemporaryDir folder;
    QFile plan(folder.filePath(QStringLiteral("plan.json")));
    REQUIRE(plan.open(QIODevice::WriteOnly));
    plan.write("{\"format\": \"stowage-plan\", \"version\": 99");
    plan.close();
    document.open({folder.path(), {}});
    REQUIRE(wait_until([&] { return failed.count() == 1; }));
  }
  CHECK(document.plan() == sample_plan("matmul"));
  REQUIRE_FALSE(document.diagnostics().entries().empty());
  CHECK(document.diagnostics().has_errors());
}

TEST_CASE("a cancelled opening ends at once and delivers nothing", "[inspector]") {
  Document document;
  QSignalSpy changed(&document, &Document::planChanged);
  document.open({sample_folder("lenet"), {}});
  document.cancel();
  CHECK_FALSE(document.busy());
  CHECK_FALSE(wait_until([&] { return changed.count() > 0; }, 0.3));
}

TEST_CASE("only the newest opening arrives", "[inspector]") {
  Document document;
  QSignalSpy opened(&document, &Document::opened);
  document.open({sample_folder("lenet"), {}});
  document.open({sample_folder("matmul"), {}});
  REQUIRE(wait_until([&] { return opened.count() == 1; }));
  CHECK_FALSE(wait_until([&] { return opened.count() > 1; }, 0.3));
  CHECK(document.plan()->compilation.network == "matmul");
}

TEST_CASE("two folders open as plan and baseline", "[inspector]") {
  Document document;
  QSignalSpy opened(&document, &Document::opened);
  document.open({sample_folder("lenet"), {}}, {sample_folder("matmul"), {}});
  REQUIRE(wait_until([&] { return opened.count() == 1; }));
  CHECK(document.plan()->compilation.network == "lenet");
  REQUIRE(document.baseline() != nullptr);
  CHECK(document.baseline()->compilation.network == "matmul");
}

TEST_CASE("a job of a batch file is compiled, and several are offered", "[inspector]") {
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("jobs.toml")));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(
      "[[job]]\nname = \"one\"\nnetwork = \"vector\"\n"
      "[[job]]\nname = \"two\"\nnetwork = \"matmul\"\n[job.schedule.\"matmul\"]\nbuffer = { y = 8 }\n"
      "[[job]]\nname = \"s\"\nnetwork = \"vector\"\n[job.sweep]\n\"target.ldm.bytes\" = [16384, 32768]\n");
  file.close();
  Document document;
  QSignalSpy jobs(&document, &Document::jobsFound);
  QSignalSpy opened(&document, &Document::opened);
  document.open({file.fileName(), {}});
  REQUIRE(wait_until([&] { return jobs.count() == 1; }));
  CHECK(jobs[0][1].toStringList() == QStringList{QStringLiteral("one"), QStringLiteral("two"),
                                                 QStringLiteral("s-16384"), QStringLiteral("s-32768")});
  document.open({file.fileName(), QStringLiteral("two")});
  REQUIRE(wait_until([&] { return opened.count() == 1; }));
  REQUIRE(document.plan()->steps[StepId(0)].plan != nullptr);
  CHECK(document.plan()->steps[StepId(0)].plan->schedule.buffer.at("y") == 8);
  // One of a sweep has the sweep's value.
  document.open({file.fileName(), QStringLiteral("s-16384")});
  REQUIRE(wait_until([&] { return opened.count() == 2; }));
  CHECK(document.plan()->compilation.program.target.ldm.bytes == 16384);
}

TEST_CASE("places are completed, described, and have ancestors", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const Subject get = complete(*plan, statement_subject(StepId(0), StatementId(6)));
  CHECK(get.buffer == BufferId(0));
  CHECK(get.line > 0);
  CHECK(describe(*plan, get) == "get A");
  CHECK(describe(*plan, statement_subject(StepId(0), StatementId(8))) == "wait for A");
  std::vector<std::string> path;
  for (const Subject& subject : ancestors(*plan, get)) path.push_back(describe(*plan, subject));
  CHECK(path == std::vector<std::string>{"matmul", "matmul", "for x", "for yo", "for ko", "get A"});
  // A line of code leads to its statement and back.
  CHECK(complete(*plan, code_subject(StepId(0), *get.file, *get.line)).statement == StatementId(6));
  // What a plan does not have is dropped.
  CHECK(complete(*plan, statement_subject(StepId(7), StatementId(6))) == Subject{});
  CHECK(complete(*plan, statement_subject(StepId(0), StatementId(99))) == step_subject(StepId(0)));
}

TEST_CASE("costs of statements come from the time model and add up", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    for (const StepFacts& step : sample_plan(name)->steps) {
      if (step.plan == nullptr) continue;
      std::int64_t sum = step.plan->time.terms.front().cycles;  // the launch
      std::int64_t inclusive = 0;
      for (const StatementFacts& facts : step.statements) {
        if (facts.statement == nullptr) continue;
        sum += facts.own_cycles;
        if (!facts.parent) inclusive += facts.inclusive_cycles;
      }
      INFO(step.step->group.name);
      // Each DMA statement is rounded up by itself; the model rounds once for all gets and once for all puts.
      CHECK(std::abs(sum - step.cycles) <= static_cast<std::int64_t>(step.plan->counts.dma.size()));
      CHECK(inclusive + step.plan->time.terms.front().cycles == sum);
    }
  }
}

TEST_CASE("the selection has a history", "[inspector]") {
  Document document;
  Selection selection(document);
  document.show(sample_plan("lenet"));
  QSignalSpy changed(&selection, &Selection::changed);
  selection.select(step_subject(StepId(0)));
  selection.select(step_subject(StepId(1)));
  selection.select(step_subject(StepId(1)));  // nothing new
  CHECK(changed.count() == 2);
  selection.goBack();
  CHECK(selection.subject() == step_subject(StepId(0)));
  CHECK(selection.canGoForward());
  selection.goForward();
  CHECK(selection.subject() == step_subject(StepId(1)));
  selection.goUp();
  CHECK(selection.subject() == network_subject());
  selection.goBack();
  selection.select(step_subject(StepId(2)));
  CHECK_FALSE(selection.canGoForward());
}

TEST_CASE("the way back stays open when the same network is shown planned otherwise", "[inspector]") {
  Document document;
  Selection selection(document);
  const PlanPtr base = sample_plan("lenet");
  document.show(base);
  selection.select(step_subject(StepId(1)));
  selection.select(step_subject(StepId(2)));
  document.showBaseline(base);
  document.show(std::make_shared<const LoadedPlan>(*base));
  CHECK(selection.subject() == step_subject(StepId(2)));
  REQUIRE(selection.canGoBack());
  selection.goBack();
  CHECK(selection.subject() == step_subject(StepId(1)));
  document.show(sample_plan("matmul"));
  CHECK_FALSE(selection.canGoBack());
}

TEST_CASE("a selection does not survive into the next network", "[inspector]") {
  Document document;
  Selection selection(document);
  document.show(sample_plan("lenet"));
  selection.select(step_subject(StepId(0)));
  document.show(sample_plan("matmul"));  // it has a step 0 too
  CHECK(selection.subject() == network_subject());
  CHECK_FALSE(selection.canGoBack());
  selection.select(statement_subject(StepId(0), StatementId(6)));
  document.show(sample_plan("lenet"));
  CHECK(selection.subject() == network_subject());
  // Nor by way of a baseline of the same network as the next one.
  selection.select(step_subject(StepId(0)));
  document.showBaseline(sample_plan("matmul"));
  document.show(std::make_shared<const LoadedPlan>(*sample_plan("matmul")));
  CHECK(selection.subject() == network_subject());
}

TEST_CASE("what is chosen is found by its operators where the same network is grouped otherwise", "[inspector]") {
  const PlanPtr base = sample_plan("lenet");
  PlanEdit edit;
  edit.groups = {{"conv1"}, {"pool1"}};
  edit.schedules["ip1"].buffer["y"] = 4;
  Diagnostics diagnostics;
  const PlanPtr network = beside([&] { return plan_network(base, edit, diagnostics, {}, {}); });
  INFO(format_diagnostics(diagnostics));
  REQUIRE(network);
  Document document;
  Selection selection(document);
  document.show(base);
  const StepId ip2 = step_named(*base, "ip2");
  const StepFacts& ip2_facts = base->steps[ip2];
  const Subject get = complete(*base, statement_subject(ip2, [&] {
    for (const StatementFacts& facts : ip2_facts.statements) {
      if (facts.statement != nullptr && std::holds_alternative<Dma>(facts.statement->node)) {
        return facts.statement->id;
      }
    }
    return StatementId(999);
  }()));
  REQUIRE(get.statement);
  selection.select(get);
  selection.select(step_subject(step_named(*base, "ip1")));
  document.showBaseline(base);
  document.show(network);
  REQUIRE(step_named(*network, "ip1") != step_named(*base, "ip1"));
  CHECK(selection.subject() == step_subject(step_named(*network, "ip1")));
  selection.goBack();
  CHECK(selection.subject().step == step_named(*network, "ip2"));
  CHECK(describe(*network, selection.subject()) == describe(*base, get));
  document.show(base);
  CHECK(selection.subject() == get);
}

TEST_CASE("a folder without a plan is said to be none", "[inspector]") {
  const QTemporaryDir folder;
  Loading loading;
  std::jthread([&] { loading = load(folder.path().toStdString(), "", {}, {}); }).join();
  CHECK_FALSE(loading.plan);
  REQUIRE(loading.diagnostics.entries().size() == 1);
  CHECK(loading.diagnostics.entries().front().message.find("no compiled folder") != std::string::npos);
}

}  // namespace
}  // namespace stowage::test
