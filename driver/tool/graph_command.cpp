// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "core/quoting.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"
#include "emitter/pictures/draw_graph.h"
#include "emitter/pictures/graph_picture.h"

namespace stowage {

namespace {

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Fails after a reported error.
Result<DotGraph> picture_of(const Compilation& compilation, const std::string& view, Diagnostics& diagnostics) {
  const Graph& graph = compilation.program.fused.graph;
  if (view == "graph") return graph_picture(graph);
  if (view == "fused") return fused_picture(compilation.program);
  if (!compilation.fusion.graphs.empty()) return strategy_picture(graph, compilation.fusion);
  diagnostics.error("no-strategy-graph", {},
                    fmt::format("fusion '{}' searched no graph that could be drawn", compilation.program.fusion),
                    "compile with --fusion dnnvm or --fusion exact");
  return Failed{};
}

/// What the file's name asks for; "" after a reported error.
std::string format_of(const std::string& file, Diagnostics& diagnostics) {
  std::string format = std::filesystem::path(file).extension().string();
  if (!format.empty()) format.erase(0, 1);
  std::transform(format.begin(), format.end(), format.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* const known : {"svg", "png", "pdf", "dot"}) {
    if (format == known) return format;
  }
  SourceLocation location;
  location.file = file;
  diagnostics.error("unknown-format", location, fmt::format("'.{}' is no picture that can be drawn", format),
                    "choose .svg, .png, .pdf, or .dot for the text that Graphviz reads");
  return {};
}

}  // namespace

int graph_command(const GraphOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const std::string format = format_of(options.output, diagnostics);
  const std::vector<std::filesystem::path> read = {options.folder};
  if (format.empty() || !may_write_file(options.output, options.force, read, diagnostics)) {
    return failed(context, diagnostics);
  }
  const auto compilation = read_compilation(options.folder, diagnostics, {}, context.backends);
  if (!compilation) return failed(context, diagnostics);

  const std::stop_token stop = context.interrupt.token();
  const auto graph = picture_of(*compilation, options.view, diagnostics);
  if (!graph) return failed(context, diagnostics);
  const std::string origin = reproducer_line(*compilation);
  auto picture = [&]() -> Result<std::string> {
    if (format == "dot") return fmt::format("// {}\n{}", on_one_line(terminal_text(origin)), graph->text());
    const ProgressLine progress(context);
    return draw_graph(*graph, format, layout_time_of(options.layout_seconds), diagnostics, stop);
  }();
  if (!picture) return failed(context, diagnostics);
  if (format == "svg") picture = described_svg(*picture, origin);
  {
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    const Interrupt::Hold hold = context.interrupt.hold();
    if (stop.stop_requested() || !write_file_whole(options.output, *picture, existing, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  print_warnings(context, diagnostics);
  if (context.json) {
    context.out << dumped(Json{{"command", compilation->command_line},
                               {"network", compilation->network},
                               {"view", options.view},
                               {"file", options.output},
                               {"bytes", picture->size()},
                               {"diagnostics", to_json(diagnostics)}},
                          1);
    return exit_done;
  }
  context.out << fmt::format("written to {}\n", options.output);
  return exit_done;
}

}  // namespace stowage
