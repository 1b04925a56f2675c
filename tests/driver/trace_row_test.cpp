// SPDX-License-Identifier: Apache-2.0
// Every kind of event of a trace: its sentence, and its JSON, whole and damaged in every field.
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "driver/json/trace_row.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

const GroupNames traced_names = {{"x", "y", "k"}, {"A", "B", "C"}};

LdmState state() {
  using enum IteratorClass;
  return {{1, 128, 64}, {num, whole, comp}, 33536};
}

/// At least one of each kind, and every form of its sentence that has words of its own.
std::vector<TraceEvent> examples() {
  const IteratorId x(0U);
  const IteratorId y(1U);
  const IteratorId k(2U);
  const BufferId a(0U);
  const BufferId b(1U);
  const BufferId c(2U);
  const std::vector<TracedSplit> split = {{x, 8}, {y, 2}};
  const TracedLoop ko{k, true};
  return {
      TextRecord{"alg9", "9:9", TraceOutcome::accepted, "as it was told", {{"size", "1"}}},
      OperatorFolded{OperatorFolded::What::transposed, "", "fc"},
      OperatorFolded{OperatorFolded::What::pad, "pad", "conv"},
      OperatorFolded{OperatorFolded::What::scale, "bn", "conv"},
      OperatorFolded{OperatorFolded::What::phases, "", "up"},
      FoldingRefused{"conv", Decision::refuse("inner-use", "t is an output", "less outputs")},
      FoldingRefused{"", Decision::refuse("finite", "it is not finite")},
      ChannelsBlocked{8, 8},
      ChannelsBlocked{0, 4},
      ChannelsKept{Decision::refuse("channel-blocks", "norm (LRN) reads it as it is")},
      ViewStored{ViewStored::Rule::concat, ViewStored::How::written, "joined", std::nullopt, ""},
      ViewStored{ViewStored::Rule::concat, ViewStored::How::written, "joined", TracedBox{"s", 4, {8, 1}}, "p copies"},
      ViewStored{ViewStored::Rule::concat, ViewStored::How::beside, "joined", TracedBox{"s", 4, {8, 1}}, ""},
      ViewStored{ViewStored::Rule::slice, ViewStored::How::boxed, "part", TracedBox{"s", 0, {8, 1}}, ""},
      ViewStored{ViewStored::Rule::reshape, ViewStored::How::all, "flat", TracedBox{"s", 0, {1}}, ""},
      ViewRefused{Decision::refuse("constant", "w is a constant"), false},
      ViewRefused{Decision::refuse("one-copy", "p copies, and q copies"), true},
      BranchesStored{{"p", "q"}, {"p", "q", "r"}, "p_and_branches"},
      BranchesApart{{"p", "q"}, Decision::refuse("lost-view", "cut would have to copy")},
      BranchesApart{{"p", "q"}, Decision::refuse("one-place", "")},
      GroupAccepted{"conv", {"conv", "relu"}},
      GroupAccepted{"view", {"flatten"}},
      GroupAccepted{"single", {"softmax"}},
      GroupFixed{{"conv", "relu"}},
      CandidateRefused{"conv", {"conv", "relu"}, {Decision::refuse("one", "first"), Decision::refuse("two", "second")}},
      StartsGivenUp{2, "conv", 1000, 100},
      CandidatesCut{500, 400},
      ChainsCut{4, "epilogue", "relu"},
      BeamKept{"conv", "fc", 100, 10, 2000, 1000},
      PartitionFound{10, 2, 0, 30, 4000, 4000, false},
      PartitionFound{10, 2, 0, 30, 4000, 4000, true},
      PartitionFound{10, 2, 1, 30, 4000, 3000, false},
      CoresSplit{SplitBy::search, split, {64, 1024, 1024}, {8, 512, 1024}},
      CoresSplit{SplitBy::alignment, {}, {1, 1, 1}, {1, 1, 1}},
      SplitUnaligned{"C is moved in parts of 2 bytes"},
      GivenToManagementCore{"ldm-capacity", "X_ldm needs 4 096 bytes, has 2 048", 512},
      LibraryJudged{"xmath", true, "library-cost", "it does it in 72 500 cycles, its loop nest would take 100 000"},
      LibraryJudged{"xmath", false, "library-form", "it has 2 stages, a product alone has one"},
      BufferCorrelated{b, {{k}, {x, y}}},
      IteratorsClassified{
          IteratorsClassified::When::first, std::nullopt, {{k, IteratorClass::comp, {a}, {b}}}, state()},
      IteratorsClassified{IteratorsClassified::When::after_start, std::nullopt, {}, state()},
      IteratorsClassified{IteratorsClassified::When::after_whole, y, {{y, IteratorClass::whole, {}, {}}}, state()},
      SizeTried{SizeTried::Step::fixed, y, true, 1024, 64, 65504, state()},
      SizeTried{SizeTried::Step::whole, y, true, 128, 64, 65504, state()},
      SizeTried{SizeTried::Step::whole, y, false, 128, 64, 1000, state()},
      SizeTried{SizeTried::Step::start, y, true, 1024, 64, 65504, state()},
      SizeTried{SizeTried::Step::exceeds, y, false, 1024, 64, 1000, state()},
      SizeTried{SizeTried::Step::halved, y, true, 1024, 64, 65504, state()},
      SizeTried{SizeTried::Step::grown, y, true, 1024, 64, 65504, state()},
      SizeTried{SizeTried::Step::grown, y, false, 1024, 64, 1000, state()},
      SizesChosen{state()},
      LdmExceeded{false, false, 70000, 65000, 65536, c, 40000, {100, 100}},
      LdmExceeded{true, true, 70000, 65000, 65536, c, 40000, {100, 100}},
      LoopTried{ko, {{a, false, 128}, {b, true, 3}}, 0, 128, false},
      LoopTried{{x, false}, {}, 12, 0, true},
      LoopBarred{{x, false}, 0, 8},
      LoopPlaced{ko, 0, 264},
      LoopsOrdered{{{x, false}, ko}},
      TransferPlaced{TransferPlaced::What::load, a, {{x, false}, ko}, ko},
      TransferPlaced{TransferPlaced::What::computation, b, {}, std::nullopt},
      TransferPlaced{TransferPlaced::What::store, c, {}, std::nullopt},
      TransferPlaced{TransferPlaced::What::sum, c, {}, std::nullopt},
      TransferPlaced{TransferPlaced::What::sum, c, {{x, false}}, TracedLoop{x, false}},
      SplitPlanned{split, true, false, 1000, 0},
      SplitPlanned{split, false, true, 1000, 900},
      MoreSplitsPlanned{3, 1000, 2000},
      SplitsLeftOut{SplitsLeftOut::Why::given_up, 1, 900},
      SplitsLeftOut{SplitsLeftOut::Why::unaligned, 2, 0},
      SplitsLeftOut{SplitsLeftOut::Why::unplanned, 1, 0},
      SplitsLeftOut{SplitsLeftOut::Why::too_slow, 2, 900},
      SplitsLeftOut{SplitsLeftOut::Why::work_again, 2, 0},
      NeighboursPlanned{{}, 12, 900},
      PlanImproved{split, {{y, 64, 128}}, {ko, {x, false}}, 1000, 900},
      SlotsTried{split, {a, c}, 1000, 800},
      SlotsTried{split, {}, 1000, 1200},
      SlotsDeepened{split, {{a, 3}, {c, 2}}, 1000, 800},
      LoadShared{a, 64},
      AxesMerged{y, 3136},
      LanesBlocked{y, 16},
      InputCopied{a},
      ReductionSplit{y, 8},
      InputResident{a, {y, ko.iterator}},
      StagesFolded{},
      PlanChosen{split, 900, true, std::nullopt},
      OptimumSearched{900, 850, 950, 12, 345, false, true},
      PlanChosen{split, 900, false, PlanChosen::Published{{}, 1000, "dma get", true, 100}},
      PlanChosen{split, 900, false, PlanChosen::Published{{}, 1000, "", false, 0}},
      CheaperPlanRefused{split, 890},
  };
}

std::string_view name_of(TraceOutcome outcome) {
  return outcome == TraceOutcome::step ? "step" : outcome == TraceOutcome::accepted ? "accepted" : "refused";
}

TEST_CASE("every kind of event has its heading and its sentence", "[trace]") {
  std::string text;
  std::set<std::size_t> kinds;
  for (const TraceEvent& event : examples()) {
    kinds.insert(event.index());
    const TraceHeading heading = heading_of(event);
    // By its text too, as traces of earlier versions have it, a record is of the algorithm that it is of.
    const TextRecord as_text{heading.algorithm, heading.rule, heading.outcome, "", {}};
    CHECK(algorithm_of(TraceEvent(as_text)) == algorithm_of(event));
    text += heading.algorithm + " [" + heading.rule + "] " + std::string(name_of(heading.outcome)) + ": " +
            sentence(event, traced_names) + "\n";
  }
  CHECK(kinds.size() == std::variant_size_v<TraceEvent>);
  CHECK(text == golden("trace-sentences.txt", text));
}

TEST_CASE("fields and values of events keep their names in the file", "[trace]") {
  std::string text;
  for (const TraceEvent& event : examples()) text += row_of(event).dump() + "\n";
  CHECK(text == golden("trace-events.txt", text));
}

TEST_CASE("every kind of event is read as it was written", "[trace]") {
  std::set<std::string> kinds;
  for (const TraceEvent& event : examples()) {
    const Json row = row_of(event);
    INFO(row.dump());
    kinds.insert(row.at("kind").get<std::string>());
    const TraceEvent read = event_of(Json::parse(row.dump()), &traced_names);
    CHECK(read.index() == event.index());
    CHECK(row_of(read) == row);
    CHECK(sentence(read, traced_names) == sentence(event, traced_names));
  }
  CHECK(kinds.size() == std::variant_size_v<TraceEvent>);
}

TEST_CASE("a count beyond the largest that is read is written as that", "[trace]") {
  const Json row = row_of(LoopPlaced{{IteratorId(2U), true}, std::numeric_limits<std::int64_t>::max(), max_cycles});
  CHECK(row.at("operations") == max_cycles);
  CHECK(row.at("transfers") == max_cycles);
  CHECK_NOTHROW(event_of(row, &traced_names));
  Json larger = row;
  larger["transfers"] = max_cycles + 1;
  CHECK_THROWS_AS(event_of(larger, &traced_names), std::invalid_argument);
}

/// Calls `visit` with every value in it, at any depth.
void visit_values(Json& json, const std::function<void(Json&)>& visit) {
  for (Json& value : json) {
    visit(value);
    if (value.is_structured()) visit_values(value, visit);
  }
}

bool is_refused(const Json& row) {
  try {
    // What is read can be told, whatever it is.
    static_cast<void>(sentence(event_of(row, &traced_names), traced_names));
    return false;
  } catch (const Json::exception&) {
    return true;
  } catch (const std::invalid_argument&) {
    return true;
  }
}

TEST_CASE("an event is refused without any of its fields, or with another type in it", "[trace][damaged]") {
  const std::vector<Json> wrong = {"nobody", 1.5, -1, -9e300, Json::object(), Json::array({Json::array({"deep"})}),
                                   true};
  int tried = 0;
  for (const TraceEvent& event : examples()) {
    const Json whole = row_of(event);
    // The places of values stay the same, so each is found again by its number.
    std::size_t values = 0;
    Json counted = whole;
    visit_values(counted, [&](Json&) { ++values; });
    for (std::size_t v = 0; v < values; ++v) {
      for (const Json& other : wrong) {
        Json damaged = whole;
        std::size_t at = 0;
        bool same_type = false;
        visit_values(damaged, [&](Json& value) {
          if (at++ != v) return;
          same_type = (value.is_string() && other.is_string()) || (value.is_boolean() && other.is_boolean());
          value = other;
        });
        INFO(damaged.dump());
        const bool refused = is_refused(damaged);
        if (!same_type) CHECK(refused);
        ++tried;
      }
    }
    for (const auto& [name, value] : whole.items()) {
      Json damaged = whole;
      damaged.erase(name);
      INFO(damaged.dump());
      CHECK(is_refused(damaged));
    }
  }
  CHECK(tried > 1000);
}

TEST_CASE("ids of an event stand for what there is", "[trace][damaged]") {
  int tried = 0;
  for (const TraceEvent& event : examples()) {
    const Json whole = row_of(event);
    if (whole.at("kind") == "text") continue;
    const std::string text = whole.dump();
    for (const std::string key : {"iterator", "buffer", "largest", "whole"}) {
      const std::string start = "\"" + key + "\":";
      for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const auto number = at + start.size();
        if (text[number] < '0' || text[number] > '9') continue;
        std::string damaged = text;
        damaged.replace(number, text.find_first_of(",}", number) - number, "3");
        INFO(damaged);
        CHECK(is_refused(Json::parse(damaged)));
        CHECK_THROWS_AS(event_of(whole, nullptr), std::invalid_argument);
        ++tried;
      }
    }
  }
  CHECK(tried > 30);
}

}  // namespace
}  // namespace stowage::test
