// SPDX-License-Identifier: Apache-2.0
// Plans whose groups were compared by another evaluator than the closed form: what is written of them names it, and
// what cannot be asked of them says why.
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "inspector/fusion/strategy_comparison.h"
#include "inspector/sensitivity/asked_curve.h"
#include "inspector/state/background.h"
#include "inspector/whatif/evaluate.h"
#include "inspector/whatif/session.h"
#include "tests/inspector/saved_edits.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

/// LeNet in `plan`, compiled by an evaluator that was trained for this.
PlanPtr learned_plan(const QTemporaryDir& folder) {
  run_in(folder.path(), QStringLiteral("stowage train-cost --network lenet --samples 60 -o 'what it learned.json'"));
  run_in(folder.path(), QStringLiteral("stowage network lenet -o lenet.onnx"));
  run_in(folder.path(),
         QStringLiteral("stowage compile lenet.onnx --cost learned --cost-model 'what it learned.json' -o plan"));
  return loaded(folder.filePath(QStringLiteral("plan")));
}

PlanEdit other_ldm() {
  PlanEdit edit;
  edit.target["ldm.bytes"] = "32768";
  return edit;
}

PlanEdit other_buffer() {
  PlanEdit edit;
  edit.schedules["ip1"].buffer["y"] = 4;
  return edit;
}

TEST_CASE("edits of a plan are saved with its evaluator", "[inspector]") {
  const QTemporaryDir folder;
  SECTION("simulated") {
    run_in(folder.path(), QStringLiteral("stowage network lenet -o lenet.onnx"));
    run_in(folder.path(), QStringLiteral("stowage compile lenet.onnx --cost simulated -o plan"));
    const PlanPtr plan = loaded(folder.filePath(QStringLiteral("plan")));
    check_saved(plan, other_ldm());
    const JobForm job = form_of(*plan, {});
    CHECK(job.cost == "simulated");
    CHECK(job.cost_model.empty());
  }
  SECTION("learned, with the file of what it learned") {
    const PlanPtr plan = learned_plan(folder);
    check_saved(plan, other_buffer());
    const JobForm job = form_of(*plan, {});
    CHECK(job.cost == "learned");
    CHECK(job.cost_model == folder.filePath(QStringLiteral("what it learned.json")).toStdString());
    CHECK(job.missing.empty());
    // One that is another by now is said to be so.
    save_text(folder.filePath(QStringLiteral("what it learned.json")), "{}");
    const JobForm gone = form_of(*plan, {});
    CHECK(gone.missing == std::vector<std::string>{"what it learned.json"});
    CHECK(batch_file({}, gone).find("'what it learned.json' was not found") != std::string::npos);
  }
}

TEST_CASE("a plan by a learned evaluator is not asked about another target", "[inspector]") {
  const QTemporaryDir folder;
  const PlanPtr plan = learned_plan(folder);
  const std::string reason = "'s own target only";
  const std::string remedy = "compile the network with --cost closed or --cost simulated";

  const Evaluation evaluation = beside([&] { return evaluate(*plan, step_named(*plan, "ip1"), other_ldm()); });
  CHECK_FALSE(evaluation.result);
  CHECK(evaluation.refusal.reason.find(reason) != std::string::npos);
  CHECK(evaluation.refusal.reason.find(remedy) != std::string::npos);
  CHECK_FALSE(beside([&] { return price_groups(plan, other_ldm()); }));

  Diagnostics diagnostics;
  CHECK_FALSE(beside([&] { return plan_network(plan, other_ldm(), diagnostics, {}, {}); }));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries().front().code == "other-target");
  CHECK(diagnostics.entries().front().remedy.find(remedy) != std::string::npos);

  const AskedCurve asked = beside([&] {
    return ask_curve(*plan, "target.ldm.bytes", {"16384", "65536", "", "2"}, {}, {});
  });
  CHECK_FALSE(asked.curve);
  CHECK(asked.told.find(reason) != std::string::npos);
  CHECK(asked.told.find(remedy) != std::string::npos);
  CHECK(asked.told.find('\n') == std::string::npos);

  // About its own it is asked as before.
  PlanEdit same;
  same.target["ldm.bytes"] = std::to_string(plan->program().target.ldm.bytes);
  CHECK(beside([&] { return evaluate(*plan, step_named(*plan, "ip1"), same); }).result);
  CHECK(beside([&] { return evaluate(*plan, step_named(*plan, "ip1"), other_buffer()); }).result);
  CHECK(beside([&] { return price_groups(plan, {}); }));
}

TEST_CASE("strategies beside each other are compared by the plan's own evaluator", "[inspector]") {
  const QTemporaryDir folder;
  run_in(folder.path(), QStringLiteral("stowage network lenet -o lenet.onnx"));
  run_in(folder.path(), QStringLiteral("stowage compile lenet.onnx --cost simulated -o plan"));
  const PlanPtr plan = loaded(folder.filePath(QStringLiteral("plan")));
  const auto results = beside([&] { return compare_strategies(*plan, {}, {}); });
  REQUIRE_FALSE(results.empty());
  CHECK(results.back().strategy == "exact");
  CHECK(results.back().cycles == plan->compilation.fusion.totals.front().cycles);
  CHECK(results.back().cycles != plan->totals.cycles);  // which is the closed form's
  const Table table = strategies_table(*plan, results);
  CHECK(table.columns[3].tip == "of the whole network, by simulation");
}

}  // namespace
}  // namespace stowage::test
