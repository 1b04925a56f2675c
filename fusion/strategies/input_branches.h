// SPDX-License-Identifier: Apache-2.0
// Branches that share an input of the network. It has no producer, so nothing in the graph can stand for the context of
// their template's pattern: their branches are matched one by one and put together here.
#pragma once

#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/match/match.h"
#include "fusion/templates/template.h"

namespace stowage {

/// Embeddings of a pattern of branches with one context vertex, of any kind and with no condition but on its `fan_out`:
/// an input of the network takes its place. In the embedding the first anchor fills it, which means nothing. Of one
/// input at most SearchBudget::embeddings_per_start.
std::vector<Embedding> branches_of_inputs(const GraphFacts& facts, const FusionTemplate& fusion_template,
                                          const Pattern& pattern, const VertexCandidates& candidates);

}  // namespace stowage
