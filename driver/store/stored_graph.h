// SPDX-License-Identifier: Apache-2.0
// The graph of plan.json with its weights, which are in src/params.bin.
#pragma once

#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/graph.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/store/stored_step.h"

namespace stowage {

/// Parses the graph's text with the values of its constants: out of the file of parameters where the plan's memory map
/// says, out of the plan itself, and of branches out of their stacks. They must have the hashes of the text. Throws
/// Damage or what the JSON library does.
Graph read_graph(const Json& plan, const IdVector<StepId, StoredStep>& steps, const OpenFile& parameters,
                 const std::string& parameters_file, Diagnostics& diagnostics);

}  // namespace stowage
