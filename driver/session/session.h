// SPDX-License-Identifier: Apache-2.0
// One compile session: a model file becomes a Compilation, which holds everything that the command line prints and
// the inspector shows. Functions from values to values; cancelled ones fail without a diagnostic.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/progress.h"
#include "core/trace.h"
#include "driver/backend/backend.h"
#include "driver/session/cost_model.h"
#include "driver/session/file_identity.h"
#include "driver/session/other_plans.h"
#include "fusion/fold/channel_blocks.h"
#include "fusion/groups/fusion_record.h"
#include "fusion/templates/template.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/program.h"

namespace stowage {

struct CompileRequest {
  std::string model;                  ///< path of the ONNX file
  std::string recorded_model;         ///< path that the plan names instead, from the plan's folder on; empty: the same
  std::string target = "sw26010";     ///< built-in name or path
  std::vector<std::string> settings;  ///< --set TABLE.KEY=VALUE, in TOML syntax
  std::string library;                ///< of the target's libraries, which the program may call; empty: none
  std::string fusion = "exact";
  std::string planner;                           ///< empty: the default one of the target's family
  std::string cost = evaluator_names().front();  ///< what says the cycles of plans that strategies compare
  std::string cost_model;                        ///< path of what `train-cost` wrote; of cost "learned", else empty
  std::string layout;     ///< how pictures lie (fusion/fold/channel_blocks.h); empty: as the planner has it by default
  std::string templates;  ///< path of a TOML file of fusion templates, tried before the built-in ones; empty: none
  ImportOptions import;
  std::map<std::string, std::string> bindings;  ///< input → .npy file, read into import.bindings by compile
  FixedSchedules fixed;
  CostOptions costs;  ///< how candidate groups are planned; changes nothing in the result (its evaluator is `cost`)
  Backends backends = built_in_backends();  ///< one of which the target's family names; not empty
  std::string command_line;                 ///< that reproduces it
};

/// A user's file of fusion templates.
struct UserTemplates {
  FileIdentity file;
  std::string text;
};

struct Compilation {
  const Backend* backend = nullptr;  ///< that of the target's family; null in one that was only made to be looked at
  std::string command_line;
  FileIdentity model;
  std::map<std::string, std::int64_t> dimensions;  ///< with which the model was read
  std::map<std::string, FileIdentity> bindings;    ///< files of values with which it was read
  std::optional<UserTemplates> templates;          ///< with which it was fused, before the built-in ones
  std::optional<CostModel> cost_model;             ///< by which groups were compared, of cost "learned"
  std::optional<Graph> imported;  ///< the network before its parameters were folded; not kept in the folder
  std::string network;            ///< name of the graph
  Program program;
  EmittedProgram emitted;
  std::vector<std::string> changed_sources;  ///< paths of those that are no more what was emitted
  Trace trace;
  FusionRecord fusion;  ///< which groups there could have been, and why they are not
  /// What the program takes as Program::evaluated_by says it; none where that is the closed form, which totals_of()
  /// has.
  std::optional<std::int64_t> evaluated_cycles;
  /// What the network would take planned otherwise; nothing where a person fixed a schedule, or after plan_again.
  std::vector<OtherPlan> others;
};

/// Target of a request with its settings applied.
Result<Target> target_of(const CompileRequest& request, Diagnostics& diagnostics);
/// The family of a request's target; the first that there is where it cannot be said, of which compile() says why.
const Backend& backend_of(const CompileRequest& request);
/// The planner that a request names, or the family's default one; and the layout, or that planner's default one.
std::string planner_of(const CompileRequest& request, const Backend& backend);
std::string layout_of(const CompileRequest& request, const Backend& backend);
const Backend& backend_of(const Compilation& compilation);

/// The first step of compile(): reads the request's model with its bindings. What they are by contents goes into
/// `compilation`. Everything wrong with the network itself is found here.
Result<Graph> import_network(const CompileRequest& request, Compilation& compilation, Diagnostics& diagnostics,
                             const std::stop_token& stop = {});

Result<Compilation> compile(const CompileRequest& request, Diagnostics& diagnostics, std::stop_token stop = {},
                            const ProgressSink& progress = {});

/// Fusion templates in the order in which they are tried: those of the user's file, if there is one, then the built-in
/// ones. Mistakes in the file are reported.
Result<std::vector<FusionTemplate>> fusion_templates(const std::optional<UserTemplates>& user,
                                                     Diagnostics& diagnostics);
/// Reads a file of templates; an empty path is none.
Result<std::optional<UserTemplates>> read_user_templates(const std::string& path, Diagnostics& diagnostics);

/// The same from a graph that is there already; request.model and request.import are not looked at.
Result<Compilation> compile_graph(const Graph& graph, const CompileRequest& request, Diagnostics& diagnostics,
                                  std::stop_token stop = {}, const ProgressSink& progress = {});

/// The same network planned and emitted anew: for another target or with other schedules. Without fixed groups it stays
/// fused as it is (groups that another target does not allow are reported); with some the strategy fuses the rest anew.
/// What compile() gives for the same target, groups and schedules (without fixed groups: if they do not make the
/// strategy choose other groups). The record of the fusion is of that target and of the groups as they are planned.
Result<Compilation> plan_again(const Compilation& before, const Target& target, const FixedSchedules& fixed,
                               Diagnostics& diagnostics, std::stop_token stop = {}, const ProgressSink& progress = {},
                               const CostOptions& costs = {});

/// Where costs are kept between compilations: STOWAGE_CACHE_DIR (empty: nowhere), else "stowage" in XDG_CACHE_HOME or
/// in ~/.cache. Empty: nowhere. The tool and the inspector use it; a CompileRequest by itself keeps nothing.
std::string default_cost_cache();

/// "xxh64:…" of bytes.
std::string hash_of(std::span<const std::byte> bytes);
/// Of its TOML; equal for equal targets.
std::string hash_of_target(const Target& target);
/// What a text output starts with: command line, versions and hashes that reproduce it; one line without line break.
std::string reproducer_line(const Compilation& compilation);
std::string_view stowage_version();

/// The sources of a program, signed with the reproducer line (Backend::emit).
EmittedProgram emit_signed(const Compilation& compilation);

}  // namespace stowage
