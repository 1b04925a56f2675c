// SPDX-License-Identifier: Apache-2.0
// The record of a fusion as the part "fusion" of trace.json (docs/plan-format.md).
#pragma once

#include <string>
#include <vector>

#include "core/graph.h"
#include "driver/json/json.h"
#include "fusion/groups/fusion_record.h"

namespace stowage {

/// An object with one candidate, node or edge a line, so that files can be read and compared by people.
std::string fusion_json(const FusionRecord& record, const Graph& graph);
/// How well strategy exact could prove its choice, as `compile --json` and batch results show it. Only if
/// record.search.
Json search_json(const FusionRecord& record);
/// Reads a row of "candidates", of which there are many, and all the rest. Whatever is wrong is an exception of the
/// JSON library, or std::invalid_argument.
CandidateRecord candidate_of(const Json& row, const Graph& graph);
FusionRecord fusion_of(const Json& json, std::vector<CandidateRecord> candidates);

}  // namespace stowage
