// SPDX-License-Identifier: Apache-2.0
#include "emitter/emulation/host_compiler.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "core/parallel.h"
#include "emitter/process/process.h"

namespace stowage {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

std::string identity_of(const std::string& program) {
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::canonical(program, ignored);
  return fmt::format("{} {} {}", path.string(), std::filesystem::file_size(path, ignored),
                     std::filesystem::last_write_time(path, ignored).time_since_epoch().count());
}

std::optional<HostCompiler> compiler_of(const std::string& text) {
  HostCompiler compiler;
  compiler.command = words(text);
  if (compiler.command.empty()) return std::nullopt;
  for (const std::string& word : compiler.command) {
    const std::string program = find_program(word);
    if (program.empty() && &word == &compiler.command.front()) return std::nullopt;
    // Of "ccache gcc -m64" the programs count by what they are, the flags by their text.
    compiler.identity += (program.empty() ? word : identity_of(program)) + "\n";
  }
  return compiler;
}

int host_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

constexpr std::size_t longest_compiler_output = 4000;

void report_call(const CompilerCall& call, const ProcessResult& result, const HostCompiler& compiler,
                 Diagnostics& diagnostics) {
  const bool failed = !result.started || result.exit_code != 0;
  if (!failed && result.output.empty()) return;
  Diagnostic diagnostic;
  diagnostic.severity = failed ? Severity::error : Severity::warning;
  diagnostic.code = failed ? "c-compilation-failed" : "c-compiler-warning";
  diagnostic.location.file = call.what;
  if (!result.started) {
    diagnostic.message = fmt::format("the C compiler '{}' could not be started", compiler.command.front());
  } else if (result.signal != 0) {
    diagnostic.message = fmt::format("the C compiler was ended by signal {}", result.signal);
  } else {
    diagnostic.message = failed ? "the C compiler refused the emitted source" : "the C compiler warned";
  }
  std::istringstream lines(result.output.substr(0, longest_compiler_output));
  for (std::string line; std::getline(lines, line);) diagnostic.notes.push_back(line);
  diagnostics.add(std::move(diagnostic));
}

}  // namespace

Result<HostCompiler> find_host_compiler(const std::string& wanted, Diagnostics& diagnostics) {
  if (!wanted.empty()) {
    if (auto compiler = compiler_of(wanted)) return *compiler;
    diagnostics.error("no-c-compiler", {}, fmt::format("the C compiler '{}' was not found", wanted),
                      "install gcc or clang, or name another compiler");
    return Failed{};
  }
  if (const char* variable = std::getenv("CC"); variable != nullptr && !words(variable).empty()) {
    if (auto compiler = compiler_of(variable)) return *compiler;
    diagnostics.error("no-c-compiler", {}, fmt::format("the C compiler '{}' that CC names was not found", variable),
                      "let CC name one that is installed, or unset it");
    return Failed{};
  }
  for (const std::string& name : {std::string("cc"), std::string("gcc"), std::string("clang")}) {
    if (auto compiler = compiler_of(name)) return *compiler;
  }
  diagnostics.error("no-c-compiler", {}, "emulation needs a C compiler and found none (cc, gcc, clang)",
                    "install one, for instance with: apt-get install gcc");
  return Failed{};
}

bool run_compiler(const HostCompiler& compiler, const std::vector<CompilerCall>& calls,
                  const std::filesystem::path& folder, Diagnostics& diagnostics, const std::stop_token& stop) {
  std::vector<ProcessResult> results(calls.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    while (!failed && !stop.stop_requested()) {
      const std::size_t i = next.fetch_add(1);
      if (i >= calls.size()) return;
      std::vector<std::string> command = compiler.command;
      command.insert(command.end(), calls[i].arguments.begin(), calls[i].arguments.end());
      results[i] = run_process(command, folder, {"LC_ALL=C", "TMPDIR=" + folder.string()}, stop);
      if (results[i].exit_code != 0) failed = true;
    }
  };
  run_on_threads(std::min(calls.size(), static_cast<std::size_t>(host_cores())), work);
  if (stop.stop_requested()) return false;
  const std::size_t tried = std::min(next.load(), calls.size());
  for (std::size_t i = 0; i < tried; ++i) report_call(calls[i], results[i], compiler, diagnostics);
  return !failed;
}

}  // namespace stowage
