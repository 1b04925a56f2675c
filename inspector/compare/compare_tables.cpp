// SPDX-License-Identifier: Apache-2.0
#include "inspector/compare/compare_tables.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/check.h"
#include "driver/diff/diff_tables.h"
#include "inspector/tables/placed.h"

namespace stowage::inspector {

namespace {

std::map<std::string, const Buffer*> buffers_of(const LoadedPlan& plan, const std::vector<GroupSide>& side) {
  std::map<std::string, const Buffer*> buffers;
  if (side.size() != 1) return buffers;
  const StepFacts& step = plan.steps[side.front().step];
  if (step.plan == nullptr) return buffers;
  for (const BufferId b : step.plan->nest.buffers.ids()) {
    buffers[tensor_of_buffer(step.plan->nest, b)] = &step.plan->nest.buffers[b];
  }
  return buffers;
}

std::string buffer_text(const Buffer* buffer, Units units) {
  if (buffer == nullptr) return {};
  return fmt::format("{}, {} at {}", extents_text(buffer->extents), size_text(buffer->bytes(), units).toStdString(),
                     size_text(buffer->offset, units).toStdString());
}

/// For every line of both texts whether the other has it too, at a place that keeps the order (longest common
/// subsequence).
std::pair<std::vector<bool>, std::vector<bool>> common_lines(const std::vector<QString>& a,
                                                             const std::vector<QString>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> longest((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      longest[i * width + j] = a[i] == b[j] ? longest[(i + 1) * width + j + 1] + 1
                                            : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  std::pair<std::vector<bool>, std::vector<bool>> common = {std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      common.first[i++] = common.second[j++] = true;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

}  // namespace

Table changes_table(const PlanDiff& diff) { return placed(stowage::changes_table(diff)); }

namespace {

/// Where the changes of a table go: behind every column that is compared.
struct ComparedColumns {
  std::vector<std::size_t> of_table;  ///< by column of the result
  std::vector<bool> is_change;        ///< by column of the result
};

ComparedColumns add_columns(Table& table) {
  ComparedColumns columns;
  std::vector<Column> all;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    all.push_back(column);
    columns.of_table.push_back(c);
    columns.is_change.push_back(false);
    if (!column.compared) continue;
    const bool text = is_text(column.kind);
    Column change{text ? column.title + " before" : "Δ " + column.title, change_kind(column.kind),
                  text ? "in the baseline, where it was another" : "now minus the baseline's", column.summed};
    change.of = column.key;
    all.push_back(keyed("change of " + column.key, std::move(change)));
    columns.of_table.push_back(c);
    columns.is_change.push_back(true);
  }
  table.columns = std::move(all);
  return columns;
}

/// What stands in a column of changes for the rows of both plans that are one thing; none of the baseline: it is new.
Cell change_of(const Cell& now, const std::vector<const Row*>& before, std::size_t column) {
  if (std::holds_alternative<std::string>(now)) {
    if (before.empty()) return std::string("(new)");
    const Cell& then = before.front()->cells[column];
    return then == now ? Cell() : then;
  }
  const auto* number = std::get_if<std::int64_t>(&now);
  if (number == nullptr) return {};
  std::int64_t sum = 0;
  for (const Row* row : before) {
    if (const auto* then = std::get_if<std::int64_t>(&row->cells[column])) sum += *then;
  }
  return *number - sum;
}

/// Every row with its changes. Rows of both plans are one thing if they have the same key and, unless `anywhere`, their
/// steps belong to the same change; the n-th of equal ones goes with the n-th.
Table compared_rows(Table now, const Table& then, const PlanComparison& comparison, bool anywhere) {
  using Change = std::optional<std::size_t>;
  const auto change_at = [](const PlanComparison::Changes& changes, std::optional<StepId> step) {
    return step && changes.contains(*step) ? changes[*step] : Change();
  };
  using Key = std::tuple<Change, std::string, int>;
  const auto key_of = [&](std::map<std::pair<Change, std::string>, int>& seen, Change change, const std::string& key) {
    const std::pair<Change, std::string> same{anywhere ? std::nullopt : change, key};
    return Key{same.first, same.second, seen[same]++};
  };
  std::map<std::pair<Change, std::string>, int> seen;
  std::map<Key, const Row*> before;
  for (const Row& row : then.rows) {
    before[key_of(seen, change_at(comparison.change_of_baseline_step, row.subject.step), row.key)] = &row;
  }
  seen.clear();
  const ComparedColumns columns = add_columns(now);
  for (Row& row : now.rows) {
    const auto found = before.find(key_of(seen, change_at(comparison.change_of_step, row.subject.step), row.key));
    std::vector<const Row*> same;
    if (found != before.end()) same.push_back(found->second);
    std::vector<Cell> cells;
    for (std::size_t c = 0; c < columns.of_table.size(); ++c) {
      const Cell& cell = row.cells[columns.of_table[c]];
      cells.push_back(columns.is_change[c] ? change_of(cell, same, columns.of_table[c]) : cell);
    }
    row.cells = std::move(cells);
  }
  return now;
}

/// By how much a column of the groups' table changes.
std::int64_t change_in(std::string_view column, const GroupChange& change) {
  const PlanNumbers& a = change.numbers_before;
  const PlanNumbers& b = change.numbers_after;
  if (column == "cycles") return b.cycles - a.cycles;
  if (column == "dma_bytes") return b.bytes - a.bytes;
  if (column == "dma_transfers") return b.transfers - a.transfers;
  if (column == "dma_operations") return b.operations - a.operations;
  if (column == "ldm_bytes") return b.ldm_bytes - a.ldm_bytes;
  fail_check(fmt::format("nothing says by how much {} changes", column));
}

}  // namespace

Table compared_groups(const PlanComparison& comparison) {
  Table table = groups_table(*comparison.current);
  const auto kernels = [](const GroupChange& change) {
    return change.numbers_before.kernels + change.numbers_after.kernels;
  };
  const ComparedColumns columns = add_columns(table);
  table.columns.push_back(keyed("change", "change", ColumnKind::text,
                                "against the baseline; numbers of groups that are fused otherwise stand with the "
                                "first of them"));
  for (Row& row : table.rows) {
    const GroupChange* change = comparison.change_of(row.subject.step);
    const bool leads = comparison.leads(row.subject.step) && kernels(*change) > 0;
    std::vector<Cell> cells;
    for (std::size_t c = 0; c < columns.of_table.size(); ++c) {
      if (!columns.is_change[c]) {
        cells.push_back(row.cells[columns.of_table[c]]);
      } else if (!leads) {
        cells.emplace_back();
      } else {
        cells.emplace_back(change_in(table.columns[c].of, *change));
      }
    }
    std::string words = change != nullptr ? std::string(kind_text(change->kind)) : "";
    if (change != nullptr && change->kind == GroupChange::Kind::regrouped) words += ": " + sides_text(*change).first;
    cells.emplace_back(std::move(words));
    row.cells = std::move(cells);
  }
  return table;
}

Table compared_operators(const PlanComparison& comparison) {
  return compared_rows(operators_table(*comparison.current), operators_table(*comparison.baseline), comparison, true);
}

Table compared_buffers(const PlanComparison& comparison) {
  return compared_rows(buffers_table(*comparison.current), buffers_table(*comparison.baseline), comparison, false);
}

Table compared_dma(const PlanComparison& comparison) {
  return compared_rows(dma_table(*comparison.current), dma_table(*comparison.baseline), comparison, false);
}

Table totals_table(const PlanDiff& diff) {
  Table table = placed(stowage::totals_table(diff));
  for (const PlanRow& setting : settings_table(diff).rows) {
    std::vector<Cell> cells = setting.cells;
    cells.front() = "target." + std::get<std::string>(cells.front());
    cells.resize(table.columns.size());
    table.rows.push_back({std::move(cells), {}});
  }
  return table;
}

Table details_table(const GroupChange& change, const LoadedPlan& baseline, const LoadedPlan& current, Units units) {
  Table table = placed(schedule_table(change));
  table.title = "Selected group";
  table.columns.front().tip = "setting of the schedule, or LDM buffer of a tensor";
  const auto before = buffers_of(baseline, change.before);
  const auto after = buffers_of(current, change.after);
  std::map<std::string, std::pair<const Buffer*, const Buffer*>> both;
  for (const auto& [tensor, buffer] : before) both[tensor].first = buffer;
  for (const auto& [tensor, buffer] : after) both[tensor].second = buffer;
  for (const auto& [tensor, pair] : both) {
    table.rows.push_back({{"LDM of " + tensor, buffer_text(pair.first, units), buffer_text(pair.second, units)}, {}});
  }
  return table;
}

std::pair<CodeText, CodeText> compared_nests(const LoadedPlan& baseline, std::optional<StepId> baseline_step,
                                             const LoadedPlan& current, std::optional<StepId> current_step,
                                             const Look& look) {
  std::pair<CodeText, CodeText> nests;
  if (const StepFacts* step = baseline.step(baseline_step); step != nullptr && step->plan != nullptr) {
    nests.first = nest_code(baseline, baseline_step, false, look);
  }
  if (const StepFacts* step = current.step(current_step); step != nullptr && step->plan != nullptr) {
    nests.second = nest_code(current, current_step, false, look);
  }
  const auto texts = [](const CodeText& code) {
    std::vector<QString> lines;
    for (const CodeLine& line : code.lines) lines.push_back(line.text().trimmed());
    return lines;
  };
  const auto common = common_lines(texts(nests.first), texts(nests.second));
  const auto mark = [&](CodeText& code, const std::vector<bool>& same, const QString& badge, const QColor& color) {
    code.has_badges = true;
    for (std::size_t i = 0; i < code.lines.size(); ++i) {
      code.lines[i].badge = same[i] ? QString() : badge;
      code.lines[i].badge_color = color;
    }
  };
  mark(nests.first, common.first, QStringLiteral("−"), look.theme().category(1));
  mark(nests.second, common.second, QStringLiteral("+"), look.theme().category(2));
  for (CodeLine& line : nests.first.lines) line.subject.reset();  // subjects are the current plan's
  return nests;
}

}  // namespace stowage::inspector
