// SPDX-License-Identifier: Apache-2.0
// Flat, ordered records of every decision: what was considered, taken or refused, by which rule, with which numbers.
// Algorithms write values to a nullable sink and never ask whether anybody listens; sentences are made of them last.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/trace/fusion.h"
#include "core/trace/library.h"
#include "core/trace/planning.h"
#include "core/trace/search.h"

namespace stowage {

enum class TraceOutcome : std::uint8_t { step, accepted, refused };

/// A record of a trace that an earlier version of the tool wrote: text, of which nothing can be read but text.
struct TextRecord {
  std::string algorithm;
  std::string rule;
  TraceOutcome outcome = TraceOutcome::step;
  std::string message;
  std::vector<std::pair<std::string, std::string>> values;
};

/// Each has its heading in core/trace/headings.cpp, its sentence in core/trace/sentences.cpp and its fields in
/// driver/json/trace_row.cpp; where one of these is missing the compiler says so.
using TraceEvent =
    std::variant<TextRecord,  //
                 OperatorFolded, FoldingRefused, ChannelsBlocked, ChannelsKept, ViewStored, ViewRefused, BranchesStored,
                 BranchesApart,                                                                         //
                 GroupAccepted, GroupFixed, CandidateRefused, StartsGivenUp, CandidatesCut, ChainsCut,  //
                 BeamKept, PartitionFound,                                                              //
                 CoresSplit, SplitUnaligned, GivenToManagementCore, LibraryJudged, BufferCorrelated,
                 IteratorsClassified, SizeTried,
                 SizesChosen,                                                                                       //
                 LdmExceeded, LoopTried, LoopBarred, LoopPlaced, LoopsOrdered, TransferPlaced,                      //
                 SplitPlanned, MoreSplitsPlanned, SplitsLeftOut, NeighboursPlanned, PlanImproved, PlanChosen,       //
                 CheaperPlanRefused, SlotsTried, SlotsDeepened, LoadShared, AxesMerged, LanesBlocked, InputCopied,  //
                 ReductionSplit, InputResident, StagesFolded, OptimumSearched>;

struct TraceRecord {
  std::string subject;  ///< fused operator, operator or template it is about
  TraceEvent what;
  std::shared_ptr<const GroupNames> names;  ///< of events with ids
};

/// What a record is of. Records are told apart by this, and by what they are, never by their headings.
enum class TraceAlgorithm : std::uint8_t {
  intrinsic,
  layout,
  placement,
  branches,
  fusion,
  exact,
  parallel,
  management_core,
  library,
  alg1,
  alg2,
  alg3,
  alg4,
  alg5,  ///< of earlier versions
  search,
  unknown  ///< a text of an earlier version that names none of these
};
/// "intrinsic", "management core" …; empty of an unknown one.
std::string_view name_of(TraceAlgorithm algorithm);
TraceAlgorithm algorithm_of(const TraceEvent& what);
inline TraceAlgorithm algorithm_of(const TraceRecord& record) { return algorithm_of(record.what); }

/// What every record has, as text.
struct TraceHeading {
  std::string algorithm;  ///< its name
  std::string rule;       ///< line of the published algorithm or name of the rule
  TraceOutcome outcome = TraceOutcome::step;
};
TraceHeading heading_of(const TraceEvent& what);
inline TraceHeading heading_of(const TraceRecord& record) { return heading_of(record.what); }

/// The state of algorithm 1 in one of its events; null for others.
const LdmState* ldm_state(const TraceEvent& what);

/// What happened, with its numbers.
std::string sentence(const TraceEvent& what, const GroupNames& names = {});
std::string sentence(const TraceRecord& record);

struct Trace {
  std::vector<TraceRecord> records;
};

/// Appends to a trace if there is one.
class TraceSink {
 public:
  TraceSink() = default;
  explicit TraceSink(Trace* trace) : trace_(trace) {}
  void add(TraceRecord record) const {
    if (trace_ != nullptr) trace_->records.push_back(std::move(record));
  }
  void add(std::string subject, TraceEvent what) const {
    if (trace_ != nullptr) trace_->records.push_back({std::move(subject), std::move(what), nullptr});
  }
  [[nodiscard]] bool listening() const { return trace_ != nullptr; }

 private:
  Trace* trace_ = nullptr;
};

/// Appends what happens to one fused operator.
class GroupTrace {
 public:
  GroupTrace() = default;
  GroupTrace(TraceSink sink, std::string subject, std::shared_ptr<const GroupNames> names)
      : sink_(sink), subject_(std::move(subject)), names_(std::move(names)) {}
  void add(TraceEvent what) const {
    if (listening()) sink_.add({subject_, std::move(what), names_});
  }
  [[nodiscard]] bool listening() const { return sink_.listening(); }

 private:
  TraceSink sink_;
  std::string subject_;
  std::shared_ptr<const GroupNames> names_;
};

}  // namespace stowage
