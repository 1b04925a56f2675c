// SPDX-License-Identifier: Apache-2.0
// Plan folders that were damaged by chance, as the window opens them.
#include <QSignalSpy>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "tests/damaged_rounds.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;
using Clock = std::chrono::steady_clock;

/// A plan with numbers and texts that nobody expected, in every pane.
void look_at(MainWindow& window, std::uint64_t seed) {
  const auto begun = Clock::now();
  const PlanPtr plan = window.document().plan();
  const auto& panes = pane_table();
  window.raisePane(panes[seed % std::size(panes)].name);
  window.selection().select(step_subject(StepId(seed % plan->steps.size())));
  for (const PaneRow& row : panes) window.pane(row.name)->flush();
  QCoreApplication::processEvents();
  CHECK(Clock::now() - begun < longest_wait);
}

TEST_CASE("a damaged folder opens, or the window says in a sentence why not", "[inspector][damaged]") {
  const QTemporaryDir scratch;
  const std::string planner = GENERATE(std::string("searched"), std::string("swtvm"));
  CAPTURE(planner);
  const DamagedFolder damaged(scratch.filePath(QStringLiteral("plan")).toStdString(), planner);
  const QString path = QString::fromStdString(damaged.path().string());
  MainWindow window;
  window.resize(1280, 800);
  window.show();
  const Document& document = window.document();
  QSignalSpy opened(&document, &Document::opened);
  QSignalSpy failed(&document, &Document::openingFailed);
  QSignalSpy checked(&document,
                     &Document::checkedOpened);  // no plan, and the checker tells what is wrong with its nests
  std::chrono::duration<double> longest{};
  damage_by_chance(damaged, [&](std::uint64_t seed) {
    opened.clear();
    failed.clear();
    checked.clear();
    const PlanPtr before = document.plan();
    const auto begun = Clock::now();
    window.open({path, {}});
    REQUIRE(wait_until([&] { return opened.count() + failed.count() + checked.count() > 0; },
                       static_cast<double>(longest_wait.count())));
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - begun));
    INFO(format_diagnostics(document.diagnostics()));
    for (const Diagnostic& diagnostic : document.diagnostics().entries()) {
      CHECK_FALSE(diagnostic.message.empty());
      CHECK(diagnostic.code != "internal-error");
    }
    CHECK(document.diagnostics().has_errors() == (failed.count() + checked.count() > 0));
    if (failed.count() + checked.count() > 0) {
      CHECK(document.plan() == before);
      return false;
    }
    look_at(window, seed);
    return true;
  });
  std::cout << "opened within " << longest.count() << " s\n";
}

}  // namespace
}  // namespace stowage::test
