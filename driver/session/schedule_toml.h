// SPDX-License-Identifier: Apache-2.0
// Schedules and groups that a person fixes, as batch files and --schedule files hold them (docs/command-line.md). What
// stands in a schedule is its family's (of Athread driver/athread/athread_schedule.h):
//
//     [schedule."matmul"]
//     …
//
// and groups of operators that are fused just so:
//
//     [[group]]
//     operators = ["conv1", "relu1"]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/toml_reader.h"
#include "driver/backend/backend.h"

namespace stowage {

/// One schedule a key of `table`, by fused operator's name, as the family reads them. Mistakes of form are reported.
FixedSchedules read_schedules(TomlTable& table, const Backend& backend);
/// The tables [[group]] of a file or job.
std::vector<FixedGroup> read_groups(TomlTable& table);
/// The text of a --schedule file: nothing but the table [schedule] and the tables [[group]], of which it has one.
Result<FixedSchedules> parse_schedules(std::string_view text, const std::string& file, const Backend& backend,
                                       Diagnostics& diagnostics);
/// The file of that path.
Result<FixedSchedules> load_schedules(const std::string& path, const Backend& backend, Diagnostics& diagnostics);

/// "[[group]]" with its operators.
std::string group_toml(const std::vector<std::string>& operators);

}  // namespace stowage
