// SPDX-License-Identifier: Apache-2.0
// The commands of the tool as functions: options in, exit code out. command_line.cpp turns arguments into options.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/session/session.h"
#include "driver/tool/tool_context.h"
#include "emitter/pictures/graphviz.h"
#include "emitter/sources/program_run.h"

namespace stowage {

/// Folder of the cache of costs that an option names; empty: none. A warning if the named one cannot be used; nobody
/// has asked for the default one.
std::string cost_cache_of(const std::optional<std::string>& option, Diagnostics& diagnostics);

/// Sizes of --dim NAME=SIZE; others are reported.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& dimensions, Diagnostics& diagnostics);

/// The files that a compilation reads, but for the model's external data, which lies below the model's folder.
std::vector<std::filesystem::path> files_read(const CompileRequest& request);

struct CompileOptions {
  std::string model;
  std::string target = "sw26010";
  std::string library;  ///< empty: none
  std::string fusion = CompileRequest{}.fusion;
  std::string planner;  ///< empty: the default one of the target's family
  std::string layout = CompileRequest{}.layout;
  std::string cost = CompileRequest{}.cost;
  std::string cost_model;
  std::string templates;
  std::string output;  ///< empty: nothing is written
  bool force = false;
  std::vector<std::string> dimensions;
  std::vector<std::string> bindings;
  std::string schedule;
  std::vector<std::string> settings;
  std::string dump_passes;  ///< folder; empty: none
  bool print_config = false;
  unsigned threads = 0;                   ///< that plan; 0: one a core
  std::optional<std::string> cost_cache;  ///< folder, or "none"; else the default one
  std::optional<double> seconds;          ///< that a plan is looked for; none: to the end
};
int compile_command(const CompileOptions& options, ToolContext& context);

constexpr double usual_emulation_seconds = std::chrono::duration<double>(usual_emulation_time).count();

struct RunOptions {
  std::string folder;
  std::vector<std::string> inputs;
  std::string save_outputs;
  bool force = false;
  std::string op;
  bool check = false;
  bool sanitize = false;
  std::uint64_t seed = 0;
  std::string level = "check";
  int workers = 0;
  bool changed_sources = false;  ///< those of the folder are run where they are not what the plan emits
  double seconds = usual_emulation_seconds;
};
int run_command(const RunOptions& options, ToolContext& context);

struct ExplainOptions {
  std::string folder;
  std::string op;
  bool steps = false;
  std::vector<std::string> why_not;  ///< names of operators or ONNX nodes
};
int explain_command(const ExplainOptions& options, ToolContext& context);

struct DiffOptions {
  std::string before;  ///< folders
  std::string after;
};
int diff_command(const DiffOptions& options, ToolContext& context);

constexpr double usual_layout_seconds = std::chrono::duration<double>(usual_layout_time).count();

inline std::chrono::milliseconds layout_time_of(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

struct GraphOptions {
  std::string folder;
  std::string output;
  std::string view = "fused";
  bool force = false;
  double layout_seconds = usual_layout_seconds;
};
int graph_command(const GraphOptions& options, ToolContext& context);

struct ReportOptions {
  std::string folder;
  std::string output;                ///< .csv: one table, anything else: the page
  std::optional<std::string> table;  ///< of a .csv; "groups" where none is named
  bool force = false;
  std::optional<double> layout_seconds;  ///< for each picture
  std::optional<std::string> details;    ///< fused operators that the page tells in full: a number, or "all"
};
int report_command(const ReportOptions& options, ToolContext& context);

struct NetworkCommandOptions {
  std::string name;
  std::string output;
  std::uint64_t seed = 1;
  std::int64_t batch = 1;
  bool force = false;
};
int network_command(const NetworkCommandOptions& options, ToolContext& context);

struct CoverageOptions {
  std::string model;
  std::vector<std::string> dimensions;
  std::vector<std::string> bindings;
};
int coverage_command(const CoverageOptions& options, ToolContext& context);
struct TargetsOptions {
  std::string name;    ///< of a built-in target or a file; empty: all as a list
  bool check = false;  ///< its contradictions
};
int targets_command(const TargetsOptions& options, ToolContext& context);
struct TemplatesOptions {
  std::string name;    ///< one template in detail; empty: all as a list
  std::string file;    ///< of templates that come before the built-in ones
  bool rules = false;  ///< the rules of legality instead
};
int templates_command(const TemplatesOptions& options, ToolContext& context);
int ops_command(ToolContext& context);

/// Parses arguments (without the program's name) and runs the command. Faults of ours are reported with exit code 3, an
/// output stream that takes no more with 1.
int run_tool(const std::vector<std::string>& arguments, ToolContext& context);

}  // namespace stowage
