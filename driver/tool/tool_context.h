// SPDX-License-Identifier: Apache-2.0
// What every command is given and what all of them share: where to print, how to be stopped, how to fail.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/progress.h"
#include "driver/backend/backend.h"
#include "driver/text/shell_text.h"
#include "driver/tool/interrupt.h"

namespace stowage {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_fault = 3;
inline constexpr int exit_regressed = 4;  ///< of a batch beside a baseline
inline constexpr int exit_interrupted = 130;

/// Where a command prints and how it is stopped.
struct ToolContext {
  std::ostream& out;
  std::ostream& err;
  Interrupt& interrupt;
  std::ostream* terminal = nullptr;  ///< where progress is drawn; null: nobody watches
  bool json = false;                 ///< one object on the output stream
  Backends backends = built_in_backends();
  /// This tool as a program, which runs jobs of a batch in processes of their own; empty: all is done in this process.
  std::string program;
};

/// A line on the terminal that tells how far work is, removed at the end; silent where nobody watches.
class ProgressLine {
 public:
  explicit ProgressLine(const ToolContext& context);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  [[nodiscard]] ProgressSink sink();

 private:
  std::ostream* stream_ = nullptr;  ///< null: silent
  std::int64_t last_milliseconds_ = 0;
  bool shown_ = false;
};

/// Prints diagnostics to the error stream (with --json as an object too, if there are errors) and says the exit code;
/// usage where options have wrong values.
int failed(const ToolContext& context, const Diagnostics& diagnostics);
/// Prints what is wrong with the command line, whatever is in the files that it names; says the exit code.
int usage_error(const ToolContext& context, const std::string& command, const std::string& message,
                const std::string& remedy = {});
/// Prints warnings; those that are a matter of speed only are counted.
void print_warnings(const ToolContext& context, const Diagnostics& diagnostics);
/// Splits "NAME=VALUE" arguments of an option; one without '=' or given twice is reported.
std::map<std::string, std::string> named_values(const std::vector<std::string>& arguments, const std::string& option,
                                                Diagnostics& diagnostics);
/// Prints rows as a table, or as an array of objects under `key`. `command` is what the table says it came from.
int print_rows(ToolContext& context, const std::string& key, const std::vector<std::string>& columns,
               const std::vector<std::vector<std::string>>& rows, const std::string& command);

}  // namespace stowage
