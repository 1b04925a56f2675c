// SPDX-License-Identifier: Apache-2.0
// Plans to look at, and the few things that every test of a window needs.
#pragma once

#include <QString>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "inspector/state/document.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/window/main_window.h"

namespace stowage::test {

/// "matmul" (the papers', one core) or "lenet": the samples that the build compiled.
QString sample_folder(const std::string& name);
/// Read on a thread of its own, as the window does; once per program.
inspector::PlanPtr sample_plan(const std::string& name);
/// The sample by the default planner, which leaves a choice of nearly everything.
inspector::PlanPtr searched_lenet();

/// Place of the fused operator of that name among the steps, and the operator; they fail the test where there is none.
StepId step_named(const inspector::LoadedPlan& plan, std::string_view name);
OpId op_named(const inspector::LoadedPlan& plan, const std::string& name);

/// Lets events happen until something holds; false after `seconds`.
bool wait_until(const std::function<bool()>& holds, double seconds = 20);

/// Shows the window and waits until the sample is there.
void open_sample(inspector::MainWindow& window, const std::string& name);

/// A pane by itself, with what it shows and what is chosen of that.
template <class Shown>
struct OpenPane {
  inspector::Look look;
  inspector::Document document;
  inspector::Selection selection{document};
  Shown pane{inspector::PaneContext{document, selection, look}};

  /// As the window has it that shows it so large.
  void show(int width, int height) {
    pane.resize(width, height);
    pane.show();
  }
  void open(const inspector::PlanPtr& plan, const inspector::Subject& subject) {
    document.show(plan);
    selection.select(subject);
  }
  void open(const std::string& sample, StepId step = StepId(0)) {
    open(sample_plan(sample), inspector::step_subject(step));
  }
};

template <class Wanted>
Wanted& pane_of(inspector::MainWindow& window, std::string_view name) {
  auto* pane = dynamic_cast<Wanted*>(window.pane(name));
  REQUIRE(pane != nullptr);
  return *pane;
}

}  // namespace stowage::test
