// SPDX-License-Identifier: Apache-2.0
// A batch that was killed or interrupted goes on where it was: nothing is done twice, lost or half written.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/disk_limit.h"
#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

using Arguments = std::vector<std::string>;

constexpr const char* several_jobs = R"([defaults]
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

const Arguments to_out = {"batch", "jobs.toml", "-o", "out", "-j", "2"};

/// When the plan of each job that the journal tells of as done was written.
std::map<std::string, fs::file_time_type> done_plans() {
  std::map<std::string, fs::file_time_type> times;
  std::error_code failure;
  if (!fs::exists("out/.batch.jsonl", failure)) return times;
  std::istringstream lines(read_text("out/.batch.jsonl"));
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("begin")) times.erase(json.at("begin").get<std::string>());
    if (!json.contains("end")) continue;
    const std::string job = json.at("end");
    if (fs::exists("out/" + job)) times[job] = fs::last_write_time("out/" + job + "/plan.json");
  }
  return times;
}

/// How many jobs the journal tells of as having come to their end, well or not.
std::size_t ended_jobs() {
  std::set<std::string> ended;
  std::error_code failure;
  if (!fs::exists("out/.batch.jsonl", failure)) return 0;
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
void go_on(const std::vector<std::pair<std::string, std::string>>& whole) {
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

TEST_CASE("a batch killed at any moment goes on, does nothing twice and loses nothing") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(wait_for(start(to_out)) == 1);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun;
  const auto whole = files_below("out");
  const auto moments = static_cast<int>(number_from("STOWAGE_MOMENTS", 10));
  for (int moment = 1; moment <= moments; ++moment) {
    const int milliseconds = static_cast<int>(time.count() * moment / moments);
    INFO("killed after " << milliseconds << " ms");
    fs::remove_all("out");
    // Twice, so that what goes on is killed as well.
    for (const int after : {milliseconds, milliseconds / 2}) {
      const pid_t child = start(to_out);
      sleep_milliseconds(after);
      ::kill(child, SIGKILL);
      wait_for(child);
    }
    go_on(whole);
  }
}

TEST_CASE("an interrupted batch has finished nothing by half, and goes on") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  for (const int milliseconds : {60, 150, 300}) {
    INFO(milliseconds);
    fs::remove_all("out");
    const pid_t child = start(to_out);
    sleep_milliseconds(milliseconds);
    ::kill(child, SIGINT);
    const int code = wait_for(child);
    CHECK((code == 130 || code == 1 || code == -SIGINT));
    go_on(whole);
  }
}

TEST_CASE("a batch that is done stays as it is, and force does everything anew") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  const ToolRun first = run_stowage(to_out);
  const auto whole = files_below("out");
  const auto times = done_plans();
  const ToolRun again = run_stowage(to_out);
  CHECK(again.code == 1);
  CHECK(again.out == first.out);
  CHECK(again.err ==
        "note: of 8 jobs 8 were run before and are not run again; --retry-failed would run the 1 job that failed "
        "[jobs-kept]\n");
  CHECK((files_below("out") == whole));
  CHECK((done_plans() == times));

  Arguments forced = to_out;
  forced.emplace_back("--force");
  CHECK(run_stowage(forced).code == 1);
  CHECK((files_below("out") == whole));
  for (const auto& [job, time] : done_plans()) CHECK(time != times.at(job));
  CHECK(run_stowage({"batch", "jobs.toml", "--force", "--retry-failed"}).code == 2);
}

TEST_CASE("jobs that failed are run again when that is asked for, or when they are others now") {
  const Workplace here;
  write_text("jobs.toml",
             "[defaults]\nplanner = \"swtvm\"\n[[job]]\nname = \"a\"\nnetwork = \"vector\"\ncheck = true\n"
             "[[job]]\nname = \"b\"\nmodel = \"later.onnx\"\n");
  const char* const before = std::getenv("CC");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("CC", "nonsense", 1);
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 1);
  before != nullptr ? ::setenv("CC", kept.c_str(), 1) : ::unsetenv("CC");
  const ToolRun same = run_stowage({"batch", "jobs.toml", "-o", "out"});
  CHECK(same.code == 1);
  CHECK_THAT(same.err, Catch::Contains("--retry-failed would run the 2 jobs that failed"));
  const ToolRun retried = run_stowage({"batch", "jobs.toml", "-o", "out", "--retry-failed"});
  CHECK(retried.code == 1);
  CHECK_THAT(retried.out, Catch::Contains("| a   | done") && Catch::Contains("| b   | failed"));
  // The model has come.
  REQUIRE(run_stowage({"network", "vector", "-o", "later.onnx"}).code == 0);
  const ToolRun now = run_stowage({"batch", "jobs.toml", "-o", "out"});
  CHECK(now.code == 0);
  CHECK_THAT(now.err, Catch::StartsWith("note: of 2 jobs 1 was run before and is not run again [jobs-kept]"));
}

TEST_CASE("a job that is done and has other keys or files now is not run over unasked") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  const std::string text = "[[job]]\nname = \"a\"\nmodel = \"v.onnx\"\n";
  write_text("jobs.toml", text);
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  const auto whole = files_below("out");
  const auto refused = [&] {
    const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
    CHECK(run.code == 1);
    CHECK(run.err ==
          "out: error: holds results of 1 job that had other keys or files then, or that another build of Stowage ran: "
          "'a' [job-changed]\n  help: give --force to do everything anew, or choose another folder\n");
    CHECK((files_below("out") == whole));
  };
  write_text("jobs.toml", text + "fusion = \"none\"\n");
  refused();
  write_text("jobs.toml", text);
  REQUIRE(run_stowage({"network", "vector", "--batch", "2", "-o", "v.onnx", "--force"}).code == 0);
  refused();
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out", "--force"}).code == 0);
  // A job that was not there before is run; what is done stays.
  write_text("jobs.toml", text + "[[job]]\nname = \"b\"\nnetwork = \"vector\"\n");
  const auto plan = fs::last_write_time("out/a/plan.json");
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  CHECK(fs::last_write_time("out/a/plan.json") == plan);
  CHECK(fs::exists("out/b/plan.json"));
  // So is one whose plan was removed.
  fs::remove_all("out/b");
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  CHECK(fs::last_write_time("out/a/plan.json") == plan);
  CHECK(fs::exists("out/b/plan.json"));
}

TEST_CASE("what others put where a batch goes on stays") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(run_stowage(to_out).code == 1);
  const auto refused = [&](const std::string& why) {
    const auto before = files_below("out");
    const ToolRun run = run_stowage(to_out);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::Contains(why));
    CHECK((files_below("out") == before));
  };
  const std::string results = read_text("out/results.jsonl");
  write_text("out/results.jsonl", results + "precious");
  refused("out/results.jsonl: error: the file exists already [output-exists]");
  write_text("out/results.jsonl", results);
  // A folder of the batch that it has to make again, with something of somebody's in it.
  fs::remove("out/checked/.stowage");
  refused("out/checked: error: holds what Stowage did not write");
  fs::remove_all("out/checked");
  CHECK(run_stowage(to_out).code == 1);
  // The results of one job alone do not take the place of all.
  refused("");
  const ToolRun only = run_stowage({"batch", "jobs.toml", "-o", "out", "--only", "checked"});
  CHECK_THAT(only.err, Catch::Contains("out/results.jsonl: error: the file exists already [output-exists]"));
  CHECK(read_text("out/results.jsonl") == results);
  // Nor do those of another batch, for which the folder is another's.
  write_text("other.toml", "[[job]]\nname = \"other\"\nnetwork = \"vector\"\n");
  const auto whole = files_below("out");
  CHECK_THAT(run_stowage({"batch", "other.toml", "-o", "out"}).err,
             Catch::Contains("out/results.jsonl: error: the file exists already [output-exists]"));
  CHECK((files_below("out") == whole));
  // Of a folder without the list nothing is known.
  fs::remove("out/.batch.jsonl");
  refused("out/checked: error: the output folder exists already [output-exists]");
}

TEST_CASE("a forced batch that was killed goes on without force") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  const auto times = done_plans();
  Arguments forced = to_out;
  forced.emplace_back("--force");
  const pid_t child = start(forced);
  REQUIRE(comes_true([&] { return done_plans().size() < times.size(); }));
  ::kill(child, SIGKILL);
  wait_for(child);
  go_on(whole);
  for (const auto& [job, time] : done_plans()) CHECK(time != times.at(job));
}

TEST_CASE("after a power failure only what was on the disk counts as done") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  std::istringstream journal(read_text("out/.batch.jsonl"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(journal, line);) lines.push_back(line + "\n");
  // As a batch leaves it that was killed at its end, with four jobs on the disk for certain, or none.
  const auto killed = [&](const std::string& boot, bool synced) {
    std::string text = lines.front() + "{\"boot\":\"" + boot + "\"}\n";
    for (std::size_t i = 1; i < lines.size(); ++i) {
      text += lines[i];
      if (synced && i == 8) text += "{\"synced\":" + std::to_string(text.size()) + "}\n";
    }
    write_text("out/.batch.jsonl", text);
    CHECK(wait_for(start(to_out)) == 1);
    CHECK((files_below("out") == whole));
    const std::string told = read_text("err.txt");
    return told.find("note: of 8 jobs ") == 0 ? told.at(std::string("note: of 8 jobs ").size()) : '0';
  };
  std::string boot = read_text("/proc/sys/kernel/random/boot_id");
  boot.pop_back();
  CHECK(killed(boot, false) == '8');
  CHECK(killed("another", true) == '4');
  CHECK(killed("another", false) == '0');
}

TEST_CASE("results of a killed batch are on the disk when the next one goes on, whose power failure loses nothing") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  std::string boot = read_text("/proc/sys/kernel/random/boot_id");
  boot.pop_back();
  std::istringstream journal(read_text("out/.batch.jsonl"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(journal, line);) lines.push_back(line + "\n");
  // Killed with two jobs done, of which none is certain to be on the disk.
  std::string text = lines.front() + "{\"boot\":\"" + boot + "\"}\n";
  for (std::size_t i = 1; i < 17; i += 2) text += lines[i];
  text += lines[2] + lines[4];
  write_text("out/.batch.jsonl", text);
  for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) fs::remove("out/" + file);
  // The second batch is killed as well, as soon as it has begun.
  const pid_t child = start(to_out);
  REQUIRE(comes_true([&] { return read_text("out/.batch.jsonl").find("\"synced\"") != std::string::npos; }));
  ::kill(child, SIGKILL);
  wait_for(child);
  std::string after = read_text("out/.batch.jsonl");
  REQUIRE(after.starts_with(text));
  const auto synced = after.find("{\"synced\":");
  CHECK(synced < after.find("{\"end\":", text.size()));
  // Then the machine was started again.
  after.resize(after.find('\n', synced) + 1);
  for (auto at = after.find(boot); at != std::string::npos; at = after.find(boot, at)) {
    after.replace(at, boot.size(), "another");
  }
  const auto line = after.find("{\"synced\":");
  after.resize(line);
  after += "{\"synced\":" + std::to_string(line) + "}\n";  // the place counts bytes
  write_text("out/.batch.jsonl", after);
  CHECK(wait_for(start(to_out)) == 1);
  CHECK(read_text("err.txt").find("note: of 8 jobs 2 were run before") == 0);
  CHECK((files_below("out") == whole));
}

TEST_CASE("a journal of the version before is read, and says so no longer when it gets lines of this one") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  const std::string journal = read_text("out/.batch.jsonl");
  const std::string version = "{\"format\":\"stowage-batch\",\"version\":";
  REQUIRE(journal.starts_with(version + "2}\n"));
  const std::string rest = journal.substr(journal.find('\n') + 1);
  write_text("out/.batch.jsonl", version + "1}\n" + rest);
  CHECK(wait_for(start(to_out)) == 1);
  CHECK((files_below("out") == whole));
  // One that goes on is killed before it tidies up.
  for (const std::string job : {"checked", "l-none-16384", "l-greedy-16384"}) fs::remove_all("out/" + job);
  write_text("out/.batch.jsonl", version + "1}\n" + rest);
  const pid_t child = start(to_out);
  REQUIRE(comes_true([&] { return read_text("out/.batch.jsonl").find("\"boot\"") != std::string::npos; }));
  ::kill(child, SIGKILL);
  wait_for(child);
  CHECK(read_text("out/.batch.jsonl").starts_with(version + "2}\n"));
  go_on(whole);
}

TEST_CASE("results are written though the list of what was done could not be") {
  const Workplace here;
  // Its lines take more room than any other file of the batch.
  write_text("jobs.toml",
             "[defaults]\nplanner = \"swtvm\"\nfusion = \"none\"\n[[job]]\nname = \"v\"\nnetwork = \"vector\"\n"
             "[job.sweep]\n\"target.ldm.bytes\" = { from = 8192, to = 9788, step = 4 }\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "whole"}).code == 0);
  const auto largest = std::max(
      {fs::file_size("whole/results.jsonl"), fs::file_size("whole/summary.html"), fs::file_size("whole/summary.csv")});
  const auto journal = fs::file_size("whole/.batch.jsonl");
  INFO(largest << " " << journal);
  REQUIRE(largest + 10'000 < journal);
  {
    const DiskLimit limit(largest + 5'000);
    const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::Contains("out/.batch.jsonl: error: cannot be written: ") &&
                            Catch::Contains("the results are written all the same"));
  }
  for (const std::string file : {"results.jsonl", "summary.csv"}) {
    CHECK(read_text("out/" + file) == read_text("whole/" + file));
  }
  CHECK(fs::exists("out/summary.html"));
}

TEST_CASE("a list of what a batch has done that was cut off is read, and a damaged one told") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(wait_for(start(to_out)) == 1);
  const auto whole = files_below("out");
  const std::string journal = read_text("out/.batch.jsonl");
  for (const std::size_t end : {std::size_t{0}, std::size_t{10}, journal.size() / 3, journal.size() / 2}) {
    INFO(end);
    // What was made after that is not known to be the batch's: it is removed by hand.
    if (end < 20) fs::remove_all("out");
    fs::create_directory("out");
    write_text("out/.batch.jsonl", journal.substr(0, end));
    for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) fs::remove("out/" + file);
    for (const auto& entry : fs::directory_iterator("out")) {
      if (entry.is_directory() &&
          journal.substr(0, end).find("\"begin\":\"" + entry.path().filename().string()) == std::string::npos) {
        fs::remove_all(entry.path());
      }
    }
    // It is killed once more: nothing of the cut line stands in front of the next one.
    const pid_t child = start(to_out);
    REQUIRE(
        comes_true([] { return read_text("out/.batch.jsonl").find("\"end\":\"l-greedy-16384") != std::string::npos; }));
    ::kill(child, SIGKILL);
    wait_for(child);
    CHECK(wait_for(start(to_out)) == 1);
    CHECK((files_below("out") == whole));
  }
  const auto damaged = [&](const std::string& text, const std::string& why) {
    write_text("out/.batch.jsonl", text);
    const ToolRun run = run_stowage(to_out);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::StartsWith("out/.batch.jsonl:" + why) &&
                            Catch::Contains("[damaged-journal]\n  help: give --force"));
    CHECK(read_text("out/.batch.jsonl") == text);
  };
  const auto second = journal.find('\n') + 1;
  damaged("{\"format\":\"stowage-batch\",\"version\":3}\n",
          "1: error: another version of Stowage wrote it, or it was edited");
  damaged(journal.substr(0, second) + "{\"begin\":\n", "2: error: it is not JSON");
  damaged(journal.substr(0, second) + "{\"begin\":3}\n", "2: error: ");
  damaged(journal.substr(0, second) + "[]\n", "2: error: ");
  damaged(journal.substr(0, second) + "{\"end\":\"x\",\"result\":\"{}\"}\n", "2: error: ");
  Arguments forced = to_out;
  forced.emplace_back("--force");
  CHECK(wait_for(start(forced)) == 1);
  CHECK((files_below("out") == whole));
}

TEST_CASE("a file of somebody's where a batch writes down what it has done stays, whatever is forced") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  fs::create_directory("out");
  for (const std::string text : {"precious", "precious\n", "{}\n"}) {
    write_text("out/.batch.jsonl", text);
    for (const Arguments& command : {to_out, Arguments{"batch", "jobs.toml", "-o", "out", "--force"}}) {
      const ToolRun run = run_stowage(command);
      CHECK(run.code == 1);
      CHECK(run.err ==
            "out/.batch.jsonl: error: stands where a batch writes down what it has done, and Stowage did not write it "
            "[foreign-folder]\n  help: choose another folder, or move or delete this yourself\n");
      CHECK(read_text("out/.batch.jsonl") == text);
      CHECK(files_below("out").size() == 1);
    }
  }
  fs::remove("out/.batch.jsonl");
  write_text("notes", "precious");
  fs::create_symlink("../notes", "out/.batch.jsonl");
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out", "--force"}).code == 1);
  CHECK(read_text("notes") == "precious");
}

TEST_CASE("of two batches in one folder the second fails and says why") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(run_stowage(to_out).code == 1);
  const auto whole = files_below("out");
  const int held = ::open("out/.batch.jsonl", O_RDWR);
  REQUIRE(held >= 0);
  REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
  for (const Arguments& command : {to_out, Arguments{"batch", "jobs.toml", "-o", "out", "--force"}}) {
    const ToolRun run = run_stowage(command);
    CHECK(run.code == 1);
    CHECK(run.err ==
          "out/.batch.jsonl: error: another process runs a batch in this folder [batch-running]\n"
          "  help: wait for it, or choose another folder\n");
    CHECK((files_below("out") == whole));
  }
  ::close(held);
  CHECK(run_stowage(to_out).code == 1);
}

TEST_CASE("a killed shard goes on, and is merged when it is done") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  REQUIRE(run_stowage({"batch", "jobs.toml"}).code == 1);
  const Arguments first = {"batch", "jobs.toml", "--shard", "1/2"};
  const Arguments merge = {"batch", "--merge", "jobs-out-1-of-2", "jobs-out-2-of-2", "-o", "merged"};
  REQUIRE(run_stowage({"batch", "jobs.toml", "--shard", "2/2"}).code <= 1);
  const pid_t child = start(first);
  REQUIRE(comes_true([] { return fs::exists("jobs-out-1-of-2/shard.json"); }));
  ::kill(child, SIGKILL);
  wait_for(child);
  const ToolRun too_early = run_stowage(merge);
  CHECK(too_early.code == 1);
  CHECK_THAT(too_early.err, Catch::Contains("[unfinished-shard]\n  help: wait for it, or run 'stowage batch jobs.toml "
                                            "--shard 1/2 -o jobs-out-1-of-2'"));
  CHECK(wait_for(start(first)) <= 1);
  CHECK(run_stowage(merge).code == 1);
  for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) {
    CHECK(read_text("merged/" + file) == read_text("jobs-out/" + file));
  }
}

}  // namespace
}  // namespace stowage::test
