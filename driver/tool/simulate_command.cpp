// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/simulate_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/stage.h"
#include "driver/files/files.h"
#include "driver/files/gzip.h"
#include "driver/json/json.h"
#include "driver/report/model_comparison.h"
#include "driver/report/table_text.h"
#include "driver/run/inputs.h"
#include "driver/store/plan_file.h"
#include "driver/text/text_table.h"
#include "driver/text/units.h"
#include "driver/timeline/trace_events.h"

namespace stowage {

namespace {

/// A step that launches something: as it is simulated, and as its plan predicts it in closed form.
struct TimedStep {
  std::string name;
  SimulatedStep simulated;
  std::int64_t closed_form = 0;  ///< cycles
  std::int64_t flops = 0;

  /// Of the closed form, as a share of the simulated time.
  [[nodiscard]] double error() const { return error_of(closed_form, simulated.cycles); }
};

void add(TimedStep& sum, const TimedStep& step) {
  const SimulatedStep& more = step.simulated;
  SimulatedStep& all = sum.simulated;
  all.cycles += more.cycles;
  all.parts.resize(more.parts.size());
  for (std::size_t i = 0; i < more.parts.size(); ++i) {
    const std::int64_t cycles = all.parts[i].cycles + more.parts[i].cycles;
    all.parts[i] = {more.parts[i].name, cycles, more.parts[i].is_exposed_dma};
  }
  all.engines.resize(more.engines.size());
  for (std::size_t i = 0; i < more.engines.size(); ++i) {
    const SimulatedStep::Engine& before = all.engines[i];
    all.engines[i] = {more.engines[i].name, before.busy_cycles + more.engines[i].busy_cycles,
                      before.cycles + more.engines[i].cycles};
  }
  all.terms.resize(more.terms.size());
  for (std::size_t i = 0; i < more.terms.size(); ++i) {
    const SimulatedStep::Term& before = all.terms[i];
    all.terms[i] = {more.terms[i].name, before.closed_form + more.terms[i].closed_form,
                    before.simulated + more.terms[i].simulated};
  }
  all.dma_transfers += more.dma_transfers;
  all.dma_operations += more.dma_operations;
  all.dma_bytes += more.dma_bytes;
  all.dma_busy_cycles += more.dma_busy_cycles;
  all.events += more.events;
  all.steps += more.steps;
  sum.closed_form += step.closed_form;
  sum.flops += step.flops;
}

struct TimedProgram {
  std::vector<TimedStep> steps;  ///< those that launch something, in order
  TimedStep all;
  double clock_hz = 0;

  [[nodiscard]] std::size_t within(double error) const {
    return static_cast<std::size_t>(std::count_if(
        steps.begin(), steps.end(), [&](const TimedStep& step) { return std::abs(step.error()) <= error; }));
  }
  /// The step whose error is largest, the first of several; null without steps.
  [[nodiscard]] const TimedStep* worst() const {
    const auto found = std::max_element(steps.begin(), steps.end(), [](const TimedStep& a, const TimedStep& b) {
      return std::abs(a.error()) < std::abs(b.error());
    });
    return found == steps.end() ? nullptr : &*found;
  }
  [[nodiscard]] double seconds(std::int64_t cycles) const { return static_cast<double>(cycles) / clock_hz; }
  /// So many a second, where they take so many cycles; 0 where they take none.
  [[nodiscard]] double rate(std::int64_t number, std::int64_t cycles) const {
    return cycles == 0 ? 0 : static_cast<double>(number) / seconds(cycles);
  }
};

TimedProgram timed(const Program& program, const IdVector<StepId, SimulatedStep>& simulated) {
  TimedProgram times;
  times.clock_hz = program.target.clock_hz;
  for (const StepId i : program.steps.ids()) {
    const StepPlan* const planned = program.steps[i].step_plan();
    if (planned == nullptr) continue;
    times.steps.push_back({program.steps[i].group.name, simulated[i], planned->cycles(), flops(planned->stages())});
    add(times.all, times.steps.back());
  }
  times.all.name = "all";
  return times;
}

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

double busy_share(const SimulatedStep::Engine& engine) {
  return engine.cycles == 0 ? 0 : static_cast<double>(engine.busy_cycles) / static_cast<double>(engine.cycles);
}

/// Of parts that take no cycle of any step there is no column.
std::string table_text(const TimedProgram& times) {
  const SimulatedStep& all = times.all.simulated;
  if (times.steps.empty()) return {};
  std::vector<std::string> headings = {"fused operator", ">cycles", ">share"};
  for (const SimulatedStep::Part& part : all.parts) {
    if (part.cycles > 0) headings.push_back(">" + part.name);
  }
  for (const SimulatedStep::Engine& engine : all.engines) headings.push_back(fmt::format(">{} busy", engine.name));
  headings.insert(headings.end(), {">GB/s", ">Gflop/s", ">closed form", ">error"});
  TextTable table(headings);
  const auto add_row = [&](const TimedStep& step) {
    const SimulatedStep& simulated = step.simulated;
    std::vector<std::string> cells = {
        step.name, grouped_digits(simulated.cycles),
        shown_share(static_cast<double>(simulated.cycles) / static_cast<double>(all.cycles))};
    for (std::size_t i = 0; i < all.parts.size(); ++i) {
      if (all.parts[i].cycles > 0) cells.push_back(grouped_digits(simulated.parts[i].cycles));
    }
    for (const SimulatedStep::Engine& engine : simulated.engines) cells.push_back(shown_share(busy_share(engine)));
    cells.push_back(fmt::format("{:.2f}", times.rate(simulated.dma_bytes, simulated.dma_busy_cycles) / 1e9));
    cells.push_back(fmt::format("{:.2f}", times.rate(step.flops, simulated.cycles) / 1e9));
    cells.push_back(grouped_digits(step.closed_form));
    cells.push_back(signed_percent(step.error()));
    table.add(std::move(cells));
  };
  for (const TimedStep& step : times.steps) add_row(step);
  if (times.steps.size() > 1) add_row(times.all);
  return table.text();
}

std::string verdict_text(const TimedProgram& times) {
  const SimulatedStep& all = times.all.simulated;
  const TimedStep* const worst = times.worst();
  if (worst == nullptr) return "nothing is launched: no time passes\n";
  return fmt::format(
      "simulated: {}, {} of it exposed DMA ({}); closed form: {} ({})\n"
      "closed form within 5 % of {} of {}, within 10 % of {}; the worst is '{}' ({})\n"
      "{}, {} of them step by step\n",
      seconds_text(times.seconds(all.cycles)), seconds_text(times.seconds(all.exposed_dma_cycles())),
      shown_share(static_cast<double>(all.exposed_dma_cycles()) / static_cast<double>(all.cycles)),
      seconds_text(times.seconds(times.all.closed_form)), signed_percent(times.all.error()), times.within(0.05),
      counted(times.steps.size(), "fused operator"), times.within(0.10), worst->name, signed_percent(worst->error()),
      counted(all.events, "event"), grouped_digits(all.steps));
}

std::string terms_text(const TimedStep& step) {
  if (step.simulated.terms.empty()) return {};
  return report_table(terms_table(step.simulated.terms),
                      {"term", "closed_form_cycles", "simulated_cycles", "error", "share_error"})
      .text();
}

std::string counts_text(const PlanTable& counts, bool emulated) {
  std::vector<std::string_view> columns = {"count", "predicted", "simulated"};
  if (emulated) columns.emplace_back("emulated");
  return report_table(counts, columns).text();
}

Json counts_json(const PlanTable& counts) {
  Json json = Json::array();
  for (const PlanRow& row : counts.rows) {
    Json entry;
    for (std::size_t c = 0; c < counts.columns.size(); ++c) {
      if (const auto* text = std::get_if<std::string>(&row.cells[c])) entry[counts.columns[c].key] = *text;
      if (const auto* number = std::get_if<std::int64_t>(&row.cells[c])) entry[counts.columns[c].key] = *number;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

/// Runs the plan's own sources, whatever was made of those in its folder, on random inputs.
Result<EmulationResult> emulated(const Compilation& compilation, ToolContext& context, Diagnostics& diagnostics) {
  const Backend& backend = backend_of(compilation);
  const auto inputs = network_inputs(compilation.program.fused.graph, {}, 0, diagnostics);
  if (!inputs) return Failed{};
  auto run = backend.run(compilation.program, backend.emit(compilation.program, ""), inputs->values, {}, {},
                         {diagnostics, context.interrupt.token()});
  if (!run) return Failed{};
  return std::move(run->emulation);
}

std::string statements_text(const TimedStep& step) {
  TextTable table({">statement", "what", ">executions", ">cycles", ">waited for"});
  for (const SimulatedStep::Statement& statement : step.simulated.statements) {
    table.add({std::to_string(statement.statement.index()), statement.what, grouped_digits(statement.executions),
               grouped_digits(statement.cycles), grouped_digits(statement.waited)});
  }
  return table.text();
}

Json step_json(const TimedProgram& times, const TimedStep& step) {
  const SimulatedStep& simulated = step.simulated;
  Json json = {{"name", step.name},
               {"cycles", simulated.cycles},
               {"time_s", times.seconds(simulated.cycles)},
               {"exposed_dma_cycles", simulated.exposed_dma_cycles()},
               {"dma_bytes", simulated.dma_bytes},
               {"dma_bytes_per_second", times.rate(simulated.dma_bytes, simulated.dma_busy_cycles)},
               {"flops", step.flops},
               {"flops_per_second", times.rate(step.flops, simulated.cycles)},
               {"closed_form_cycles", step.closed_form},
               {"closed_form_error", step.error()},
               {"events", simulated.events},
               {"events_step_by_step", simulated.steps}};
  json["terms"] = Json::array();
  for (const SimulatedStep::Term& term : simulated.terms) {
    json["terms"].push_back(
        {{"term", term.name}, {"closed_form_cycles", term.closed_form}, {"simulated_cycles", term.simulated}});
  }
  json["parts"] = Json::array();
  for (const SimulatedStep::Part& part : simulated.parts) {
    json["parts"].push_back({{"part", part.name}, {"cycles", part.cycles}});
  }
  json["engines"] = Json::array();
  for (const SimulatedStep::Engine& engine : simulated.engines) {
    json["engines"].push_back(
        {{"engine", engine.name}, {"busy_cycles", engine.busy_cycles}, {"busy_share", busy_share(engine)}});
  }
  if (simulated.statements.empty()) return json;
  json["statements"] = Json::array();
  for (const SimulatedStep::Statement& statement : simulated.statements) {
    json["statements"].push_back({{"statement", statement.statement.index()},
                                  {"what", statement.what},
                                  {"executions", statement.executions},
                                  {"cycles", statement.cycles},
                                  {"waited_cycles", statement.waited}});
  }
  return json;
}

Json program_json(const TimedProgram& times, const Compilation& compilation, const std::string& command,
                  const Diagnostics& diagnostics) {
  Json json = {{"command", command},
               {"stowage", stowage_version()},
               {"compiled_by", compilation.command_line},
               {"network", compilation.network},
               {"target", compilation.program.target.name}};
  Json all = step_json(times, times.all);
  all.erase("name");
  json.update(all);
  json["fused_operators_within_5_percent"] = times.within(0.05);
  json["fused_operators_within_10_percent"] = times.within(0.10);
  json["worst"] = times.worst() == nullptr ? Json(nullptr) : Json(times.worst()->name);
  json["fused_operators"] = Json::array();
  for (const TimedStep& step : times.steps) json["fused_operators"].push_back(step_json(times, step));
  json["diagnostics"] = to_json(diagnostics);
  return json;
}

DmaOrder order_of(const SimulateOptions& options) {
  return options.dma_order == "queued" ? DmaOrder::queued : DmaOrder::shared;
}

/// Slices that were written; fails after a reported error or a stop.
Result<std::int64_t> write_trace(const Compilation& compilation, const SimulateOptions& options, ToolContext& context,
                                 Diagnostics& diagnostics) {
  const Program& program = compilation.program;
  const std::stop_token stop = context.interrupt.token();
  TraceEvents events(program.target.clock_hz, reproducer_line(compilation));
  {
    ProgressLine progress(context);
    const ProgressSink sink = progress.sink();
    for (const StepId step : program.steps.ids()) {
      if (sink) sink("trace", step.index(), program.steps.size());
      const std::string& name = program.steps[step].group.name;
      if (program.steps[step].step_plan() == nullptr || (!options.op.empty() && name != options.op)) continue;
      const auto timeline = backend_of(compilation).timeline(program, step, order_of(options), {diagnostics, stop});
      if (!timeline) return Failed{};
      events.add(name, *timeline);
    }
  }
  const std::int64_t slices = events.slices();
  std::string text = events.finished();
  if (options.trace.ends_with(".gz")) text = gzipped(text);
  const Existing existing = options.force ? Existing::replace : Existing::keep;
  const Interrupt::Hold hold = context.interrupt.hold();
  if (stop.stop_requested() || !write_file_whole(options.trace, text, existing, diagnostics)) return Failed{};
  return slices;
}

}  // namespace

int simulate_command(const SimulateOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const std::stop_token stop = context.interrupt.token();
  const std::vector<std::filesystem::path> read = {options.folder};
  if (!options.trace.empty() && !may_write_file(options.trace, options.force, read, diagnostics)) {
    return failed(context, diagnostics);
  }
  const auto compilation = read_compilation(options.folder, diagnostics, stop, context.backends);
  if (!compilation) return failed(context, diagnostics);
  const auto simulated = [&] {
    ProgressLine progress(context);
    return backend_of(*compilation)
        .simulate(compilation->program, order_of(options), {diagnostics, stop, progress.sink()});
  }();
  if (!simulated) return failed(context, diagnostics);
  const TimedProgram times = timed(compilation->program, *simulated);
  const auto wanted =
      std::find_if(times.steps.begin(), times.steps.end(), [&](const TimedStep& s) { return s.name == options.op; });
  if (!options.op.empty() && wanted == times.steps.end()) {
    std::vector<std::string> names;
    for (const TimedStep& step : times.steps) names.push_back(step.name);
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}' is launched", options.op),
                      suggest_name(options.op, names));
    return failed(context, diagnostics);
  }
  std::int64_t slices = 0;
  if (!options.trace.empty()) {
    const auto written = write_trace(*compilation, options, context, diagnostics);
    if (!written) return failed(context, diagnostics);
    slices = *written;
  }
  std::optional<EmulationResult> emulation;
  if (options.emulate) {
    auto run = emulated(*compilation, context, diagnostics);
    if (!run) return failed(context, diagnostics);
    emulation = *std::move(run);
  }
  const PlanTable counts = counts_table(compilation->program, *simulated, emulation ? &*emulation : nullptr);
  print_warnings(context, diagnostics);

  std::string command = "stowage simulate " + shell_quoted(options.folder);
  if (!options.op.empty()) command += " --op " + shell_quoted(options.op);
  if (order_of(options) == DmaOrder::queued) command += " --dma-order queued";
  if (options.emulate) command += " --emulate";
  if (context.json) {
    Json json = program_json(times, *compilation, command, diagnostics);
    if (!options.op.empty()) json["fused_operators"] = Json::array({step_json(times, *wanted)});
    json["counts"] = counts_json(counts);
    if (!options.trace.empty()) json["trace"] = {{"file", options.trace}, {"slices", slices}};
    context.out << dumped(json, 1);
    return exit_done;
  }
  context.out << fmt::format("stowage {} | {} | {}\n\n", stowage_version(), command, reproducer_line(*compilation));
  if (options.op.empty()) {
    context.out << table_text(times) << "\n";
    if (!times.steps.empty()) {
      context.out << terms_text(times.all) << "\n" << counts_text(counts, options.emulate) << "\n";
    }
    context.out << verdict_text(times);
  } else {
    TimedProgram one = times;
    one.steps = {*wanted};
    one.all = *wanted;
    context.out << table_text(one) << "\n" << terms_text(*wanted) << "\n" << statements_text(*wanted);
  }
  if (!options.trace.empty()) {
    context.out << fmt::format("\ntrace written to {}: {}\n", options.trace, counted(slices, "slice"));
  }
  return exit_done;
}

}  // namespace stowage
