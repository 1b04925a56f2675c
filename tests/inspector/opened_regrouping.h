// SPDX-License-Identifier: Apache-2.0
// The pane "what if" with a group of LeNet, once the other ways to group its operators have their prices.
#pragma once

#include <QCoreApplication>
#include <catch2/catch.hpp>

#include "inspector/panes/what_if_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {

struct OpenedRegrouping {
  inspector::Look look;
  inspector::Document document;
  inspector::Selection selection{document};
  inspector::WhatIfPane pane{inspector::PaneContext{document, selection, look}};
  OpenedRegrouping() {
    document.show(sample_plan("lenet"));
    selection.select(inspector::step_subject(step_named(*document.plan(), "ip1")));
    pane.resize(1000, 800);
    pane.show();
    settle();
  }
  inspector::WhatIfSession& session() { return pane.session(); }
  inspector::GroupsList& list() { return pane.controls().groups(); }
  void settle() {
    REQUIRE(wait_until([&] {
      return session().latest() != nullptr && !session().pending() && !session().pricing() &&
             !session().regroupings().empty();
    }));
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
    REQUIRE(wait_until([&] { return !session().pending(); }));
  }
};

}  // namespace stowage::test
