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

/// Place of the fused operator of that name among the steps; fails the test where there is none.
StepId step_named(const inspector::LoadedPlan& plan, std::string_view name);

/// Lets events happen until something holds; false after `seconds`.
bool wait_until(const std::function<bool()>& holds, double seconds = 20);

/// Shows the window and waits until the sample is there.
void open_sample(inspector::MainWindow& window, const std::string& name);

template <class Wanted>
Wanted& pane_of(inspector::MainWindow& window, std::string_view name) {
  auto* pane = dynamic_cast<Wanted*>(window.pane(name));
  REQUIRE(pane != nullptr);
  return *pane;
}

}  // namespace stowage::test
