// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/command_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "driver/exercises/exercises.h"
#include "driver/manual/completions.h"
#include "driver/networks/networks.h"
#include "driver/report/details.h"
#include "driver/report/plan_tables.h"
#include "driver/session/session.h"
#include "driver/text/memory_size.h"
#include "driver/tool/common_options.h"
#include "driver/tool/declare_sensitivity.h"
#include "driver/tool/option_values.h"
#include "fusion/strategies/strategy.h"
#include "lowering/nest/passes.h"
#include "lowering/program/planners.h"

namespace stowage {
namespace {

template <class Seconds>
void add_seconds(CLI::App& app, const char* name, Seconds& to, const std::string& summary) {
  app.add_option(name, to, summary)->check(seconds_between(0.001, 1e9))->type_name("SECONDS");
}

void declare_compile(CLI::App& app, Options& all) {
  CompileOptions& options = all.compile;
  app.add_option("MODEL.onnx", options.model, "the network")->required()->type_name("");
  app.add_option("--target", options.target, "built-in name or TOML file (sw26010)")
      ->check(known_targets())
      ->type_name("T");
  app.add_option("--library", options.library, "library of the target that the program may call for matrix products")
      ->type_name("NAME");
  app.add_option("--fusion", options.fusion, fmt::format("{} ({})", fmt::join(strategy_names(), ", "), options.fusion))
      ->check(known(strategy_names()))
      ->type_name("F");
  app.add_option("--planner", options.planner,
                 fmt::format("{} ({})", fmt::join(planner_names(built_in_backends()), ", "),
                             built_in_backends().front()->default_planner()))
      ->check(known(planner_names(built_in_backends())))
      ->type_name("P");
  app.add_option(
         "--layout", options.layout,
         fmt::format("how pictures lie between operators: {} ({}; planner {}: {})", fmt::join(layout_names(), ", "),
                     built_in_backends().front()->default_layout(built_in_backends().front()->default_planner()),
                     published_planner, given_layout))
      ->check(known(layout_names()))
      ->type_name("L");
  app.add_option("--cost", options.cost,
                 fmt::format("what predicts the cycles of groups that the strategy compares: {} ({})",
                             fmt::join(evaluator_names(), ", "), options.cost))
      ->check(known(evaluator_names()))
      ->type_name("C");
  app.add_option("--cost-model", options.cost_model, "what train-cost wrote, for --cost learned")
      ->type_name("FILE.json");
  app.add_option("--templates", options.templates, "your fusion templates, tried before the built-in ones")
      ->type_name("FILE.toml");
  CLI::Option* output =
      app.add_option("-o", options.output, "folder for plan, trace, report and sources; without it nothing is written")
          ->type_name("DIR");
  CLI::Option* dump = app.add_option("--dump-passes", options.dump_passes,
                                     "folder for the nests after each pass of lowering (stowage passes)")
                          ->type_name("DIR");
  app.add_flag("--force", options.force, "replace DIR if it exists");
  add_list(app, "--dim", options.dimensions, "N=SIZE", "fix a dynamic dimension");
  add_list(app, "--bind", options.bindings, "INPUT=FILE.npy", "make an input a constant");
  app.add_option("--schedule", options.schedule, "schedules of fused operators, in whole or in part")
      ->type_name("FILE.toml");
  add_list(app, "--set", options.settings, "TABLE.KEY=VALUE", "change one value of the target, in TOML syntax");
  app.add_option("-j", options.threads, "threads that plan (0: one a core)")
      ->check(whole_number(0, 4096))
      ->type_name("N");
  add_seconds(app, "--time-limit", options.seconds, "how long a plan is looked for; then the best one so far is taken");
  add_cost_cache(app, options.cost_cache);
  app.add_flag("--print-config", options.print_config, "print the target in use and stop")
      ->excludes(output)
      ->excludes(dump);
}

void declare_run(CLI::App& app, Options& all) {
  RunOptions& options = all.run;
  app.add_option("DIR", options.folder, "what compile -o wrote")->required()->type_name("");
  add_list(app, "--input", options.inputs, "NAME=FILE.npy", "value of an input; others are random");
  app.add_option("--seed", options.seed, "seed of random inputs, and of the order of cores at level strict (0)")
      ->check(seed_number())
      ->type_name("N");
  CLI::Option* outputs =
      app.add_option("--save-outputs", options.save_outputs, "write the outputs as .npy files")->type_name("DIR");
  app.add_flag("--force", options.force, "replace that folder if it exists")->needs(outputs);
  CLI::Option* op =
      app.add_option("--op", options.op, "run one fused operator alone, on the reference's values")->type_name("NAME");
  app.add_flag("--changed-sources", options.changed_sources, "run sources that differ from those that the plan emits")
      ->excludes(op);
  add_seconds(app, "--time-limit", options.seconds,
              fmt::format("how long the emulated program may run ({:g})", usual_emulation_seconds));
  app.add_flag("--check", options.check, "compare every fused operator with the reference, and counts with the plan");
  app.add_flag("--sanitize", options.sanitize, "address sanitizer, with buffers in flight poisoned");
  app.add_option("--level", options.level, "checks of the emulation: count, check or strict (check)")
      ->check(one_of({"count", "check", "strict"}))
      ->type_name("L");
  app.add_option("--workers", options.workers, "host threads (0: one a core)")
      ->check(whole_number(0, 4096))
      ->type_name("N");
}

void declare_explain(CLI::App& app, Options& all) {
  app.add_option("DIR", all.explain.folder, "what compile -o wrote")->required()->type_name("");
  CLI::Option* op = app.add_option("--op", all.explain.op, "one fused operator, with its loop nest")->type_name("NAME");
  CLI::Option* steps = app.add_flag("--steps", all.explain.steps, "the decisions of the algorithms, in order");
  app.add_option("--why-not", all.explain.why_not, "why these operators are not in one fused operator")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(op)
      ->excludes(steps)
      ->type_name("A,B");
}

void declare_simulate(CLI::App& app, Options& all) {
  app.add_option("DIR", all.simulate.folder, "what compile -o wrote")->required()->type_name("");
  app.add_option("--op", all.simulate.op, "one fused operator, statement by statement")->type_name("NAME");
  app.add_option("--dma-order", all.simulate.dma_order,
                 "whether transfers under way share the DMA or those of a core queue up: shared, queued (shared)")
      ->check(one_of({"shared", "queued"}))
      ->type_name("O");
  app.add_flag("--emulate", all.simulate.emulate, "run the emitted code too, for its counts beside the predicted ones");
  CLI::Option* trace = app.add_option("--trace", all.simulate.trace,
                                      "write every event for Perfetto or chrome://tracing; .gz at the end packs it")
                           ->type_name("FILE.json");
  app.add_flag("--force", all.simulate.force, "replace the file if it exists")->needs(trace);
}

void declare_check(CLI::App& app, Options& all) {
  CheckOptions& options = all.check;
  app.add_option("PATH", options.path, "what compile -o wrote, or the text of a nest")->required()->type_name("");
  CLI::Option* op = app.add_option("--op", options.op, "one fused operator of a folder")->type_name("NAME");
  app.add_option("--target", options.target, "target of a nest's text: built-in name or TOML file (sw26010)")
      ->check(known_targets())
      ->excludes(op)
      ->type_name("T");
  add_list(app, "--set", options.settings, "TABLE.KEY=VALUE",
           "for a nest's text: change one value of the target, in TOML syntax");
}

void declare_exercise(CLI::App& app, Options& all) {
  ExerciseOptions& options = all.exercise;
  const auto kinds = static_cast<std::int64_t>(exercise_kinds().size());
  CLI::Option* number = app.add_option("N", options.number, "number of the exercise; without it all are listed")
                            ->check(whole_number(1, kinds))
                            ->type_name("");
  CLI::Option* solve = app.add_option("--solve", options.solve, "an answer, to be compared with the checker's")
                           ->needs(number)
                           ->type_name("FAMILY:STATEMENT");
  app.add_option("-o", options.output, "folder for the nest and its sheet (the current one)")
      ->excludes(solve)
      ->type_name("DIR");
  app.add_option("--seed", options.seed, "seed, for other sizes (1)")->check(seed_number())->type_name("INT");
  app.add_flag("--force", options.force, "replace files that exist")->excludes(solve);
}

void declare_diff(CLI::App& app, Options& all) {
  app.add_option("DIR_A", all.diff.before, "what compile -o wrote")->required()->type_name("");
  app.add_option("DIR_B", all.diff.after, "the same, of another compilation")->required()->type_name("");
}

template <class Seconds>
void add_layout_timeout(CLI::App& app, Seconds& to) {
  app.add_option("--layout-timeout", to,
                 fmt::format("how long Graphviz may look for a layout before a simpler one is drawn ({:g})",
                             usual_layout_seconds))
      ->check(seconds_between(0, 86'400))
      ->type_name("SECONDS");
}

void declare_graph(CLI::App& app, Options& all) {
  GraphOptions& options = all.graph;
  app.add_option("DIR", options.folder, "what compile -o wrote")->required()->type_name("");
  app.add_option("-o", options.output, "the picture: .svg, .png, .pdf, or .dot for its text")
      ->required()
      ->type_name("FILE");
  app.add_option("--view", options.view, "graph, fused or strategy (fused)")
      ->check(one_of({"graph", "fused", "strategy"}))
      ->type_name("V");
  add_layout_timeout(app, options.layout_seconds);
  app.add_flag("--force", options.force, "replace the file if it exists");
}

void declare_report(CLI::App& app, Options& all) {
  ReportOptions& options = all.report;
  app.add_option("DIR", options.folder, "what compile -o wrote")->required()->type_name("");
  app.add_option("-o", options.output, "the page, or one table as FILE.csv")->required()->type_name("FILE.html");
  app.add_option("--table", options.table,
                 fmt::format("of a FILE.csv: {} (groups)", fmt::join(plan_table_names(), ", ")))
      ->check(one_of(plan_table_names()))
      ->type_name("T");
  app.add_option("--details", options.details,
                 fmt::format("how many fused operators the page has in full, those that take the most time ({})",
                             usual_details))
      ->check([](const std::string& text) {
        return parse_details(text) ? "" : fmt::format("'{}' is neither a number of at least 1 nor 'all'", text);
      })
      ->check(known({"all"}))
      ->type_name("N|all");
  add_layout_timeout(app, options.layout_seconds);
  app.add_flag("--force", options.force, "replace the file if it exists");
}

void declare_batch(CLI::App& app, Options& all) {
  BatchCommandOptions& options = all.batch;
  CLI::Option* file = app.add_option("JOBS.toml", options.file, "the jobs")->type_name("");
  app.add_option("-j", options.jobs, "jobs side by side (1)")->check(whole_number(1, 1024))->type_name("N");
  app.add_option("--memory-per-job", options.memory_per_job,
                 "memory that each process of a job may have; one that needs more fails")
      ->check(a_memory_size())
      ->type_name("SIZE");
  add_seconds(app, "--timeout", options.timeout,
              "how long a job may look for its plan; then it takes the best so far, and says so");
  CLI::Option* only = app.add_option("--only", options.only, "run one job")->type_name("NAME");
  CLI::Option* retry =
      app.add_flag("--retry-failed", options.retry_failed, "run the jobs again that failed in an earlier run");
  CLI::Option* dry = app.add_flag("--dry-run", options.dry_run, "list the jobs with their settings, and stop");
  CLI::Option* baseline =
      app.add_option("--baseline", options.baseline,
                     "results.jsonl of an earlier run: report what got slower or larger, and what fails or works since")
          ->excludes(dry)
          ->type_name("FILE");
  app.add_option("--tolerance", options.tolerance,
                 fmt::format("by how much a number may differ without being marked ({:g})", usual_tolerance))
      ->check(percent_between(0, 1000))
      ->needs(baseline)
      ->type_name("PERCENT");
  app.add_option("--junit", options.junit, "write the jobs as test cases for continuous integration too")
      ->excludes(dry)
      ->type_name("FILE.xml");
  add_cost_cache(app, options.cost_cache);
  app.add_option("--shard", options.shard, "run part I of N of the jobs; all parts take about the same time")
      ->check(a_shard())
      ->excludes(only)
      ->type_name("I/N");
  CLI::Option* slurm = app.add_option("--slurm", options.slurm,
                                      "write a script that runs the jobs, or what is left of them, as a Slurm array")
                           ->type_name("FILE.sbatch");
  for (const char* const of_this_machine :
       {"-j", "--only", "--retry-failed", "--dry-run", "--baseline", "--tolerance", "--junit", "--shard"}) {
    slurm->excludes(app.get_option(of_this_machine));
  }
  CLI::Option* merge =
      app.add_option("--merge", options.merged, "put the results of all N parts together, and run nothing")
          ->type_name("DIR");
  for (const char* const of_runs : {"JOBS.toml", "-j", "--memory-per-job", "--timeout", "--only", "--retry-failed",
                                    "--dry-run", "--cost-cache", "--shard", "--slurm"}) {
    merge->excludes(app.get_option(of_runs));
  }
  app.callback([file, merge] {
    if (file->count() + merge->count() == 0) throw CLI::RequiredError("JOBS.toml");
  });
  app.add_option("-o", options.output, "folder for results (JOBS-out)")->type_name("DIR");
  CLI::Option* force = app.add_flag("--force", options.force, "run everything again, and replace results that exist");
  retry->excludes(force);
}

void declare_network(CLI::App& app, Options& all) {
  NetworkCommandOptions& options = all.network;
  std::vector<std::string> names;
  for (const NetworkRow& row : network_table()) names.emplace_back(row.name);
  CLI::Option* name = app.add_option("NAME", options.name, "which network; without it all are listed")
                          ->check(one_of(names))
                          ->type_name("");
  app.add_option("-o", options.output, "the file to write")->needs(name)->type_name("MODEL.onnx");
  app.add_option("--seed", options.seed, "seed of the weights (1)")->check(seed_number())->needs(name)->type_name("N");
  app.add_option("--batch", options.batch, "images or sequences at once (1)")
      ->check(whole_number(1, largest_network_batch))
      ->needs(name)
      ->type_name("N");
  app.add_flag("--force", options.force, "replace the file if it exists")->needs(name);
}

void declare_coverage(CLI::App& app, Options& all) {
  CoverageOptions& options = all.coverage;
  app.add_option("MODEL.onnx", options.model, "the network")->required()->type_name("");
  add_list(app, "--dim", options.dimensions, "N=SIZE", "fix a dynamic dimension");
  add_list(app, "--bind", options.bindings, "INPUT=FILE.npy", "make an input a constant");
}

void declare_pass(CLI::App& app, Options& all) {
  PassOptions& options = all.pass;
  std::vector<std::string> names;
  for (const Pass& pass : nest_passes) names.emplace_back(pass.name);
  const std::string alone = fmt::format("{}", fmt::join(names, ", "));
  for (const SchedulePass& pass : schedule_passes) names.emplace_back(pass.name);  // refused with the reason
  app.add_option("NAME", options.name, alone)->required()->check(one_of(names))->type_name("");
  app.add_option("FILE.nest", options.file, "the text of a nest, as compile --dump-passes writes it")
      ->required()
      ->type_name("");
  app.add_option("--target", options.target, "built-in name or TOML file (sw26010)")
      ->check(known_targets())
      ->type_name("T");
  add_list(app, "--set", options.settings, "TABLE.KEY=VALUE", "change one value of the target, in TOML syntax");
  CLI::Option* output =
      app.add_option("-o", options.output, "write the nest to a file instead of printing it")->type_name("FILE");
  app.add_flag("--force", options.force, "replace the file if it exists")->needs(output);
}

void declare_targets(CLI::App& app, Options& all) {
  TargetsOptions& options = all.targets;
  app.add_option("NAME", options.name, "one target key by key, built in or a TOML file; without it all are listed")
      ->check(known_targets())
      ->type_name("");
  app.add_flag("--check", options.check, "report values that contradict each other");
}

void declare_templates(CLI::App& app, Options& all) {
  TemplatesOptions& options = all.templates;
  std::vector<std::string> names;
  for (const FusionTemplate& row : built_in_templates()) names.push_back(row.name);
  CLI::Option* name = app.add_option("NAME", options.name, "one template in detail; without it all are listed")
                          ->check(known(names))
                          ->type_name("");
  CLI::Option* file =
      app.add_option("--templates", options.file, "list the templates of this file too, and report its mistakes")
          ->type_name("FILE.toml");
  app.add_flag("--rules", options.rules, "list the rules of legality instead")->excludes(name)->excludes(file);
}

void declare_completions(CLI::App& app, Options& all) {
  std::vector<std::string> shells;
  for (const CompletionRow& row : completion_table()) shells.push_back(row.shell);
  app.add_option("SHELL", all.completions.shell, fmt::format("{}", fmt::join(shells, ", ")))
      ->required()
      ->check(one_of(shells))
      ->type_name("");
}

void declare_man(CLI::App& app, Options& all) {
  std::vector<std::string> names;
  for (const CommandRow& row : command_table()) names.emplace_back(row.name);
  app.add_option("COMMAND", all.man.command, "whose page; without it that of stowage")
      ->check(one_of(names))
      ->type_name("");
}

void declare_nothing(CLI::App&, Options&) {}

constexpr CommandRow commands[] = {
    {"compile", "plan a network and emit Athread C",
     "  stowage compile lenet.onnx -o lenet\n"
     "  stowage compile model.onnx --dim batch=4 --set target.ldm.bytes=32768 -o small --force\n"
     "  stowage compile matmul.onnx --set target.cores.count=1 --schedule by-hand.toml --json",
     declare_compile, [](const Options& o, ToolContext& c) { return compile_command(o.compile, c); }},
    {"batch", "compile and check many networks from one TOML file",
     "  stowage batch samples/batch/papers.toml -j 2\n"
     "  stowage batch jobs.toml --only resnet50 -o results --force\n"
     "  stowage batch jobs.toml -o tuesday --baseline monday/results.jsonl --tolerance 1\n"
     "  stowage batch jobs.toml --shard 1/4\n"
     "  stowage batch jobs.toml --slurm jobs.sbatch && sbatch jobs.sbatch\n"
     "  stowage batch --merge jobs-out-1-of-4 jobs-out-2-of-4 jobs-out-3-of-4 jobs-out-4-of-4",
     declare_batch, [](const Options& o, ToolContext& c) { return batch_command(o.batch, c); }},
    {"run", "run what was compiled, in emulation on this machine",
     "  stowage run lenet --check\n"
     "  stowage run lenet --input data=digit.npy --save-outputs out\n"
     "  stowage run lenet --op pool1 --check --sanitize",
     declare_run, [](const Options& o, ToolContext& c) { return run_command(o.run, c); }},
    {"explain", "print the plan and how it came about",
     "  stowage explain lenet\n"
     "  stowage explain lenet --op pool1 --steps\n"
     "  stowage explain lenet --why-not pool1,conv2",
     declare_explain, [](const Options& o, ToolContext& c) { return explain_command(o.explain, c); }},
    {"simulate", "simulate the plan event by event: who waits for what, and how busy the engines are",
     "  stowage simulate lenet\n"
     "  stowage simulate lenet --op pool1\n"
     "  stowage simulate lenet --trace lenet.json.gz",
     declare_simulate, [](const Options& o, ToolContext& c) { return simulate_command(o.simulate, c); }},
    {"train-cost", "train a learned evaluator for a target, on plans that are simulated",
     "  stowage train-cost -o sw26010.json\n"
     "  stowage compile lenet.onnx --cost learned --cost-model sw26010.json\n"
     "  stowage train-cost --target mine.toml --network resnet18 --network lenet --samples 500 -o mine.json",
     [](CLI::App& app, Options& all) { declare_train_cost(app, all.train_cost); },
     [](const Options& o, ToolContext& c) { return train_cost_command(o.train_cost, c); }},
    {"check", "play the loop nests through, core by core, and report every access that goes wrong",
     "  stowage check lenet\n"
     "  stowage check lenet --op pool1 --json\n"
     "  stowage check edited.nest --target sw26010 --set target.cores.count=4",
     declare_check, [](const Options& o, ToolContext& c) { return check_command(o.check, c); }},
    {"exercise", "write a nest with one fault to be found, and its sheet",
     "  stowage exercise\n"
     "  stowage exercise 3 -o lesson\n"
     "  stowage exercise 3 --solve race:10",
     declare_exercise, [](const Options& o, ToolContext& c) { return exercise_command(o.exercise, c); }},
    {"diff", "say what two compilations do differently, and what that costs",
     "  stowage diff unfused lenet\n"
     "  stowage diff unfused lenet --json",
     declare_diff, [](const Options& o, ToolContext& c) { return diff_command(o.diff, c); }},
    {"sensitivity",
     "compile the network for a range of values of one key of the target, and say what changes at the knees",
     sensitivity_examples, declare_sensitivity,
     [](const Options& o, ToolContext& c) { return sensitivity_command(o.sensitivity, c); }},
    {"graph", "draw the network, its fused operators, or the search for them",
     "  stowage graph lenet -o lenet.svg\n"
     "  stowage graph lenet --view graph -o lenet.pdf\n"
     "  stowage graph best --view strategy -o best.svg\n"
     "  stowage graph lenet -o lenet.dot",
     declare_graph, [](const Options& o, ToolContext& c) { return graph_command(o.graph, c); }},
    {"report", "write everything about a plan as one HTML page", "  stowage report lenet -o lenet.html", declare_report,
     [](const Options& o, ToolContext& c) { return report_command(o.report, c); }},
    {"network", "write a sample network",
     "  stowage network\n"
     "  stowage network resnet18 --batch 4 -o resnet18.onnx",
     declare_network, [](const Options& o, ToolContext& c) { return network_command(o.network, c); }},
    {"coverage", "list the operators of a network, and all that keeps it from being compiled",
     "  stowage coverage lenet.onnx\n"
     "  stowage coverage model.onnx --dim batch=1",
     declare_coverage, [](const Options& o, ToolContext& c) { return coverage_command(o.coverage, c); }},
    {"targets", "list the built-in machines, or show what a target says",
     "  stowage targets\n"
     "  stowage targets sw26010\n"
     "  stowage targets mine.toml --check",
     declare_targets, [](const Options& o, ToolContext& c) { return targets_command(o.targets, c); }},
    {"templates", "list the fusion templates, or the rules of legality",
     "  stowage templates\n"
     "  stowage templates convolution\n"
     "  stowage templates --templates mine.toml\n"
     "  stowage templates --rules",
     declare_templates, [](const Options& o, ToolContext& c) { return templates_command(o.templates, c); }},
    {"ops", "list the supported operators", "  stowage ops --json", declare_nothing,
     [](const Options&, ToolContext& c) { return ops_command(c); }},
    {"passes", "list what is done with a network, in order", "  stowage passes", declare_nothing,
     [](const Options&, ToolContext& c) { return passes_command(c); }},
    {"pass", "run one pass of lowering on the text of a nest",
     "  stowage pass clip-and-pad nests/00_pool1/2_place-transfers.nest\n"
     "  stowage pass dma-units half.nest --set target.dma.alignment=8 -o aligned.nest",
     declare_pass, [](const Options& o, ToolContext& c) { return pass_command(o.pass, c); }},
    {"completions", "print a shell's completions of commands, options and values",
     "  stowage completions fish > ~/.config/fish/completions/stowage.fish\n"
     "  stowage completions zsh > ~/.zfunc/_stowage\n"
     "  source <(stowage completions bash)",
     declare_completions, [](const Options& o, ToolContext& c) { return completions_command(o.completions, c); }},
    {"man", "print a manual page in the format of man",
     "  stowage man | man -l -\n"
     "  stowage man compile > stowage-compile.1",
     declare_man, [](const Options& o, ToolContext& c) { return man_command(o.man, c); }},
};

}  // namespace

std::span<const CommandRow> command_table() { return commands; }

}  // namespace stowage
