// SPDX-License-Identifier: Apache-2.0
#include "tests/inspector/window_fixture.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <map>
#include <thread>

#include "driver/session/session.h"
#include "inspector/state/load.h"

namespace stowage::test {

QString sample_folder(const std::string& name) {
  return QString::fromUtf8(STOWAGE_INSPECTOR_SAMPLES "/") + QString::fromStdString(name);
}

inspector::PlanPtr sample_plan(const std::string& name) {
  static std::map<std::string, inspector::PlanPtr> plans;
  inspector::PlanPtr& plan = plans[name];
  if (!plan) {
    std::jthread([&] { plan = inspector::load(sample_folder(name).toStdString(), "", {}, {}).plan; }).join();
  }
  REQUIRE(plan);
  return plan;
}

inspector::PlanPtr searched_lenet() {
  CompileRequest request;
  request.model = sample_folder("lenet").toStdString() + ".onnx";
  Diagnostics diagnostics;
  auto compilation = compile(request, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  return inspector::make_loaded_plan(*std::move(compilation), "lenet", "", {});
}

StepId step_named(const inspector::LoadedPlan& plan, std::string_view name) {
  for (const StepId i : plan.steps.ids()) {
    if (plan.steps[i].step->group.name == name) return i;
  }
  FAIL("no step " << name);
  return {};
}

OpId op_named(const inspector::LoadedPlan& plan, const std::string& name) {
  const auto op = plan.graph().find_operator(name);
  REQUIRE(op);
  return *op;
}

bool wait_until(const std::function<bool()>& holds, double seconds) {
  QElapsedTimer timer;
  timer.start();
  QTimer look_again;  // for what changes without an event; the loop rests in between
  look_again.start(5);
  while (!holds()) {
    if (static_cast<double>(timer.elapsed()) > seconds * 1000) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
  }
  return true;
}

void open_sample(inspector::MainWindow& window, const std::string& name) {
  window.show();
  window.open({sample_folder(name), {}});
  REQUIRE(wait_until([&] { return window.document().plan() != nullptr && !window.document().busy(); }));
}

}  // namespace stowage::test
