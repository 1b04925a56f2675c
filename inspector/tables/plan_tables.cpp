// SPDX-License-Identifier: Apache-2.0
// The tables of a plan. Numbers are those of the plan's predictions, summed over all cores.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inspector/tables/table.h"
#include "lowering/model/ldm_room.h"

namespace stowage::inspector {

namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string tensor_text(const GraphTensor& tensor) {
  return fmt::format("{}{}", name_of(tensor.type), to_text(tensor.shape));
}

std::int64_t bytes_of(const GraphTensor& tensor) { return element_count(tensor.shape) * byte_size(tensor.type); }

/// Name of the innermost loop around a statement, "" outside the loops.
std::string loop_around(const StepFacts& step, int statement) {
  for (const StatementFacts* facts = step.find(statement); facts != nullptr; facts = step.find(facts->parent)) {
    const auto* loop = std::get_if<Loop>(&facts->statement->node);
    if (loop != nullptr && facts->statement->id != statement) {
      return step.plan->nest.variables[loop->variable.index()].name;
    }
  }
  return {};
}

/// "256" where all operations have one block size, "64 to 256" otherwise.
std::string block_text(const DmaTotals& totals) {
  if (totals.operations_by_block.empty()) return {};
  const std::int64_t smallest = totals.operations_by_block.begin()->first;
  const std::int64_t largest = totals.operations_by_block.rbegin()->first;
  return smallest == largest ? std::to_string(smallest) : fmt::format("{} to {}", smallest, largest);
}

}  // namespace

Table groups_table(const LoadedPlan& plan) {
  Table table;
  table.title = "Groups";
  table.columns = {
      {"#", ColumnKind::count, "place in the order of execution"},
      {"group", ColumnKind::text, "name of the fused operator: that of its anchor"},
      {"template", ColumnKind::text, "the fusion template that allowed it"},
      {"operators", ColumnKind::count, "operators of the computation graph in it", true},
      {"cycles", ColumnKind::cycles, "predicted: the sum of all terms in the cost pane", true, true, true},
      {"share", ColumnKind::share, "of the network's predicted time", true},
      {"DMA bytes", ColumnKind::bytes, "moved between main memory and LDM, all cores", true, true, true},
      {"transfers", ColumnKind::count, "fillings and emptyings of LDM buffers, all cores", true, true, true},
      {"operations", ColumnKind::count, "Athread DMA calls, all cores", true, true, true},
      {"LDM", ColumnKind::bytes, "peak of one core's scratchpad", false, true, true},
      {"LDM use", ColumnKind::share, "LDM divided by what the target leaves to buffers"},
      {"flop", ColumnKind::count, "floating-point operations by definition", true, false},
      {"flop/byte", ColumnKind::number, "operational intensity: flop divided by DMA bytes", false, false},
      {"cores", ColumnKind::count, "cores that take part", false, false},
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepFacts& step = plan.steps[i];
    const FusedOperator& group = step.step->group;
    Row row;
    row.place = step_place(static_cast<int>(i));
    row.cells = {static_cast<std::int64_t>(i), group.name, group.template_name,
                 static_cast<std::int64_t>(group.operators.size())};
    if (step.plan != nullptr) {
      const std::int64_t ldm = step.plan->nest.ldm_bytes;
      row.cells.insert(
          row.cells.end(),
          {step.cycles, share_of(step.cycles, plan.totals.cycles), step.dma.bytes, step.dma.transfers,
           step.dma.operations, ldm, share_of(ldm, ldm_for_buffers(step.plan->nest, plan.program().target)), step.flops,
           share_of(step.flops, step.dma.bytes), static_cast<std::int64_t>(step.plan->nest.cores_used())});
    }
    row.cells.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table operators_table(const LoadedPlan& plan) {
  Table table;
  table.title = "Operators";
  table.columns = {
      {"operator", ColumnKind::text, "unique name in the computation graph"},
      {"kind", ColumnKind::text, "name in the operator table"},
      {"group", ColumnKind::text, "fused operator that it belongs to", false, true, true},
      {"role", ColumnKind::text, "in the group's template", false, true, true},
      {"output", ColumnKind::text, "type and shape of its output"},
      {"output bytes", ColumnKind::bytes, "of its output tensor", true, true, true},
      {"parameter bytes", ColumnKind::bytes, "of the constants it reads", true, true, true},
      {"ONNX nodes", ColumnKind::text, "nodes of the model that it stems from", false, false},
  };
  const Graph& graph = plan.graph();
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    const Operator& op = graph.operators()[i];
    const int step = plan.step_of_operator[i];
    std::string group_name;
    std::string role;
    if (const StepFacts* facts = plan.step(step)) {
      const FusedOperator& group = facts->step->group;
      group_name = group.name;
      for (std::size_t k = 0; k < group.operators.size() && k < group.roles.size(); ++k) {
        if (group.operators[k].index() == i) role = group.roles[k];
      }
    }
    std::int64_t parameters = 0;
    for (const auto& input : op.inputs) {
      if (input && graph.tensor(*input).constant) parameters += bytes_of(graph.tensor(*input));
    }
    const GraphTensor& output = graph.tensor(op.output);
    table.rows.push_back({{op.name, op.kind, group_name, role, tensor_text(output), bytes_of(output), parameters,
                           fmt::format("{}", fmt::join(op.origins, ", "))},
                          op_place(step, static_cast<int>(i)),
                          op.name});
  }
  return table;
}

Table buffers_table(const LoadedPlan& plan) {
  Table table;
  table.title = "Buffers";
  table.columns = {
      {"group", ColumnKind::text, "fused operator"},
      {"buffer", ColumnKind::text, "name in the loop nest and in the emitted C"},
      {"tensor", ColumnKind::text, "what it holds a box of"},
      {"role", ColumnKind::text, "input, constant, intermediate or output of the group"},
      {"box", ColumnKind::text, "elements held per dimension, highest first", false, true, true},
      {"slots", ColumnKind::count, "1: get, compute, put in turn"},
      {"offset", ColumnKind::bytes, "from the start of the LDM arena"},
      {"bytes", ColumnKind::bytes, "of the buffer with all its slots", false, true, true},
      {"share", ColumnKind::share, "of the LDM that the target leaves to buffers"},
  };
  static constexpr const char* roles[] = {"input", "constant", "intermediate", "output"};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepFacts& step = plan.steps[i];
    if (step.plan == nullptr) continue;
    const LoopNest& nest = step.plan->nest;
    const std::int64_t room = ldm_for_buffers(nest, plan.program().target);
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
      const Buffer& buffer = nest.buffers[b];
      const StageTensor& tensor = nest.stages.tensors[static_cast<std::size_t>(buffer.tensor)];
      table.rows.push_back(
          {{step.step->group.name, buffer.name, tensor.name, roles[static_cast<std::size_t>(tensor.role)],
            extents_text(buffer.extents), static_cast<std::int64_t>(buffer.slots), buffer.offset, buffer.bytes(),
            share_of(buffer.bytes(), room)},
           buffer_place(static_cast<int>(i), static_cast<int>(b)),
           tensor.name});
    }
  }
  return table;
}

Table dma_table(const LoadedPlan& plan) {
  Table table;
  table.title = "DMA";
  table.columns = {
      {"group", ColumnKind::text, "fused operator"},
      {"statement", ColumnKind::count, "number in the loop nest"},
      {"DMA", ColumnKind::text, "get: main memory to LDM, put: the way back"},
      {"tensor", ColumnKind::text, "in main memory"},
      {"inside", ColumnKind::text, "innermost loop around it", false, true, true},
      {"transfers", ColumnKind::count, "fillings or emptyings of the buffer, all cores", true, true, true},
      {"operations", ColumnKind::count, "Athread calls, all cores", true, true, true},
      {"bytes", ColumnKind::bytes, "moved, all cores", true, true, true},
      {"share", ColumnKind::share, "of the network's DMA bytes", true},
      {"block bytes", ColumnKind::text, "contiguous bytes of one operation; small blocks are slow", false, true, true},
      {"cycles", ColumnKind::cycles, "predicted: bytes by bandwidth of their block size, and start-ups", true, true,
       true},
      {"bandwidth", ColumnKind::rate, "bytes divided by the predicted time"},
  };
  const double clock = plan.program().target.clock_hz;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepFacts& step = plan.steps[i];
    if (step.plan == nullptr) continue;
    for (const auto& [id, totals] : step.plan->counts.dma) {
      const StatementFacts* facts = step.find(id);
      const auto& dma = std::get<Dma>(facts->statement->node);
      const std::string loop = loop_around(step, id);
      const double seconds = static_cast<double>(facts->own_cycles) / clock;
      table.rows.push_back(
          {{step.step->group.name, static_cast<std::int64_t>(id), dma.direction == DmaDirection::get ? "get" : "put",
            step.plan->nest.tensors[static_cast<std::size_t>(dma.nest_tensor)].name, loop.empty() ? "(no loop)" : loop,
            totals.transfers, totals.operations, totals.bytes, share_of(totals.bytes, plan.totals.dma.bytes),
            block_text(totals), facts->own_cycles,
            seconds > 0 ? Cell(static_cast<double>(totals.bytes) / seconds) : Cell()},
           statement_place(static_cast<int>(i), id),
           (dma.direction == DmaDirection::get ? "get " : "put ") +
               step.plan->nest.tensors[static_cast<std::size_t>(dma.nest_tensor)].name});
    }
  }
  return table;
}

}  // namespace stowage::inspector
