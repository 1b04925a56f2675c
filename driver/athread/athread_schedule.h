// SPDX-License-Identifier: Apache-2.0
// Athread's schedules in TOML, as batch files and --schedule files hold them (docs/command-line.md):
//
//     [schedule."matmul"]
//     merged   = [["m", "h"]]
//     parallel = [{ iterator = "y", parts = 64 }]
//     buffer   = { y = 128, k = 64 }
//     order    = ["x", "yo", "ko"]
//     dma      = { A = "ko", B = "ko", C = "yo" }
//     slots    = { B = 1 }
//     sharing  = { A = "mesh" }
//     resident = { W = ["rc"] }
//     launch   = "barrier"
//     copied   = ["x"]
//     folded   = true
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/toml_reader.h"
#include "driver/backend/fixed_schedules.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/model/planner.h"

namespace stowage {

/// Athread's schedule as other families' stand beside it, and back: one, and all of a file.
std::shared_ptr<const FixedSchedule> fixed_schedule(Schedule schedule);
const Schedule& schedule_of(const FixedSchedule& fixed);
std::map<std::string, Schedule> schedules_of(const FixedSchedules& fixed);

/// Reads the table of one fused operator. Mistakes of form are reported.
void read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed);

/// Names in schedules for this planner that the fused graph has not (fused operators, iterators, loops, tensors) are
/// reported where they were written.
bool check_schedules(const FusedGraph& fused, const FixedSchedules& fixed, const Planner& planner, const Target& target,
                     Diagnostics& diagnostics);

/// The same form, one key a line.
std::string to_toml(const std::string& name, const Schedule& schedule);

}  // namespace stowage
