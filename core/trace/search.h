// SPDX-License-Identifier: Apache-2.0
// What planner searched records: splits over the cores that it planned, those that it left out and why, and where a
// climb from one of them came to.
#pragma once

#include "core/trace/names.h"

namespace stowage {

struct SplitPlanned {
  std::vector<TracedSplit> split;
  bool published = false;  ///< it is what planner swtvm takes
  bool shares_lines = false;
  std::int64_t cycles = 0;
  std::int64_t least_cycles = 0;  ///< no sizes and no order of loops can take fewer; not of the published one
};

/// Splits that were planned and are not told one by one.
struct MoreSplitsPlanned {
  std::int64_t count = 0;
  std::int64_t from_cycles = 0;
  std::int64_t to_cycles = 0;
};

struct SplitsLeftOut {
  enum class Why : std::uint8_t {
    given_up,   ///< when their buffers were sized and their loops in order
    unaligned,  ///< they make transfers that the DMA cannot carry out
    unplanned,  ///< they have no plan
    too_slow,   ///< their bound is no better than the best plan
    work_again  ///< the first ones compute so much twice that none can be worth fusing
  } why = Why::given_up;
  std::int64_t count = 0;
  std::int64_t least_cycles = 0;  ///< that none of them can go below; of those given up and too slow
};

/// Buffers have two slots at most, so that computation hides what moves in and out of them.
struct SlotsTried {
  std::vector<TracedSplit> split;
  std::vector<BufferId> buffers;  ///< that have two; empty: none
  std::int64_t before_cycles = 0;
  std::int64_t cycles = 0;
};

struct BufferSlots {
  BufferId buffer;
  std::int64_t slots = 2;
};

/// Some buffers have three or four slots, so that trips which take unequally long hide it too.
struct SlotsDeepened {
  std::vector<TracedSplit> split;
  std::vector<BufferSlots> buffers;  ///< that have several
  std::int64_t before_cycles = 0;
  std::int64_t cycles = 0;
};

/// An iterator that stands for several neighbouring axes, which every tensor holds one behind the other.
struct AxesMerged {
  IteratorId iterator;
  std::int64_t extent = 1;
};

/// An iterator whose elements are those of one block of the axis that it was cut from, along which vectors run.
struct LanesBlocked {
  IteratorId iterator;
  std::int64_t block = 1;
};

/// An input that is loaded as it lies in main memory and copied in the LDM, with padding around the copy.
struct InputCopied {
  BufferId buffer;
};

/// A reduction whose parts the cores of a row of the mesh sum, one each, and add up.
struct ReductionSplit {
  IteratorId parts;  ///< of the sums of them
  std::int64_t cores = 1;
};

/// In the chosen plan all that a core needs of an input along these iterators stays in its LDM, whatever the tiles.
struct InputResident {
  BufferId buffer;
  std::vector<IteratorId> along;
};

/// Constants of one element are literals, and stages behind reductions finish them.
struct StagesFolded {};

/// In the chosen plan one core loads an input for so many, itself included.
struct LoadShared {
  BufferId buffer;
  std::int64_t cores = 1;
};

/// The end of a climb.
struct NeighboursPlanned {
  std::vector<TracedSplit> split;
  std::int64_t planned = 0;
  std::int64_t cycles = 0;  ///< of the best
};

struct SizeChanged {
  IteratorId iterator;
  std::int64_t before = 1;
  std::int64_t after = 1;
};

/// A step of a climb; without sizes and order it changes what is loaded together or kept in the LDM.
struct PlanImproved {
  std::vector<TracedSplit> split;
  std::vector<SizeChanged> sizes;
  std::vector<TracedLoop> order;  ///< outermost first; empty: as before
  std::int64_t before_cycles = 0;
  std::int64_t cycles = 0;
};

struct PlanChosen {
  std::vector<TracedSplit> split;
  std::int64_t cycles = 0;
  bool is_published = false;  ///< it is the published plan
  struct Published {
    std::vector<TracedSplit> split;
    std::int64_t cycles = 0;
    std::string cost;          ///< that tells most between the two; empty: none does
    bool falls = false;        ///< it takes less in the chosen plan, otherwise more
    std::int64_t cost_by = 0;  ///< difference of that cost, in cycles
  };
  std::optional<Published> published;  ///< if there is one and it is another
};

/// What planner optimal has proved in one form: no schedule of its space takes fewer than `least_cycles`.
struct OptimumSearched {
  std::int64_t cycles = 0;  ///< of the best plan
  std::int64_t least_cycles = 0;
  std::int64_t before_cycles = 0;  ///< of the plan that the search began with
  std::int64_t planned = 0;        ///< schedules planned to the end
  std::int64_t bounded = 0;        ///< sets of schedules whose bound was computed
  bool out_of_time = false;
  bool out_of_schedules = false;  ///< it ended after as many as it may look at
};

/// It takes fewer cycles than the chosen plan, but its cores write parts of one line of main memory.
struct CheaperPlanRefused {
  std::vector<TracedSplit> split;
  std::int64_t cycles = 0;
};

}  // namespace stowage
