// SPDX-License-Identifier: Apache-2.0
// What if, by its values. The pane is in what_if_pane_test.cpp.
#include <QFile>
#include <QJsonObject>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "core/npy.h"
#include "driver/athread/athread_backend.h"
#include "driver/athread/athread_schedule.h"
#include "driver/session/schedule_toml.h"
#include "driver/store/plan_file.h"
#include "inspector/state/load.h"
#include "inspector/whatif/job_form.h"
#include "tests/inspector/evaluated.h"
#include "tests/inspector/saved_edits.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

PlanEdit edit_of(Schedule schedule) {
  PlanEdit edit;
  edit.schedules["matmul"] = std::move(schedule);
  return edit;
}

TEST_CASE("without an edit the answer is the plan itself", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  for (const StepId i : plan->steps.ids()) {
    if (plan->steps[i].plan == nullptr) continue;
    const Evaluation evaluation = evaluated(*plan, i, {});
    REQUIRE(evaluation.result);
    CHECK(evaluation.start == Schedule{});
    CHECK(to_text(evaluation.plan().nest) == to_text(plan->steps[i].plan->nest));
    CHECK(numbers_of(evaluation.plan(), evaluation.target()) ==
          numbers_of(*plan->steps[i].plan, plan->program().target));
    CHECK(verdict(*plan->steps[i].plan, plan->program().target, evaluation.plan(), evaluation.target()) ==
          "The same as the plan.");
  }
}

TEST_CASE("a plan tells which schedules a person has fixed, also when it is read from its folder", "[inspector]") {
  const PlanPtr free = sample_plan("matmul");
  Diagnostics diagnostics;
  const PlanEdit edit = edit_of(buffers({{"y", 64}}));
  const PlanPtr fixed = beside([&] { return plan_network(free, edit, diagnostics, {}, {}); });
  REQUIRE(fixed);
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("matmul")).toStdString();
  REQUIRE(write_compilation(fixed->compilation, path, false, diagnostics));
  auto stored = read_compilation(path, diagnostics);
  REQUIRE(stored);
  const PlanPtr read = make_loaded_plan(*std::move(stored), path, path, {});
  for (const PlanPtr& plan : {fixed, read}) {
    const Schedule& schedule = plan->steps[StepId(0)].plan->schedule;
    REQUIRE(schedule.buffer.at("y") == 64);
    const Evaluation evaluation = evaluated(*plan, StepId(0), {});
    CHECK(evaluation.start == schedule);
    REQUIRE(evaluation.result);
    CHECK(evaluation.plan().schedule == schedule);
    // What else is edited keeps what was fixed.
    PlanEdit slow;
    slow.target["dma.startup_cycles"] = "5000.0";
    CHECK(evaluated(*plan, StepId(0), slow).plan().schedule.buffer.at("y") == 64);
  }
}

TEST_CASE("a smaller buffer of the papers' matmul costs more transfers", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const Evaluation evaluation = evaluated(*plan, StepId(0), edit_of(buffers({{"y", 64}, {"k", 64}})));
  REQUIRE(evaluation.result);
  const GroupNumbers numbers = numbers_of(evaluation.plan(), evaluation.target());
  // A and B once for each of 16 x 16 tiles, C once for each of 16.
  CHECK(numbers.transfers == 2 * 256 + 16);
  CHECK(numbers.ldm_bytes == 64 * 4 + 64 * 64 * 4 + 64 * 4);
  const std::string words =
      verdict(*plan->steps[StepId(0)].plan, plan->program().target, evaluation.plan(), evaluation.target());
  CHECK(words.find("slower") != std::string::npos);
  CHECK(words.find("buffers 64 of y instead of 128") != std::string::npos);
}

TEST_CASE("what cannot be is refused with rule and reason", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  const auto refusal = [&](const PlanEdit& edit) {
    const Evaluation evaluation = evaluated(*plan, StepId(0), edit);
    UNSCOPED_INFO(evaluation.refusal.rule << ": " << evaluation.refusal.reason);
    CHECK_FALSE(evaluation.result);
    CHECK_FALSE(evaluation.refusal.allowed);
    CHECK_FALSE(evaluation.refusal.rule.empty());
    return evaluation.refusal.reason;
  };
  CHECK(refusal(edit_of(buffers({{"y", 1024}, {"k", 1024}}))).find("KiB") != std::string::npos);
  CHECK(refusal(edit_of(buffers({{"y", 4096}}))).find("its range on one core is 1..1024") != std::string::npos);
  Schedule order;
  order.order = {"ko", "x", "yo"};
  CHECK(refusal(edit_of(order)).find("must stay outside of the reduction ko") != std::string::npos);
  Schedule place;
  place.dma["A"] = "x";
  CHECK_FALSE(refusal(edit_of(place)).empty());
  Schedule split;
  split.parallel = {{"y", 64}};
  CHECK(refusal(edit_of(split)).find("the target has 1 core") != std::string::npos);
  PlanEdit target;
  target.target["ldm.bytes"] = "12";
  CHECK_FALSE(refusal(target).empty());
}

TEST_CASE("controls name what can be set and where a transfer can stand", "[inspector]") {
  const GroupControls controls = evaluated(*sample_plan("matmul"), StepId(0), {}).controls;
  REQUIRE(controls.iterators.size() == 3);
  CHECK(controls.iterators[1].name == "y");
  CHECK(controls.iterators[1].range == 1024);
  CHECK(controls.iterators[1].buffer == 128);
  CHECK(controls.iterators[1].loop == "yo");
  CHECK_FALSE(controls.iterators[2].spatial);
  REQUIRE(controls.loops.size() == 3);
  CHECK(controls.loops[2].name == "ko");
  CHECK(controls.loops[2].trips == 16);
  REQUIRE(controls.places.size() == 3);
  CHECK(controls.places[0].loops == std::vector<std::string>{"ko"});
  CHECK(controls.places[2].loops == std::vector<std::string>{"yo"});
  std::vector<std::string> rows;
  for (const ScheduleRow& row : schedule_rows(controls)) rows.push_back(row.name);
  CHECK(rows == std::vector<std::string>{"x", "yo", "ko", "A", "B", "C"});
}

TEST_CASE("dragging rows sets order and places", "[inspector]") {
  const GroupControls controls = evaluated(*sample_plan("matmul"), StepId(0), {}).controls;  // x yo ko A B C
  CHECK(with_row_moved({}, controls, 1, 0).order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(with_row_moved({}, controls, 0, 2).order == std::vector<std::string>{"yo", "x", "ko"});
  CHECK(with_row_moved({}, controls, 0, 1) == Schedule{});
  CHECK(with_row_moved({}, controls, 3, 0).dma.at("A").empty());
  CHECK(with_row_moved({}, controls, 3, 2).dma.at("A") == "yo");
  CHECK(with_row_stepped({}, controls, 3, -1).dma.at("A") == "yo");
  CHECK(with_row_stepped({}, controls, 5, -1).dma.at("C") == "ko");
  CHECK(with_row_stepped({}, controls, 2, -1).order == std::vector<std::string>{"x", "ko", "yo"});
  CHECK(with_row_stepped({}, controls, 0, -1) == Schedule{});
  CHECK(with_row_stepped({}, controls, 5, 1).dma.at("C") == "x");
  CHECK(with_row_moved({}, controls, 5, 3).dma.at("C") == "ko");
  CHECK(with_row_moved({}, controls, 5, 1).dma.at("C") == "x");
  CHECK(with_row_moved({}, controls, 9, 0) == Schedule{});
}

TEST_CASE("a fixed order follows the names that loops get from their sizes", "[inspector]") {
  const GroupControls controls = evaluated(*sample_plan("matmul"), StepId(0), {}).controls;
  Schedule fixed;
  fixed.order = {"x", "yo", "ko"};
  fixed.dma["A"] = "yo";
  const Schedule one = with_buffer(fixed, controls, "y", 1);
  CHECK(*one.order == std::vector<std::string>{"x", "y", "ko"});
  CHECK(one.dma.at("A") == "y");
  const Schedule whole = with_buffer(fixed, controls, "y", 1024);
  CHECK(*whole.order == std::vector<std::string>{"x", "ko"});
  CHECK(whole.dma.empty());
  fixed.dma.clear();
  CHECK(evaluated(*sample_plan("matmul"), StepId(0), edit_of(with_buffer(fixed, controls, "y", 1))).result);
}

TEST_CASE("the command line gives what the pane shows for the edits written as TOML", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Schedule schedule = buffers({{"y", 64}});
  schedule.order = {"yo", "x", "ko"};
  schedule.dma["A"] = "ko";
  PlanEdit edit = edit_of(schedule);
  SECTION("a schedule") {}
  SECTION("a schedule and a target") {
    edit.target["dma.startup_cycles"] = "500.0";
    edit.target["dma.bandwidth"] = scaled_bandwidth(plan->program().target, 0.5);
  }
  SECTION("a size that only the opened plan's own target has room for") { edit = edit_of(buffers({{"y", 256}})); }
  const Evaluation evaluation = evaluated(*plan, StepId(0), edit);
  REQUIRE(evaluation.result);
  const GroupNumbers numbers = numbers_of(evaluation.plan(), evaluation.target());
  check_saved(plan, edit);
  const QJsonObject json = saved_totals(plan, edit);
  CHECK(number(json, "dma_transfers") == numbers.transfers);
  CHECK(number(json, "cycles") == numbers.cycles);
  // And read again the file is the same edits.
  Diagnostics diagnostics;
  const auto read = parse_schedules(schedule_file(edit, form_of(*plan, edit), "edit.toml"), "edit.toml",
                                    AthreadBackend(), diagnostics);
  REQUIRE(read);
  CHECK(schedules_of(*read) == edit.schedules);
}

TEST_CASE("edits of a plan for a target from a file are saved with that target's values", "[inspector]") {
  const QTemporaryDir folder;
  run_in(folder.path(), QStringLiteral("stowage network lenet -o lenet.onnx"));
  Diagnostics diagnostics;
  const auto target = load_target(
      "sw26010",
      {"name='small'", "summary=\"it's small\"", "cores.count=16", "ldm.bytes=32768", "clock_hz=1.23456789e9",
       "dma.bandwidth=[{block_bytes=64, "
       "bytes_per_second=3.3e9}, {block_bytes=1024, bytes_per_second=2e10}]"},
      diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  save_text(folder.filePath(QStringLiteral("small.toml")), to_toml(*target));
  run_in(folder.path(), QStringLiteral("stowage compile lenet.onnx --target small.toml -o plans/lenet"));
  const PlanPtr plan = loaded(folder.filePath(QStringLiteral("plans/lenet")));
  PlanEdit edit;
  edit.schedules["ip1"] = buffers({{"y", 4}});
  check_saved(plan, edit);
}

TEST_CASE("edits of a job's sample network are saved with that network", "[inspector]") {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("jobs.toml"));
  save_text(path,
            "[[job]]\nname = 'small'\nnetwork = 'lenet'\nbatch = 2\nseed = 7\nset = { 'target.cores.count' = 16 }\n"
            "[[job]]\nname = 'other'\nnetwork = 'lenet'\n");
  const PlanPtr plan = loaded(path, "small");
  PlanEdit edit;
  edit.target["dma.startup_cycles"] = "400";
  check_saved(plan, edit);
  CHECK(batch_file(edit, form_of(*plan, edit)).find("/tmp/stowage-inspector") == std::string::npos);
}

/// One field of a protobuf message, of wire type 2.
std::string field(int number, const std::string& bytes) {
  REQUIRE(bytes.size() < 128);
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}
std::string field(int number, char value) { return {static_cast<char>(number * 8), value}; }

/// y = Relu(Reshape(x [N, 6], shape [2])): a dimension to be given, and an input to be bound.
std::string dynamic_model() {
  const auto value = [](const std::string& name, char type, const std::vector<std::string>& dimensions) {
    std::string shape;
    for (const std::string& dimension : dimensions) shape += field(1, dimension);
    std::string tensor = field(1, type);
    if (!dimensions.empty()) tensor += field(2, shape);
    return field(1, name) + field(2, field(1, tensor));
  };
  const std::string reshape = field(1, std::string("x")) + field(1, std::string("shape")) + field(2, std::string("r")) +
                              field(3, std::string("reshape")) + field(4, std::string("Reshape"));
  const std::string relu = field(1, std::string("r")) + field(2, std::string("y")) + field(3, std::string("relu")) +
                           field(4, std::string("Relu"));
  std::string graph = field(1, reshape) + field(1, relu) + field(2, std::string("g"));
  graph += field(11, value("x", 1, {field(2, std::string("N")), field(1, char{6})}));
  graph += field(11, value("shape", 7, {field(1, char{2})}));
  graph += field(12, value("y", 1, {}));
  std::string model = field(1, char{8});
  model += std::string{7 * 8 + 2, static_cast<char>((graph.size() & 127) | 128), static_cast<char>(graph.size() >> 7)};
  return model + graph + field(8, field(2, char{13}));
}

TEST_CASE("edits are saved with the plan's dimensions, bindings and templates, wherever they are", "[inspector]") {
  const QTemporaryDir folder;
  save_text(folder.filePath(QStringLiteral("a model.onnx")), dynamic_model());
  const Tensor shape = Tensor::of_int64s({2}, std::vector<std::int64_t>{4, 9});
  Diagnostics diagnostics;
  REQUIRE(write_npy(folder.filePath(QStringLiteral("shape.npy")).toStdString(), shape, diagnostics));
  REQUIRE(
      QFile::copy(QStringLiteral(STOWAGE_SAMPLES "/templates/gelu.toml"), folder.filePath(QStringLiteral("own.toml"))));
  run_in(folder.path(), QStringLiteral("stowage compile 'a model.onnx' --dim N=6 --bind shape=shape.npy "
                                       "--templates own.toml -o deep/plan"));
  const PlanPtr plan = loaded(folder.filePath(QStringLiteral("deep/plan")));
  PlanEdit edit;
  edit.target["dma.startup_cycles"] = "400";
  check_saved(plan, edit);
  const JobForm job = form_of(*plan, edit);
  CHECK(job.missing.empty());
  CHECK(job.dimensions.at("N") == 6);
  CHECK(job.templates == folder.filePath(QStringLiteral("own.toml")).toStdString());
  // A model that is another now, or gone, is said to be so.
  save_text(folder.filePath(QStringLiteral("a model.onnx")), "another");
  CHECK(form_of(*plan, edit).missing == std::vector<std::string>{"a model.onnx"});
  CHECK(batch_file(edit, form_of(*plan, edit)).find("'a model.onnx' was not found") != std::string::npos);
}

}  // namespace
}  // namespace stowage::test
