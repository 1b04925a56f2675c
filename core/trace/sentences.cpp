// SPDX-License-Identifier: Apache-2.0
// One sentence for every event of a trace: `explain --steps`, reports and the inspector print these.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/number_text.h"
#include "core/storage_box.h"
#include "core/template_names.h"
#include "core/trace.h"

namespace stowage {
namespace {

// --- fusion ----------------------------------------------------------------------------------------------------------

std::string joined(const std::vector<std::string>& names, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(names, between));
}

std::string text_of(const TracedBox& box) { return to_text(box.storage, StorageBox{{}, box.offset, box.strides}); }

std::string say(const TextRecord& text, const GroupNames&) { return text.message; }

std::string say(const OperatorFolded& folded, const GroupNames&) {
  switch (folded.what) {
    case OperatorFolded::What::transposed: return "B is stored transposed, contiguous along y";
    case OperatorFolded::What::pad: return fmt::format("{} goes into the pads of {}", folded.absorbed, folded.into);
    case OperatorFolded::What::scale:
      return fmt::format("{} goes into the parameters of {}", folded.absorbed, folded.into);
    case OperatorFolded::What::phases:
      return "it is computed by phases: outputs that meet the same taps are a convolution of stride 1";
  }
  fail_check("unknown kind of folding");
}

std::string say(const FoldingRefused& folding, const GroupNames&) {
  return folding.into.empty() ? folding.why.reason
                              : fmt::format("not folded into {}: {}", folding.into, folding.why.reason);
}

std::string say(const ChannelsBlocked& blocks, const GroupNames&) {
  const auto words = [](std::int64_t n) { return n == 0 ? "as ONNX has them" : fmt::format("in blocks of {}", n); };
  if (blocks.operand == blocks.result) return fmt::format("reads and writes channels {}", words(blocks.result));
  return fmt::format("reads channels {}, writes them {}", words(blocks.operand), words(blocks.result));
}

std::string say(const ChannelsKept& kept, const GroupNames&) { return "stays as ONNX has it: " + kept.why.reason; }

std::string say(const ViewStored& view, const GroupNames&) {
  const std::string box = view.box ? text_of(*view.box) : std::string();
  switch (view.how) {
    case ViewStored::How::written:
      return fmt::format("its operands are written straight into {}{}{}{}", view.tensor,
                         view.box ? fmt::format(" ({})", box) : "", view.copied.empty() ? "" : "; ", view.copied);
    case ViewStored::How::beside: return fmt::format("its operands lie side by side {}", box);
    case ViewStored::How::boxed: return fmt::format("{} lies {}", view.tensor, box);
    case ViewStored::How::all: return fmt::format("{} is all of {}", view.tensor, view.box ? view.box->storage : "");
  }
  fail_check("unknown way of placing a view");
}

std::string say(const ViewRefused& view, const GroupNames&) {
  return (view.once ? "copies, once for all: else " : "copies: ") + view.why.reason;
}

std::string say(const BranchesStored& branches, const GroupNames&) {
  return fmt::format("of {}: {} lie side by side in {}", joined(branches.results), joined(branches.in_row),
                     branches.storage);
}

std::string say(const BranchesApart& branches, const GroupNames&) {
  const std::string names = joined(branches.results);
  return branches.why.reason.empty() ? fmt::format("{} stay where concatenations want them", names)
                                     : fmt::format("{} stay apart: {}", names, branches.why.reason);
}

std::string say(const GroupAccepted& group, const GroupNames&) {
  if (group.template_name == view_template) return joined(group.operators, " + ") + " only re-indexes";
  if (group.template_name == single_template) return joined(group.operators, " + ") + " is taken by no template";
  return fmt::format("template {} takes {}", group.template_name, joined(group.operators, " + "));
}

std::string say(const GroupFixed& group, const GroupNames&) {
  return fmt::format("{} is fixed by hand", joined(group.operators, " + "));
}

std::string say(const CandidateRefused& candidate, const GroupNames&) {
  return fmt::format("template {} on {}: {}", candidate.template_name, joined(candidate.operators, " + "),
                     candidate.broken.empty() ? "" : candidate.broken.front().reason);
}

std::string say(const StartsGivenUp& given_up, const GroupNames&) {
  return fmt::format(
      "the search from {} operator{} ({}{}) ended after {} tries or {} groups, what else there is was not looked for",
      given_up.starts, given_up.starts == 1 ? "" : "s", given_up.first, given_up.starts == 1 ? "" : ", ...",
      given_up.tries, given_up.groups);
}

std::string say(const CandidatesCut& cut, const GroupNames&) {
  return fmt::format("of {} groups that were found the {} of fewest operators are candidates, {} are left out",
                     cut.found, cut.kept, cut.found - cut.kept);
}

std::string say(const ChainsCut& cut, const GroupNames&) {
  return fmt::format("longer chains than {} operators at vertex {}, as around {}, are no candidates", cut.repeat,
                     cut.vertex, cut.around);
}

std::string say(const BeamKept& beam, const GroupNames&) {
  return fmt::format(
      "the part from {} to {} is too wide to be searched completely: of up to {} states with equally many operators {} "
      "were kept; {} cycles were found, at least {} are needed",
      beam.first, beam.last, beam.widest, beam.kept, grouped_digits(beam.cycles), grouped_digits(beam.lower_bound));
}

std::string say(const PartitionFound& found, const GroupNames&) {
  const std::string proof =
      found.beam_segments > 0
          ? fmt::format("at least {} are needed; {} of {} segments were too wide to be searched completely",
                        grouped_digits(found.lower_bound), found.beam_segments, found.segments)
      : found.limited ? "best of all partitions into these candidates, but a limit left others out"
                      : "proved best of all partitions into these candidates";
  return fmt::format("{} in {}, {}: {} cycles, {}", counted(found.operators, "operator"),
                     counted(found.segments, "segment"), counted(found.states, "state"), grouped_digits(found.cycles),
                     proof);
}

// --- the published algorithms ----------------------------------------------------------------------------------------

const std::string& name(IteratorId iterator, const GroupNames& names) { return names.iterators.at(iterator); }
const std::string& name(BufferId buffer, const GroupNames& names) { return names.buffers.at(buffer); }

std::string name(const TracedLoop& loop, const GroupNames& names) { return name_of(loop, names); }

template <class Named>
std::string joined(const std::vector<Named>& all, const GroupNames& names, std::string_view between = ", ") {
  std::vector<std::string> texts;
  for (const Named& one : all) texts.push_back(name(one, names));
  return joined(texts, between);
}

std::string say(const CoresSplit& cores, const GroupNames& names) {
  std::vector<std::string> parts;
  for (const TracedSplit& split : cores.split) {
    parts.push_back(fmt::format("{} of {} into {} parts of {}", name(split.iterator, names),
                                cores.extents.at(split.iterator), split.parts, cores.ranges.at(split.iterator)));
  }
  return parts.empty() ? "one core does everything" : fmt::format("split over the cores: {}", joined(parts));
}

std::string say(const SplitUnaligned& split, const GroupNames&) {
  return "the planner's own split would make a transfer that the DMA cannot carry out: " + split.reason;
}

std::string say(const GivenToManagementCore& given, const GroupNames&) {
  return fmt::format("no plan of the LDM holds it ({}): the management core computes it, in {} cycles", given.reason,
                     grouped_digits(given.cycles));
}

std::string say(const LibraryJudged& judged, const GroupNames&) {
  return fmt::format("library {} {} it: {}", judged.library, judged.computes ? "computes" : "does not compute",
                     judged.reason);
}

std::string say(const BufferCorrelated& correlated, const GroupNames& names) {
  std::vector<std::string> dimensions;
  for (const std::vector<IteratorId>& of_dimension : correlated.dimensions)
    dimensions.push_back(fmt::format("{{{}}}", joined(of_dimension, names, ",")));
  return fmt::format("{} is correlated with [{}]", name(correlated.buffer, names), joined(dimensions));
}

std::string sizes_text(const LdmState& state, const GroupNames& names) {
  std::vector<std::string> sizes;
  for (const IteratorId i : state.sizes.ids())
    sizes.push_back(fmt::format("{}={}", names.iterators.at(i), state.sizes[i]));
  return joined(sizes);
}

std::string taken_text(const LdmState& state, const GroupNames& names) {
  return fmt::format("{} takes {}", sizes_text(state, names), ldm_bytes_text(state.ldm_bytes));
}

std::string say(const IteratorsClassified& classified, const GroupNames& names) {
  std::vector<std::string> classes;
  for (const IteratorId i : classified.state.classes.ids()) {
    classes.push_back(fmt::format("{} {}", names.iterators.at(i), name_of(classified.state.classes[i])));
  }
  switch (classified.when) {
    case IteratorsClassified::When::first: return "iterators classified: " + joined(classes);
    case IteratorsClassified::When::after_start: return "iterators classified again: " + joined(classes);
    case IteratorsClassified::When::after_whole:
      return fmt::format("{} is buffered whole; classes: {}", classified.whole ? name(*classified.whole, names) : "",
                         joined(classes));
  }
  fail_check("unknown time of a classification");
}

std::string say(const SizeTried& size, const GroupNames& names) {
  const std::string& iterator = name(size.iterator, names);
  const std::string overflow = fmt::format("{} needs {}, only {}", sizes_text(size.state, names),
                                           ldm_bytes_text(size.state.ldm_bytes), ldm_bytes_text(size.room));
  switch (size.step) {
    case SizeTried::Step::fixed: return fmt::format("{} is fixed: {}", iterator, size.state.sizes.at(size.iterator));
    case SizeTried::Step::whole:
      return size.fits ? fmt::format("{} is held whole, because its tiles overlap in what is computed for them: {}",
                                     iterator, taken_text(size.state, names))
                       : fmt::format("{} whole, because its tiles overlap in what is computed for them: {}: refused",
                                     iterator, overflow);
    case SizeTried::Step::start:
      return fmt::format("{} starts at min(range {}, {}): {}", iterator, size.range, size.good_elements,
                         taken_text(size.state, names));
    case SizeTried::Step::exceeds: return overflow;
    case SizeTried::Step::halved: return fmt::format("{} halved: {}", iterator, taken_text(size.state, names));
    case SizeTried::Step::grown:
      return size.fits ? fmt::format("{} expanded: {}", iterator, taken_text(size.state, names))
                       : fmt::format("{} expanded: {}: refused", iterator, overflow);
  }
  fail_check("unknown step of algorithm 1");
}

std::string say(const SizesChosen& chosen, const GroupNames& names) {
  return "buffer sizes chosen: " + taken_text(chosen.state, names);
}

std::string say(const LdmExceeded& ldm, const GroupNames& names) {
  return fmt::format(
      "{} needs {} of LDM, the target has {} ({} - {} {}); the binding buffer is {} with {} ([{}] elements)",
      ldm.with_fixed_sizes ? "one element of every other iterator beside the fixed sizes"
                           : "even one element of every iterator",
      ldm_bytes_text(ldm.needed), ldm_bytes_text(ldm.room), ldm_bytes_text(ldm.ldm_bytes),
      ldm_bytes_text(ldm.ldm_bytes - ldm.room), ldm.beside_parameters ? "for parameters" : "reserved",
      name(ldm.largest, names), ldm_bytes_text(ldm.largest_bytes), fmt::join(ldm.largest_extents, " x "));
}

/// What a loop costs as the innermost one.
std::string cost_text(std::int64_t operations, std::int64_t transfers) {
  return operations == 0 ? fmt::format("{} transfers", transfers)
                         : fmt::format("{} operations inside the group, {} transfers", operations, transfers);
}

std::string say(const LoopTried& tried, const GroupNames& names) {
  std::vector<std::string> counts;
  for (const BufferCount& count : tried.counts)
    counts.push_back(fmt::format("{} {}", name(count.buffer, names), count.count));
  return fmt::format("{} as the innermost of the loops left: {}{}", name_of(tried.loop, names),
                     cost_text(tried.operations, tried.transfers),
                     counts.empty() ? "" : fmt::format(" ({})", joined(counts)));
}

std::string say(const LoopBarred& barred, const GroupNames& names) {
  return fmt::format("{} would need only {}, but iterators of the output must stay outside of the reductions",
                     name_of(barred.loop, names), cost_text(barred.operations, barred.transfers));
}

std::string say(const LoopPlaced& placed, const GroupNames& names) {
  return fmt::format("{} is chosen with {}", name_of(placed.loop, names),
                     cost_text(placed.operations, placed.transfers));
}

std::string say(const LoopsOrdered& ordered, const GroupNames& names) {
  return "loop order: " + joined(ordered.loops, names);
}

std::string say(const TransferPlaced& placed, const GroupNames& names) {
  const std::string& buffer = name(placed.buffer, names);
  const std::string where = placed.inside ? "inside " + name_of(*placed.inside, names) : "before the first loop";
  switch (placed.what) {
    case TransferPlaced::What::load: return fmt::format("load of {} goes {}", buffer, where);
    case TransferPlaced::What::computation: return fmt::format("computation of {} goes {}", buffer, where);
    case TransferPlaced::What::store:
      return fmt::format("store of {} goes {}", buffer, placed.inside ? where : "after the last loop");
    case TransferPlaced::What::sum:
      return placed.inside
                 ? fmt::format("initialisation and store of {} go {}", buffer, where)
                 : fmt::format("initialisation of {} goes before the first loop, its store after the last", buffer);
  }
  fail_check("unknown kind of transfer");
}

// --- the search ------------------------------------------------------------------------------------------------------

std::string split_text(const std::vector<TracedSplit>& split, const GroupNames& names) {
  std::vector<std::string> parts;
  for (const TracedSplit& each : split)
    parts.push_back(fmt::format("{} into {}", name(each.iterator, names), each.parts));
  return parts.empty() ? "one core" : joined(parts);
}

std::string say(const SplitPlanned& planned, const GroupNames& names) {
  if (planned.published) {
    return fmt::format("{}, the published split: {} cycles", split_text(planned.split, names),
                       grouped_digits(planned.cycles));
  }
  return fmt::format("{}: {} cycles{}; no sizes and no order can take fewer than {}", split_text(planned.split, names),
                     grouped_digits(planned.cycles), planned.shares_lines ? ", its cores share lines" : "",
                     grouped_digits(planned.least_cycles));
}

std::string say(const MoreSplitsPlanned& more, const GroupNames&) {
  return fmt::format("{} {} planned, from {} to {} cycles", counted(more.count, "more split"),
                     for_number(more.count, "was", "were"), grouped_digits(more.from_cycles),
                     grouped_digits(more.to_cycles));
}

std::string say(const SplitsLeftOut& left_out, const GroupNames&) {
  const std::int64_t count = left_out.count;
  const std::string splits = counted(count, "split");
  const std::string least =
      fmt::format("{} take fewer than {} cycles", for_number(count, "it cannot", "none of them can"),
                  grouped_digits(left_out.least_cycles));
  switch (left_out.why) {
    case SplitsLeftOut::Why::given_up:
      return fmt::format("{} {} given up with {} buffers sized and {} loops in order: with these {}", splits,
                         for_number(count, "was", "were"), for_number(count, "its", "their"),
                         for_number(count, "its", "their"), least);
    case SplitsLeftOut::Why::unaligned:
      return fmt::format("{} {} transfers that the DMA cannot carry out (dma-alignment)", splits,
                         for_number(count, "makes", "make"));
    case SplitsLeftOut::Why::unplanned: return fmt::format("{} {} no plan", splits, for_number(count, "has", "have"));
    case SplitsLeftOut::Why::too_slow:
      return fmt::format("{} {} not planned: {}", splits, for_number(count, "was", "were"), least);
    case SplitsLeftOut::Why::work_again:
      return fmt::format(
          "{} {} not planned: the first ones compute so much again that they take more than four times what the "
          "operators take apart",
          splits, for_number(count, "was", "were"));
  }
  fail_check("unknown reason for leaving a split out");
}

std::string say(const NeighboursPlanned& climbed, const GroupNames& names) {
  return fmt::format("from {} on, {} neighbouring plans were looked at; the best takes {} cycles",
                     split_text(climbed.split, names), climbed.planned, grouped_digits(climbed.cycles));
}

std::string say(const LoadShared& shared, const GroupNames& names) {
  return fmt::format("{} is loaded by one core for {}", name(shared.buffer, names), counted(shared.cores, "core"));
}

std::string say(const AxesMerged& merged, const GroupNames& names) {
  return fmt::format("{} is one axis of {}: every tensor holds what it stands for one behind the other",
                     name(merged.iterator, names), grouped_digits(merged.extent));
}

std::string say(const LanesBlocked& blocked, const GroupNames& names) {
  return fmt::format("vectors run along {}, blocks of {} that lie innermost in the sums and in the packed weights",
                     name(blocked.iterator, names), blocked.block);
}

std::string say(const InputCopied& copied, const GroupNames& names) {
  return fmt::format("{} is loaded in long pieces, as it lies in main memory, and copied to a box with its padding",
                     name(copied.buffer, names));
}

std::string say(const ReductionSplit& split, const GroupNames& names) {
  return fmt::format(
      "{} counts the parts of a sum, one for each of the {} cores of a row, which add up what they sent "
      "each other",
      name(split.parts, names), split.cores);
}

std::string say(const InputResident& resident, const GroupNames& names) {
  return fmt::format("what a core needs of {} along {} stays in its LDM", name(resident.buffer, names),
                     joined(resident.along, names));
}

std::string say(const StagesFolded&, const GroupNames&) {
  return "constants of one element are literals, and what finishes a sum is computed in one pass with what follows it";
}

template <class Tried>
std::string slots_text(const Tried& tried, std::string_view slots, const GroupNames& names) {
  return fmt::format("{}: {}: {} instead of {} cycles", split_text(tried.split, names), slots,
                     grouped_digits(tried.cycles), grouped_digits(tried.before_cycles));
}

std::string say(const SlotsTried& tried, const GroupNames& names) {
  if (tried.buffers.empty()) return slots_text(tried, "one slot for every tensor", names);
  return slots_text(tried, "two slots for " + joined(tried.buffers, names) + ", moved while something is computed",
                    names);
}

std::string say(const SlotsDeepened& deepened, const GroupNames& names) {
  std::vector<std::string> slots;
  for (const auto& [buffer, count] : deepened.buffers)
    slots.push_back(fmt::format("{} slots for {}", count, name(buffer, names)));
  return slots_text(deepened, joined(slots) + ", moved while something is computed", names);
}

std::string say(const PlanImproved& improved, const GroupNames& names) {
  std::vector<std::string> changes;
  for (const SizeChanged& size : improved.sizes)
    changes.push_back(fmt::format("{} from {} to {}", name(size.iterator, names), size.before, size.after));
  if (!improved.order.empty()) changes.push_back("loops " + joined(improved.order, names));
  if (changes.empty()) changes.emplace_back("other inputs loaded together or kept in the LDM");
  return fmt::format("{}: {}, {} instead of {} cycles", split_text(improved.split, names), joined(changes),
                     grouped_digits(improved.cycles), grouped_digits(improved.before_cycles));
}

std::string say(const PlanChosen& chosen, const GroupNames& names) {
  std::string than = chosen.is_published ? ", the published plan" : "";
  if (chosen.published) {
    const PlanChosen::Published& published = *chosen.published;
    than = fmt::format(", the published plan over {} takes {}", split_text(published.split, names),
                       grouped_digits(published.cycles));
    if (!published.cost.empty()) {
      than += fmt::format("; \"{}\" {} by {}", published.cost, published.falls ? "falls" : "grows",
                          grouped_digits(published.cost_by));
    }
  }
  return fmt::format("{}: {} cycles{}", split_text(chosen.split, names), grouped_digits(chosen.cycles), than);
}

std::string say(const OptimumSearched& searched, const GroupNames&) {
  const std::string work =
      fmt::format("{} planned, {} bounded", counted(searched.planned, "schedule"), counted(searched.bounded, "set"));
  const std::string from = searched.before_cycles > searched.cycles
                               ? fmt::format(" instead of {}", grouped_digits(searched.before_cycles))
                               : "";
  if (searched.least_cycles >= searched.cycles) {
    return fmt::format("{} cycles{}: no schedule of the space takes fewer ({})", grouped_digits(searched.cycles), from,
                       work);
  }
  const char* const ended = searched.out_of_time        ? "when its time was over"
                            : searched.out_of_schedules ? "after as many schedules as it may look at"
                                                        : "where another form takes less";
  return fmt::format("{} cycles{}; none takes fewer than {} cycles, and the search ended {} ({})",
                     grouped_digits(searched.cycles), from, grouped_digits(searched.least_cycles), ended, work);
}

std::string say(const CheaperPlanRefused& cheaper, const GroupNames& names) {
  return fmt::format(
      "{} takes {} cycles, but its cores write parts of one line of main memory, which counts as 2 % more",
      split_text(cheaper.split, names), grouped_digits(cheaper.cycles));
}

}  // namespace

std::string sentence(const TraceEvent& what, const GroupNames& names) {
  return std::visit([&](const auto& event) { return say(event, names); }, what);
}

std::string sentence(const TraceRecord& record) {
  return sentence(record.what, record.names ? *record.names : GroupNames());
}

}  // namespace stowage
