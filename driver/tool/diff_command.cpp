// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <ostream>

#include <fmt/format.h>

#include "driver/diff/model_error.h"
#include "driver/diff/plan_diff.h"
#include "driver/json/json.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"
#include "lowering/time/measured_error.h"

namespace stowage {

namespace {

Json numbers_json(const PlanNumbers& numbers) {
  return {{"groups", numbers.groups},           {"kernels", numbers.kernels},
          {"dma_transfers", numbers.transfers}, {"dma_operations", numbers.operations},
          {"dma_bytes", numbers.bytes},         {"ldm_bytes", numbers.ldm_bytes},
          {"cycles", numbers.cycles},           {"time_s", numbers.seconds}};
}

Json side_json(const DiffSide& side, const std::string& folder) {
  Json json = {{"folder", folder},      {"network", side.network}, {"model_hash", side.model_hash},
               {"target", side.target}, {"fusion", side.fusion},   {"planner", side.planner},
               {"layout", side.layout}, {"cost", side.cost},       {"totals", numbers_json(side.totals)}};
  if (side.simulated_seconds) json["simulated_time_s"] = *side.simulated_seconds;
  return json;
}

Json groups_json(const std::vector<GroupSide>& groups) {
  Json rows = Json::array();
  for (const GroupSide& group : groups) {
    rows.push_back({{"step", group.step.index()},
                    {"name", group.name},
                    {"template", group.template_name},
                    {"operators", group.operators}});
  }
  return rows;
}

std::string_view name_of(GroupChange::Kind kind) {
  static constexpr std::string_view names[] = {"same", "planned", "regrouped", "only_a", "only_b"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ScheduleChange::What what) {
  static constexpr std::string_view names[] = {"template", "merged", "lanes", "copied", "folded", "split_reductions",
                                               "split",    "buffer", "order", "dma",    "slots",  "sharing",
                                               "resident", "launch"};
  static_assert(std::size(names) == static_cast<std::size_t>(ScheduleChange::What::launch) + 1);
  return names[static_cast<std::size_t>(what)];
}

Json diff_json(const PlanDiff& diff, const DiffOptions& options) {
  Json json;
  json["verdict"] = verdict(diff);
  json["comparable"] = diff.is_comparable();
  json["same"] = diff.is_same();
  json["a"] = side_json(diff.before, options.before);
  json["b"] = side_json(diff.after, options.after);
  if (const auto error = difference_error(diff)) {
    json["model"] = {{"difference", error->difference},
                     {"simulated_difference", error->simulated_difference},
                     {"closed_form_error", error->closed_form_error},
                     {"measured_error", measured_error},
                     {"model_error", error->model_error},
                     {"difference_inside_error", error->is_inside()}};
  }
  json["target"] = Json::array();
  for (const PlanDiff::Setting& setting : diff.target) {
    json["target"].push_back({{"key", setting.key}, {"a", setting.before}, {"b", setting.after}});
  }
  json["groups"] = Json::array();
  for (const GroupChange& change : diff.groups) {
    Json row = {{"kind", name_of(change.kind)},
                {"a", groups_json(change.before)},
                {"b", groups_json(change.after)},
                {"numbers_a", numbers_json(change.numbers_before)},
                {"numbers_b", numbers_json(change.numbers_after)}};
    row["schedule"] = Json::array();
    for (const ScheduleChange& entry : change.schedule) {
      row["schedule"].push_back(
          {{"what", name_of(entry.what)}, {"subject", entry.subject}, {"a", entry.before}, {"b", entry.after}});
    }
    json["groups"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

int diff_command(const DiffOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const std::stop_token stop = context.interrupt.token();
  const auto before = read_compilation(options.before, diagnostics, stop, context.backends);
  const auto after = read_compilation(options.after, diagnostics, stop, context.backends);
  if (!before || !after || stop.stop_requested()) return failed(context, diagnostics);
  print_warnings(context, diagnostics);
  PlanDiff diff = diff_compilations(*before, *after);
  add_simulated(diff, *before, *after, stop);
  // Without it the verdict would be another one.
  if (stop.stop_requested()) return failed(context, diagnostics);
  if (context.json) {
    context.out << dumped(diff_json(diff, options), 1);
    return exit_done;
  }
  context.out << fmt::format("A = {}: {}\nB = {}: {}\n\n{}", options.before, reproducer_line(*before), options.after,
                             reproducer_line(*after), diff_text(diff));
  return exit_done;
}

}  // namespace stowage
