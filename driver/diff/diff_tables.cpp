// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/diff_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

namespace {

/// By what share of itself a number grew; "new" behind nothing, and nothing where it stayed.
Cell relative(double before, double after) {
  if (before == after) return {};
  if (before == 0) return "new";
  return after / before - 1;
}

Cell relative(std::int64_t before, std::int64_t after) {
  return relative(static_cast<double>(before), static_cast<double>(after));
}

std::string what_text(const ScheduleChange& change) {
  using What = ScheduleChange::What;
  switch (change.what) {
    case What::fused_by: return "template";
    case What::merged: return "axes taken as one";
    case What::lanes: return "lanes in blocks";
    case What::copied: return "copied inputs";
    case What::folded: return "folded stages";
    case What::reduction: return "split reduction";
    case What::split: return "split";
    case What::buffer: return "buffer of " + change.subject;
    case What::order: return "loop order";
    case What::place: return "DMA of " + change.subject;
    case What::slots: return "slots of " + change.subject;
    case What::sharing: return "sharing of " + change.subject;
    case What::resident: return "resident along, of " + change.subject;
    case What::launch: return "launch";
  }
  return "";
}

/// A table of texts of both plans beside each other.
PlanTable beside_each_other(std::string title, std::string tip) {
  return {std::move(title),
          {keyed("what", "what", ColumnKind::text, std::move(tip)), keyed("baseline", "baseline", ColumnKind::text, ""),
           keyed("current", "current", ColumnKind::text, "")},
          {}};
}

}  // namespace

std::string_view kind_text(GroupChange::Kind kind) {
  switch (kind) {
    case GroupChange::Kind::same: return "the same";
    case GroupChange::Kind::planned: return "planned otherwise";
    case GroupChange::Kind::regrouped: return "fused otherwise";
    case GroupChange::Kind::only_before: return "gone";
    case GroupChange::Kind::only_after: return "new";
  }
  return "";
}

PlanTable changes_table(const PlanDiff& diff) {
  PlanTable table;
  table.title = "Changes";
  table.columns = {
      keyed("group", "group", ColumnKind::text, "fused operator of the current plan"),
      keyed("baseline", "in the baseline", ColumnKind::text, "what stands for the same operators there"),
      keyed("change", "change", ColumnKind::text,
            "planned otherwise: the same operators with another schedule or other numbers"),
      keyed("cycles_before", {"cycles before", ColumnKind::cycles, "predicted, baseline", true}),
      keyed("cycles_now", {"cycles now", ColumnKind::cycles, "predicted, current plan", true}),
      keyed("cycles", {"Δ cycles", ColumnKind::cycles_change, "now minus before: below zero is faster", true}),
      keyed("share", "Δ", ColumnKind::share_change, "Δ cycles divided by cycles before"),
      keyed("dma_bytes", {"Δ DMA bytes", ColumnKind::bytes_change, "now minus before, all cores", true}),
      keyed("dma_transfers", {"Δ transfers", ColumnKind::count_change, "now minus before, all cores", true}),
      keyed("dma_operations", {"Δ operations", ColumnKind::count_change, "now minus before, all cores", true}),
      keyed("ldm_bytes", "Δ LDM", ColumnKind::bytes_change, "peak of one core's scratchpad, now minus before"),
      keyed("why", "why", ColumnKind::text, "what the current plan does otherwise"),
  };
  for (const GroupChange& change : diff.groups) {
    const PlanNumbers& a = change.numbers_before;
    const PlanNumbers& b = change.numbers_after;
    std::vector<std::string> words;
    for (const ScheduleChange& entry : change.schedule) words.push_back(entry.words);
    PlanRow row;
    const auto [before, now] = sides_text(change);
    row.cells = {now,
                 before,
                 std::string(kind_text(change.kind)),
                 a.cycles,
                 b.cycles,
                 b.cycles - a.cycles,
                 relative(a.cycles, b.cycles),
                 b.bytes - a.bytes,
                 b.transfers - a.transfers,
                 b.operations - a.operations,
                 b.ldm_bytes - a.ldm_bytes,
                 fmt::format("{}", fmt::join(words, "; "))};
    if (!change.after.empty()) row.step = change.after.front().step;
    table.rows.push_back(std::move(row));
  }
  return table;
}

PlanTable totals_table(const PlanDiff& diff) {
  PlanTable table;
  table.title = "Totals";
  table.columns = {keyed("what", "in all", ColumnKind::text, "sums over the network; LDM: the largest"),
                   keyed("baseline", "baseline", ColumnKind::count, ""),
                   keyed("current", "current", ColumnKind::count, ""),
                   keyed("change", "Δ", ColumnKind::count_change, "current minus baseline"),
                   keyed("share", "Δ relative", ColumnKind::share_change, "Δ divided by the baseline's")};
  const auto add = [&](std::vector<Cell> cells, ColumnKind measure) {
    PlanRow row;
    row.cells = std::move(cells);
    row.measure = measure;
    table.rows.push_back(std::move(row));
  };
  const auto names = [&](const char* what, const std::string& x, const std::string& y) {
    add({what, x, y, x == y ? Cell() : Cell("other"), Cell()}, ColumnKind::count);
  };
  const auto number = [&](const char* what, std::int64_t x, std::int64_t y, ColumnKind kind = ColumnKind::count) {
    add({what, x, y, y - x, relative(x, y)}, kind);
  };
  const auto seconds = [&](const char* what, double x, double y) {
    add({what, x, y, Cell(), relative(x, y)}, ColumnKind::seconds);
  };
  const DiffSide& before = diff.before;
  const DiffSide& after = diff.after;
  names("network", before.network, after.network);
  names("target", before.target, after.target);
  names("fusion, planner", before.fusion + ", " + before.planner, after.fusion + ", " + after.planner);
  if (before.layout != after.layout) names("layout", before.layout, after.layout);
  if (diff.names_cost()) names("cost", before.cost, after.cost);
  const PlanNumbers& a = before.totals;
  const PlanNumbers& b = after.totals;
  number("fused operators", a.groups, b.groups);
  number("kernels launched", a.kernels, b.kernels);
  number("DMA transfers", a.transfers, b.transfers);
  number("DMA operations", a.operations, b.operations);
  number("DMA bytes", a.bytes, b.bytes, ColumnKind::bytes);
  number("LDM peak", a.ldm_bytes, b.ldm_bytes, ColumnKind::bytes);
  number("cycles", a.cycles, b.cycles);
  seconds("time", a.seconds, b.seconds);
  if (before.simulated_seconds && after.simulated_seconds)
    seconds("simulated time", *before.simulated_seconds, *after.simulated_seconds);
  return table;
}

PlanTable settings_table(const PlanDiff& diff) {
  PlanTable table = beside_each_other("Target", "key of the target");
  for (const PlanDiff::Setting& setting : diff.target) {
    PlanRow row;
    row.cells = {setting.key, setting.before, setting.after};
    table.rows.push_back(std::move(row));
  }
  return table;
}

PlanTable schedule_table(const GroupChange& change) {
  PlanTable table = beside_each_other("Schedule", "setting of the schedule");
  for (const ScheduleChange& entry : change.schedule) {
    PlanRow row;
    row.cells = {what_text(entry), entry.before, entry.after};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace stowage
