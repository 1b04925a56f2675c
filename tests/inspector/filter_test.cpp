// SPDX-License-Identifier: Apache-2.0
// Lines that take a regular expression.
#include <QStatusBar>
#include <QTest>
#include <catch2/catch.hpp>

#include "inspector/panes/compare_pane.h"
#include "inspector/panes/fusion_pane.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/tables_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("what is said of an invalid regular expression goes once it is valid", "[inspector]") {
  MainWindow window;
  window.resize(1280, 800);
  open_sample(window, "lenet");
  for (const char* pane : {"tables", "fusion", "compare"}) {
    window.raisePane(pane);
    window.settle();
    window.statusBar()->clearMessage();
    QLineEdit* line = nullptr;
    for (auto* found : window.pane(pane)->findChildren<QLineEdit*>()) {
      if (found->placeholderText().startsWith(QStringLiteral("Filter"))) line = found;
    }
    INFO(pane);
    REQUIRE(line != nullptr);
    const auto said = [&] { return window.statusBar()->currentMessage().toStdString(); };
    QTest::keyClicks(line, QStringLiteral("con("));
    CHECK(said().find("no regular expression") != std::string::npos);
    QTest::keyClicks(line, QStringLiteral("v)"));
    CHECK(said().empty());
    // It may be corrected by taking away, too; and what somebody else said meanwhile stays.
    QTest::keyClicks(line, QStringLiteral("("));
    CHECK(said().find("no regular expression") != std::string::npos);
    window.statusBar()->showMessage(QStringLiteral("Saved somewhere"));
    line->clear();
    CHECK(said() == "Saved somewhere");
  }
}

}  // namespace
}  // namespace stowage::test
