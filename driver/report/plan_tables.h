// SPDX-License-Identifier: Apache-2.0
// The tables of a plan: fused operators, operators, buffers, DMA operations. Numbers are the plan's predictions, summed
// over all cores.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/report/table.h"
#include "driver/session/session.h"

namespace stowage {

PlanTable plan_groups_table(const Program& program);
/// In the order of the steps.
PlanTable plan_operators_table(const Program& program);
/// Of all steps in their order.
PlanTable plan_buffers_table(const Program& program);
PlanTable plan_dma_table(const Program& program);
/// Of one step; shares of the network's sums are left out.
PlanTable step_buffers_table(const Program& program, StepId step);
PlanTable step_dma_table(const Program& program, StepId step);

/// "groups", "operators", "dma", "buffers".
std::vector<std::string> plan_table_names();

/// For spreadsheets: comma-separated values as RFC 4180 describes them, numbers without grouping, a line of headings
/// first. Nothing for another name.
std::optional<std::string> plan_table_csv(const Program& program, std::string_view table);

}  // namespace stowage
