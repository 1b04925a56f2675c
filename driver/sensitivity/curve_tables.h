// SPDX-License-Identifier: Apache-2.0
// A curve as a table, as text and as JSON.
#pragma once

#include <string>

#include "driver/json/json_forward.h"
#include "driver/report/table.h"
#include "driver/sensitivity/curve.h"

namespace stowage {

/// A row a value. Keys: value, groups, kernels, dma_transfers, dma_bytes, ldm_peak_bytes, cycles, time_s, knee,
/// changes, refused.
PlanTable curve_table(const Curve& curve);

/// For spreadsheets (RFC 4180).
std::string curve_csv(const Curve& curve);

/// The table, then a line for every knee and for what was refused.
std::string curve_text(const Curve& curve);
/// What stands below the table: "1: at 48 KiB 5.2 % faster than at 32 KiB: …"; a sentence where there is no knee.
std::vector<std::string> knee_lines(const Curve& curve);
/// "8 192: operator conv1 does not fit", one a line.
std::vector<std::string> refusal_lines(const Curve& curve);

Json to_json(const Curve& curve);

}  // namespace stowage
