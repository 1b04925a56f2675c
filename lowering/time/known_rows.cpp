// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/known_rows.h"

#include <algorithm>
#include <functional>
#include <set>
#include <variant>

namespace stowage {
namespace {

/// Whether so many rows are something to ask for.
bool has_open_rows(const Compute& compute) {
  return compute.form == ComputeForm::register_block && compute.block_axis &&
         !compute.box[compute.block_axis->index()].extent.is_constant();
}

/// Counts take the values of tensors for 0: what depends on them is not known.
bool depends_on_data(const LoopNest& nest) {
  bool depends = false;
  const auto look_at = [&](const IndexExpr& e) { depends = depends || !buffers_in(e).empty(); };
  visit_statements(nest.body, [&](const Stmt& statement) {
    if (const auto* let = std::get_if<Let>(&statement.node)) look_at(let->value);
    if (const auto* loop = std::get_if<Loop>(&statement.node)) look_at(loop->extent);
    if (const auto* guard = std::get_if<Guard>(&statement.node))
      std::for_each(guard->any_positive.begin(), guard->any_positive.end(), look_at);
    if (const auto* compute = std::get_if<Compute>(&statement.node))
      for (const Range& range : compute->box) look_at(range.extent);
  });
  return depends;
}

}  // namespace

KnownRows known_rows(const LoopNest& nest, const Compute& compute, const ComputeTotals& totals) {
  if (!has_open_rows(compute)) return {};
  std::set<std::int64_t, std::greater<>> rows;
  for (const BoxCounts& boxes : totals.boxes) {
    for (const auto& [extents, executions] : boxes) rows.insert(extents[compute.block_axis->index()]);
  }
  if (rows.size() > most_known_rows || depends_on_data(nest)) return {};
  return {rows.begin(), rows.end()};
}

std::map<StatementId, KnownRows> known_rows(const LoopNest& nest) {
  std::vector<const Stmt*> open;
  visit_statements(nest.body, [&](const Stmt& statement) {
    const auto* compute = std::get_if<Compute>(&statement.node);
    if (compute != nullptr && has_open_rows(*compute)) open.push_back(&statement);
  });
  std::map<StatementId, KnownRows> known;
  if (open.empty()) return known;
  const ComputeCounts counted = count_computations(nest);
  for (const Stmt* statement : open) {
    KnownRows rows = known_rows(nest, std::get<Compute>(statement->node), counted.at(statement->id));
    if (!rows.empty()) known.emplace(statement->id, std::move(rows));
  }
  return known;
}

}  // namespace stowage
