// SPDX-License-Identifier: Apache-2.0
// Schedules in TOML, as batch files and --schedule files hold them (docs/command-line.md):
//
//     [schedule."matmul"]
//     parallel = [{ iterator = "y", parts = 64 }]
//     buffer   = { y = 128, k = 64 }
//     order    = ["x", "yo", "ko"]
//     dma      = { A = "ko", B = "ko", C = "yo" }
//     slots    = { B = 1 }
//
// and groups of operators that are fused just so:
//
//     [[group]]
//     operators = ["conv1", "relu1"]
#pragma once

#include <map>
#include <string>

#include "core/toml_reader.h"
#include "driver/session/session.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// One schedule a key of `table`, by fused operator's name. Mistakes of form are reported.
FixedSchedules read_schedules(TomlTable& table);
/// The tables [[group]] of a file or job.
std::vector<FixedGroup> read_groups(TomlTable& table);
/// The text of a --schedule file: nothing but the table [schedule] and the tables [[group]], of which it has one.
Result<FixedSchedules> parse_schedules(std::string_view text, const std::string& file, Diagnostics& diagnostics);
/// The file of that path.
Result<FixedSchedules> load_schedules(const std::string& path, Diagnostics& diagnostics);

/// Names in schedules that the fused graph has not (fused operators, iterators, loops, tensors) are reported where
/// they were written.
bool check_schedules(const FusedGraph& fused, const FixedSchedules& fixed, Diagnostics& diagnostics);

/// "[[group]]" with its operators.
std::string group_toml(const std::vector<std::string>& operators);
/// The same form, one key a line.
std::string to_toml(const std::string& name, const Schedule& schedule);

}  // namespace stowage
