// SPDX-License-Identifier: Apache-2.0
// The candidate groups of a plan's fusion as a table, and the questions that one asks about them. Everything comes from
// the record that the compilation kept (fusion/groups/fusion_record.h).
#pragma once

#include <optional>
#include <vector>

#include "fusion/groups/fusion_record.h"
#include "inspector/tables/table.h"

namespace stowage::inspector {

/// Operators of a subject: the one it names, else those of its group. Of the network: none.
std::vector<OpId> operators_at(const LoadedPlan& plan, const Subject& subject);

/// Where a candidate leads: to its group if it was chosen, else to its first operator.
Subject subject_of_candidate(const LoadedPlan& plan, std::size_t candidate);

struct CandidateFilter {
  std::optional<CandidateFate> fate;
  Subject around;  ///< only candidates that hold an operator of it; the network: all
};
/// The first column is the candidate's index in the record.
Table candidates_table(const LoadedPlan& plan, const CandidateFilter& filter = {});

/// Two operators to ask about when a person goes from one subject to another: both, where each is one operator; else
/// the operator or its group's last one, and the first one outside that reads it (or that the group reads). Empty where
/// there is nothing to ask.
std::vector<OpId> pair_to_ask(const LoadedPlan& plan, const Subject& before, const Subject& now);

}  // namespace stowage::inspector
