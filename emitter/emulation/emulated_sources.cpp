// SPDX-License-Identifier: Apache-2.0
#include "emitter/emulation/emulated_sources.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "core/file_writer.h"
#include "core/read_whole.h"
#include "core/temporary_folder.h"
#include "emitter/emulation/emulation_protocol.h"
#include "emitter/emulation/emulation_runtime.h"
#include "emitter/emulation/host_compiler.h"
#include "emitter/process/confinement.h"
#include "emitter/process/process.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  fs::create_directories(path.parent_path());
  write_in_place(path, bytes);
}

void write_text(const fs::path& path, const std::string& text) { write_file(path, std::as_bytes(std::span(text))); }

std::vector<std::byte> read_bytes(std::ifstream& stream, std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  stream.read(reinterpret_cast<char*>(bytes.data()), size);
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

/// Options that change what objects mean; the runtime and the program must share them.
std::vector<std::string> common_flags(const EmulationJob& job) {
  std::vector<std::string> flags = {"-DSW_EMULATION", "-pthread"};
  if (job.options.sanitize) {
    flags.insert(flags.end(), {"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"});
  }
  return flags;
}

std::vector<std::string> source_flags(const EmulationJob& job, const std::string& path) {
  std::vector<std::string> flags = {"-std=gnu99", "-Wall", "-Wextra"};
  if (job.options.sanitize) {
    flags.insert(flags.end(), {"-O1", "-g1"});
  } else if (path.ends_with(".s.c")) {
    flags.insert(flags.end(), {"-O3", "-march=native"});
  } else {
    flags.emplace_back("-O1");
  }
  return flags;
}

/// Compiles and links the sources in `folder`; the program is `folder`/program.
bool build(const EmulationJob& job, const fs::path& folder, Diagnostics& diagnostics, const std::stop_token& stop) {
  const auto compiler = find_host_compiler(job.options.compiler, diagnostics);
  if (!compiler) return false;
  const std::vector<std::string> common = common_flags(job);
  const auto runtime = provide_emulation_runtime(*compiler, common, diagnostics, stop);
  if (!runtime) return false;
  std::vector<CompilerCall> compile;
  CompilerCall link;
  link.what = "the program";
  link.arguments = common;
  for (const SourceText& source : job.sources) {
    write_text(folder / source.path, source.text);
    if (!source.path.ends_with(".c")) continue;
    CompilerCall call;
    call.what = source.path;
    call.arguments = source_flags(job, source.path);
    call.arguments.insert(call.arguments.end(), common.begin(), common.end());
    const std::string object = fmt::format("object_{}.o", compile.size());
    for (const std::string& argument :
         {"-I" + runtime->headers.string(), std::string("-c"), source.path, std::string("-o"), object})
      call.arguments.push_back(argument);
    compile.push_back(std::move(call));
    link.arguments.push_back(object);
  }
  // The largest first: the last one to finish should be a small one.
  std::stable_sort(compile.begin(), compile.end(), [&](const CompilerCall& a, const CompilerCall& b) {
    return fs::file_size(folder / a.what) > fs::file_size(folder / b.what);
  });
  if (!run_compiler(*compiler, compile, folder, diagnostics, stop)) return false;
  for (const fs::path& object : runtime->objects) link.arguments.push_back(object.string());
  for (const char* argument : {"-o", "program", "-lm"}) link.arguments.emplace_back(argument);
  return run_compiler(*compiler, {link}, folder, diagnostics, stop);
}

/// Text of a line, and the last comment at or before it, which in emitted code names the statement.
void quote_source(const EmulationJob& job, Diagnostic& diagnostic) {
  const auto source = std::find_if(job.sources.begin(), job.sources.end(),
                                   [&](const SourceText& s) { return s.path == diagnostic.location.file; });
  if (source == job.sources.end() || diagnostic.location.line < 1) return;
  std::string comment;
  std::size_t begin = 0;
  for (int line = 1; begin < source->text.size(); ++line) {
    const std::size_t end = std::min(source->text.find('\n', begin), source->text.size());
    const std::string text = source->text.substr(begin, end - begin);
    const std::size_t first = text.find_first_not_of(' ');
    if (line == diagnostic.location.line) {
      diagnostic.source_line = text;
      break;
    }
    if (first != std::string::npos && (text.compare(first, 2, "//") == 0 || text.compare(first, 2, "/*") == 0))
      comment = text.substr(first);
    begin = end + 1;
  }
  if (!comment.empty()) diagnostic.notes.push_back("statement: " + comment);
}

constexpr std::size_t longest_told_output = 4000;

void add_output(const ProcessResult& process, Diagnostic& diagnostic) {
  std::size_t begin = process.output.size() > longest_told_output ? process.output.size() - longest_told_output : 0;
  while (begin < process.output.size()) {
    const std::size_t end = std::min(process.output.find('\n', begin), process.output.size());
    diagnostic.notes.push_back(process.output.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// "k.s.c:12:5: runtime error: index 8 out of bounds …": the undefined-behaviour sanitizer has no other way to tell.
bool report_undefined_behaviour(const EmulationJob& job, const ProcessResult& process, Diagnostics& diagnostics) {
  static constexpr std::string_view marker = ": runtime error: ";
  const std::size_t at = process.output.find(marker);
  if (at == std::string::npos) return false;
  const std::size_t before = process.output.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(process.output.find('\n', at), process.output.size());
  const std::string place = process.output.substr(begin, at - begin);
  const std::size_t colon = place.find(':');
  Diagnostic diagnostic;
  diagnostic.code = "emulation-undefined-behaviour";
  diagnostic.location.file = place.substr(0, colon);
  if (colon != std::string::npos) diagnostic.location.line = std::atoi(place.c_str() + colon + 1);
  diagnostic.message = process.output.substr(at + marker.size(), end - at - marker.size());
  quote_source(job, diagnostic);
  diagnostics.add(std::move(diagnostic));
  return true;
}

std::string launch_text(const EmulationJob& job, std::optional<std::size_t> launch) {
  if (!launch || *launch >= job.launches.size()) return {};
  return fmt::format("in launch {}: {}", *launch, job.launches[*launch].name);
}

void report_problems(const EmulationJob& job, const EmulationReport& report, Diagnostics& diagnostics) {
  for (const EmulationProblem& problem : report.problems) {
    Diagnostic diagnostic;
    diagnostic.severity = problem.error ? Severity::error : Severity::warning;
    diagnostic.code = problem.code;
    diagnostic.location.file = problem.file;
    diagnostic.location.line = problem.line;
    if (problem.core) diagnostic.location.object = fmt::format("core {}", *problem.core);
    diagnostic.message = problem.text;
    const std::string launch = launch_text(job, problem.launch);
    if (!launch.empty()) diagnostic.notes.push_back(launch);
    quote_source(job, diagnostic);
    diagnostics.add(std::move(diagnostic));
  }
}

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

/// Several times what any emitted program needs.
std::int64_t memory_limit_of(const EmulationJob& job) {
  std::array<std::int64_t, 2> areas{};
  for (const EmulatedLaunch& launch : job.launches) {
    for (const EmulatedRange& range : launch.ranges) {
      std::int64_t& end = areas.at(static_cast<std::size_t>(range.area));
      end = std::max(end, range.offset + range.bytes);
    }
  }
  for (const EmulatedDump& dump : job.dumps) {
    std::int64_t& end = areas.at(static_cast<std::size_t>(dump.area));
    end = std::max(end, dump.offset + dump.bytes);
  }
  const std::int64_t workers = std::max<std::int64_t>(job.options.workers, std::thread::hardware_concurrency());
  // The allocator of the C library reserves addresses for each thread, and a fiber needs a stack and an LDM.
  return 4 * gibibyte + 4 * (areas[0] + areas[1]) + 256 * mebibyte * workers +
         2 * job.cores * (job.ldm_bytes + mebibyte);
}

/// A run that ended badly and said nothing through its result file.
void report_ending(const EmulationJob& job, const ProcessResult& process, Diagnostics& diagnostics) {
  if (process.out_of_time) {
    diagnostics.error("emulation-time-limit", {},
                      fmt::format("the emulated program had not ended after {:g} s and was stopped",
                                  std::chrono::duration<double>(job.options.time_limit).count()),
                      "give it longer with --time-limit SECONDS");
    return;
  }
  if (report_undefined_behaviour(job, process, diagnostics)) return;
  Diagnostic diagnostic;
  diagnostic.code = "emulation-failed";
  if (!process.started) {
    diagnostic.message = "the built program could not be started";
  } else if (process.signal != 0) {
    diagnostic.message = fmt::format("the emulated program was ended by signal {}", process.signal);
  } else {
    diagnostic.message = fmt::format("the emulated program ended with exit code {}", process.exit_code.value_or(-1));
  }
  if (!job.options.sanitize) {
    diagnostic.notes.push_back(fmt::format("its memory was limited to {:.1f} GiB",
                                           static_cast<double>(memory_limit_of(job)) / static_cast<double>(gibibyte)));
  }
  add_output(process, diagnostic);
  diagnostics.add(std::move(diagnostic));
}

bool is_of_job(const EmulationReport& report, const EmulationJob& job) {
  const auto is_launch = [&](const auto& line) {
    return line.launch >= 0 && line.launch < static_cast<int>(job.launches.size());
  };
  return report.ldm_peak_bytes.size() == job.launches.size() &&
         std::all_of(report.counts.begin(), report.counts.end(), is_launch) &&
         std::all_of(report.meetings.begin(), report.meetings.end(), is_launch);
}

bool read_dumps(const EmulationJob& job, const fs::path& folder, EmulationRun& run) {
  // The program appends in the order in which launches end.
  std::vector<std::size_t> order(job.dumps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return job.dumps[a].after_launch < job.dumps[b].after_launch; });
  run.dumps.resize(job.dumps.size());
  std::ifstream stream(folder / "dumps", std::ios::binary);
  for (const std::size_t i : order) {
    run.dumps[i] = read_bytes(stream, job.dumps[i].bytes);
    if (static_cast<std::int64_t>(run.dumps[i].size()) != job.dumps[i].bytes) return false;
  }
  return true;
}

Result<EmulationRun> run_in(const EmulationJob& job, const fs::path& folder, Diagnostics& diagnostics,
                            const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  if (!build(job, folder, diagnostics, stop)) return Failed{};
  EmulationRun run;
  run.build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const DataFile& file : job.data) write_file(folder / file.name, file.bytes());
  write_text(folder / "configuration", configuration_text(job, "report", "dumps"));
  const Confinement confinement(folder, memory_limit_of(job), job.options.sanitize);
  for (const std::string& gap : confinement.missing()) {
    diagnostics.warning("emulation-unconfined", {}, "this kernel does not keep the emulated program from " + gap);
  }
  const ProcessResult process = run_process({(folder / "program").string()}, folder,
                                            {"SWEMU_CONFIG=configuration", "ASAN_OPTIONS=detect_leaks=0"}, stop,
                                            job.options.time_limit, &confinement);
  if (process.stopped) return Failed{};
  const EmulationReport report = parse_emulation_report(read_whole(folder / "report"));
  report_problems(job, report, diagnostics);
  const bool refused = std::any_of(report.problems.begin(), report.problems.end(),
                                   [](const EmulationProblem& problem) { return problem.error; });
  if (process.exit_code != 0 || !report.complete) {
    if (!refused) report_ending(job, process, diagnostics);
    return Failed{};
  }
  if (refused || !is_of_job(report, job)) {
    if (!refused) diagnostics.error("emulation-failed", {}, "the emulated program did not launch the plan's kernels");
    return Failed{};
  }
  run.counts = report.counts;
  run.meetings = report.meetings;
  run.ldm_peak_bytes = report.ldm_peak_bytes;
  run.parameter_fetches = report.parameter_fetches;
  run.run_seconds = report.seconds;
  bool all_there = read_dumps(job, folder, run);
  for (const std::string& name : job.results) {
    std::ifstream stream(folder / name, std::ios::binary);
    std::error_code missing;
    const auto size = fs::file_size(folder / name, missing);
    all_there = all_there && !missing;
    run.results.push_back(missing ? std::vector<std::byte>{} : read_bytes(stream, static_cast<std::int64_t>(size)));
  }
  if (!all_there) {
    diagnostics.error("emulation-failed", {}, "the emulated program did not write all of its outputs");
    return Failed{};
  }
  return run;
}

}  // namespace

Result<EmulationRun> run_emulated_sources(const EmulationJob& job, Diagnostics& diagnostics,
                                          const std::stop_token& stop) {
  try {
    const TemporaryFolder folder;
    return run_in(job, folder.path(), diagnostics, stop);
  } catch (const fs::filesystem_error& error) {
    diagnostics.error("emulation-files", {error.path1().string()}, error.what(),
                      "check free space and rights of the temporary folder (TMPDIR)");
    return Failed{};
  }
}

}  // namespace stowage
