// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/page/report_page.h"
#include "driver/report/details.h"
#include "driver/report/plan_tables.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

bool is_csv(const std::string& file) {
  std::string ending = std::filesystem::path(file).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".csv";
}

/// The page tells about loop nests, which other families than Athread have not.
bool has_page(const Compilation& compilation, const std::string& folder, Diagnostics& diagnostics) {
  for (const ProgramStep& step : compilation.program.steps) {
    if (!step.kind().is_kernel || step.plan() != nullptr) continue;
    SourceLocation location;
    location.file = folder;
    diagnostics.error("no-page", location,
                      fmt::format("the page shows loop nests, which plans of family '{}' have not",
                                  compilation.program.target.family),
                      "read report.md in the folder, or name a file that ends in .csv");
    return false;
  }
  return true;
}

}  // namespace

int report_command(const ReportOptions& options, ToolContext& context) {
  const bool is_table = is_csv(options.output);
  if (!is_table && options.table) {
    return usage_error(context, "report", "--table has no meaning without a file that ends in .csv",
                       "the page holds all tables");
  }
  if (is_table && options.layout_seconds) {
    return usage_error(context, "report", "--layout-timeout has no meaning for a .csv", "the page holds the pictures");
  }
  if (is_table && options.details) {
    return usage_error(context, "report", "--details has no meaning for a .csv", "a table has a row for each of all");
  }
  Diagnostics diagnostics;
  const std::vector<std::filesystem::path> read = {options.folder};
  if (!may_write_file(options.output, options.force, read, diagnostics)) return failed(context, diagnostics);
  const std::stop_token stop = context.interrupt.token();
  const auto compilation = read_compilation(options.folder, diagnostics, stop, context.backends);
  if (!compilation || (!is_table && !has_page(*compilation, options.folder, diagnostics))) {
    return failed(context, diagnostics);
  }

  std::vector<PagePicture> pictures;
  if (!is_table) {
    const auto layout_time = layout_time_of(options.layout_seconds.value_or(usual_layout_seconds));
    pictures = page_pictures(*compilation, layout_time, diagnostics, stop);
  }
  if (stop.stop_requested()) return failed(context, diagnostics);
  const std::size_t details = options.details ? parse_details(*options.details).value() : usual_details;
  const std::size_t fused_operators = compilation->program.steps.size();
  const std::string page = is_table ? plan_table_csv(compilation->program, options.table.value_or("groups")).value()
                                    : report_page(*compilation, pictures, details, stop);
  {
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    const Interrupt::Hold hold = context.interrupt.hold();
    if (stop.stop_requested() || !write_file_whole(options.output, page, existing, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  print_warnings(context, diagnostics);
  if (context.json) {
    Json json = {{"command", compilation->command_line},
                 {"network", compilation->network},
                 {"file", options.output},
                 {"bytes", page.size()}};
    if (!is_table) {
      json["fused_operators"] = fused_operators;
      json["in_full"] = std::min(details, fused_operators);
    }
    json["not_drawn"] = Json::array();
    for (const PagePicture& picture : pictures) {
      if (picture.svg.empty()) json["not_drawn"].push_back({{"picture", picture.title}, {"why", picture.missing}});
    }
    json["diagnostics"] = to_json(diagnostics);
    context.out << dumped(json, 1);
    return exit_done;
  }
  for (const PagePicture& picture : pictures) {
    if (picture.svg.empty()) context.err << fmt::format("note: {}: {}\n", picture.title, picture.missing);
  }
  if (!is_table && fused_operators > details) {
    context.err << fmt::format("note: of {} fused operators the {} {} told in full; --details all tells all\n",
                               fused_operators, slowest_text(details), for_number(details, "is", "are"));
  }
  context.out << fmt::format("written to {}\n", options.output);
  return exit_done;
}

}  // namespace stowage
