// SPDX-License-Identifier: Apache-2.0
// A compilation as a folder (docs/plan-format.md): plan.json, trace.json, report.md and src/. plan.json is complete but
// for the weights, which are in src/params.bin: it holds the graph, the groups, their schedules and their loop nests,
// from which everything else is computed again on reading.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "driver/session/session.h"

namespace stowage {

/// Writes the folder, whole or not at all. An existing one is replaced only with `force` and as may_write_folder
/// allows; whether files that the command reads are in it is for the caller to ask before. False after a reported error
/// or a stop.
bool write_compilation(const Compilation& compilation, const std::filesystem::path& folder, bool force,
                       Diagnostics& diagnostics, std::stop_token stop = {});

/// Reads the model again, if it is still where it was and the same; otherwise `imported` stays empty. A relative path
/// is looked for from the working directory, then from the plan's folder.
void read_model_again(Compilation& compilation, const std::filesystem::path& folder);

/// Reads a folder back. Sources that were changed by hand since are taken as they are, with a warning
/// (Compilation::changed_sources). Fails without a diagnostic when stopped.
Result<Compilation> read_compilation(const std::filesystem::path& folder, Diagnostics& diagnostics,
                                     const std::stop_token& stop = {}, const Backends& backends = built_in_backends());

}  // namespace stowage
