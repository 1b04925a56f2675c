// SPDX-License-Identifier: Apache-2.0
// What every core of a nest asks of the engines, in order: computations, transfers that it starts, waits. Elements have
// no values here; where an expression asks for the value of a tensor, it is 0, as for predicted counts.
//
// A sequence is a tree, so that what repeats is written once: the trips of a loop that ask for the same stand there as
// one sequence and a number of times, equal sequences are the same one, and so cores that do the same share theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/execution_cost.h"

namespace stowage {

using AskerId = Id<struct AskerTag>;        ///< of RequestSequences::statements
using RequestId = Id<struct RequestTag>;    ///< of RequestSequences::requests
using SequenceId = Id<struct SequenceTag>;  ///< of RequestSequences::sequences

struct Request {
  enum class Kind : std::uint8_t {
    compute,          ///< a Compute or a Fill
    transfer,         ///< starts one
    await_statement,  ///< waits for what a statement started
    await_slot,       ///< waits for all that is under way in a slot
    barrier           ///< of the cores of a row or of all, or a broadcast along a row or down a column
  };
  Kind kind = Kind::compute;
  AskerId statement;
  std::optional<SlotId> slot;                  ///< transfer, await_slot
  std::optional<AskerId> awaited;              ///< await_statement
  DmaDirection direction = DmaDirection::get;  ///< transfer
  std::int64_t cycles = 0;                     ///< compute: of the core
  std::int64_t meeting_cycles = 0;             ///< barrier: from the last core\'s coming
  TransferExecution execution;                 ///< transfer
  Space team = Space::mesh;                    ///< barrier: row, column or mesh
  std::vector<SlotId> uses;                    ///< compute, with Sharing::equal_slots: the slots that it touches
};

/// So many times a request, or a sequence, one behind another.
struct SequencePart {
  std::optional<RequestId> request;
  SequenceId sequence;  ///< where it is no request
  std::int64_t times = 1;
  friend bool operator==(const SequencePart&, const SequencePart&) = default;
};

struct RequestSequence {
  std::vector<SequencePart> parts;
  bool only_computes = false;
  std::int64_t cycles = 0;  ///< then: of all of it, at most cycle_limit
  /// Then, too: a request, where all are of its statement and touch the slots that it touches.
  std::optional<RequestId> computes = std::nullopt;
};

struct RequestSequences {
  IdVector<AskerId, const Stmt*> statements;        ///< those that ask for something, in program order
  IdVector<RequestId, Request> requests;            ///< that differ
  IdVector<SequenceId, RequestSequence> sequences;  ///< each behind those that it is made of
  std::vector<SequenceId> of_core;
  int columns = 0;  ///< of the mesh, if cores of rows or of columns meet
  bool meet_in_rows = false;
  bool meet_in_columns = false;
};

enum class Sharing : std::uint8_t {
  equal,        ///< what is equal is written once
  equal_slots,  ///< the same, and computations that touch other slots are not equal
  none          ///< every core has a sequence of its own, written out trip by trip
};

/// Of a nest that all statements of which have a rate; it and its statements must outlive the result.
RequestSequences request_sequences(const LoopNest& nest, const ExecutionCosts& costs, Sharing sharing);

}  // namespace stowage
