// SPDX-License-Identifier: Apache-2.0
// What all commands share: printing diagnostics and progress, splitting arguments.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <ostream>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/json/json.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

std::int64_t milliseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// Mistakes on the command line, which are mistakes whatever the files hold. A missing file is none.
constexpr std::string_view usage_codes[] = {"wrong-option",   "unknown-fusion", "unknown-planner",
                                            "unknown-layout", "unknown-target", "unknown-setting"};

/// A --set that no target could have; whether a value goes with the others is for the target to say.
bool is_wrong_setting(const Diagnostic& diagnostic) {
  const bool of_relation = diagnostic.code == "no-ldm-left" || diagnostic.code == "too-many-cores";
  return diagnostic.location.file.starts_with("--set ") && !of_relation;
}

/// A range of values that options give.
bool is_wrong_range(const Diagnostic& diagnostic) { return diagnostic.location.file.starts_with("--from "); }

bool is_usage(const Diagnostic& diagnostic) {
  return is_wrong_setting(diagnostic) || is_wrong_range(diagnostic) ||
         std::find(std::begin(usage_codes), std::end(usage_codes), diagnostic.code) != std::end(usage_codes);
}

constexpr std::int64_t refresh_milliseconds = 100;

/// Nothing is wrong, and nobody has to do anything.
constexpr std::string_view note_codes[] = {"groups-left-out", "emulation-unconfined", "baseline-version",
                                           "baseline-jobs-new"};

bool is_note(const Diagnostic& diagnostic) {
  return std::find(std::begin(note_codes), std::end(note_codes), diagnostic.code) != std::end(note_codes);
}

/// A warning of the emulation that good plans lead to as well, often once a kernel.
constexpr std::string_view shared_line_code = "emulation-shared-line";

}  // namespace

ProgressLine::ProgressLine(const ToolContext& context) : stream_(context.terminal) {}

ProgressLine::~ProgressLine() {
  if (shown_) *stream_ << "\r\033[K" << std::flush;
}

ProgressSink ProgressLine::sink() {
  if (stream_ == nullptr) return {};
  return [this](const std::string& stage, std::size_t done, std::size_t total) {
    const std::int64_t now = milliseconds_now();
    if (now - last_milliseconds_ < refresh_milliseconds) return;
    last_milliseconds_ = now;
    shown_ = true;
    *stream_ << fmt::format("\r\033[K{} {}/{}", stage, done, total) << std::flush;
  };
}

void print_warnings(const ToolContext& context, const Diagnostics& diagnostics) {
  std::size_t shared_lines = 0;
  Diagnostics printed;
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (diagnostic.code == shared_line_code) {
      ++shared_lines;
    } else if (is_note(diagnostic)) {
      context.err << fmt::format("note: {} [{}]\n", diagnostic.message, diagnostic.code);
    } else {
      printed.add(diagnostic);
    }
  }
  context.err << format_diagnostics(printed);
  if (shared_lines == 0) return;
  context.err << fmt::format(
      "note: {} {} parts of one memory line from several cores, which may cost time on the machine "
      "(--json lists them)\n",
      counted(shared_lines, "DMA statement"), for_number(shared_lines, "puts", "put"));
}

int usage_error(const ToolContext& context, const std::string& command, const std::string& message,
                const std::string& remedy) {
  Diagnostics diagnostics;
  diagnostics.error("usage", {}, message, remedy);
  context.err << format_diagnostics(diagnostics)
              << fmt::format("see 'stowage {}--help'\n", command.empty() ? "" : command + " ");
  if (context.json) context.out << dumped(Json{{"diagnostics", to_json(diagnostics)}}, 1);
  return exit_usage;
}

int failed(const ToolContext& context, const Diagnostics& diagnostics) {
  context.err << format_diagnostics(diagnostics);
  if (diagnostics.has_errors()) {
    if (context.json) context.out << dumped(Json{{"diagnostics", to_json(diagnostics)}}, 1);
    const auto entries = diagnostics.entries();
    return std::any_of(entries.begin(), entries.end(), is_usage) ? exit_usage : exit_failed;
  }
  // Failed without an error: it was stopped.
  if (!context.interrupt.token().stop_requested()) fail_check("a command failed without saying why");
  context.err << "interrupted\n";
  return exit_interrupted;
}

std::map<std::string, std::string> named_values(const std::vector<std::string>& arguments, const std::string& option,
                                                Diagnostics& diagnostics) {
  std::map<std::string, std::string> values;
  for (const std::string& argument : arguments) {
    SourceLocation location;
    location.file = option + " " + argument;
    // A size holds no '=', so all before the last one is the dimension's name. A path may hold one.
    const auto equals = option == "--dim" ? argument.rfind('=') : argument.find('=');
    if (equals == std::string::npos || equals == 0) {
      diagnostics.error("wrong-option", location, "NAME=VALUE was wanted");
    } else if (!values.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second) {
      diagnostics.error("wrong-option", location,
                        fmt::format("'{}' is given for the second time", argument.substr(0, equals)));
    }
  }
  return values;
}

int print_rows(ToolContext& context, const std::string& key, const std::vector<std::string>& columns,
               const std::vector<std::vector<std::string>>& rows, const std::string& command) {
  if (context.json) {
    Json array = Json::array();
    for (const auto& row : rows) {
      Json object;
      for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i]] = row[i];
      array.push_back(std::move(object));
    }
    context.out << dumped(Json{{"stowage", stowage_version()}, {key, array}}, 1);
    return exit_done;
  }
  TextTable table(columns);
  for (const auto& row : rows) table.add(row);
  context.out << fmt::format("stowage {} | stowage {}\n\n", stowage_version(), command) << table.text();
  return exit_done;
}

}  // namespace stowage
