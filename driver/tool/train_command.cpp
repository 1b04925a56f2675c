// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/train_command.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/number_text.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/networks/networks.h"
#include "driver/predictor/predictor_file.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/tool/common_options.h"
#include "driver/tool/option_values.h"
#include "lowering/program/planners.h"

namespace stowage {

namespace {

std::string command_of(const TrainCostOptions& options) {
  std::string line = fmt::format("stowage train-cost --target {}", shell_quoted(options.target));
  for (const std::string& setting : options.settings) line += fmt::format(" --set {}", shell_quoted(setting));
  line += fmt::format(" --samples {} --seed {}", options.samples, options.seed);
  for (const std::string& network : options.networks) line += fmt::format(" --network {}", shell_quoted(network));
  return line;
}

struct ErrorRow {
  const char* title;
  const char* key;
  const PredictionErrors& errors;
};

std::vector<ErrorRow> rows_of(const CostPredictor& predictor) {
  return {{"trained with", "trained_with", predictor.trained_with},
          {"held out", "held_out", predictor.held_out},
          {"held out, chosen plans", "held_out_chosen", predictor.held_out_chosen},
          {"held out, if it never asked", "never_asked", predictor.never_asked},
          {"held out, by the closed form", "closed_form", predictor.closed_form}};
}

std::string errors_table(const CostPredictor& predictor) {
  TextTable table({"error of", ">groups", ">plans", ">predicted", ">median", ">95 % within", ">largest"});
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  for (const ErrorRow& row : rows_of(predictor)) {
    table.add({row.title, grouped_digits(row.errors.groups), grouped_digits(row.errors.samples),
               grouped_digits(row.errors.predicted), percent(row.errors.median), percent(row.errors.of_95_percent),
               percent(row.errors.largest)});
  }
  return table.text();
}

std::string share_line(const PredictionErrors& held_out) {
  const double share =
      static_cast<double>(held_out.predicted) / static_cast<double>(std::max<std::int64_t>(1, held_out.samples));
  return fmt::format(
      "learned evaluator: predicts {:.0f} % of plans of groups that it has not seen, simulates the rest\n",
      100 * share);
}

Json errors_json(const CostPredictor& predictor) {
  Json json;
  for (const ErrorRow& row : rows_of(predictor)) {
    json[row.key] = {{"groups", row.errors.groups},
                     {"plans", row.errors.samples},
                     {"predicted", row.errors.predicted},
                     {"median", row.errors.median},
                     {"of_95_percent", row.errors.of_95_percent},
                     {"largest", row.errors.largest}};
  }
  return json;
}

/// Only of a family that is simulated.
Result<CostPredictor> train(const TrainCostOptions& options, ToolContext& context, Diagnostics& diagnostics) {
  CompileRequest request;
  request.target = options.target;
  request.settings = options.settings;
  request.backends = context.backends;
  const auto target = target_of(request, diagnostics);
  if (!target) return Failed{};
  const std::vector<std::string> evaluators = backend_of(request).evaluator_names();
  const std::string learned(name_of(EvaluatedBy::learned));
  if (std::find(evaluators.begin(), evaluators.end(), learned) == evaluators.end()) {
    diagnostics.error("no-simulator", {}, fmt::format("family '{}' has no simulator to learn from", target->family));
    return Failed{};
  }
  TrainingOptions training;
  training.samples = options.samples;
  training.seed = options.seed;
  training.threads = options.threads;
  training.networks = options.networks;
  ProgressLine progress(context);
  const auto samples = training_samples(*target, *find_planner(default_planner()), training, diagnostics,
                                        context.interrupt.token(), progress.sink());
  if (!samples) return Failed{};
  CostPredictor predictor = train_predictor(*samples, options.seed);
  predictor.target = target->name;
  predictor.target_hash = hash_of_target(*target);
  return predictor;
}

}  // namespace

void declare_train_cost(CLI::App& app, TrainCostOptions& options) {
  app.add_option("-o", options.output, "the file to write")->required()->type_name("FILE.json");
  app.add_option("--target", options.target, "built-in name or TOML file (sw26010)")
      ->check(known_targets())
      ->type_name("T");
  add_list(app, "--set", options.settings, "TABLE.KEY=VALUE", "change one value of the target, in TOML syntax");
  app.add_option("--samples", options.samples, fmt::format("about how many plans to simulate ({})", options.samples))
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  app.add_option("--network", options.networks, "a sample network whose groups are planned for it (all)")
      ->check(one_of(network_names()))
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--seed", options.seed, "seed of what is drawn at random (1)")->check(seed_number())->type_name("N");
  app.add_option("-j", options.threads, "threads that plan and simulate (0: one a core)")
      ->check(whole_number(0, 4096))
      ->type_name("N");
  app.add_flag("--force", options.force, "replace the file if it exists");
}

int train_cost_command(const TrainCostOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  std::vector<std::filesystem::path> read = {options.target};
  if (!may_write_file(options.output, options.force, read, diagnostics)) return failed(context, diagnostics);
  const auto predictor = train(options, context, diagnostics);
  if (!predictor) return failed(context, diagnostics);
  const std::string command = command_of(options);
  const std::string text = predictor_text(*predictor, command, stowage_version());
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    if (context.interrupt.token().stop_requested() || !write_file_whole(options.output, text, existing, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  print_warnings(context, diagnostics);
  if (context.json) {
    Json json = {{"command", command},     {"stowage", stowage_version()},      {"target", predictor->target},
                 {"file", options.output}, {"errors", errors_json(*predictor)}, {"diagnostics", to_json(diagnostics)}};
    context.out << dumped(json, 1);
    return exit_done;
  }
  context.out << fmt::format("stowage {} | {}\n\n{}\n{}\nwritten to {}\n", stowage_version(), command,
                             errors_table(*predictor), share_line(predictor->held_out), options.output);
  return exit_done;
}

}  // namespace stowage
