// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_tables.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quoting.h"
#include "driver/report/nest_outline.h"
#include "driver/report/nest_rows.h"
#include "driver/report/table_text.h"
#include "lowering/model/ldm_room.h"
#include "lowering/search/limit_distance.h"

namespace stowage {

namespace {

using Kind = ColumnKind;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::int64_t bytes_of(const GraphTensor& tensor) { return element_count(tensor.shape) * byte_size(tensor.type); }

// Columns that several tables have.

/// What only files and reports show.
Column hidden(Column column) {
  column.shown = false;
  return column;
}

Column step_column() { return keyed("step", {"#", Kind::count, "place in the order of execution"}); }

Column group_column() {
  return keyed("fused operator", {"group", Kind::text, "name of the fused operator: that of its anchor"});
}

std::string extents_of(const std::vector<std::int64_t>& extents) { return fmt::format("{}", fmt::join(extents, "x")); }

std::string_view role_name(TensorRole role) {
  switch (role) {
    case TensorRole::input: return "input";
    case TensorRole::constant: return "constant";
    case TensorRole::intermediate: return "intermediate";
    case TensorRole::output: return "output";
  }
  return "";
}

}  // namespace

PlanTable plan_groups_table(const Program& program) {
  PlanTable table;
  table.title = "Groups";
  table.columns = {
      step_column(),
      group_column(),
      keyed("template", {"template", Kind::text, "the fusion template that allowed it"}),
      keyed("operators", {"operators", Kind::count, "operators of the computation graph in it", true}),
      keyed("cycles", {"cycles", Kind::cycles, "predicted: the sum of all terms in the cost pane", true, true, true}),
      keyed("share", {"share", Kind::share, "of the network's predicted time", true}),
      keyed("dma_bytes", {"DMA bytes", Kind::bytes, "moved between main memory and LDM, all cores", true, true, true}),
      keyed("dma_transfers",
            {"transfers", Kind::count, "fillings and emptyings of LDM buffers, all cores", true, true, true}),
      keyed("dma_operations", {"operations", Kind::count, "Athread DMA calls, all cores", true, true, true}),
      keyed("ldm_bytes", {std::string(scratchpad_of(program).name), Kind::bytes, "peak of one core's scratchpad", false,
                          true, true}),
      keyed("ldm_share", {"LDM use", Kind::share, "LDM divided by what the target leaves to buffers"}),
      keyed("flops", hidden({"flop", Kind::count, "floating-point operations by definition", true})),
      keyed("flop_per_byte", hidden({"flop/byte", Kind::number, "operational intensity: flop divided by DMA bytes"})),
      keyed("cores", hidden({"cores", Kind::count, "cores that take part"})),
      keyed("time_s", hidden({"seconds", Kind::seconds, "predicted time"})),
      keyed("limit_cycles", hidden({"limit", Kind::cycles, "no plan takes less: its physical limit, and the launch"})),
      keyed("times_limit",
            {"x limit", Kind::number, "predicted time divided by the physical limit, the launch in both"}),
      keyed("bytes_times_limit", {"x bytes", Kind::number, "DMA bytes divided by those of the physical limit"}),
  };
  const std::int64_t cycles = totals_of(program).cycles;
  for (const StepId i : program.steps.ids()) {
    const FusedOperator& group = program.steps[i].group;
    const StepPlan* const planned = program.steps[i].step_plan();
    PlanRow row;
    row.step = i;
    row.cells = {static_cast<std::int64_t>(i.index()), group.name, group.template_name,
                 static_cast<std::int64_t>(group.operators.size())};
    if (planned != nullptr) {
      const DmaTotals dma = planned->traffic();
      const Scratchpad ldm = planned->scratchpad(program.target);
      const std::int64_t work = flops(planned->stages());
      row.cells.insert(row.cells.end(), {planned->cycles(), share_of(planned->cycles(), cycles), dma.bytes,
                                         dma.transfers, dma.operations, ldm.peak_bytes,
                                         share_of(ldm.peak_bytes, ldm.room_bytes), work, share_of(work, dma.bytes)});
      if (const Plan* plan = program.steps[i].plan()) {
        const PhysicalLimit physical = physical_limit(planned->stages(), program.target);
        const LimitDistance distance = distance_to_limit(*plan, physical, program.target);
        const std::int64_t limit = distance.limit + distance.of(LostTo::launch);
        row.cells.insert(row.cells.end(),
                         {static_cast<std::int64_t>(plan->nest.cores_used()), plan->time.seconds, limit,
                          share_of(plan->time.cycles, limit), share_of(dma.bytes, physical.bytes)});
      }
    }
    row.cells.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

PlanTable plan_operators_table(const Program& program) {
  PlanTable table;
  table.title = "Operators";
  table.columns = {
      keyed("operator", {"operator", Kind::text, "unique name in the computation graph"}),
      keyed("kind", {"kind", Kind::text, "name in the operator table"}),
      keyed("fused operator", {"group", Kind::text, "fused operator that it belongs to", false, true, true}),
      keyed("role", {"role", Kind::text, "in the group's template", false, true, true}),
      keyed("output", {"output", Kind::text, "type and shape of its output"}),
      keyed("output bytes", {"output bytes", Kind::bytes, "of its output tensor", true, true, true}),
      keyed("parameter bytes", {"parameter bytes", Kind::bytes, "of the constants it reads", true, true, true}),
      keyed("nodes", hidden({"ONNX nodes", Kind::text, "nodes of the model that it stems from"})),
      keyed("step", hidden({"#", Kind::count, "place of its group in the order of execution"})),
      keyed("output type", hidden({"type", Kind::text, "of the elements of its output"})),
      keyed("output shape", hidden({"shape", Kind::extents, "of its output"})),
  };
  const Graph& graph = program.fused.graph;
  for (const StepId i : program.steps.ids()) {
    const FusedOperator& group = program.steps[i].group;
    for (std::size_t member = 0; member < group.operators.size(); ++member) {
      const Operator& op = graph.op(group.operators[member]);
      std::int64_t parameters = 0;
      for (const auto& input : op.inputs) {
        if (input && graph.tensor(*input).constant) parameters += bytes_of(graph.tensor(*input));
      }
      const GraphTensor& output = graph.tensor(op.first_output());
      PlanRow row;
      row.cells = {op.name,
                   op.kind,
                   group.name,
                   member < group.roles.size() ? group.roles[member] : "",
                   fmt::format("{}{}", name_of(output.type), to_text(output.shape)),
                   bytes_of(output),
                   parameters,
                   fmt::format("{}", fmt::join(op.origins, ", ")),
                   static_cast<std::int64_t>(i.index()),
                   std::string(name_of(output.type)),
                   extents_of(output.shape)};
      row.step = i;
      row.op = group.operators[member];
      row.name = op.name;
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

namespace {

PlanTable empty_buffers_table() {
  PlanTable table;
  table.title = "Buffers";
  table.columns = {
      group_column(),
      keyed("buffer", {"buffer", Kind::text, "name in the loop nest and in the emitted C"}),
      keyed("tensor", {"tensor", Kind::text, "what it holds a box of"}),
      keyed("role", {"role", Kind::text, "input, constant, intermediate or output of the group"}),
      keyed("extents", {"box", Kind::extents, "elements held per dimension, highest first", false, true, true}),
      keyed("slots", {"slots", Kind::count, "1: get, compute, put in turn"}),
      keyed("address", {"offset", Kind::bytes, "from the start of the LDM arena"}),
      keyed("bytes", {"bytes", Kind::bytes, "of the buffer with all its slots", false, true, true}),
      keyed("share", {"share", Kind::share, "of the LDM that the target leaves to buffers"}),
      hidden(step_column()),
      keyed("shares_with", hidden({"in", Kind::text, "the buffer whose bytes it uses"})),
  };
  return table;
}

void add_buffers(const Program& program, StepId step, PlanTable& table) {
  const FusedOperator& group = program.steps[step].group;
  const Plan* const plan = program.steps[step].plan();
  if (plan == nullptr) return;
  const LoopNest& nest = plan->nest;
  const std::int64_t room = ldm_for_buffers(nest, program.target);
  for (const BufferId b : nest.buffers.ids()) {
    const Buffer& buffer = nest.buffers[b];
    const StageTensor& tensor = nest.stages.tensors[buffer.tensor];
    PlanRow row;
    row.cells = {group.name,
                 buffer.name,
                 tensor.name,
                 std::string(role_name(tensor.role)),
                 buffer.extents.empty() ? "1" : extents_of(buffer.extents),
                 static_cast<std::int64_t>(buffer.slots),
                 buffer.offset,
                 buffer.bytes(),
                 share_of(buffer.bytes(), room),
                 static_cast<std::int64_t>(step.index()),
                 buffer.shares_with ? nest.buffers[*buffer.shares_with].name : ""};
    row.step = step;
    row.buffer = b;
    row.name = tensor.name;
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

PlanTable plan_buffers_table(const Program& program) {
  PlanTable table = empty_buffers_table();
  for (const StepId i : program.steps.ids()) add_buffers(program, i, table);
  return table;
}

PlanTable step_buffers_table(const Program& program, StepId step) {
  PlanTable table = empty_buffers_table();
  add_buffers(program, step, table);
  return table;
}

namespace {

std::vector<Column> dma_columns() {
  Column inside = keyed("inside loop", {"inside", Kind::text, "innermost loop around it", false, true, true});
  inside.absent = "(outside the loops)";
  return {
      group_column(),
      keyed("statement", {"statement", Kind::count, "number in the loop nest"}),
      keyed("direction", {"DMA", Kind::text, "get: main memory to LDM, put: the way back"}),
      keyed("tensor", {"tensor", Kind::text, "in main memory"}),
      std::move(inside),
      keyed("transfers",
            {"transfers", Kind::count, "fillings or emptyings of the buffer, all cores", true, true, true}),
      keyed("operations", {"operations", Kind::count, "Athread calls, all cores", true, true, true}),
      keyed("bytes", {"bytes", Kind::bytes, "moved, all cores", true, true, true}),
      keyed("share", {"share", Kind::share, "of the network's DMA bytes", true}),
      keyed("block",
            {"block bytes", Kind::text, "contiguous bytes of one operation; small blocks are slow", false, true, true}),
      keyed("cycles", {"cycles", Kind::cycles, "predicted: bytes by bandwidth of their block size, and start-ups", true,
                       true, true}),
      keyed("bytes_per_s", {"bandwidth", Kind::rate, "bytes divided by the predicted time"}),
      keyed("elements", hidden({"elements", Kind::extents, "of the largest box that a transfer moves"})),
      keyed("smallest_block_bytes", hidden({"smallest block", Kind::bytes, "contiguous bytes of one operation"})),
      keyed("largest_block_bytes", hidden({"largest block", Kind::bytes, "contiguous bytes of one operation"})),
      hidden(step_column()),
  };
}

/// "256" where all operations have one block size, "64 to 256" otherwise.
std::string blocks_of(const NestRow& row) {
  if (row.largest_block == 0) return "";
  return row.smallest_block == row.largest_block ? std::to_string(row.largest_block)
                                                 : fmt::format("{} to {}", row.smallest_block, row.largest_block);
}

/// `all_bytes`: of the network, 0 where shares of it are left out.
void add_transfers(const Program& program, StepId step, std::int64_t all_bytes, PlanTable& table) {
  const FusedOperator& group = program.steps[step].group;
  const Plan* const plan = program.steps[step].plan();
  if (plan == nullptr) return;
  for (const NestRow& transfer : nest_rows(*plan, program.target)) {
    const bool get = transfer.kind == NestRow::Kind::get;
    if (!get && transfer.kind != NestRow::Kind::put) continue;
    PlanRow row;
    row.step = step;
    row.statement = transfer.statement;
    row.name = (get ? "get " : "put ") + transfer.tensor;
    row.cells = {group.name,
                 std::int64_t{transfer.statement->value},
                 get ? "get" : "put",
                 transfer.tensor,
                 transfer.loop,
                 transfer.transfers,
                 transfer.operations,
                 transfer.bytes,
                 all_bytes > 0 ? Cell(share_of(transfer.bytes, all_bytes)) : Cell(),
                 blocks_of(transfer),
                 transfer.cycles,
                 transfer.bytes_per_second > 0 ? Cell(transfer.bytes_per_second) : Cell(),
                 transfer.box,
                 transfer.smallest_block,
                 transfer.largest_block,
                 static_cast<std::int64_t>(step.index())};
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

PlanTable plan_dma_table(const Program& program) {
  PlanTable table{"DMA", dma_columns(), {}};
  const std::int64_t all_bytes = totals_of(program).dma.bytes;
  for (const StepId i : program.steps.ids()) add_transfers(program, i, all_bytes, table);
  return table;
}

PlanTable step_dma_table(const Program& program, StepId step) {
  PlanTable table{"DMA", dma_columns(), {}};
  add_transfers(program, step, 0, table);
  return table;
}

namespace {

/// A table as a file: its name, how it is made, and the columns that the file has.
struct TableFile {
  std::string_view name;
  PlanTable (*make)(const Program& program);
  std::vector<std::string_view> keys;
};

std::vector<TableFile> table_files() {
  return {{"groups",
           plan_groups_table,
           {"step", "fused operator", "template", "operators", "cycles", "time_s", "dma_transfers", "dma_operations",
            "dma_bytes", "ldm_bytes", "flops", "limit_cycles"}},
          {"operators",
           plan_operators_table,
           {"step", "fused operator", "operator", "kind", "role", "output type", "output shape", "output bytes"}},
          {"dma",
           plan_dma_table,
           {"step", "fused operator", "statement", "direction", "tensor", "inside loop", "elements", "transfers",
            "operations", "bytes", "smallest_block_bytes", "largest_block_bytes", "cycles", "bytes_per_s"}},
          {"buffers",
           plan_buffers_table,
           {"step", "fused operator", "buffer", "tensor", "extents", "slots", "address", "bytes"}}};
}

}  // namespace

std::vector<std::string> plan_table_names() {
  std::vector<std::string> names;
  for (const TableFile& file : table_files()) names.emplace_back(file.name);
  return names;
}

std::optional<std::string> plan_table_csv(const Program& program, std::string_view name) {
  for (const TableFile& file : table_files()) {
    if (file.name != name) continue;
    return csv_text(file.make(program), file.keys);
  }
  return std::nullopt;
}

}  // namespace stowage
