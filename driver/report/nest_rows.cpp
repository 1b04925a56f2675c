// SPDX-License-Identifier: Apache-2.0
#include "driver/report/nest_rows.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/report/nest_outline.h"
#include "lowering/time/overlap.h"

namespace stowage {

namespace {

/// Lines of the nest's text by the statement that begins there.
class NestLines {
 public:
  explicit NestLines(const LoopNest& nest) : spanned_(to_spanned_text(nest)) {
    for (const TextSpan& span : spanned_.spans) begins_[span.statement] = span.begin;
  }

  /// The text of a statement's first line from there, without its note.
  [[nodiscard]] std::string text(const Stmt& statement, int depth) const {
    const std::size_t begin = begins_.at(statement.id);
    std::string line = spanned_.text.substr(begin, spanned_.text.find('\n', begin) - begin);
    if (!statement.note.empty()) line.erase(std::min(line.size(), line.rfind("  // ")));
    return indentation(depth) + line;
  }

  static std::string indentation(int depth) { return std::string(2 * static_cast<std::size_t>(depth), ' '); }

 private:
  SpannedText spanned_;
  std::map<StatementId, std::size_t> begins_;
};

class RowCollector {
 public:
  RowCollector(const Plan& plan, const Target& target)
      : plan_(plan), target_(target), lines_(plan.nest), cycles_(cycles_by_statement(plan, target)) {
    for (const Cost& cost : cost_table(plan.nest, plan.counts, target)) {
      if (cost.statement) moving_.try_emplace(*cost.statement, cycles_of(cost.formula));
    }
  }

  std::vector<NestRow> run() && {
    block(plan_.nest.body, 0, "");
    return std::move(rows_);
  }

 private:
  void block(const Block& statements, int depth, const std::string& loop) {
    for (const StmtPtr& entry : statements) {
      NestRow row;
      row.statement = entry->id;
      row.text = lines_.text(*entry, depth);
      row.note = entry->note;
      row.loop = loop;
      describe(*entry, row);
      rows_.push_back(row);
      const Block* const body = body_of(*entry);
      if (body == nullptr) continue;
      const auto* const inner = std::get_if<Loop>(&entry->node);
      block(*body, depth + 1, inner != nullptr ? plan_.nest.variables[inner->variable.index()].name : loop);
      NestRow end;
      end.kind = NestRow::Kind::end;
      end.text = NestLines::indentation(depth) + "}";
      rows_.push_back(std::move(end));
    }
  }

  void describe(const Stmt& statement, NestRow& row) const {
    using RowKind = NestRow::Kind;
    if (const auto cost = cycles_.find(statement.id); cost != cycles_.end()) row.cycles = cost->second;
    if (std::holds_alternative<Loop>(statement.node)) row.kind = RowKind::loop;
    if (const auto* wait = std::get_if<Wait>(&statement.node)) {
      row.kind = RowKind::wait;
      if (wait->slot) {
        row.tensor = tensor_of_buffer(plan_.nest, wait->slot->buffer);
      } else if (const auto* dma = std::get_if<Dma>(&find_statement(plan_.nest, *wait->dma)->node)) {
        row.tensor = tensor_of(*dma);
      }
    }
    if (std::holds_alternative<Fill>(statement.node)) {
      row.kind = RowKind::fill;
      const auto filled = plan_.counts.fill.find(statement.id);
      if (filled != plan_.counts.fill.end()) row.points = filled->second.elements;
    }
    if (std::holds_alternative<Compute>(statement.node)) {
      row.kind = RowKind::compute;
      const auto work = plan_.counts.compute.find(statement.id);
      if (work != plan_.counts.compute.end()) row.points = work->second.points;
    }
    if (const auto* dma = std::get_if<Dma>(&statement.node)) describe_dma(statement.id, *dma, row);
  }

  [[nodiscard]] std::string tensor_of(const Dma& dma) const { return plan_.nest.tensors[dma.nest_tensor].name; }

  void describe_dma(StatementId id, const Dma& dma, NestRow& row) const {
    row.kind = dma.direction == DmaDirection::get ? NestRow::Kind::get : NestRow::Kind::put;
    row.tensor = tensor_of(dma);
    std::vector<std::int64_t> extents;
    for (const Range& range : dma.region) extents.push_back(range.max_extent);
    row.box = extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, " x "));
    const DmaTotals& totals = plan_.counts.dma.at(id);
    row.transfers = totals.transfers;
    row.operations = totals.operations;
    row.bytes = totals.bytes;
    if (!totals.operations_by_block.empty()) {
      row.smallest_block = totals.operations_by_block.begin()->first;
      row.largest_block = totals.operations_by_block.rbegin()->first;
    }
    // Bytes move as fast whether something is computed meanwhile or not.
    if (const auto moving = moving_.find(id); moving != moving_.end() && moving->second > 0) {
      row.bytes_per_second = static_cast<double>(row.bytes) * target_.clock_hz / static_cast<double>(moving->second);
    }
  }

  const Plan& plan_;
  const Target& target_;
  NestLines lines_;
  std::map<StatementId, std::int64_t> cycles_;
  std::map<StatementId, std::int64_t> moving_;  ///< the same of transfers that nothing hides
  std::vector<NestRow> rows_;
};

}  // namespace

std::vector<NestRow> nest_rows(const Plan& plan, const Target& target) { return RowCollector(plan, target).run(); }

std::map<StatementId, std::int64_t> cycles_by_statement(const Plan& plan, const Target& target) {
  std::map<StatementId, std::int64_t> cycles;
  for (const Cost& cost : overlapped_costs(plan.nest, plan.counts, target)) {
    if (cost.statement) cycles[*cost.statement] += cycles_of(cost.formula);
  }
  return cycles;
}

std::string block_text(const NestRow& row) {
  if (row.largest_block == 0) return "";
  return row.smallest_block == row.largest_block ? fmt::format("{} B", row.largest_block)
                                                 : fmt::format("{} to {} B", row.smallest_block, row.largest_block);
}

}  // namespace stowage
