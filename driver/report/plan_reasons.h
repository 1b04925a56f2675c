// SPDX-License-Identifier: Apache-2.0
// Why a planned group moves what it moves where it does: how often every transfer runs and what decided that, which
// loop could have been innermost instead, and what ended the growing of the buffers. Sentences and numbers of one plan,
// for people who know neither the algorithms nor the paper.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/group_model.h"
#include "lowering/nest/plan.h"

namespace stowage {

/// How often a statement runs.
struct Turns {
  std::vector<std::pair<std::string, std::int64_t>> loops;  ///< around it, outermost first, with their most trips
  std::int64_t on_a_core = 1;                               ///< product of those trips
  bool even = true;                                         ///< every core takes so many
  int cores = 1;
  std::int64_t in_all = 0;  ///< of a transfer: counted over all cores
};
Turns turns_of(const Plan& plan, int statement);
/// "once", "128 times", "4 times on each of 63 cores = 252", "200 times on 63 cores, at most 4 on one".
std::string times_text(const Turns& turns);
/// The same with the loops where there are several: "x 1 × yo 8 × ko 16 = 128 times".
std::string product_text(const Turns& turns);
/// "inside ko", "before the first loop", "after the last loop"; "at the start", "at the end" without any loop.
std::string place_text(const Plan& plan, int statement);

/// One loop as the innermost of those that had no place yet (algorithm 2).
struct LoopCandidate {
  std::string loop;
  std::vector<std::int64_t> transfers;  ///< on one core, by LoopRound::tensors
  std::int64_t total = 0;               ///< transfers of all of them
  std::int64_t operations = 0;          ///< computed inside the group; less of them comes first
  bool chosen = false;
  bool barred = false;  ///< iterates over the output while a sum is left, so it may not be innermost
};
struct LoopRound {
  std::vector<std::string> tensors;  ///< those not yet placed that are transferred
  std::vector<LoopCandidate> candidates;
};
/// Takes a record of algorithm 2 into a round; true where the record ends the round.
bool follow(LoopRound& round, const GroupModel& model, const std::vector<std::int64_t>& sizes,
            const TraceRecord& record);

struct TransferReason {
  int statement = -1;
  std::string tensor;  ///< as the group's model names the buffer
  bool get = true;
  std::string where;  ///< "A is loaded inside ko: x 1 × yo 8 × ko 16 = 128 times."
  std::string why;    ///< what it moves with, what loads it again, what was lost by that
};

struct PlanReasons {
  std::vector<TransferReason> transfers;  ///< in program order
  std::vector<std::string> sizes;         ///< sentences: what lies in the LDM, what ended growing, what stays free
  std::vector<LoopRound> rounds;          ///< of algorithm 2, innermost place first; without those of one candidate
};

/// `records` are the planner's of this group; without any that led to this very schedule what they decided is left out.
PlanReasons reasons_of(const Plan& plan, const Target& target, std::span<const TraceRecord> records);

}  // namespace stowage
