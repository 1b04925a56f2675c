// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quoting.h"
#include "driver/report/nest_rows.h"

namespace stowage {

namespace {

/// Lines of cells.
class Csv {
 public:
  explicit Csv(const std::vector<std::string>& headings) { add(headings); }
  void add(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text_ += (i > 0 ? "," : "") + csv_cell(cells[i]);
    text_ += "\r\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string number(std::int64_t value) { return std::to_string(value); }

std::string groups_csv(const Program& program) {
  Csv csv({"step", "fused operator", "template", "operators", "cycles", "time_s", "dma_transfers", "dma_operations",
           "dma_bytes", "ldm_bytes", "flops"});
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& [group, plan] = program.steps[i];
    std::vector<std::string> row = {number(static_cast<std::int64_t>(i)), group.name, group.template_name,
                                    number(static_cast<std::int64_t>(group.operators.size()))};
    if (plan) {
      const DmaTotals dma = dma_totals(plan->counts);
      row.insert(row.end(), {number(plan->time.cycles), fmt::format("{}", plan->time.seconds), number(dma.transfers),
                             number(dma.operations), number(dma.bytes), number(plan->nest.ldm_bytes),
                             number(flops(plan->nest.stages))});
    } else {
      row.resize(11);  // a view costs nothing
    }
    csv.add(row);
  }
  return csv.text();
}

std::string operators_csv(const Program& program) {
  Csv csv({"step", "fused operator", "operator", "kind", "role", "output type", "output shape", "output bytes"});
  const Graph& graph = program.fused.graph;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const FusedOperator& group = program.steps[i].group;
    for (std::size_t member = 0; member < group.operators.size(); ++member) {
      const Operator& op = graph.op(group.operators[member]);
      const GraphTensor& output = graph.tensor(op.output);
      csv.add({number(static_cast<std::int64_t>(i)), group.name, op.name, op.kind,
               member < group.roles.size() ? group.roles[member] : "", std::string(name_of(output.type)),
               fmt::format("{}", fmt::join(output.shape, "x")),
               number(element_count(output.shape) * static_cast<std::int64_t>(byte_size(output.type)))});
    }
  }
  return csv.text();
}

std::string dma_csv(const Program& program) {
  Csv csv({"step", "fused operator", "statement", "direction", "tensor", "inside loop", "elements", "transfers",
           "operations", "bytes", "smallest_block_bytes", "largest_block_bytes", "cycles", "bytes_per_s"});
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& [group, plan] = program.steps[i];
    if (!plan) continue;
    for (const NestRow& row : nest_rows(*plan, program.target)) {
      if (row.kind != NestRow::Kind::get && row.kind != NestRow::Kind::put) continue;
      csv.add({number(static_cast<std::int64_t>(i)), group.name, number(row.statement),
               row.kind == NestRow::Kind::get ? "get" : "put", row.tensor, row.loop, row.box, number(row.transfers),
               number(row.operations), number(row.bytes), number(row.smallest_block), number(row.largest_block),
               number(row.cycles), fmt::format("{:.0f}", row.bytes_per_second)});
    }
  }
  return csv.text();
}

std::string buffers_csv(const Program& program) {
  Csv csv({"step", "fused operator", "buffer", "tensor", "extents", "slots", "address", "bytes"});
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& [group, plan] = program.steps[i];
    if (!plan) continue;
    for (const Buffer& buffer : plan->nest.buffers) {
      csv.add({number(static_cast<std::int64_t>(i)), group.name, buffer.name,
               plan->nest.stages.tensors[static_cast<std::size_t>(buffer.tensor)].name,
               fmt::format("{}", fmt::join(buffer.extents, "x")), number(buffer.slots), number(buffer.offset),
               number(buffer.bytes())});
    }
  }
  return csv.text();
}

struct TableRow {
  std::string_view name;
  std::string (*csv)(const Program& program);
};
constexpr TableRow tables[] = {
    {"groups", groups_csv}, {"operators", operators_csv}, {"dma", dma_csv}, {"buffers", buffers_csv}};

}  // namespace

std::vector<std::string> plan_table_names() {
  std::vector<std::string> names;
  for (const TableRow& row : tables) names.emplace_back(row.name);
  return names;
}

std::optional<std::string> plan_table_csv(const Program& program, std::string_view table) {
  for (const TableRow& row : tables) {
    if (row.name == table) return row.csv(program);
  }
  return std::nullopt;
}

}  // namespace stowage
