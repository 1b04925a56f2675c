// SPDX-License-Identifier: Apache-2.0
// What the algorithms that plan a fused operator record (swTVM: split over the cores, algorithms 1 to 5): each step
// with the state that it left, as numbers.
#pragma once

#include "core/trace/names.h"

namespace stowage {

/// Who has chosen how the cores share the work.
enum class SplitBy : std::uint8_t { published, schedule, search, alignment };

struct CoresSplit {
  SplitBy by = SplitBy::published;
  std::vector<TracedSplit> split;  ///< empty: one core
  IdVector<IteratorId, std::int64_t> extents;
  IdVector<IteratorId, std::int64_t> ranges;  ///< on one core
};

/// The planner's own split would make a transfer that the DMA cannot carry out.
struct SplitUnaligned {
  std::string reason;
};

/// No plan of the LDM holds the group: the management core computes it.
struct GivenToManagementCore {
  std::string rule;  ///< that refused its plan
  std::string reason;
  std::int64_t cycles = 0;
};

/// Algorithm 4, of one buffer.
struct BufferCorrelated {
  BufferId buffer;
  std::vector<std::vector<IteratorId>> dimensions;  ///< highest first: iterators that occur in it
};

/// Algorithm 5: which iterators determine buffer sizes, which the number of transfers.
enum class IteratorClass : std::uint8_t {
  num,   ///< index of a higher dimension of tensors only
  size,  ///< index of the lowest dimension of a tensor that can still grow
  comp,  ///< both, for different tensors
  whole  ///< buffered whole: takes no part any longer
};
std::string_view name_of(IteratorClass c);

/// The state of algorithm 1.
struct LdmState {
  IdVector<IteratorId, std::int64_t> sizes;  ///< elements buffered
  IdVector<IteratorId, IteratorClass> classes;
  std::int64_t ldm_bytes = 0;  ///< that all buffers take
  friend bool operator==(const LdmState&, const LdmState&) = default;
};

/// Algorithm 5, of one iterator.
struct IteratorClassified {
  IteratorId iterator;
  IteratorClass found = IteratorClass::num;
  std::vector<BufferId> along;   ///< it runs along their DMA blocks
  std::vector<BufferId> across;  ///< it runs from block to block of these
};

struct IteratorsClassified {
  enum class When : std::uint8_t { first, after_start, after_whole } when = When::first;
  std::optional<IteratorId> whole;          ///< after_whole: it is why
  std::vector<IteratorClassified> changed;  ///< whose class is new
  LdmState state;
};

/// A size that algorithm 1 gave an iterator's buffers, or tried to.
struct SizeTried {
  enum class Step : std::uint8_t { fixed, whole, start, exceeds, halved, grown } step = Step::start;
  IteratorId iterator;
  bool fits = true;
  std::int64_t range = 1;          ///< of the iterator on one core
  std::int64_t good_elements = 1;  ///< of a DMA block of good bandwidth
  std::int64_t room = 0;           ///< bytes of LDM for buffers
  LdmState state;                  ///< with this size, also if it does not fit
};

struct SizesChosen {
  LdmState state;
};

/// Even one element of every iterator is too much.
struct LdmExceeded {
  bool with_fixed_sizes = false;
  bool beside_parameters = false;  ///< what is not for buffers is for parameters, otherwise reserved
  std::int64_t needed = 0;
  std::int64_t room = 0;
  std::int64_t ldm_bytes = 0;
  BufferId largest;
  std::int64_t largest_bytes = 0;
  std::vector<std::int64_t> largest_extents;
};

/// How often a buffer is transferred, or computed where it holds an intermediate.
struct BufferCount {
  BufferId buffer;
  bool computed = false;
  std::int64_t count = 0;
};

/// A loop as the innermost of those that have no place yet (algorithm 2).
struct LoopTried {
  TracedLoop loop;
  std::vector<BufferCount> counts;  ///< of buffers that no placed loop moves, on one core
  std::int64_t operations = 0;      ///< computed inside the group; they come before transfers
  std::int64_t transfers = 0;
  bool barred = false;  ///< it iterates over the output, and must stay outside of a reduction that is left
};

/// The best of the loops that are barred would have cost less than the one that is chosen.
struct LoopBarred {
  TracedLoop loop;
  std::int64_t operations = 0;
  std::int64_t transfers = 0;
};

struct LoopPlaced {
  TracedLoop loop;
  std::int64_t operations = 0;
  std::int64_t transfers = 0;
};

struct LoopsOrdered {
  std::vector<TracedLoop> loops;  ///< outermost first
};

/// Where algorithm 3 puts a buffer's transfer, or an intermediate's computation.
struct TransferPlaced {
  enum class What : std::uint8_t { load, computation, store, sum } what = What::load;
  BufferId buffer;
  std::vector<TracedLoop> moves_with;  ///< outer loops around it that change the part of the tensor, outermost first
  std::optional<TracedLoop> inside;    ///< nothing: before the first loop
};

}  // namespace stowage
