// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/number_text.h"
#include "inspector/panes/replay_pane.h"
#include "inspector/replay/algorithm_text.h"
#include "inspector/replay/nest_so_far.h"
#include "inspector/replay/replay_picture.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

std::vector<const ReplayStep*> steps_of(const Replay& replay, const std::string& algorithm) {
  std::vector<const ReplayStep*> found;
  for (const ReplayStep& step : replay.steps) {
    if (step.algorithm == algorithm) found.push_back(&step);
  }
  return found;
}

std::string value(const ReplayStep& step, const std::string& name) {
  for (const ReplayVariable& variable : step.variables) {
    if (variable.name == name) return variable.value;
  }
  return {};
}

/// "for x < 1 / for yo < 8 / …", as deep as it is indented.
std::string nest_text(const ReplayStep& step) {
  std::string text;
  for (const ReplayLine& line : step.nest) {
    text += std::string(static_cast<std::size_t>(line.depth) * 2, ' ') + line.text;
    if (!line.note.empty()) text += " | " + line.note;
    text += "\n";
  }
  return text;
}

/// The matmul with other records.
Replay replay_of(const std::vector<TraceRecord>& records) {
  LoadedPlan plan = *sample_plan("matmul");
  plan.compilation.trace.records = records;
  return make_replay(plan, StepId(0));
}

TEST_CASE("a damaged trace without sizes is replayed as far as it goes", "[inspector][replay][damaged]") {
  std::vector<TraceRecord> records = sample_plan("matmul")->compilation.trace.records;
  for (TraceRecord& record : records) {
    if (ldm_state(record.what) == nullptr) continue;
    auto names = std::make_shared<GroupNames>(*record.names);
    names->iterators.erase(IteratorId(1));  // y
    record.names = names;
  }
  const Replay replay = replay_of(records);
  for (const char* algorithm : {"alg1", "alg2", "alg3"}) CHECK(steps_of(replay, algorithm).empty());
  CHECK_FALSE(steps_of(replay, "result").empty());
}

TEST_CASE("sizes that a damaged trace has behind an order begin it anew", "[inspector][replay][damaged]") {
  std::vector<TraceRecord> records = sample_plan("matmul")->compilation.trace.records;
  const auto last = std::find_if(records.rbegin(), records.rend(),
                                 [](const auto& r) { return std::holds_alternative<SizesChosen>(r.what); });
  REQUIRE(last != records.rend());
  TraceRecord again = *last;
  LdmState& state = std::get<SizesChosen>(again.what).state;
  state.classes[IteratorId(0)] = state.classes[IteratorId(1)] = IteratorClass::whole;  // x and y
  const auto first = std::find_if(records.begin(), records.end(),
                                  [](const auto& r) { return std::holds_alternative<LoopTried>(r.what); });
  REQUIRE(first != records.end());
  records.insert(first + 1, again);  // all three loops are open, and two of them are none any more
  const Replay replay = replay_of(records);
  const ReplayStep& sizes = *steps_of(replay, "alg1").back();
  CHECK(nest_text(sizes).find("place open") == std::string::npos);
  CHECK(nest_text(sizes).find("for yo") == std::string::npos);
}

TEST_CASE("a transfer inside of more loops than there are is inside of those there are",
          "[inspector][replay][damaged]") {
  const PlanPtr plan = sample_plan("matmul");
  const GroupModel model = build_group_model(plan->steps[StepId(0)].plan->nest.stages, plan->program().target);
  NestState state;
  for (const IteratorId i : model.iterators.ids()) {
    state.loops.push_back({i, model.iterators[i].name + "o", 4});
  }
  for (const BufferId b : model.buffers.ids()) {
    const std::size_t path = path_of(model, state.loops, model.buffers[b]).size();
    REQUIRE(path >= 2);
    state.depth.assign(model.buffers.size(), path + 1);
    CHECK(loops_around(model, state, b).size() == path);
    state.depth.assign(model.buffers.size(), 1);
    CHECK(iterations_around(model, state, b) == 4);
  }
}

/// The records as an earlier version kept them.
std::vector<TraceRecord> as_text(std::vector<TraceRecord> records) {
  for (TraceRecord& record : records) {
    TraceHeading heading = heading_of(record);
    TextRecord text{std::move(heading.algorithm), std::move(heading.rule), heading.outcome, sentence(record), {}};
    record = {record.subject, std::move(text), nullptr};
  }
  return records;
}

TEST_CASE("a plan of an earlier version is replayed as text, and says so", "[inspector][replay][damaged]") {
  const Replay now = make_replay(*sample_plan("matmul"), StepId(0));
  const Replay before = replay_of(as_text(sample_plan("matmul")->compilation.trace.records));
  CHECK(keeps_steps(*sample_plan("matmul"), StepId(0)));
  const auto is_text = [](const ReplayStep& step) { return step.is_text; };
  CHECK(std::none_of(now.steps.begin(), now.steps.end(), is_text));
  const auto first = std::find_if(before.steps.begin(), before.steps.end(), is_text);
  REQUIRE(first != before.steps.end());
  CHECK(first->message == "This plan was written by an earlier version of Stowage");
  // The sentences are those of today, in the trace's order; nothing is guessed beside them.
  std::vector<std::string> told;
  for (auto step = first + 1; step != before.steps.end() && step->is_text; ++step) {
    told.push_back(step->message);
    CHECK(step->nest.empty());
    CHECK(step->buffers.empty());
    CHECK(step->variables.empty());
    CHECK(step->rounds.empty());
  }
  std::vector<std::string> wanted;
  for (const TraceRecord& record : sample_plan("matmul")->compilation.trace.records) {
    if (!record.names || heading_of(record).algorithm == "search") continue;
    wanted.push_back(sentence(record));
  }
  CHECK(told == wanted);
  CHECK(told.size() > 15);
  // What comes from the plan itself is there all the same.
  const auto result = steps_of(before, "result");
  REQUIRE(result.size() == 4);
  CHECK(nest_text(*result.back()) == nest_text(*steps_of(now, "result").back()));
  CHECK(result.back()->rounds.empty());
  Look look;
  for (std::size_t step = 0; step < before.steps.size(); ++step) {
    CHECK_FALSE(replay_picture(before, step, look, {900, 600}).marks.empty());
  }
}

TEST_CASE("the papers' matmul is replayed with its known numbers", "[inspector][replay]") {
  const Replay replay = make_replay(*sample_plan("matmul"), StepId(0));
  CHECK(replay.capacity ==
        65536 - 3 * 8 - 4 * 4);  // behind buffers: three addresses, the words in which transfers reply

  const auto classes = steps_of(replay, "alg5");
  REQUIRE(classes.size() == 3);
  CHECK(classes[0]->message == "x is num: it runs along the DMA blocks of no tensor, and from block to block of A, C");
  CHECK(classes[1]->message == "y is size: it runs along the DMA blocks of B, C, and from block to block of no tensor");
  CHECK(classes[2]->message == "k is comp: it runs along the DMA blocks of A, and from block to block of B");

  std::vector<std::int64_t> bytes;
  for (const ReplayStep* step : steps_of(replay, "alg1")) bytes.push_back(step->ldm_bytes);
  // One element each (three buffers of 32 bytes), y = 64, k = 64, the same, y = 128, k = 128 refused, taken back.
  CHECK(bytes == std::vector<std::int64_t>{96, 544, 16896, 16896, 33536, 66560, 33536});
  const ReplayStep& refused = *steps_of(replay, "alg1")[5];
  CHECK(refused.outcome == TraceOutcome::refused);
  CHECK(value(refused, "k") == "buffer 128 of 1024, comp");
  REQUIRE(refused.buffers.size() == 3);
  CHECK(refused.buffers[BufferId(1)].extents == "128 × 128");
  CHECK(refused.buffers[BufferId(1)].bytes == 65536);
  CHECK(replay.max_bytes() == 66560);

  const auto order = steps_of(replay, "alg2");
  REQUIRE(order.size() == 10);
  CHECK(value(*order[0], "transfers") == "384");
  CHECK(value(*order[1], "transfers") == "272");
  CHECK(value(*order[2], "transfers") == "264");
  CHECK(order[2]->why == "C does not move with ko, and stays in the LDM for all its 16 iterations.");
  CHECK(value(*order[3], "order so far") == "… ko");
  CHECK(value(*order[9], "order so far") == "… x, yo, ko");

  // The candidates stand beside each other, and still do at the end.
  REQUIRE(order[0]->rounds.size() == 1);
  CHECK(order[0]->rounds[0].candidates.size() == 1);
  REQUIRE(replay.steps.back().rounds.size() == 2);
  for (const LoopRound& round : {order[3]->rounds.at(0), replay.steps.back().rounds[0]}) {
    CHECK(round.tensors == std::vector<std::string>{"A", "B", "C"});
    REQUIRE(round.candidates.size() == 3);
    CHECK(round.candidates[0].total == 384);
    CHECK(round.candidates[1].total == 272);
    CHECK(round.candidates[1].transfers == std::vector<std::int64_t>{16, 128, 128});
    CHECK(round.candidates[2].total == 264);
    CHECK(round.candidates[2].transfers == std::vector<std::int64_t>{128, 128, 8});
    CHECK(round.candidates[2].chosen);
    CHECK(round.candidates[1].barred);
  }
}

TEST_CASE("the end of the matmul's replay says of every tensor why it is moved there and so often",
          "[inspector][replay]") {
  const Replay replay = make_replay(*sample_plan("matmul"), StepId(0));
  const auto results = steps_of(replay, "result");
  REQUIRE(results.size() == 4);
  CHECK(results[0]->message == "A is loaded inside ko: x 1 × yo 8 × ko 16 = 128 times.");
  CHECK(results[0]->why ==
        "Its part moves with x and ko and is known there. It does not move with yo, yet each of the 8 iterations of yo "
        "loads it again, because ko runs inside. With yo inside instead, A would be moved 16 times rather than 128, "
        "but all "
        "tensors together 272 times rather than 264; besides, a loop over the output may not stand inside a sum, or "
        "results would be stored unfinished. In all 8.00 times its size is moved.");
  CHECK(results[1]->why == "Its part moves with yo and ko and is known there. In all every element is moved once.");
  CHECK(
      results[2]->why ==
      "Its part moves with x and yo and is known there. It stays in the LDM for the 16 iterations of ko, which add up "
      "there; then it is complete. In all every element is moved once.");
  REQUIRE(results[3]->remarks.size() == 2);
  CHECK(results[3]->remarks[0].texts.size() == 3);
  const std::vector<std::string>& sizes = results[3]->remarks[1].texts;
  REQUIRE(sizes.size() == 3);
  CHECK(
      sizes[0] ==
      "Buffered elements of what the core has: x 1 of 1, y 128 of 1 024, k 64 of 1 024. That takes 32.75 KiB of 63.96 "
      "KiB; 31.21 KiB stay free.");
  CHECK(sizes[1] == "Growing ended at k from 64 to 128: with x 1, y 128, k 128 the buffers would take 65.00 KiB.");
  CHECK(sizes[2].find("only double") != std::string::npos);
}

TEST_CASE("the loop nest grows with the steps", "[inspector][replay]") {
  const Replay replay = make_replay(*sample_plan("matmul"), StepId(0));
  CHECK(nest_text(*steps_of(replay, "alg4")[0]) ==
        "for x < 1\n"
        "  for y < 1024\n"
        "    for k < 1024 | sum\n"
        "      compute matmul\n");
  // x as the candidate for the innermost place: all three are open.
  CHECK(nest_text(*steps_of(replay, "alg2")[0]) ==
        "for yo < 8  (128 elements of y an iteration) | place open\n"
        "  for ko < 16  (64 elements of k an iteration) | place open\n"
        "    for x < 1 | place open\n"
        "      compute matmul | on y 128 × k 64\n");
  // A line at a time: what each tensor starts with, a loop struck, a place known.
  const auto places = steps_of(replay, "alg3");
  std::vector<std::string> messages;
  for (const ReplayStep* step : places) messages.push_back(step->message);
  CHECK(messages == std::vector<std::string>{
                        "Every tensor starts with the loops that it moves with: A: x and ko; B: yo and ko; C: x and yo",
                        "Inside x its iteration is known: it is struck from A and C",
                        "Inside yo its iteration is known: it is struck from B and C",
                        "initialisation and store of C go inside yo",
                        "Inside ko its iteration is known: it is struck from A and B",
                        "load of A goes inside ko",
                        "load of B goes inside ko",
                    });
  REQUIRE(places.size() == 7);
  CHECK(value(*places[1], "A") == "moves with x and ko; left: ko");
  CHECK(value(*places[3], "C") == "moves with x and yo; inside yo");
  CHECK(value(*places[4], "C") == "moves with x and yo; inside yo");
  CHECK(places[5]->why ==
        "A moves with x and ko; inside ko its part is known. So it is loaded there (x 1 × yo 8 × ko 16 = 128 times).");
  const char* const finished =
      "for x < 1\n"
      "  for yo < 8  (128 elements of y an iteration)\n"
      "    init C [1 × 128] to 0 | 8 times\n"
      "    for ko < 16  (64 elements of k an iteration) | sum\n"
      "      DMA get A [1 × 64] | 128 times\n"
      "      DMA get B [64 × 128] | 128 times\n"
      "      compute matmul | on y 128 × k 64\n"
      "    DMA put C [1 × 128] | 8 times\n";
  CHECK(nest_text(*places[6]) == finished);
  CHECK(nest_text(replay.steps.back()) == finished);
  const auto results = steps_of(replay, "result");
  REQUIRE(results.size() == 4);
  CHECK(results[2]->message == "C is stored inside yo: x 1 × yo 8 = 8 times.");
}

/// "get A" at depth 3, …: what happens in which order inside how many loops. Without what only the finished nest
/// knows: paddings with their conditions, and what follows a sum point by point.
std::vector<std::string> outline(const std::vector<ReplayLine>& nest) {
  std::vector<std::string> lines;
  for (const ReplayLine& line : nest) {
    const std::string word = line.text.substr(0, line.text.find(' '));
    const bool is_extra = line.kind == ReplayLine::Kind::plain || word == "pad" || word == "finish";
    if (!is_extra) lines.push_back(std::to_string(line.depth) + " " + line.text);
  }
  return lines;
}

TEST_CASE("a replay ends at the plan: bytes of every buffer, the nest's statements, counts over all cores",
          "[inspector][replay]") {
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    for (const StepId i : plan->steps.ids()) {
      if (plan->steps[i].plan == nullptr) continue;
      const Plan& planned = *plan->steps[i].plan;
      const LoopNest& nest = planned.nest;
      const Replay replay = make_replay(*plan, i);
      INFO(name << ": " << replay.subject);
      const ReplayStep& end = replay.steps.back();
      REQUIRE(end.buffers.size() == nest.buffers.size());
      std::int64_t taken = 0;
      for (const BufferId b : nest.buffers.ids()) {
        INFO(nest.buffers[b].name);
        CHECK(end.buffers[b].bytes == nest.buffers[b].bytes());
        CHECK(end.buffers[b].extents == extents_text(nest.buffers[b].extents));
        CHECK(end.buffers[b].inside.empty() != nest.buffers[b].shares_with.has_value());
        taken += end.buffers[b].taken;
      }
      CHECK(taken == nest.ldm_bytes);

      // Every statement that does something, in order and as deep; every transfer with its count over all cores.
      std::vector<const Stmt*> statements;
      visit_statements(nest.body, [&](const Stmt& statement) {
        const auto& node = statement.node;
        if (!std::holds_alternative<Let>(node) && !std::holds_alternative<Wait>(node)) statements.push_back(&statement);
      });
      std::vector<ReplayLine> lines = end.nest;
      if (nest.cores_used() > 1) {
        CHECK(lines.front().text.starts_with("on each of " + std::to_string(nest.cores_used()) + " cores"));
        lines.erase(lines.begin());
      }
      REQUIRE(lines.size() == statements.size());
      std::size_t transfers = 0;
      for (std::size_t s = 0; s < lines.size(); ++s) {
        INFO(lines[s].text << " | " << lines[s].note);
        CHECK(lines[s].depth == plan->steps[i].find(statements[s]->id)->depth);
        if (const auto* fill = std::get_if<Fill>(&statements[s]->node)) {
          CHECK(lines[s].kind == ReplayLine::Kind::init);
          CHECK(lines[s].text.find(tensor_of_buffer(nest, fill->buffer)) != std::string::npos);
        }
        const auto* dma = std::get_if<Dma>(&statements[s]->node);
        if (dma == nullptr) continue;
        ++transfers;
        CHECK(lines[s].text.find(tensor_of_buffer(nest, dma->buffer)) != std::string::npos);
        const std::int64_t count = planned.counts.dma.at(statements[s]->id).transfers;
        const std::string number = count == 1 ? "once" : grouped_digits(count);
        CHECK(lines[s].note.find(number) != std::string::npos);
        if (nest.cores_used() > 1) CHECK(lines[s].note.find("cores") != std::string::npos);
      }
      CHECK(end.variables.size() == 1 + transfers);  // the loop order, and nothing that is not moved

      // What the algorithms drew before lowering is the same nest.
      const auto places = steps_of(replay, "alg3");
      REQUIRE_FALSE(places.empty());
      CHECK(outline(places.back()->nest) == outline(end.nest));
    }
  }
}

TEST_CASE("a put behind all loops is told to stand there", "[inspector][replay]") {
  const PlanPtr plan = sample_plan("lenet");
  std::size_t found = 0;
  for (const StepId i : plan->steps.ids()) {
    if (plan->steps[i].plan == nullptr) continue;
    visit_statements(plan->steps[i].plan->nest.body, [&](const Stmt& statement) {
      const auto* dma = std::get_if<Dma>(&statement.node);
      if (dma == nullptr || dma->direction == DmaDirection::get) return;
      const bool outside = plan->steps[i].find(statement.id)->depth == 0;
      CHECK((statement.note.find("after the last loop") != std::string::npos) == outside);
      CHECK(statement.note.find("before") == std::string::npos);
      found += outside ? 1 : 0;
    });
  }
  CHECK(found > 0);
}

TEST_CASE("every step of every fused operator lights a line of its algorithm", "[inspector][replay]") {
  const PlanPtr plan = sample_plan("lenet");
  std::size_t steps = 0;
  for (const StepId i : plan->steps.ids()) {
    const Replay replay = make_replay(*plan, i);
    for (const ReplayStep& step : replay.steps) {
      INFO(replay.subject << " " << step.algorithm << " " << step.mark << " " << step.message);
      const AlgorithmText* text = find_algorithm(step.algorithm);
      REQUIRE(text != nullptr);
      CHECK(!lines_of(*text, step.mark).empty());
      CHECK(!step.message.empty());
      ++steps;
    }
    if (plan->steps[i].plan == nullptr) continue;
    // What the replay ends at is what was planned: as many transfer lines as the nest has transfers.
    std::size_t moves = 0;
    for (const ReplayLine& line : replay.steps.back().nest) {
      moves += line.kind == ReplayLine::Kind::get || line.kind == ReplayLine::Kind::put ? 1 : 0;
    }
    CHECK(moves == plan->steps[i].plan->counts.dma.size());
    CHECK(replay.steps.back().ldm_bytes == plan->steps[i].plan->nest.ldm_bytes);
  }
  CHECK(steps > 100);
}

TEST_CASE("steps that were not kept are made by planning again", "[inspector][replay]") {
  const PlanPtr kept = sample_plan("matmul");
  auto bare = std::make_shared<LoadedPlan>();
  std::jthread([&] {
    Compilation compilation = kept->compilation;
    compilation.trace.records.clear();
    bare = std::const_pointer_cast<LoadedPlan>(make_loaded_plan(std::move(compilation), "", "", {}));
  }).join();
  CHECK(keeps_steps(*kept, StepId(0)));
  CHECK_FALSE(keeps_steps(*bare, StepId(0)));
  const Replay again = beside([&] { return make_replay(*bare, StepId(0)); });
  const Replay first = make_replay(*kept, StepId(0));
  REQUIRE(again.steps.size() == first.steps.size());
  for (std::size_t i = 0; i < again.steps.size(); ++i) {
    CHECK(again.steps[i].message == first.steps[i].message);
    CHECK(nest_text(again.steps[i]) == nest_text(first.steps[i]));
  }

  Look look;
  Document document;
  Selection selection(document);
  ReplayPane pane({document, selection, look});
  pane.resize(1000, 700);
  pane.show();
  document.show(bare);
  selection.select(step_subject(StepId(0)));
  pane.flush();
  CHECK(pane.busy());
  REQUIRE(wait_until([&] { return !pane.busy(); }));
  CHECK(pane.replay().steps.size() == first.steps.size());
}

}  // namespace
}  // namespace stowage::test
