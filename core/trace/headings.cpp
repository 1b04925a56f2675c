// SPDX-License-Identifier: Apache-2.0
// Where in which algorithm an event happened, and how it ended.
#include "core/check.h"
#include "core/trace.h"

namespace stowage {

namespace {

using By = TraceAlgorithm;

struct Heading {
  By algorithm;
  std::string rule;
  TraceOutcome outcome;
};

constexpr TraceOutcome step = TraceOutcome::step;
constexpr TraceOutcome accepted = TraceOutcome::accepted;
constexpr TraceOutcome refused = TraceOutcome::refused;

Heading heading(const TextRecord& text) {
  for (int a = 0; a < static_cast<int>(By::unknown); ++a) {
    if (name_of(static_cast<By>(a)) == text.algorithm) return {static_cast<By>(a), text.rule, text.outcome};
  }
  return {By::unknown, text.rule, text.outcome};
}

// --- fusion ----------------------------------------------------------------------------------------------------------

Heading heading(const OperatorFolded& folded) {
  switch (folded.what) {
    case OperatorFolded::What::transposed: return {By::intrinsic, "pre-transposed", accepted};
    case OperatorFolded::What::pad: return {By::intrinsic, "folded-pad", accepted};
    case OperatorFolded::What::scale: return {By::intrinsic, "folded-scale", accepted};
    case OperatorFolded::What::phases: return {By::intrinsic, "by-phases", accepted};
  }
  fail_check("unknown kind of folding");
}
Heading heading(const FoldingRefused& folding) { return {By::intrinsic, folding.why.rule, refused}; }

Heading heading(const ChannelsBlocked&) { return {By::layout, "channel-blocks", accepted}; }
Heading heading(const ChannelsKept& kept) { return {By::layout, kept.why.rule, refused}; }

Heading heading(const ViewStored& view) {
  switch (view.rule) {
    case ViewStored::Rule::concat: return {By::placement, "concat", accepted};
    case ViewStored::Rule::slice: return {By::placement, "slice", accepted};
    case ViewStored::Rule::reshape: return {By::placement, "reshape", accepted};
  }
  fail_check("unknown kind of view");
}
Heading heading(const ViewRefused& view) { return {By::placement, view.why.rule, refused}; }

Heading heading(const BranchesStored&) { return {By::branches, "side-by-side", accepted}; }
Heading heading(const BranchesApart& branches) { return {By::branches, branches.why.rule, refused}; }

Heading heading(const GroupAccepted& group) { return {By::fusion, group.template_name, accepted}; }
Heading heading(const GroupFixed&) { return {By::fusion, "fixed", accepted}; }
Heading heading(const CandidateRefused& candidate) {
  return {By::fusion, candidate.broken.empty() ? "" : candidate.broken.front().rule, refused};
}
Heading heading(const StartsGivenUp&) { return {By::fusion, "search-limit", refused}; }
Heading heading(const CandidatesCut&) { return {By::fusion, "search-limit", refused}; }
Heading heading(const ChainsCut&) { return {By::fusion, "repeat-limit", refused}; }

Heading heading(const BeamKept&) { return {By::exact, "beam", step}; }
Heading heading(const PartitionFound&) { return {By::exact, "summary", step}; }

// --- the published algorithms ----------------------------------------------------------------------------------------

Heading heading(const CoresSplit& split) {
  switch (split.by) {
    case SplitBy::published: return {By::parallel, "section 5.4", accepted};
    case SplitBy::schedule: return {By::parallel, "schedule", accepted};
    case SplitBy::search: return {By::parallel, "search", accepted};
    case SplitBy::alignment: return {By::parallel, "dma-alignment", accepted};
  }
  fail_check("unknown reason of a split");
}
Heading heading(const SplitUnaligned&) { return {By::parallel, "dma-alignment", refused}; }
Heading heading(const GivenToManagementCore& given) { return {By::management_core, given.rule, accepted}; }
Heading heading(const LibraryJudged& judged) {
  return {By::library, judged.rule, judged.computes ? accepted : refused};
}
Heading heading(const BufferCorrelated&) { return {By::alg4, "4:6-10", step}; }

Heading heading(const IteratorsClassified& classified) {
  switch (classified.when) {
    case IteratorsClassified::When::first: return {By::alg1, "1:7-11", step};
    case IteratorsClassified::When::after_start: return {By::alg1, "1:29-33", step};
    case IteratorsClassified::When::after_whole: return {By::alg1, "1:41-47", step};
  }
  fail_check("unknown time of a classification");
}
Heading heading(const SizeTried& size) {
  switch (size.step) {
    case SizeTried::Step::fixed: return {By::alg1, "1", step};
    case SizeTried::Step::whole: return {By::alg1, "1", size.fits ? step : refused};
    case SizeTried::Step::start: return {By::alg1, "1:16-20", step};
    case SizeTried::Step::exceeds: return {By::alg1, "1:21", refused};
    case SizeTried::Step::halved: return {By::alg1, "1:24", step};
    case SizeTried::Step::grown:
      return size.fits ? Heading{By::alg1, "1:37", step} : Heading{By::alg1, "1:38-40", refused};
  }
  fail_check("unknown step of algorithm 1");
}
Heading heading(const SizesChosen&) { return {By::alg1, "1", step}; }
Heading heading(const LdmExceeded&) { return {By::alg1, "ldm-capacity", refused}; }

Heading heading(const LoopTried&) { return {By::alg2, "2:5-10", step}; }
Heading heading(const LoopBarred&) { return {By::alg2, "constraint-2", refused}; }
Heading heading(const LoopPlaced&) { return {By::alg2, "2:18-20", accepted}; }
Heading heading(const LoopsOrdered&) { return {By::alg2, "2:23", accepted}; }
Heading heading(const TransferPlaced&) { return {By::alg3, "3:8-11", accepted}; }

// --- the search ------------------------------------------------------------------------------------------------------

Heading heading(const SplitPlanned&) { return {By::search, "split", step}; }
Heading heading(const MoreSplitsPlanned&) { return {By::search, "split", step}; }
Heading heading(const SplitsLeftOut&) { return {By::search, "split", step}; }
Heading heading(const SlotsTried&) { return {By::search, "slots", step}; }
Heading heading(const SlotsDeepened&) { return {By::search, "slots", step}; }
Heading heading(const LoadShared&) { return {By::search, "sharing", step}; }
Heading heading(const AxesMerged&) { return {By::search, "merged", step}; }
Heading heading(const LanesBlocked&) { return {By::search, "lanes", step}; }
Heading heading(const InputCopied&) { return {By::search, "copied", step}; }
Heading heading(const ReductionSplit&) { return {By::search, "reduction", step}; }
Heading heading(const InputResident&) { return {By::search, "resident", step}; }
Heading heading(const StagesFolded&) { return {By::search, "folded", step}; }
Heading heading(const NeighboursPlanned&) { return {By::search, "sizes", step}; }
Heading heading(const PlanImproved&) { return {By::search, "sizes", step}; }
Heading heading(const PlanChosen&) { return {By::search, "chosen", accepted}; }
Heading heading(const OptimumSearched& searched) {
  return {By::search, "optimum", searched.least_cycles >= searched.cycles ? accepted : step};
}
Heading heading(const CheaperPlanRefused&) { return {By::search, "chosen", refused}; }

}  // namespace

std::string_view name_of(TraceAlgorithm algorithm) {
  switch (algorithm) {
    case By::intrinsic: return "intrinsic";
    case By::layout: return "layout";
    case By::placement: return "placement";
    case By::branches: return "branches";
    case By::fusion: return "fusion";
    case By::exact: return "exact";
    case By::parallel: return "parallel";
    case By::management_core: return "management core";
    case By::library: return "library";
    case By::alg1: return "alg1";
    case By::alg2: return "alg2";
    case By::alg3: return "alg3";
    case By::alg4: return "alg4";
    case By::alg5: return "alg5";
    case By::search: return "search";
    case By::unknown: return "";
  }
  fail_check("unknown algorithm of a record");
}

TraceAlgorithm algorithm_of(const TraceEvent& what) {
  return std::visit([](const auto& event) { return heading(event).algorithm; }, what);
}

TraceHeading heading_of(const TraceEvent& what) {
  Heading of = std::visit([](const auto& event) { return heading(event); }, what);
  const auto* text = std::get_if<TextRecord>(&what);
  return {text != nullptr ? text->algorithm : std::string(name_of(of.algorithm)), std::move(of.rule), of.outcome};
}

const LdmState* ldm_state(const TraceEvent& what) {
  if (const auto* classified = std::get_if<IteratorsClassified>(&what)) return &classified->state;
  if (const auto* tried = std::get_if<SizeTried>(&what)) return &tried->state;
  if (const auto* chosen = std::get_if<SizesChosen>(&what)) return &chosen->state;
  return nullptr;
}

}  // namespace stowage
