// SPDX-License-Identifier: Apache-2.0
// What is recorded on the way from an imported graph to fused operators: what was folded into parameters, which
// operators became views, where results of branches lie, which groups were refused or accepted. A rule that refuses
// gives its reason as a Decision. Operators and tensors are named as the graph names them, which a later pass may
// rebuild with other numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/decision.h"

namespace stowage {

/// An operator that went into its neighbour's parameters or attributes.
struct OperatorFolded {
  enum class What : std::uint8_t { transposed, pad, scale, phases } what = What::scale;
  std::string absorbed;  ///< not of `transposed` and `phases`
  std::string into;
};

struct FoldingRefused {
  std::string into;  ///< empty where the reason says it
  Decision why;
};

/// An operator that reads or writes pictures with their channels in blocks (core/channel_blocks.h).
struct ChannelsBlocked {
  std::int64_t operand = 0;  ///< channels a block; 0: as ONNX has them
  std::int64_t result = 0;
};

/// A picture whose channels, and those of all that have to lie as it does, stay as ONNX has them.
struct ChannelsKept {
  Decision why;
};

/// A box in the memory of another tensor (core/graph.h, StorageBox).
struct TracedBox {
  std::string storage;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

/// An operator that became a view.
struct ViewStored {
  enum class Rule : std::uint8_t { concat, slice, reshape } rule = Rule::reshape;
  enum class How : std::uint8_t {
    written,  ///< a concatenation's operands are written straight into its result
    beside,   ///< they lie side by side already, in `box`
    boxed,    ///< its result is `box`
    all       ///< its result is all of the box's storage
  } how = How::boxed;
  std::string tensor;            ///< its result
  std::optional<TracedBox> box;  ///< written: only where the result lies in another tensor
  std::string copied;            ///< written: what one operand takes all the same; mostly empty
};

/// An operator that might have been one, and copies.
struct ViewRefused {
  Decision why;
  bool once = false;  ///< several operands would have to be copied; it copies all at once instead
};

/// Results of branches that lie side by side.
struct BranchesStored {
  std::vector<std::string> results;
  std::vector<std::string> in_row;  ///< what lies there, in order
  std::string storage;
};

struct BranchesApart {
  std::vector<std::string> results;
  Decision why;  ///< without a reason: they stay where concatenations want them
};

struct GroupAccepted {
  std::string template_name;
  std::vector<std::string> operators;
};

struct GroupFixed {
  std::vector<std::string> operators;
};

struct CandidateRefused {
  std::string template_name;
  std::vector<std::string> operators;
  std::vector<Decision> broken;  ///< rules, at least one
};

/// The search for a template's embeddings was given up where there are too many.
struct StartsGivenUp {
  std::int64_t starts = 0;
  std::string first;  ///< operator
  std::int64_t tries = 0;
  std::int64_t groups = 0;
};

/// More groups were found than are looked at.
struct CandidatesCut {
  std::int64_t found = 0;
  std::int64_t kept = 0;
};

/// The network repeats a vertex more often than the template does.
struct ChainsCut {
  std::int64_t repeat = 1;
  std::string vertex;
  std::string around;  ///< operator
};

/// A part of the network that strategy exact could not search completely.
struct BeamKept {
  std::string first;  ///< operators
  std::string last;
  std::int64_t widest = 0;  ///< states with equally many operators
  std::int64_t kept = 0;
  std::int64_t cycles = 0;
  std::int64_t lower_bound = 0;
};

/// What strategy exact found.
struct PartitionFound {
  std::int64_t operators = 0;
  std::int64_t segments = 0;
  std::int64_t beam_segments = 0;  ///< not searched completely
  std::int64_t states = 0;
  std::int64_t cycles = 0;
  std::int64_t lower_bound = 0;
  bool limited = false;  ///< a limit kept groups from being candidates
};

}  // namespace stowage
