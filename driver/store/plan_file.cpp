// SPDX-License-Identifier: Apache-2.0
#include "driver/store/plan_file.h"

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>

#include <fmt/format.h>

#include "core/npy.h"
#include "core/parallel.h"
#include "driver/files/files.h"
#include "driver/json/damage.h"
#include "driver/json/json_rows.h"
#include "driver/report/report.h"
#include "driver/session/model_hash.h"
#include "driver/session/prepared_graph.h"
#include "driver/store/moved_lines.h"
#include "driver/store/old_words.h"
#include "driver/store/plan_json.h"
#include "driver/store/stored_graph.h"
#include "driver/store/stored_step.h"
#include "driver/store/trace_file.h"
#include "fusion/fold/channel_blocks.h"
#include "lowering/program/program.h"

namespace stowage {

namespace {

OtherPlan other_plan_of(const Json& row) {
  return {row.at("planner").get<std::string>(), static_cast<int>(whole_number(row.at("cores"), 1, 1 << 20)),
          whole_number(row.at("cycles"), 0, max_cycles)};
}

/// plan.json, with its steps apart, because there are as many as operators.
struct StoredPlan {
  Json file;
  int version = 0;
  IdVector<StepId, StoredStep> steps;
};

StoredPlan parse_plan(std::string_view text, const std::stop_token& stop) {
  const auto check_version = [](const Json& file) {
    if (file.value("format", "") != plan_format) throw Damage("it is not a plan file of Stowage");
    const Json& version = file.at("version");
    if (!version.is_number_integer() || version < oldest_plan_version || version > plan_version) {
      throw Damage(fmt::format("its version is {}, this tool reads versions {} to {}", version.dump(),
                               oldest_plan_version, plan_version));
    }
  };
  StoredPlan plan;
  const auto add_step = [&](const Json& row, const Json& before) {
    // That it is another version says more than what a row of it lacks.
    if (plan.steps.empty() && before.contains("version")) check_version(before);
    plan.steps.push_back(stored_step(row));
  };
  plan.file = parse_rows(text, {{"steps", add_step}}, stop);
  check_version(plan.file);
  plan.version = plan.file.at("version").get<int>();
  if (plan.version == 1) {
    for (StoredStep& step : plan.steps) take_words_of_today(step);
  }
  return plan;
}

/// Takes the sources as they are in the folder; says which were changed. Where one is not there (a kernel's name is its
/// nest's hash, so another version, or a nest that was edited, has others), all are those that are emitted now: some of
/// each would not fit together.
std::vector<std::string> read_sources(EmittedProgram& emitted, const std::filesystem::path& folder,
                                      Diagnostics& diagnostics) {
  const std::filesystem::path sources = folder / "src";
  for (const EmittedFile& file : emitted.files) {
    std::error_code failure;
    if (std::filesystem::exists(sources / file.path, failure) || failure) continue;
    SourceLocation location;
    location.file = (sources / file.path).string();
    diagnostics.warning("source-missing", location, "is not there: the sources are emitted anew from the plan",
                        "compile the model again for sources that can be changed");
    return {};
  }
  std::vector<std::string> changed;
  for (EmittedFile& file : emitted.files) {
    const std::string path = (sources / file.path).string();
    const auto text = read_text_file(path, diagnostics);
    if (!text || *text == file.text) continue;
    SourceLocation location;
    location.file = path;
    diagnostics.warning("source-changed", location, "differs from what was emitted");
    file.origins = moved_origins(file.origins, file.text, *text);
    file.text = *text;
    changed.push_back(path);
  }
  return changed;
}

/// Whatever took its token has no more to do at the end of the block.
struct StopsAtTheEnd {
  std::stop_source& work;
  ~StopsAtTheEnd() { work.request_stop(); }
};

/// All but its steps.
Compilation begin_compilation(const StoredPlan& stored, const OpenFile& parameters, const std::string& parameters_file,
                              const Backends& backends, Diagnostics& diagnostics) {
  const Json& plan = stored.file;
  Compilation compilation;
  compilation.command_line = plan.at("command").get<std::string>();
  compilation.model = {plan.at("model").at("path").get<std::string>(), plan.at("model").at("hash").get<std::string>()};
  for (const auto& [name, size] : plan.at("dimensions").items()) {
    compilation.dimensions[name] = whole_number(size, 0, std::numeric_limits<std::int64_t>::max());
  }
  for (const auto& [input, file] : plan.at("bindings").items()) {
    compilation.bindings[input] = {file.at("path").get<std::string>(), file.at("hash").get<std::string>()};
  }
  if (plan.contains("templates")) {
    const Json& templates = plan.at("templates");
    compilation.templates = {{templates.at("path").get<std::string>(), templates.at("hash").get<std::string>()},
                             joined(templates.at("text"))};
  }
  compilation.network = plan.at("network").get<std::string>();

  Program& program = compilation.program;
  const auto target =
      parse_target(joined(plan.at("target")), "target of the plan", {}, diagnostics, families_of(backends));
  if (!target) throw Damage("its target cannot be read");
  compilation.backend = find_backend(backends, target->family);
  if (compilation.backend == nullptr) throw Damage("its target is of a family that this tool has not");
  program.target = *target;
  program.fusion = plan.at("fusion").get<std::string>();
  program.planner = plan.at("planner").get<std::string>();
  if (plan.contains("cost")) {  // older versions had the closed form only
    const std::string cost = plan.at("cost").get<std::string>();
    const auto evaluator = find_evaluator(cost);
    if (!evaluator) throw Damage(fmt::format("its cost is '{}', which this tool has not", cost));
    program.evaluated_by = *evaluator;
  }
  if (plan.contains("cost_model")) {
    const Json& model = plan.at("cost_model");
    compilation.cost_model = {{model.at("path").get<std::string>(), model.at("hash").get<std::string>()},
                              joined(model.at("text"))};
  }
  if ((program.evaluated_by == EvaluatedBy::learned) != compilation.cost_model.has_value()) {
    throw Damage("its cost and its learned evaluator do not go together");
  }
  if (plan.contains("evaluated_cycles")) {
    compilation.evaluated_cycles = whole_number(plan.at("evaluated_cycles"), 0, max_cycles);
  }
  program.fused.graph = read_graph(plan, stored.steps, parameters, parameters_file, diagnostics);
  program.layout = plan.contains("layout") ? plan.at("layout").get<std::string>()
                                           : std::string(layout_found_in(program.fused.graph));  // of an older version
  const std::vector<std::string> layouts = layout_names();
  if (std::find(layouts.begin(), layouts.end(), program.layout) == layouts.end()) {
    throw Damage(fmt::format("its layout is '{}', which this tool has not", program.layout));
  }
  if (plan.contains("others")) {
    for (const Json& other : plan.at("others")) compilation.others.push_back(other_plan_of(other));
  }
  return compilation;
}

/// Groups, their plans, and what follows from them. The stored steps are used up.
void add_steps(StoredPlan& stored, Compilation& compilation, const std::stop_token& stop) {
  Program& program = compilation.program;
  const Graph& graph = program.fused.graph;
  static_cast<void>(stored.file.at("steps").get_ref<const Json::array_t&>());  // to have none is damage
  for (const StoredStep& step : stored.steps) {
    program.fused.groups.push_back(read_group(step, graph));
    program.steps.push_back({program.fused.groups.back(), ViewStep{}});
  }
  // Before anything is made of the groups: they may be anything.
  if (const auto broken = verify(program.fused)) throw Damage("its fused graph is broken: " + *broken);
  for (const StepId i : stored.steps.ids()) {
    const bool is_view = program.steps[i].group.is_view;
    if (stored.steps[i].launched.has_value() != is_view) continue;
    throw Damage(fmt::format("'{}' is {}", program.steps[i].group.name,
                             is_view ? "a view with a schedule" : "launched and has no schedule"));
  }
  const StepReader read_step = backend_of(compilation).step_reader(graph, program.target);
  parallel_for(program.steps.size(), 0, stop, [&](std::size_t number) {
    StoredStep& step = stored.steps[StepId(number)];
    ProgramStep& read = program.steps[StepId(number)];
    if (step.launched) read.work = read_step(*step.launched, step.nest, read.group);
    step = {};  // all of them together would take long to free
  });
  if (stop.stop_requested()) throw ReadingStopped();
  program.memory = plan_memory(program.fused, program.steps, program.target.main_memory.line_bytes);
  if (memory_json(program) != stored.file.at("memory")) {
    throw Damage("its memory map differs from what this version makes");
  }
  compilation.emitted = emit_signed(compilation);
}

}  // namespace

bool write_compilation(const Compilation& compilation, const std::filesystem::path& folder, bool force,
                       Diagnostics& diagnostics, std::stop_token stop) {
  auto writer = FolderWriter::open(folder, FolderContent::plan, force, diagnostics);
  if (!writer) return false;
  const auto write = [&](const std::filesystem::path& path, const auto& content) {
    return writer->write(path, content, diagnostics, stop);
  };
  std::string plan;
  std::string trace;
  std::string report;
  const std::function<void()> makers[] = {[&] { plan = plan_json(compilation); },
                                          [&] { report = report_markdown(compilation); },
                                          [&] { trace = trace_json(compilation); }};
  parallel_for(std::size(makers), 0, stop, [&](std::size_t i) { makers[i](); });
  if (stop.stop_requested()) return false;
  if (!write("plan.json", plan) || !write("trace.json", trace) || !write("report.md", report) ||
      !write("src/params.bin", std::span<const std::span<const std::byte>>(parameter_pieces(compilation.program)))) {
    return false;
  }
  for (const EmittedFile& file : compilation.emitted.files) {
    if (!write(std::filesystem::path("src") / file.path, file.text)) return false;
  }
  return !stop.stop_requested() && writer->commit(diagnostics);
}

void read_model_again(Compilation& compilation, const std::filesystem::path& folder) {
  Diagnostics ignored;  // a model that is gone or was changed is no mistake
  const auto same = [&](const FileIdentity& file, const auto& hash_of_it) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(file.path, failure)) return false;
    const auto hash = hash_of_it(file.path, ignored, std::stop_token{});
    return hash && *hash == file.hash;
  };
  FileIdentity model = compilation.model;
  if (!same(model, hash_of_model)) {
    model.path = (folder / model.path).string();
    if (!same(model, hash_of_model)) return;
  }
  ImportOptions options;
  options.dimensions = compilation.dimensions;
  for (const auto& [input, file] : compilation.bindings) {
    if (!same(file, hash_of_file)) return;
    if (const auto value = read_npy(file.path, ignored)) options.bindings[input] = *value;
  }
  if (const auto graph = import_onnx(model.path, options, ignored)) compilation.imported = *graph;
}

Result<Compilation> read_compilation(const std::filesystem::path& folder, Diagnostics& diagnostics,
                                     const std::stop_token& stop, const Backends& backends) {
  const std::string plan_path = (folder / "plan.json").string();
  const std::string trace_path = (folder / "trace.json").string();
  const std::string parameters_path = (folder / "src" / "params.bin").string();
  const auto plan = OpenFile::open(plan_path, diagnostics);
  const auto trace = OpenFile::open(trace_path, diagnostics);
  const auto parameters = OpenFile::open(parameters_path, diagnostics);
  if (!plan || !trace || !parameters) return Failed{};

  const std::string* reading = &plan_path;
  try {
    // The trace may be the largest part, and needs no more of the plan than its graph. A plan that is damaged stops the
    // thread and breaks the promise of a graph, before the future waits for it.
    std::stop_source ending;
    const std::stop_callback stopped(stop, [&ending] { ending.request_stop(); });
    std::future<StoredTrace> reading_trace;
    std::promise<Graph> graph;
    const StopsAtTheEnd however_it_ends{ending};
    reading_trace =
        std::async(std::launch::async, [&trace, stop = ending.get_token(), later = graph.get_future().share()] {
          return read_trace(
              trace->text(), [&later]() -> const Graph& { return later.get(); }, stop);
        });
    StoredPlan stored = parse_plan(plan->text(), stop);
    Compilation compilation = begin_compilation(stored, *parameters, parameters_path, backends, diagnostics);
    graph.set_value(compilation.program.fused.graph);
    add_steps(stored, compilation, stop);
    reading = &trace_path;
    StoredTrace decisions = reading_trace.get();
    if (stored.version == 1) take_words_of_today(decisions.trace, decisions.fusion);
    check_trace(compilation.program, decisions.trace);
    compilation.trace = std::move(decisions.trace);
    compilation.fusion = std::move(decisions.fusion);
    Diagnostics sources;
    compilation.changed_sources = read_sources(compilation.emitted, folder, sources);
    diagnostics.append(sources);
    if (sources.has_errors()) return Failed{};
    return compilation;
  } catch (const ReadingStopped&) {
    return Failed{};
  } catch (const Json::exception& failure) {
    diagnostics.error("damaged-plan", SourceLocation{*reading}, in_words(failure), "compile the model again");
  } catch (const std::exception& failure) {
    // Whatever else a file that was edited or cut short leads to: graphs and schedules that break a promise.
    diagnostics.error("damaged-plan", SourceLocation{*reading}, failure.what(), "compile the model again");
  }
  return Failed{};
}

}  // namespace stowage
