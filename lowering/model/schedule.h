// SPDX-License-Identifier: Apache-2.0
// The schedule of one fused operator: what a person or a planner fixes, possibly in part. It is the paper's DMA control
// interface (swTVM section 5.1: split, buffer_read, buffer_write, reorder, fuse, parallel) as a value; a batch file's
// [job.schedule."name"] holds the same keys. What is left out the planner fills.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowering/ir/launched_by.h"

namespace stowage {

/// A spatial iterator cut into so many parts, one part a core. Parts of several iterators form a grid (highest first).
/// Behind them stand the parts of a reduction that is split (SplitReductions).
struct ParallelSplit {
  std::string iterator;
  std::int64_t parts = 1;
  friend bool operator==(const ParallelSplit&, const ParallelSplit&) = default;
};

/// Parts of a grid: the cores that it uses.
inline std::int64_t core_parts(const std::vector<ParallelSplit>& parallel) {
  std::int64_t parts = 1;
  for (const ParallelSplit& split : parallel) parts *= split.parts;
  return parts;
}

/// Who loads an input together with one transfer: each core for itself, the cores of a column of the mesh, of a row,
/// all cores.
enum class SharedBy : std::uint8_t { core, column, row, mesh };

/// Iterators of each run of axes taken as one, outermost first (lowering/model/merged_axes.h).
using MergedAxes = std::vector<std::vector<std::string>>;

/// Elements of a block of each iterator whose elements lie innermost, where vectors run along them
/// (lowering/model/lane_blocks.h).
using LaneBlocks = std::map<std::string, std::int64_t>;

/// Inputs that are loaded as they lie in main memory and padded by a copy (lowering/model/copied_inputs.h).
using CopiedInputs = std::set<std::string>;

/// A reduction iterator → parts that the cores of a row of the mesh reduce, one each; one iterator at most
/// (lowering/model/split_reductions.h).
using SplitReductions = std::map<std::string, std::int64_t>;

/// Input tensor → iterators along which a core keeps all that it needs of it (lowering/model/residents.h).
using ResidentInputs = std::map<std::string, std::set<std::string>>;

struct Schedule {
  /// The grid of cores; an empty list is one core.
  std::optional<std::vector<ParallelSplit>> parallel;
  /// Buffer size of iterators, in elements of the iterator (split factor of the paper).
  std::map<std::string, std::int64_t> buffer;
  /// Outer loops, outermost first: "x" for an iterator buffered by one element, "yo" for the outer loop of y.
  std::optional<std::vector<std::string>> order;
  /// Tensor name → name of the outer loop inside which its transfer stands; "" is before the first loop.
  std::map<std::string, std::string> dma;
  /// Buffer slots of a tensor (1: get, compute, put in turn).
  std::map<std::string, int> slots;
  /// Input tensor → who loads it together.
  std::map<std::string, SharedBy> sharing;
  /// Input tensors that stay in the LDM while loops go round.
  ResidentInputs resident = {};
  /// The axes taken as one; the other keys call those of "yy" and "xx" by the name "yy_xx".
  std::optional<MergedAxes> merged = std::nullopt;
  /// The iterators cut into blocks; the other keys call the two of "ff" by the names "ff_block" and "ff_lane".
  std::optional<LaneBlocks> lanes = std::nullopt;
  std::optional<LaunchedBy> launch = std::nullopt;
  /// The input tensors that are copied; the other keys call the copy of "x" by the name "x_copy".
  std::optional<CopiedInputs> copied = std::nullopt;
  /// Whether constants of one element are literals and the stage behind a reduction finishes it
  /// (lowering/model/folded_stages.h).
  std::optional<bool> folded = std::nullopt;
  /// The reduction that is split; the other keys call the two of "k" by the names "k_part" and "k".
  std::optional<SplitReductions> split = std::nullopt;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace stowage
