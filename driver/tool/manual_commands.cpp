// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/manual_commands.h"

#include <algorithm>
#include <ostream>

#include "driver/json/json.h"
#include "driver/manual/completions.h"
#include "driver/manual/manual_page.h"
#include "driver/session/session.h"
#include "driver/tool/command_outline.h"

namespace stowage {

int completions_command(const CompletionsOptions& options, ToolContext& context) {
  const std::vector<CompletionRow> rows = completion_table();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const CompletionRow& r) { return r.shell == options.shell; });
  check(row != rows.end(), "a shell was let through that there is no completion for");
  const std::string script = row->write(outline_of_tool());
  if (context.json) {
    context.out << dumped(Json{{"stowage", stowage_version()}, {"shell", row->shell}, {"script", script}}, 1);
  } else {
    context.out << script;
  }
  return exit_done;
}

int man_command(const ManOptions& options, ToolContext& context) {
  const std::vector<ManualPage> pages = manual_pages(outline_of_tool());
  if (context.json && options.command.empty()) {
    Json array = Json::array();
    for (const ManualPage& page : pages) array.push_back({{"file", page.file}, {"text", page.text}});
    context.out << dumped(Json{{"stowage", stowage_version()}, {"pages", array}}, 1);
    return exit_done;
  }
  const std::string file = options.command.empty() ? "stowage.1" : "stowage-" + options.command + ".1";
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const ManualPage& p) { return p.file == file; });
  check(page != pages.end(), "a command was let through that has no page");
  if (context.json) {
    context.out << dumped(
        Json{{"stowage", stowage_version()}, {"pages", Json::array({{{"file", page->file}, {"text", page->text}}})}},
        1);
  } else {
    context.out << page->text;
  }
  return exit_done;
}

}  // namespace stowage
