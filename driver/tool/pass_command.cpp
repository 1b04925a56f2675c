// SPDX-License-Identifier: Apache-2.0
// The passes of lowering: which there are, and one of them run on the text of a nest.
#include "driver/tool/pass_command.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/decision_rules.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "fusion/fold/channel_blocks.h"
#include "fusion/strategies/strategy.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/nest/passes.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {

namespace {

/// The way of a network, in order; lowering is the part of it that is a list of passes.
struct StepRow {
  const char* name;
  const char* summary;
};
constexpr StepRow way_through[] = {
    {"import", "read and check the ONNX model, fix dynamic dimensions, inference form, fold constants"},
    {"fold", "fold batch normalisations and the like into parameters"},
    {"layout", "choose the pictures that lie with their channels in blocks (--layout)"},
    {"views", "place the tensors of slices, concatenations and reshapes inside of each other"},
    {"fuse", "match templates and choose groups (--fusion)"},
    {"plan", "split over the cores, size buffers, order loops, place DMA (--planner)"},
    {"lower", "loop nests with LDM buffers and DMA from schedules, by the passes below"},
    {"count", "predict transfers, operations, bytes and points in closed form"},
    {"time", "cycles from counts and the target's table"},
    {"library", "call a library of the target where that is faster (--library)"},
    {"management", "leave to the management core what has no plan in the LDM"},
    {"memory", "places of tensors in main memory, shared where lifetimes allow"},
    {"emit", "Athread C, parameters and Makefile"},
};

std::string choices_of(std::string_view step) {
  if (step == "fuse") return fmt::format("{}", fmt::join(strategy_names(), ", "));
  if (step == "layout") return fmt::format("{}", fmt::join(layout_names(), ", "));
  if (step == "plan") return fmt::format("{}", fmt::join(planner_names(), ", "));
  return {};
}

constexpr std::string_view what_to_read = "docs/ir.md tells what a nest keeps to";

bool moves_data(const LoopNest& nest) {
  bool found = false;
  visit_statements(nest.body, [&](const Stmt& s) { found = found || std::holds_alternative<Dma>(s.node); });
  return found;
}

/// For a nest that breaks a rule. Where it goes in, the passes that take nests as they are built may mend it.
std::string remedy_for(const BrokenPromise& broken, const LoopNest& nest, bool goes_in) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> rules) {
    return std::find(rules.begin(), rules.end(), broken.rule) != rules.end();
  };
  if (is_one_of({core_grid_rule, mesh_rule, ldm_capacity_rule, ldm_alignment_rule, dma_unit_rule}))
    return fmt::format("give the --target and --set that the nest was made for; {}", what_to_read);
  if (!moves_data(nest))
    return fmt::format("the nest moves no data yet; begin with that of {}", place_transfers_pass.name);
  if (!goes_in || !is_one_of({transfer_in_tensor_rule, padding_is_there_rule})) return std::string(what_to_read);
  std::vector<std::string_view> mending;
  for (const Pass& other : nest_passes) {
    if (other.mends) mending.push_back(other.name);
  }
  return fmt::format("of a nest as it is built, {} comes first; {}", fmt::join(mending, " and "), what_to_read);
}

bool report_unsound(const std::string& file, const std::string& rule, const std::string& remedy,
                    Diagnostics& diagnostics) {
  SourceLocation location;
  location.file = file;
  diagnostics.error("unsound-nest", std::move(location), rule, remedy);
  return false;
}

/// A pass counts on names that mean something; those that do not mend a nest also on one that is sound.
bool may_run(const Pass& pass, const LoopNest& nest, const Target& target, const std::string& file,
             Diagnostics& diagnostics) {
  const auto broken = pass.mends ? verify_structure(nest) : broken_promise(nest, target);
  if (!broken) return true;
  const std::string remedy = pass.mends ? std::string(what_to_read) : remedy_for(*broken, nest, /*goes_in=*/true);
  return report_unsound(file, text_of(*broken), remedy, diagnostics);
}

Result<std::string> run_pass(const Pass& pass, const std::string& file, const Target& target,
                             Diagnostics& diagnostics) {
  const auto text = read_text_file(file, diagnostics);
  if (!text) return Failed{};
  UnknownValues unknown;
  auto nest = parse_loop_nest(*text, diagnostics, {}, file, &unknown);
  if (!nest || !may_run(pass, *nest, target, file, diagnostics)) return Failed{};
  const LoopNest after = pass.run(*std::move(nest), target);
  if (const auto broken = broken_promise(after, target)) {
    report_unsound(file, fmt::format("after {}: {}", pass.name, text_of(*broken)),
                   remedy_for(*broken, after, /*goes_in=*/false), diagnostics);
    return Failed{};
  }
  return to_text(after, unknown);
}

}  // namespace

int passes_command(ToolContext& context) {
  if (context.json) {
    Json steps = Json::array();
    for (const StepRow& row : way_through) {
      steps.push_back({{"name", row.name}, {"choices", choices_of(row.name)}, {"summary", row.summary}});
    }
    Json passes = Json::array();
    const auto add = [&](std::string_view name, std::string_view summary) {
      passes.push_back({{"number", pass_number(name)}, {"name", name}, {"summary", summary}});
    };
    for (const SchedulePass& pass : schedule_passes) add(pass.name, pass.summary);
    for (const Pass& pass : nest_passes) add(pass.name, pass.summary);
    context.out << dumped(Json{{"stowage", stowage_version()}, {"steps", steps}, {"passes", passes}}, 1);
    return exit_done;
  }
  TextTable steps({"step", "choices", "what it does"});
  for (const StepRow& row : way_through) steps.add({row.name, choices_of(row.name), row.summary});
  TextTable passes({">number", "pass of lower", "what it does"});
  const auto add = [&](std::string_view name, std::string_view summary) {
    passes.add({std::to_string(pass_number(name)), std::string(name), std::string(summary)});
  };
  for (const SchedulePass& pass : schedule_passes) add(pass.name, pass.summary);
  for (const Pass& pass : nest_passes) add(pass.name, pass.summary);
  context.out << fmt::format("stowage {} | stowage passes\n\n{}\n{}", stowage_version(), steps.text(), passes.text());
  return exit_done;
}

int pass_command(const PassOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const Pass* const pass = find_pass(options.name);
  if (pass == nullptr) {
    check(pass_number(options.name) > 0, "the name of a pass was not checked");
    return usage_error(context, "pass", fmt::format("{} needs the schedule besides the nest", options.name),
                       "what it makes is among the nests of 'stowage compile MODEL.onnx --dump-passes DIR'");
  }
  CompileRequest request;
  request.target = options.target;
  request.settings = options.settings;
  const auto target = target_of(request, diagnostics);
  const std::filesystem::path input = options.file;
  if (!target ||
      (!options.output.empty() && !may_write_file(options.output, options.force, std::span(&input, 1), diagnostics))) {
    return failed(context, diagnostics);
  }
  const auto text = run_pass(*pass, options.file, *target, diagnostics);
  if (!text) return failed(context, diagnostics);
  if (!options.output.empty()) {
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_file_whole(options.output, *text, existing, diagnostics)) return failed(context, diagnostics);
  }
  if (context.json) {
    context.out << dumped(Json{{"stowage", stowage_version()}, {"pass", pass->name}, {"nest", *text}}, 1);
  } else if (options.output.empty()) {
    context.out << *text;
  } else {
    context.out << fmt::format("written to {}\n", options.output);
  }
  return exit_done;
}

}  // namespace stowage
