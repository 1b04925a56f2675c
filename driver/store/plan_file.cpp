// SPDX-License-Identifier: Apache-2.0
#include "driver/store/plan_file.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stop_token>

#include <fmt/format.h>

#include "core/npy.h"
#include "core/parallel.h"
#include "driver/files/files.h"
#include "driver/json/json_rows.h"
#include "driver/report/report.h"
#include "driver/session/model_hash.h"
#include "driver/store/fusion_file.h"
#include "driver/store/moved_lines.h"
#include "driver/store/stored_step.h"
#include "driver/store/trace_file.h"
#include "lowering/model/group_model.h"
#include "lowering/program/program.h"
#include "lowering/verify/verify.h"

namespace stowage {

namespace {

OtherPlan other_plan_of(const Json& row) {
  return {row.at("planner").get<std::string>(), static_cast<int>(whole_number(row.at("cores"), 1, 1 << 20)),
          whole_number(row.at("cycles"), 0, max_cycles)};
}

constexpr std::string_view plan_format = "stowage-plan";
constexpr int format_version = 1;
constexpr std::int64_t max_bytes = std::int64_t{1} << 62;  ///< of an area of memory

/// Longer texts are arrays of lines, so that plan files can be read and compared by people.
Json lines_of(const std::string& text) {
  Json lines = Json::array();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Json to_json(const Schedule& schedule) {
  Json json = Json::object();
  if (schedule.parallel) {
    json["parallel"] = Json::array();
    for (const ParallelSplit& split : *schedule.parallel) {
      json["parallel"].push_back({{"iterator", split.iterator}, {"parts", split.parts}});
    }
  }
  json["buffer"] = schedule.buffer;
  if (schedule.order) json["order"] = *schedule.order;
  json["dma"] = schedule.dma;
  json["slots"] = schedule.slots;
  return json;
}

Json to_json(const Graph& graph, const FusedOperator& group) {
  Json json;
  json["name"] = group.name;
  json["template"] = group.template_name;
  json["operators"] = Json::array();
  for (const OpId op : group.operators) json["operators"].push_back(graph.op(op).name);
  json["roles"] = group.roles;
  json["inputs"] = Json::array();
  for (const TensorId input : group.inputs) json["inputs"].push_back(graph.tensor(input).name);
  json["output"] = graph.tensor(group.output).name;
  if (!group.stacks.empty()) json["stacks"] = Json::array();
  for (const TensorStack& stack : group.stacks) {
    Json row = {{"whole", graph.tensor(stack.whole).name}, {"axis", stack.axis}, {"parts", Json::array()}};
    for (const TensorId part : stack.parts) row["parts"].push_back(graph.tensor(part).name);
    json["stacks"].push_back(std::move(row));
  }
  return json;
}

Json to_json(const Plan& plan) {
  Json json;
  json["schedule"] = to_json(plan.schedule);
  json["stages"] = lines_of(to_text(plan.nest.stages));
  json["nest"] = lines_of(to_text(plan.nest));
  json["ldm_bytes"] = plan.nest.ldm_bytes;
  json["dma"] = Json::array();
  for (const auto& [statement, totals] : plan.counts.dma) {
    json["dma"].push_back({{"statement", statement},
                           {"transfers", totals.transfers},
                           {"operations", totals.operations},
                           {"bytes", totals.bytes}});
  }
  json["cycles"] = plan.time.cycles;
  json["time"] = Json::array();
  for (const TimeTerm& term : plan.time.terms) {
    json["time"].push_back({{"term", name_of(term.cost)},
                            {"cycles", term.cycles},
                            {"formula", formula_text(term.cost)},
                            {"source", source_of(term.cost)}});
  }
  return json;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::vector<std::byte> bytes_of_hexadecimal(const std::string& text) {
  if (text.size() % 2 != 0) throw std::invalid_argument("half a byte is missing: " + text);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) throw std::invalid_argument("not hexadecimal: " + text);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

Json memory_json(const Program& program) {
  const Graph& graph = program.fused.graph;
  Json json;
  json["parameter_bytes"] = program.memory.parameter_bytes;
  json["activation_bytes"] = program.memory.activation_bytes;
  json["places"] = Json::array();
  for (const MemoryPlace& place : program.memory.places) {
    Json row = {{"tensor", graph.tensor(place.tensor).name},
                {"area", place.area == MemoryPlace::Area::parameters ? "parameters" : "activations"},
                {"offset", place.offset},
                {"bytes", place.bytes},
                {"first_step", place.first_step},
                {"last_step", place.last_step}};
    if (place.shares_with) row["shares_with"] = graph.tensor(*place.shares_with).name;
    json["places"].push_back(std::move(row));
  }
  json["stage_constants"] = Json::array();
  for (const StageConstantPlace& place : program.memory.stage_constants) {
    const Plan& plan = *program.steps[static_cast<std::size_t>(place.step)].plan;
    json["stage_constants"].push_back(
        {{"step", place.step},
         {"tensor", plan.nest.stages.tensors[static_cast<std::size_t>(place.tensor)].name},
         {"offset", place.offset},
         {"bytes", place.bytes}});
  }
  // Constants that no kernel reads from memory but a definition may look at (they are small). Those of branches are
  // parts of a whole that is there.
  std::set<TensorId> parts;
  for (const ProgramStep& step : program.steps) {
    for (const TensorStack& stack : step.group.stacks) parts.insert(stack.parts.begin(), stack.parts.end());
  }
  json["values"] = Json::object();
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const GraphTensor& tensor = graph.tensors()[i];
    if (!tensor.constant || tensor.consumers.empty() || parts.contains(TensorId(i))) continue;
    if (program.memory.find(TensorId(i)) != nullptr) continue;
    json["values"][tensor.name] = hexadecimal(tensor.constant->bytes());
  }
  return json;
}

/// plan.json, with its steps apart, because there are as many as operators.
struct StoredPlan {
  Json file;
  std::vector<StoredStep> steps;
};

StoredPlan parse_plan(std::string_view text, const std::stop_token& stop) {
  const auto check_version = [](const Json& file) {
    if (file.value("format", "") != plan_format) throw Damage("it is not a plan file of Stowage");
    if (file.at("version") != format_version) {
      throw Damage(
          fmt::format("its version is {}, this tool reads version {}", file.at("version").dump(), format_version));
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
  return plan;
}

/// Constants by name, as the text of a graph declares them.
using Declarations = std::map<std::string, std::pair<ElementType, Shape>>;

Declarations declared_constants(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  // Without weights: their types and shapes stand in the text. They are made up as zeros, so that this graph goes
  // before the weights are read.
  const auto graph = parse_graph(text, diagnostics, {}, file);
  if (!graph) throw Damage("its graph cannot be read");
  Declarations constants;
  for (const GraphTensor& tensor : graph->tensors()) {
    if (tensor.constant) constants.emplace(tensor.name, std::pair(tensor.type, tensor.shape));
  }
  return constants;
}

/// The parameters of branches, out of their stacks.
void add_stacked_values(const StoredStep& step, const Declarations& constants, std::map<std::string, Tensor>& values) {
  for (const StoredStep::Stack& stack : step.stacks) {
    const auto whole = values.find(stack.whole);
    if (whole == values.end()) continue;  // results
    const std::size_t axis = stack.axis;
    std::int64_t first = 0;
    for (const std::string& name : stack.parts) {
      const auto part = constants.find(name);
      if (part == constants.end() || part->second.second.size() <= axis || whole->second.shape().size() <= axis ||
          first + part->second.second[axis] > whole->second.shape()[axis]) {
        throw Damage(fmt::format("{} is no part of '{}'", Json(name).dump(), whole->first));
      }
      const std::int64_t extent = part->second.second[axis];
      values.insert_or_assign(name, part_of(whole->second, axis, first, extent));
      first += extent;
    }
  }
}

Graph read_graph(const StoredPlan& plan, const OpenFile& parameters, const std::string& parameters_file,
                 Diagnostics& diagnostics) {
  const std::string text = joined(plan.file.at("graph"));
  const std::string file = "graph of the plan";
  const Declarations constants = declared_constants(text, file, diagnostics);
  std::map<std::string, Tensor> values;
  const auto add = [&](const std::string& name, std::size_t size, const auto& bytes) {
    const auto found = constants.find(name);
    if (found == constants.end()) throw Damage(fmt::format("'{}' is no constant of its graph", name));
    const auto& [type, shape] = found->second;
    if (static_cast<std::int64_t>(size) != element_count(shape) * byte_size(type)) {
      throw Damage(fmt::format("the value of '{}' does not fit its shape {}", name, to_text(shape)));
    }
    values[name] = Tensor(type, shape, bytes());
  };
  for (const Json& place : plan.file.at("memory").at("places")) {
    if (place.at("area") != "parameters") continue;
    const auto offset = static_cast<std::size_t>(whole_number(place.at("offset"), 0, max_bytes));
    const auto size = static_cast<std::size_t>(whole_number(place.at("bytes"), 0, max_bytes));
    if (offset > parameters.size() || size > parameters.size() - offset) {
      throw Damage(
          fmt::format("{} has {} bytes, too few for the plan's parameters", parameters_file, parameters.size()));
    }
    const auto name = place.at("tensor").get<std::string>();
    // Views of a constant share its place and are computed, not read.
    if (constants.contains(name)) add(name, size, [&] { return parameters.read(offset, size); });
  }
  for (const auto& [name, value] : plan.file.at("memory").at("values").items()) {
    std::vector<std::byte> bytes = bytes_of_hexadecimal(value.get<std::string>());
    add(name, bytes.size(), [&] { return std::move(bytes); });
  }
  for (const StoredStep& step : plan.steps) add_stacked_values(step, constants, values);
  const auto graph = parse_graph(text, diagnostics, values, file);
  if (!graph) throw Damage(fmt::format("the weights in {} are not those of the plan", parameters_file));
  return *graph;
}

/// Takes the sources as they are in the folder; says which were changed.
std::vector<std::string> read_sources(EmittedProgram& emitted, const std::filesystem::path& folder,
                                      Diagnostics& diagnostics) {
  std::vector<std::string> changed;
  for (EmittedFile& file : emitted.files) {
    const std::string path = (folder / "src" / file.path).string();
    const auto text = read_text_file(path, diagnostics);
    if (!text || *text == file.text) continue;
    SourcePlace place;
    place.file = path;
    diagnostics.warning("source-changed", place, "differs from what was emitted");
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
                              Diagnostics& diagnostics) {
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
  const auto target = parse_target(joined(plan.at("target")), "target of the plan", {}, diagnostics);
  if (!target) throw Damage("its target cannot be read");
  program.target = *target;
  program.fusion = plan.at("fusion").get<std::string>();
  program.planner = plan.at("planner").get<std::string>();
  program.fused.graph = read_graph(stored, parameters, parameters_file, diagnostics);
  if (plan.contains("others")) {
    for (const Json& other : plan.at("others")) compilation.others.push_back(other_plan_of(other));
  }
  return compilation;
}

/// Groups, their plans, and what follows from them.
void add_steps(const StoredPlan& stored, Compilation& compilation, const std::stop_token& stop) {
  Program& program = compilation.program;
  const Graph& graph = program.fused.graph;
  static_cast<void>(stored.file.at("steps").get_ref<const Json::array_t&>());  // to have none is damage
  for (const StoredStep& step : stored.steps) {
    program.fused.groups.push_back(read_group(step, graph));
    program.steps.push_back({program.fused.groups.back(), std::nullopt});
  }
  // Before anything is made of the groups: they may be anything.
  if (const auto broken = verify(program.fused)) throw Damage("its fused graph is broken: " + *broken);
  for (std::size_t i = 0; i < stored.steps.size(); ++i) {
    const bool is_view = program.steps[i].group.template_name == "view";
    if (stored.steps[i].schedule.has_value() != is_view) continue;
    throw Damage(fmt::format("'{}' is {}", program.steps[i].group.name,
                             is_view ? "a view with a schedule" : "launched and has no schedule"));
  }
  parallel_for(program.steps.size(), 0, stop, [&](std::size_t i) {
    if (!stored.steps[i].schedule) return;
    program.steps[i].plan = read_plan(stored.steps[i], graph, program.steps[i].group, program.target);
  });
  if (stop.stop_requested()) throw ReadingStopped();
  program.memory = plan_memory(program.fused, program.steps, program.target.dram_line_bytes);
  if (memory_json(program) != stored.file.at("memory")) {
    throw Damage("its memory map differs from what this version makes");
  }
  compilation.emitted = emit_signed(compilation);
}

}  // namespace

Json others_json(const Compilation& compilation) {
  Json rows = Json::array();
  for (const OtherPlan& other : compilation.others) {
    rows.push_back({{"planner", other.planner},
                    {"cores", other.cores},
                    {"cycles", other.cycles},
                    {"time_s", static_cast<double>(other.cycles) / compilation.program.target.clock_hz}});
  }
  return rows;
}

std::string plan_json(const Compilation& compilation) {
  const Program& program = compilation.program;
  Json json;
  json["command"] = compilation.command_line;
  json["format"] = plan_format;
  json["version"] = format_version;
  json["stowage"] = stowage_version();
  json["model"] = {{"path", compilation.model.path}, {"hash", compilation.model.hash}};
  json["dimensions"] = compilation.dimensions;
  json["bindings"] = Json::object();
  for (const auto& [input, file] : compilation.bindings) {
    json["bindings"][input] = {{"path", file.path}, {"hash", file.hash}};
  }
  if (compilation.templates) {
    json["templates"] = {{"path", compilation.templates->file.path},
                         {"hash", compilation.templates->file.hash},
                         {"text", lines_of(compilation.templates->text)}};
  }
  json["network"] = compilation.network;
  json["fusion"] = program.fusion;
  json["planner"] = program.planner;
  json["target"] = lines_of(to_toml(program.target));
  json["graph"] = lines_of(to_text(program.fused.graph));
  json["steps"] = Json::array();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    Json row = to_json(program.fused.graph, step.group);
    if (step.plan) {
      row["kernel"] = compilation.emitted.kernel_of_step[i];
      row.update(to_json(*step.plan));
    }
    json["steps"].push_back(std::move(row));
  }
  json["memory"] = memory_json(program);
  json["totals"] = totals_json(program);
  if (!compilation.others.empty()) json["others"] = others_json(compilation);
  return dumped(json, 1);
}

bool write_compilation(const Compilation& compilation, const std::filesystem::path& folder, bool force,
                       Diagnostics& diagnostics, std::stop_token stop) {
  auto writer = FolderWriter::open(folder, FolderContent::plan, force, diagnostics);
  if (!writer) return false;
  const auto write = [&](const std::filesystem::path& path, const auto& content) {
    return writer->write(path, content, diagnostics, stop);
  };
  if (!write("plan.json", plan_json(compilation)) || !write("trace.json", trace_json(compilation)) ||
      !write("report.md", report_markdown(compilation)) ||
      !write("src/params.bin", std::span<const std::byte>(parameter_bytes(compilation.program)))) {
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
                                     const std::stop_token& stop) {
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
    const StoredPlan stored = parse_plan(plan->text(), stop);
    Compilation compilation = begin_compilation(stored, *parameters, parameters_path, diagnostics);
    graph.set_value(compilation.program.fused.graph);
    add_steps(stored, compilation, stop);
    reading = &trace_path;
    StoredTrace decisions = reading_trace.get();
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
    diagnostics.error("damaged-plan", SourcePlace{*reading}, in_words(failure), "compile the model again");
  } catch (const std::exception& failure) {
    // Whatever else a file that was edited or cut short leads to: graphs and schedules that break a promise.
    diagnostics.error("damaged-plan", SourcePlace{*reading}, failure.what(), "compile the model again");
  }
  return Failed{};
}

}  // namespace stowage
