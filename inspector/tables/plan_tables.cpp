// SPDX-License-Identifier: Apache-2.0
// The tables of a plan as the driver makes them, each row with the subject that it stands for.
#include "driver/report/plan_tables.h"

#include "inspector/tables/placed.h"

namespace stowage::inspector {

Table placed(PlanTable from) {
  Table table{std::move(from.title), std::move(from.columns), {}};
  table.rows.reserve(from.rows.size());
  for (PlanRow& row : from.rows) {
    const Subject subject{.step = row.step, .op = row.op, .buffer = row.buffer, .statement = row.statement};
    table.rows.push_back({std::move(row.cells), subject, std::move(row.name), row.measure});
  }
  return table;
}

Table groups_table(const LoadedPlan& plan) { return placed(plan_groups_table(plan.program())); }

Table operators_table(const LoadedPlan& plan) { return placed(plan_operators_table(plan.program())); }

Table buffers_table(const LoadedPlan& plan) { return placed(plan_buffers_table(plan.program())); }

Table dma_table(const LoadedPlan& plan) { return placed(plan_dma_table(plan.program())); }

}  // namespace stowage::inspector
