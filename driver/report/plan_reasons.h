// SPDX-License-Identifier: Apache-2.0
// Why a planned group moves what it moves where it does: how often every transfer runs and what decided that, which
// loop could have been innermost instead, and what ended the growing of the buffers. Sentences and numbers of one plan,
// for people who know neither the algorithms nor the paper.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/target.h"
#include "driver/report/plan_decisions.h"
#include "lowering/nest/plan.h"

namespace stowage {

struct TransferReason {
  StatementId statement;
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
