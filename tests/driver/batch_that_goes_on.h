// SPDX-License-Identifier: Apache-2.0
// A batch of eight jobs, one of which fails, and what its journal tells of them.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {

using Arguments = std::vector<std::string>;

inline constexpr const char* several_jobs = R"([defaults]
planner = "swtvm"

[[job]]
name = "bad"
model = "missing.onnx"

[[job]]
name = "l"
network = "lenet"
[job.sweep]
fusion = ["none", "greedy"]
"target.ldm.bytes" = [16384, 32768, 65536]

[[job]]
name = "checked"
network = "vector"
check = true
)";

inline const Arguments to_out = {"batch", "jobs.toml", "-o", "out", "-j", "2"};

using Files = std::vector<std::pair<std::string, std::string>>;  ///< below a folder, as files_below has them

/// Runs the eight jobs to their end; the files that are there then.
inline Files whole_batch() {
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  return files_below("out");
}

/// Runs a command in a process of its own and kills it as soon as something holds.
template <class Holds>
void kill_when(const Arguments& command, const Holds& holds) {
  const pid_t child = start(command);
  REQUIRE(comes_true(holds));
  ::kill(child, SIGKILL);
  wait_for(child);
}

/// What the journal tells, each line with its end.
inline std::vector<std::string> journal_lines() {
  std::istringstream journal(read_text("out/.batch.jsonl"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(journal, line);) lines.push_back(line + "\n");
  return lines;
}

/// Of this start of the machine, as the journal has it.
inline std::string this_boot() {
  std::string boot = read_text("/proc/sys/kernel/random/boot_id");
  boot.pop_back();
  return boot;
}

/// When the plan of each job that the journal tells of as done was written.
inline std::map<std::string, std::filesystem::file_time_type> done_plans() {
  std::map<std::string, std::filesystem::file_time_type> times;
  std::error_code failure;
  if (!std::filesystem::exists("out/.batch.jsonl", failure)) return times;
  std::istringstream lines(read_text("out/.batch.jsonl"));
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("begin")) times.erase(json.at("begin").get<std::string>());
    if (!json.contains("end")) continue;
    const std::string job = json.at("end");
    if (std::filesystem::exists("out/" + job))
      times[job] = std::filesystem::last_write_time("out/" + job + "/plan.json");
  }
  return times;
}

/// How many jobs the journal tells of as having come to their end, well or not.
inline std::size_t ended_jobs() {
  std::set<std::string> ended;
  std::error_code failure;
  if (!std::filesystem::exists("out/.batch.jsonl", failure)) return 0;
  std::istringstream lines(read_text("out/.batch.jsonl"));
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("begin")) ended.erase(json.at("begin").get<std::string>());
    if (json.contains("end")) ended.insert(json.at("end").get<std::string>());
  }
  return ended.size();
}

/// Runs what is left: the same files as without a stop, and no plan made twice. In a process, as what was killed: the
/// test's own program is another build.
inline void go_on(const Files& whole) {
  const auto before = done_plans();
  const std::size_t kept = ended_jobs();
  const int code = wait_for(start(to_out));
  const std::string told = read_text("err.txt");
  INFO(told);
  // All the others are run, and no more than those.
  const std::string of_kept = "note: of 8 jobs " + std::to_string(kept) + (kept == 1 ? " was run" : " were run");
  CHECK((told.find(of_kept) != std::string::npos) == (kept > 0));
  CHECK(code == 1);  // one job fails
  CHECK((files_below("out") == whole));
  const auto after = done_plans();
  CHECK(after.size() == 7);
  for (const auto& [job, time] : before) {
    INFO(job);
    REQUIRE(after.contains(job));
    CHECK(after.at(job) == time);
  }
}

}  // namespace stowage::test
