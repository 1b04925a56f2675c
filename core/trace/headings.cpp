// SPDX-License-Identifier: Apache-2.0
// Where in which algorithm an event happened, and how it ended.
#include "core/check.h"
#include "core/trace.h"

namespace stowage {

namespace {

constexpr TraceOutcome step = TraceOutcome::step;
constexpr TraceOutcome accepted = TraceOutcome::accepted;
constexpr TraceOutcome refused = TraceOutcome::refused;

// --- fusion ----------------------------------------------------------------------------------------------------------

TraceHeading heading(const TextRecord& text) { return {text.algorithm, text.rule, text.outcome}; }

TraceHeading heading(const OperatorFolded& folded) {
  switch (folded.what) {
    case OperatorFolded::What::transposed: return {"intrinsic", "pre-transposed", accepted};
    case OperatorFolded::What::pad: return {"intrinsic", "folded-pad", accepted};
    case OperatorFolded::What::scale: return {"intrinsic", "folded-scale", accepted};
    case OperatorFolded::What::phases: return {"intrinsic", "by-phases", accepted};
  }
  fail_check("unknown kind of folding");
}
TraceHeading heading(const FoldingRefused& folding) { return {"intrinsic", folding.why.rule, refused}; }

TraceHeading heading(const ChannelsBlocked&) { return {"layout", "channel-blocks", accepted}; }
TraceHeading heading(const ChannelsKept& kept) { return {"layout", kept.why.rule, refused}; }

TraceHeading heading(const ViewStored& view) {
  switch (view.rule) {
    case ViewStored::Rule::concat: return {"placement", "concat", accepted};
    case ViewStored::Rule::slice: return {"placement", "slice", accepted};
    case ViewStored::Rule::reshape: return {"placement", "reshape", accepted};
  }
  fail_check("unknown kind of view");
}
TraceHeading heading(const ViewRefused& view) { return {"placement", view.why.rule, refused}; }

TraceHeading heading(const BranchesStored&) { return {"branches", "side-by-side", accepted}; }
TraceHeading heading(const BranchesApart& branches) { return {"branches", branches.why.rule, refused}; }

TraceHeading heading(const GroupAccepted& group) { return {"fusion", group.template_name, accepted}; }
TraceHeading heading(const GroupFixed&) { return {"fusion", "fixed", accepted}; }
TraceHeading heading(const CandidateRefused& candidate) {
  return {"fusion", candidate.broken.empty() ? "" : candidate.broken.front().rule, refused};
}
TraceHeading heading(const StartsGivenUp&) { return {"fusion", "search-limit", refused}; }
TraceHeading heading(const CandidatesCut&) { return {"fusion", "search-limit", refused}; }
TraceHeading heading(const ChainsCut&) { return {"fusion", "repeat-limit", refused}; }

TraceHeading heading(const BeamKept&) { return {"exact", "beam", step}; }
TraceHeading heading(const PartitionFound&) { return {"exact", "summary", step}; }

// --- the published algorithms ----------------------------------------------------------------------------------------

TraceHeading heading(const CoresSplit& split) {
  switch (split.by) {
    case SplitBy::published: return {"parallel", "section 5.4", accepted};
    case SplitBy::schedule: return {"parallel", "schedule", accepted};
    case SplitBy::search: return {"parallel", "search", accepted};
    case SplitBy::alignment: return {"parallel", "dma-alignment", accepted};
  }
  fail_check("unknown reason of a split");
}
TraceHeading heading(const SplitUnaligned&) { return {"parallel", "dma-alignment", refused}; }
TraceHeading heading(const GivenToManagementCore& given) { return {"management core", given.rule, accepted}; }
TraceHeading heading(const LibraryJudged& judged) {
  return {"library", judged.rule, judged.computes ? accepted : refused};
}
TraceHeading heading(const BufferCorrelated&) { return {"alg4", "4:6-10", step}; }

TraceHeading heading(const IteratorsClassified& classified) {
  switch (classified.when) {
    case IteratorsClassified::When::first: return {"alg1", "1:7-11", step};
    case IteratorsClassified::When::after_start: return {"alg1", "1:29-33", step};
    case IteratorsClassified::When::after_whole: return {"alg1", "1:41-47", step};
  }
  fail_check("unknown time of a classification");
}
TraceHeading heading(const SizeTried& size) {
  switch (size.step) {
    case SizeTried::Step::fixed: return {"alg1", "1", step};
    case SizeTried::Step::whole: return {"alg1", "1", size.fits ? step : refused};
    case SizeTried::Step::start: return {"alg1", "1:16-20", step};
    case SizeTried::Step::exceeds: return {"alg1", "1:21", refused};
    case SizeTried::Step::halved: return {"alg1", "1:24", step};
    case SizeTried::Step::grown:
      return size.fits ? TraceHeading{"alg1", "1:37", step} : TraceHeading{"alg1", "1:38-40", refused};
  }
  fail_check("unknown step of algorithm 1");
}
TraceHeading heading(const SizesChosen&) { return {"alg1", "1", step}; }
TraceHeading heading(const LdmExceeded&) { return {"alg1", "ldm-capacity", refused}; }

TraceHeading heading(const LoopTried&) { return {"alg2", "2:5-10", step}; }
TraceHeading heading(const LoopBarred&) { return {"alg2", "constraint-2", refused}; }
TraceHeading heading(const LoopPlaced&) { return {"alg2", "2:18-20", accepted}; }
TraceHeading heading(const LoopsOrdered&) { return {"alg2", "2:23", accepted}; }
TraceHeading heading(const TransferPlaced&) { return {"alg3", "3:8-11", accepted}; }

// --- the search ------------------------------------------------------------------------------------------------------

TraceHeading heading(const SplitPlanned&) { return {"search", "split", step}; }
TraceHeading heading(const MoreSplitsPlanned&) { return {"search", "split", step}; }
TraceHeading heading(const SplitsLeftOut&) { return {"search", "split", step}; }
TraceHeading heading(const SlotsTried&) { return {"search", "slots", step}; }
TraceHeading heading(const LoadShared&) { return {"search", "sharing", step}; }
TraceHeading heading(const AxesMerged&) { return {"search", "merged", step}; }
TraceHeading heading(const LanesBlocked&) { return {"search", "lanes", step}; }
TraceHeading heading(const InputCopied&) { return {"search", "copied", step}; }
TraceHeading heading(const InputResident&) { return {"search", "resident", step}; }
TraceHeading heading(const StagesFolded&) { return {"search", "folded", step}; }
TraceHeading heading(const NeighboursPlanned&) { return {"search", "sizes", step}; }
TraceHeading heading(const PlanImproved&) { return {"search", "sizes", step}; }
TraceHeading heading(const PlanChosen&) { return {"search", "chosen", accepted}; }
TraceHeading heading(const OptimumSearched& searched) {
  return {"search", "optimum", searched.least_cycles >= searched.cycles ? accepted : step};
}
TraceHeading heading(const CheaperPlanRefused&) { return {"search", "chosen", refused}; }

}  // namespace

TraceHeading heading_of(const TraceEvent& what) {
  return std::visit([](const auto& event) { return heading(event); }, what);
}

const LdmState* ldm_state(const TraceEvent& what) {
  if (const auto* classified = std::get_if<IteratorsClassified>(&what)) return &classified->state;
  if (const auto* tried = std::get_if<SizeTried>(&what)) return &tried->state;
  if (const auto* chosen = std::get_if<SizesChosen>(&what)) return &chosen->state;
  return nullptr;
}

}  // namespace stowage
