// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/npy.h"
#include "core/number_text.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/run/check_run.h"
#include "driver/run/inputs.h"
#include "driver/store/plan_file.h"
#include "driver/text/text_table.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

std::string command_of(const RunOptions& options) {
  std::string line = "stowage run " + shell_quoted(options.folder);
  for (const std::string& input : options.inputs) line += " --input " + shell_quoted(input);
  if (!options.op.empty()) line += " --op " + shell_quoted(options.op);
  if (options.check) line += " --check";
  if (options.sanitize) line += " --sanitize";
  if (options.changed_sources) line += " --changed-sources";
  return line + fmt::format(" --level {} --seed {}", options.level, options.seed);
}

RunSettings run_settings(const RunOptions& options) {
  RunSettings result;
  result.level = options.level == "count"    ? EmulationLevel::count
                 : options.level == "strict" ? EmulationLevel::strict
                                             : EmulationLevel::check;
  result.sanitize = options.sanitize;
  result.seed = options.seed;
  result.workers = options.workers;
  result.time_limit = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(options.seconds));
  return result;
}

/// A tensor's name as the name of its file: no two names become one. A '/' and control characters, a '.' in front and
/// '%' itself are written as % and two hexadecimal digits; of a name too long for a file the rest is a hash.
std::string file_name_of(const std::string& tensor) {
  constexpr std::size_t longest = 200;
  std::string name;
  for (const char c : tensor) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > 0x1F && byte != 0x7F && c != '/' && c != '%' && !(c == '.' && name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  if (name.size() > longest) {
    const std::string hash = hash_of(std::as_bytes(std::span(tensor)));
    name = fmt::format("{}%-{}", name.substr(0, longest), hash.substr(hash.find(':') + 1));
  }
  return name + ".npy";
}

bool save_outputs(const Graph& graph, const std::vector<Tensor>& outputs, const RunOptions& options,
                  ToolContext& context, Diagnostics& diagnostics) {
  const Interrupt::Hold hold = context.interrupt.hold();
  auto writer = FolderWriter::open(options.save_outputs, FolderContent::outputs, options.force, diagnostics);
  if (!writer) return false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = file_name_of(graph.tensor(graph.outputs()[i]).name);
    if (!write_npy((writer->folder() / name).string(), outputs[i], diagnostics)) return false;
  }
  return !context.interrupt.token().stop_requested() && writer->commit(diagnostics);
}

std::string values_text(const Tensor& tensor) {
  constexpr std::int64_t shown = 4;
  std::vector<std::string> values;
  for (std::int64_t i = 0; i < std::min(shown, tensor.size()); ++i) {
    values.push_back(is_float(tensor.type()) ? fmt::format("{:.6g}", tensor.as_double(i))
                                             : std::to_string(tensor.as_int64(i)));
  }
  return fmt::format("{}{}", fmt::join(values, ", "), tensor.size() > shown ? ", ..." : "");
}

std::string outputs_text(const Graph& graph, const std::vector<Tensor>& outputs) {
  TextTable table({"output", "type", "first elements"});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    table.add({graph.tensor(graph.outputs()[i]).name,
               fmt::format("{}{}", name_of(outputs[i].type()), to_text(outputs[i].shape())), values_text(outputs[i])});
  }
  return table.text();
}

DmaTotals emulated_totals(const EmulationResult& emulation) {
  DmaTotals sum;
  for (const StatementCount& count : emulation.counts) {
    sum.transfers += count.transfers;
    sum.operations += count.operations;
    sum.bytes += count.bytes;
  }
  return sum;
}

std::string counts_text(const Program& program, const EmulationResult& emulation) {
  const DmaTotals sum = emulated_totals(emulation);
  std::int64_t peak = 0;
  for (const std::int64_t bytes : emulation.ldm_peak_bytes) peak = std::max(peak, bytes);
  return fmt::format("emulated: {}, {}, {}, {} peak {}; {} fetched parameters\n",
                     counted(sum.transfers, "DMA transfer"), counted(sum.operations, "operation"),
                     counted(sum.bytes, "byte"), scratchpad_of(program).name, counted(peak, "byte"),
                     counted(emulation.parameter_fetches, "operation"));
}

std::string verdict_of(const ValueError& error) {
  return error.agrees ? "agrees" : error.amplified ? "amplified" : "DIFFERS";
}

std::string errors_text(const CheckResult& check) {
  TextTable table({"fused operator", "tensor", ">elements", ">largest abs. error", ">largest rel. error",
                   ">of magnitude", ">allowed", ">NaN", ">Inf", "verdict"});
  for (const std::vector<ValueError>* rows : {&check.groups, &check.outputs}) {
    for (const ValueError& error : *rows) {
      table.add({error.name, error.tensor, grouped_digits(error.elements),
                 fmt::format("{:.3g}", error.largest_absolute), fmt::format("{:.3g}", error.largest_relative),
                 fmt::format("{:.3g}", error.scaled()), fmt::format("{:.3g}", error.tolerance),
                 std::to_string(error.nans), std::to_string(error.infinities), verdict_of(error)});
    }
  }
  return table.text();
}

std::string verdict_text(const Program& program, const CheckResult& check) {
  std::string text;
  if (!check.counts.empty()) {
    TextTable table({"fused operator", ">statement", "figure", ">predicted", ">emulated"});
    for (const CountError& error : check.counts) {
      table.add({error.name, error.statement ? std::to_string(error.statement->index()) : "", error.what,
                 grouped_digits(error.predicted), grouped_digits(error.emulated)});
    }
    text += fmt::format("prediction and emulation differ:\n\n{}\n", table.text());
  } else {
    text += fmt::format(
        "predicted transfers, operations, bytes, barriers and {} peaks equal the emulated ones, statement by "
        "statement\n",
        scratchpad_of(program).name);
  }
  if (const ValueError* first = check.first_difference()) {
    text += fmt::format("the first that differs from the reference is '{}' (tensor {})\n", first->name, first->tensor);
  } else {
    const std::size_t operators = check.amplified_operators();
    const std::size_t outputs = check.amplified_outputs();
    text += fmt::format("{} and {} agree with the reference\n",
                        counted(check.fused_operators - operators, "fused operator"),
                        counted(check.outputs.size() - outputs, "output"));
    if (operators + outputs > 0) {
      text += fmt::format(
          "{} and {} are amplified: right for the operands that they got, which differed from the reference's "
          "already\n",
          counted(operators, "fused operator"), counted(outputs, "output"));
    }
  }
  text += check.against_model ? "(the reference ran the model as it was read)\n"
                              : "(the reference ran the plan's graph, in which parameters are folded)\n";
  return text;
}

Json error_json(const ValueError& error) {
  Json json;
  json["name"] = error.name;
  json["tensor"] = error.tensor;
  json["elements"] = error.elements;
  json["largest_absolute_error"] = error.largest_absolute;
  json["largest_relative_error"] = error.largest_relative;
  json["scaled_error"] = error.scaled();
  json["tolerance"] = error.tolerance;
  json["nans"] = error.nans;
  json["infinities"] = error.infinities;
  json["agrees"] = error.agrees;
  json["amplified"] = error.amplified;
  return json;
}

Json run_json(const std::string& command, const Compilation& compilation, const EmulationResult& emulation,
              const std::vector<std::string>& changed_sources, const CheckResult* check,
              const Diagnostics& diagnostics) {
  const DmaTotals sum = emulated_totals(emulation);
  Json json;
  json["command"] = command;
  json["stowage"] = stowage_version();
  json["compiled_by"] = compilation.command_line;
  json["network"] = compilation.network;
  json["target"] = compilation.program.target.name;
  json["changed_sources"] = changed_sources;
  json["dma_transfers"] = sum.transfers;
  json["dma_operations"] = sum.operations;
  json["dma_bytes"] = sum.bytes;
  json["parameter_fetches"] = emulation.parameter_fetches;
  json["ldm_peak_bytes"] = emulation.ldm_peak_bytes.empty()
                               ? 0
                               : *std::max_element(emulation.ldm_peak_bytes.begin(), emulation.ldm_peak_bytes.end());
  json["diagnostics"] = to_json(diagnostics);
  if (check == nullptr) return json;
  json["agrees"] = check->agrees();
  json["against_model"] = check->against_model;
  const ValueError* first = check->first_difference();
  json["first_difference"] = first != nullptr ? Json(first->name) : Json(nullptr);
  json["fused_operators"] = Json::array();
  for (const ValueError& error : check->groups) json["fused_operators"].push_back(error_json(error));
  json["outputs"] = Json::array();
  for (const ValueError& error : check->outputs) json["outputs"].push_back(error_json(error));
  json["count_differences"] = Json::array();
  for (const CountError& error : check->counts) {
    json["count_differences"].push_back({{"fused_operator", error.name},
                                         {"statement", error.statement ? Json(error.statement->index()) : Json(-1)},
                                         {"figure", error.what},
                                         {"predicted", error.predicted},
                                         {"emulated", error.emulated}});
  }
  return json;
}

/// Nobody has read what somebody else may have written into the folder. One fused operator alone is emitted anew.
bool may_compile(const Compilation& compilation, const RunOptions& options, Diagnostics& diagnostics) {
  if (compilation.changed_sources.empty() || options.changed_sources || !options.op.empty()) return true;
  diagnostics = {};
  for (const std::string& path : compilation.changed_sources) {
    diagnostics.error("source-changed", {path},
                      "differs from what the plan emits: it was changed, or another version of Stowage wrote it; "
                      "nothing was compiled",
                      "compile the model again, or read it and give --changed-sources to run it as it is");
  }
  return false;
}

}  // namespace

int run_command(const RunOptions& options, ToolContext& context) {
  if (options.sanitize && options.level == "count") {
    return usage_error(context, "run", "--sanitize does not go with --level count",
                       "in 'count' nothing is ever in flight; choose check or strict");
  }
  Diagnostics diagnostics;
  const std::stop_token stop = context.interrupt.token();
  const auto files = named_values(options.inputs, "--input", diagnostics);
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  if (!options.save_outputs.empty()) {
    std::vector<std::filesystem::path> read = {options.folder};
    for (const auto& [input, file] : files) read.emplace_back(file);
    if (!may_write_folder(options.save_outputs, FolderContent::outputs, options.force, read, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  auto compilation = read_compilation(options.folder, diagnostics, {}, context.backends);
  if (!compilation || !may_compile(*compilation, options, diagnostics)) return failed(context, diagnostics);
  const auto run_sources = options.op.empty() ? compilation->changed_sources : std::vector<std::string>{};
  const auto inputs = network_inputs(compilation->program.fused.graph, files, options.seed, diagnostics);
  if (!inputs) return failed(context, diagnostics);

  std::vector<Tensor> values = inputs->values;
  if (!options.op.empty()) {
    const auto isolated = isolate(*compilation, options.op, diagnostics);
    if (!isolated) return failed(context, diagnostics);
    auto fed = reference_values(compilation->program.fused.graph, values, isolated->inputs, stop);
    if (!fed) return failed(context, diagnostics);
    values = *std::move(fed);
    compilation = isolated->compilation;
  }

  const Graph& graph = compilation->program.fused.graph;
  std::optional<CheckResult> check;
  EmulationResult emulation;
  RunSettings settings = run_settings(options);
  settings.changed_sources = !compilation->changed_sources.empty();
  {
    ProgressLine progress(context);
    if (options.check) {
      if (options.op.empty()) read_model_again(*compilation, options.folder);
      auto result = run_and_check(*compilation, values, settings, diagnostics, stop, progress.sink());
      if (!result) return failed(context, diagnostics);
      check = *std::move(result);
      emulation = check->emulation;
    } else {
      settings.keep_outputs_of_steps = false;
      auto run = backend_of(*compilation)
                     .run(compilation->program, compilation->emitted, values, settings, {}, {diagnostics, stop});
      if (!run) return failed(context, diagnostics);
      emulation = std::move(run->emulation);
    }
  }
  if (!options.save_outputs.empty() && !save_outputs(graph, emulation.outputs, options, context, diagnostics)) {
    return failed(context, diagnostics);
  }
  print_warnings(context, diagnostics);

  const int code = check && !check->agrees() ? exit_failed : exit_done;
  const std::string command = command_of(options);
  if (context.json) {
    context.out << dumped(
        run_json(command, *compilation, emulation, run_sources, check ? &*check : nullptr, diagnostics), 1);
    return code;
  }
  context.out << fmt::format("stowage {} | {} | {}\n\n", stowage_version(), command, reproducer_line(*compilation));
  if (!run_sources.empty()) context.out << fmt::format("run as changed by hand: {}\n\n", fmt::join(run_sources, ", "));
  if (!inputs->random.empty()) {
    context.out << fmt::format("no file for {}: seeded random values (seed {})\n\n", fmt::join(inputs->random, ", "),
                               options.seed);
  }
  if (check) context.out << errors_text(*check) << "\n";
  context.out << outputs_text(graph, emulation.outputs) << "\n" << counts_text(compilation->program, emulation);
  if (check) context.out << verdict_text(compilation->program, *check);
  if (!options.save_outputs.empty()) context.out << fmt::format("outputs written to {}\n", options.save_outputs);
  return code;
}

}  // namespace stowage
