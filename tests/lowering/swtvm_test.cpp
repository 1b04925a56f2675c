// SPDX-License-Identifier: Apache-2.0
// The papers' worked examples, by name (swTVM version 1 section 5.2, version 2 section V.B).
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage::swtvm_test {

using fixtures::matmul_stages;

namespace {

/// v = data[row, at]: elements of a row, by their indices
StageList gather_stages(std::int64_t row, std::int64_t n) {
  StageList list;
  list.tensors = {{"data", ElementType::f32, {4, row}, TensorRole::input, {}, {}},
                  {"at", ElementType::i64, {n}, TensorRole::input, {}, {}},
                  {"v", ElementType::f32, {4, n}, TensorRole::output, {}, {}}};
  Stage stage;
  stage.name = "gather";
  stage.output = StageTensorId(2);
  stage.axes = {{"i0", 4}, {"i1", n}};
  stage.spatial = 2;
  stage.reads = {{StageTensorId(0), {VarId(0), tensor_value(ReadId(1), row)}, {}}, {StageTensorId(1), {VarId(1)}, {}}};
  stage.body = scalar_read(ElementType::f32, ReadId(0));
  list.stages = {stage};
  return list;
}

/// v = v1 * v2
StageList vector_stages(std::int64_t n) {
  StageList list;
  list.tensors = {{"v1", ElementType::f32, {n}, TensorRole::input, {}, {}},
                  {"v2", ElementType::f32, {n}, TensorRole::input, {}, {}},
                  {"v", ElementType::f32, {n}, TensorRole::output, {}, {}}};
  Stage stage;
  stage.name = "multiply";
  stage.output = StageTensorId(2);
  stage.axes = {{"i0", n}};
  stage.spatial = 1;
  stage.reads = {{StageTensorId(0), {VarId(0)}, {}}, {StageTensorId(1), {VarId(0)}, {}}};
  stage.body = scalar_read(ElementType::f32, ReadId(0)) * scalar_read(ElementType::f32, ReadId(1));
  list.stages = {stage};
  return list;
}

Target one_core() {
  Target target;
  target.cores.count = 1;
  target.ldm.reserved = 0;
  return target;
}

Target all_cores() {
  Target target;
  target.ldm.reserved = 0;
  return target;
}

struct Planning {
  Schedule schedule;
  Trace trace;
};

Planning plan(const StageList& stages, const Target& target, const Schedule& fixed = {}) {
  Planning planning;
  Scheduled scheduled = SwtvmPlanner().complete("example", stages, fixed, target, TraceSink(&planning.trace));
  if (const auto* refused = std::get_if<Decision>(&scheduled)) FAIL(refused->reason);
  planning.schedule = std::get<Schedule>(std::move(scheduled));
  return planning;
}

std::string refusal(const StageList& stages, const Target& target, const Schedule& fixed) {
  Scheduled scheduled = SwtvmPlanner().complete("example", stages, fixed, target, {});
  const auto* refused = std::get_if<Decision>(&scheduled);
  return refused != nullptr ? refused->reason : "";
}

/// Messages of one algorithm, in order.
std::vector<std::string> messages(const Trace& trace, const std::string& algorithm) {
  std::vector<std::string> found;
  for (const TraceRecord& record : trace.records) {
    if (heading_of(record).algorithm == algorithm) found.push_back(sentence(record));
  }
  return found;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("matmul on one core: classes, sizes on the way and the refused 65 KiB") {
  const Planning planning = plan(matmul_stages(1, 1024, 1024), one_core());
  CHECK(messages(planning.trace, "alg1") == Lines{
                                                "iterators classified: x num, y size, k comp",
                                                "y starts at min(range 1024, 64): x=1, y=64, k=1 takes 544 bytes",
                                                "k starts at min(range 1024, 64): x=1, y=64, k=64 takes 16.5 KiB",
                                                "iterators classified again: x num, y size, k comp",
                                                "y expanded: x=1, y=128, k=64 takes 32.75 KiB",
                                                "k expanded: x=1, y=128, k=128 needs 65 KiB, only 63.96 KiB: refused",
                                                "buffer sizes chosen: x=1, y=128, k=64 takes 32.75 KiB",
                                            });
  CHECK(planning.schedule.buffer == std::map<std::string, std::int64_t>{{"x", 1}, {"y", 128}, {"k", 64}});
}

TEST_CASE("matmul on one core: transfers of the candidates and the final order") {
  const Planning planning = plan(matmul_stages(1, 1024, 1024), one_core());
  CHECK(messages(planning.trace, "alg2") ==
        Lines{
            "x as the innermost of the loops left: 384 transfers (A 128, B 128, C 128)",
            "yo as the innermost of the loops left: 272 transfers (A 16, B 128, C 128)",
            "ko as the innermost of the loops left: 264 transfers (A 128, B 128, C 8)",
            "ko is chosen with 264 transfers",
            "x as the innermost of the loops left: 8 transfers (C 8)",
            "yo as the innermost of the loops left: 8 transfers (C 8)",
            "yo is chosen with 8 transfers",
            "x as the innermost of the loops left: 0 transfers",
            "x is chosen with 0 transfers",
            "loop order: x, yo, ko",
        });
  CHECK(planning.schedule.order == Lines{"x", "yo", "ko"});
}

TEST_CASE("matmul on one core: DMA places") {
  const Planning planning = plan(matmul_stages(1, 1024, 1024), one_core());
  CHECK(messages(planning.trace, "alg3") == Lines{
                                                "load of A goes inside ko",
                                                "load of B goes inside ko",
                                                "initialisation and store of C go inside yo",
                                            });
  CHECK(planning.schedule.dma == std::map<std::string, std::string>{{"A", "ko"}, {"B", "ko"}, {"C", "yo"}});
}

TEST_CASE("matmul on 64 cores without reserve: y=16, k=512") {
  const Planning planning = plan(matmul_stages(1, 1024, 1024), all_cores());
  CHECK(planning.schedule.parallel == std::vector<ParallelSplit>{{"y", 64}});
  CHECK(planning.schedule.buffer == std::map<std::string, std::int64_t>{{"x", 1}, {"y", 16}, {"k", 512}});
  const Lines steps = messages(planning.trace, "alg1");
  CHECK(std::find(steps.begin(), steps.end(), "k expanded: x=1, y=16, k=512 takes 34.06 KiB") != steps.end());
  CHECK(std::find(steps.begin(), steps.end(),
                  "k expanded: x=1, y=16, k=1024 needs 68.06 KiB, only 63.96 KiB: refused") != steps.end());
}

TEST_CASE("vector of 1024 over 64 cores: 16 elements a core") {
  const Planning planning = plan(vector_stages(1024), all_cores());
  CHECK(planning.schedule.parallel == std::vector<ParallelSplit>{{"i0", 64}});
  CHECK(planning.schedule.buffer == std::map<std::string, std::int64_t>{{"i0", 16}});
}

TEST_CASE("a person fixes a part of the schedule and the planner fills the rest") {
  Schedule fixed;
  fixed.buffer = {{"y", 32}};
  const Planning planning = plan(matmul_stages(1, 1024, 1024), one_core(), fixed);
  CHECK(planning.schedule.buffer.at("y") == 32);
  // The 64 KiB that y leaves go to k: 32 * k + k + 32 floats.
  CHECK(planning.schedule.buffer.at("k") == 256);
  CHECK(planning.schedule.order == Lines{"x", "yo", "ko"});
}

TEST_CASE("a row that is gathered from is held whole where it takes an eighth of the LDM") {
  Target target = one_core();
  target.ldm.bytes = 16384;
  CHECK(plan(gather_stages(512, 64), target).schedule.buffer.at("i1") == 64);
  CHECK(plan(gather_stages(513, 64), target).schedule.buffer.at("i1") == 1);
  target.ldm.bytes = 32768;
  CHECK(plan(gather_stages(1024, 64), target).schedule.buffer.at("i1") == 64);
  // An LDM that a row would nearly fill has room for one element of it at a time.
  target.ldm.bytes = 4096;
  CHECK(refusal(gather_stages(1024, 64), target, {}).empty());
}

TEST_CASE("parts without elements are refused where places are looked up in a table") {
  StageList list = vector_stages(18);
  Schedule fixed;
  fixed.parallel = {{{"i0", 7}}};
  CHECK(refusal(list, all_cores(), fixed).empty());  // parts of 3, of which the seventh has none
  const auto table = std::make_shared<const IndexTable>(IndexTable{"t", std::vector<std::int64_t>(18, 1)});
  list.stages.front().reads.front().index = {lookup(table, VarId(0))};
  CHECK(refusal(list, all_cores(), fixed) ==
        "parallel: of 7 parts of i0 only 6 have elements, and places are looked up in a table, which has none for the "
        "others");
  fixed.parallel = {{{"i0", 6}}};
  CHECK(refusal(list, all_cores(), fixed).empty());
}

TEST_CASE("a schedule that cannot hold is refused with the constraint") {
  const StageList stages = matmul_stages(1, 1024, 1024);
  const auto with = [](auto set) {
    Schedule fixed;
    set(fixed);
    return fixed;
  };
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.buffer = {{"y", 2000}};
                })) == "buffer: y is 2000, its range on one core is 1..1024");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.buffer = {{"z", 4}};
                })) == "buffer: there is no iterator 'z'; known are: x, y, k");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.order = Lines{"x", "ko", "yo"};
                })) ==
        "order: yo iterates over the output and must stay outside of the reduction ko (swTVM version 2, constraint 2)");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.order = Lines{"x", "yo"};
                })) == "order: the outer loop ko is missing");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.dma = {{"A", "yo"}};
                })) == "dma: A depends on ko, so its transfer cannot stand outside of that loop");
  CHECK(refusal(stages, all_cores(), with([](Schedule& s) {
                  s.parallel = {{{"k", 2}}};
                })) == "parallel: k is a reduction; splitting it over cores would make them write the same elements");
  CHECK(refusal(stages, all_cores(), with([](Schedule& s) {
                  s.parallel = {{{"y", 128}}};
                })) == "parallel: the grid has 128 parts, the target has 64 cores");
  CHECK(
      refusal(stages, one_core(), with([](Schedule& s) {
                s.buffer = {{"y", 1024}, {"k", 1024}};
              })) ==
      "one element of every other iterator beside the fixed sizes needs 4104 KiB of LDM, the target has 63.96 KiB (64 "
      "KiB - 40 bytes for parameters); the binding buffer is B with 4096 KiB ([1024 x 1024] elements)");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.slots = {{"B", 5}};
                })) ==
        "slots: B asks for 5 slots; a buffer has one, or two to 4 to be moved while something is computed");
  CHECK(refusal(stages, one_core(), with([](Schedule& s) {
                  s.slots = {{"D", 2}};
                })) == "slots: there is no tensor 'D' to transfer");
  // Slots that fill the LDM: the sizes that are fixed have room for one only.
  CHECK(
      refusal(stages, one_core(), with([](Schedule& s) {
                s.buffer = {{"y", 128}, {"k", 64}};
                s.slots = {{"B", 2}};
              })) ==
      "one element of every other iterator beside the fixed sizes needs 64.75 KiB of LDM, the target has 63.95 KiB (64 "
      "KiB - 48 bytes for parameters); the binding buffer is B with 64 KiB ([64 x 128] elements), in 2 slots");
  // A tensor that moves once has nothing to be moved beside.
  CHECK(refusal(matmul_stages(1, 16, 16), one_core(), [] {
          Schedule once;
          once.slots = {{"B", 2}};
          return once;
        }()) == "slots: B is moved once with these buffer sizes, and needs no second slot for that");
  CHECK(refusal(matmul_stages(1, 16, 16), one_core(), [] {
          Schedule twice;
          twice.buffer = {{"y", 8}, {"k", 16}};
          twice.slots = {{"B", 3}};
          return twice;
        }()) == "slots: B is moved 2 times with these buffer sizes, and needs no third slot for that");
}

TEST_CASE("all ones that do not fit refuse the group and name the binding buffer") {
  Target target = one_core();
  target.ldm.bytes = 64;
  CHECK(refusal(matmul_stages(1, 1024, 1024), target, {}) ==
        "even one element of every iterator needs 96 bytes of LDM, the target has 24 bytes (64 bytes - 40 bytes "
        "for parameters); the binding buffer is A with 32 bytes ([1 x 1] elements)");
}

TEST_CASE("what finishes a sum is not loaded inside of its loops, where nothing reads it") {
  StageList stages = matmul_stages(4, 64, 64);
  Stage& product = stages.stages[StageId(0)];
  stages.tensors.push_back({"bias", ElementType::f32, {64}, TensorRole::input, {}, {}});
  const ReadId bias = product.reads.push_back({StageTensorId(stages.tensors.size() - 1), {VarId(1)}, {}});
  product.finish = scalar_accumulator(ElementType::f32) + scalar_read(ElementType::f32, bias);
  const auto placed = [&](const std::string& tensor, const std::string& loop) {
    Schedule fixed;
    fixed.buffer = {{"x", 1}, {"y", 8}, {"k", 8}};
    fixed.dma = {{tensor, loop}};
    return refusal(stages, one_core(), fixed);
  };
  CHECK(placed("bias", "ko") == "dma: bias cannot be placed inside 'ko'; loops around it are: yo, x");
  CHECK(placed("bias", "yo") == "");
  CHECK(placed("B", "ko") == "");
}

TEST_CASE("what an earlier stage reads is not loaded inside of loops that its result is complete outside of") {
  // C = sum over k of relu(A[x]) * B[k, y]: the rectified row is the same in every trip of k.
  StageList stages = matmul_stages(4, 64, 64);
  stages.tensors.push_back({"R", ElementType::f32, {4, 1}, TensorRole::input, {}, {}});
  stages.tensors.push_back({"T", ElementType::f32, {4, 1}, TensorRole::intermediate, {}, {}});
  const StageTensorId r(stages.tensors.size() - 2), t(stages.tensors.size() - 1);
  Stage early;
  early.name = "early";
  early.output = t;
  early.axes = {{"i0", 4}, {"i1", 1}};
  early.spatial = 2;
  early.reads = {{r, {VarId(0), VarId(1)}, {}}};
  early.body = scalar_read(ElementType::f32, ReadId(0)) * scalar_read(ElementType::f32, ReadId(0));
  Stage product = stages.stages[StageId(0)];
  const ReadId scale = product.reads.push_back({t, {VarId(0), 0}, {}});
  product.body = product.body * scalar_read(ElementType::f32, scale);
  stages.stages = {early, product};
  Schedule fixed;
  fixed.buffer = {{"x", 1}, {"y", 8}, {"k", 8}};
  fixed.dma = {{"R", "ko"}};
  CHECK(refusal(stages, one_core(), fixed) ==
        "dma: R cannot be placed inside 'ko'; what is computed of it is complete outside of that loop");
  fixed.dma = {{"R", "x"}};
  CHECK(refusal(stages, one_core(), fixed) == "");
}

}  // namespace stowage::swtvm_test
