// SPDX-License-Identifier: Apache-2.0
// Jobs of a batch in processes of their own: the results are those of one process, and a job that dies fails alone.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/text/memory_size.h"
#include "driver/tool/batch_progress.h"
#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

std::vector<nlohmann::json> results_in(const fs::path& folder) {
  std::vector<nlohmann::json> rows;
  std::istringstream stream(read_text(folder / "results.jsonl"));
  for (std::string line; std::getline(stream, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

/// All that a batch wrote but the journal, which names the build: the test's own program is another one.
std::vector<std::pair<std::string, std::string>> outputs_in(const fs::path& folder) {
  auto files = files_below(folder);
  std::erase_if(files, [](const auto& file) { return file.first == ".batch.jsonl"; });
  return files;
}

constexpr const char* several_jobs = R"([defaults]
planner = "swtvm"

[[job]]
name = "bad"
model = "missing.onnx"

[[job]]
name = "checked"
network = "vector"
check = true

[[job]]
name = "wrong"
network = "lenet"
[job.schedule.nobody]
buffer = { x = 1 }

[[job]]
name = "l"
network = "lenet"
[job.sweep]
fusion = ["none", "greedy"]
"target.ldm.bytes" = [2048, 32768]
)";

TEST_CASE("jobs in processes of their own give the bytes that jobs in one process give") {
  const Workplace here;
  write_text("jobs.toml", several_jobs);
  const ToolRun one = run_stowage({"batch", "jobs.toml", "-o", "one"});
  CHECK(one.code == 1);
  const auto expected = outputs_in("one");
  CHECK(expected.size() > 20);
  for (const std::string jobs : {"1", "3"}) {
    INFO("-j " << jobs);
    CHECK(wait_for(start({"batch", "jobs.toml", "-o", "many", "-j", jobs})) == 1);
    CHECK((outputs_in("many") == expected));
    const std::string err = read_text("err.txt");
    for (const std::string part : {"[file-error]", "[unknown-group]", "jobs.toml:14:"}) {
      INFO(part << " in:\n" << err << "\nand as one process says it:\n" << one.err);
      CHECK((err.find(part) == std::string::npos) == (one.err.find(part) == std::string::npos));
    }
    if (jobs == "1") CHECK(err == one.err);
    fs::remove_all("many");
  }
}

/// Children of a process, of whichever of its threads.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  const fs::path tasks = fs::path("/proc") / std::to_string(process) / "task";
  for (fs::directory_iterator task(tasks, gone), end; !gone && task != end; task.increment(gone)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// A job that takes long enough to be met, and one behind it.
constexpr const char* long_and_short = R"([[job]]
name = "long"
network = "resnet50"

[[job]]
name = "short"
network = "vector"
)";

/// Ends the process of the first job by a signal.
int end_first_job(int signal) {
  const pid_t batch = start({"batch", "jobs.toml", "-o", "out"});
  // It is at its job when the network is there.
  REQUIRE(comes_true([&] { return fs::exists("out/networks/resnet50-batch1-seed1.onnx"); }));
  const std::vector<pid_t> children = children_of(batch);
  REQUIRE(children.size() == 1);
  ::kill(children.front(), signal);
  return wait_for(batch);
}

TEST_CASE("a job whose process is killed fails alone, and says what happened") {
  const Workplace here;
  const int alone = working_in(".");  // this test
  write_text("jobs.toml", long_and_short);
  CHECK(end_first_job(SIGKILL) == 1);
  const auto rows = results_in("out");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("status") == "failed");
  CHECK(rows[0].at("summary") == "the job's process was ended by signal 9 (Killed)");
  const auto& told = rows[0].at("diagnostics").at(0);
  CHECK(told.at("code") == "job-died");
  CHECK(told.at("help").get<std::string>().find("--memory-per-job") != std::string::npos);
  CHECK(rows[1].at("status") == "done");
  CHECK(fs::exists("out/short/plan.json"));
  for (const auto& entry : fs::directory_iterator("out")) {
    INFO(entry.path());
    CHECK(entry.path().filename().string().find(".long") == std::string::npos);
  }
  CHECK(comes_true([&] { return working_in(".") == alone; }));
  // It is not run again unless that is asked for.
  CHECK(wait_for(start({"batch", "jobs.toml", "-o", "out"})) == 1);
  CHECK(results_in("out")[0].at("status") == "failed");
}

TEST_CASE("a crash of a job is a fault, and a signal of somebody else is none") {
  const Workplace here;
  write_text("jobs.toml", long_and_short);
  CHECK(end_first_job(SIGABRT) == 3);  // not SIGSEGV, which the address sanitizer catches
  CHECK(results_in("out")[0].at("status") == "fault");
  CHECK(results_in("out")[0].at("summary") == "the job's process was ended by signal 6 (Aborted)");
  CHECK(results_in("out")[1].at("status") == "done");
  fs::remove_all("out");
  CHECK(end_first_job(SIGXCPU) == 1);
  CHECK(results_in("out")[0].at("status") == "failed");
  CHECK(results_in("out")[1].at("status") == "done");
}

TEST_CASE("processes of jobs end with the batch, however it ends") {
  const Workplace here;
  const int alone = working_in(".");  // this test
  write_text("jobs.toml", long_and_short);
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    INFO("signal " << signal);
    const pid_t batch = start({"batch", "jobs.toml", "-o", "out", "-j", "2"});
    REQUIRE(comes_true([&] { return fs::exists("out/networks/resnet50-batch1-seed1.onnx"); }));
    CHECK(working_in(".") >= alone + 2);
    ::kill(batch, signal);
    CHECK(wait_for(batch) == (signal == SIGKILL ? -SIGKILL : 130));
    CHECK(comes_true([&] { return working_in(".") == alone; }));
    fs::remove_all("out");
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a job that needs more memory than it may have fails alone, with the limit and what helps") {
  const Workplace here;
  write_text("jobs.toml",
             "[defaults]\nfusion = \"none\"\nplanner = \"swtvm\"\n[[job]]\nname = \"small\"\nnetwork = \"vector\"\n"
             "[[job]]\nname = \"large\"\nnetwork = \"resnet50\"\n[[job]]\nname = \"after\"\nnetwork = \"lenet\"\n");
  std::string expected;
  for (const std::string jobs : {"1", "2"}) {
    CHECK(wait_for(start({"batch", "jobs.toml", "-o", "out", "-j", jobs, "--memory-per-job", "0.0625G"})) == 1);
    INFO(read_text("err.txt"));
    const auto rows = results_in("out");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].at("status") == "done");
    CHECK(rows[1].at("status") == "failed");
    CHECK(rows[1].at("summary") == "this needs more memory than the 64.00 MiB that a job may have");
    CHECK(rows[1].at("diagnostics").at(0).at("code") == "out-of-memory");
    CHECK(rows[2].at("status") == "done");
    if (expected.empty()) expected = read_text("out/results.jsonl");
    CHECK(read_text("out/results.jsonl") == expected);
    // With more memory, it is done.
    CHECK(wait_for(start({"batch", "jobs.toml", "-o", "out", "--memory-per-job", "4G", "--retry-failed"})) == 0);
    CHECK(results_in("out")[1].at("status") == "done");
    fs::remove_all("out");
  }
}
#endif

TEST_CASE("the program of jobs by itself is a usage error") {
  const ToolRun run = run_stowage({"batch-worker"});
  CHECK(run.code == 2);
  CHECK(run.err.find("error: 'batch-worker' is what 'stowage batch' starts to run its jobs [usage]") == 0);
}

TEST_CASE("sizes of memory") {
  std::string why_not;
  CHECK(parse_memory_size("512M", why_not) == std::int64_t{512} << 20);
  CHECK(parse_memory_size("1.5G", why_not) == std::int64_t{1536} << 20);
  CHECK(parse_memory_size("2GiB", why_not) == std::int64_t{2} << 30);
  CHECK(parse_memory_size("65536K", why_not) == std::int64_t{64} << 20);
  CHECK(parse_memory_size("1T", why_not) == std::int64_t{1} << 40);
  CHECK(why_not.empty());
  for (const std::string wrong : {"", "G", "512", "1e3M", "-1G", "0G", "nanG", "infG", "1 G", "1GB", "1g", "1GiBs"}) {
    why_not.clear();
    CHECK_FALSE(parse_memory_size(wrong, why_not));
    CHECK(why_not ==
          "'" + wrong + "' is no size of memory: a number with K, M, G or T was wanted, for instance 512M or 1.5G");
  }
  for (const std::string wrong : {"31M", "1025T", "99999999999999999999T"}) {
    CHECK_FALSE(parse_memory_size(wrong, why_not));
    CHECK(why_not == "'" + wrong + "' is no memory that a job can have: 32M to 1024T was wanted");
  }
}

TEST_CASE("how far a batch is") {
  CHECK(pace_text({.jobs = 40}) == "0 of 40 jobs");
  CHECK(pace_text({.jobs = 40, .ended = 10, .failed = 2, .seconds = 5, .work = 900, .work_done = 300}) ==
        "10 of 40 jobs, 2 failed, 2.0 jobs/s, 10 s left");
  CHECK(pace_text({.jobs = 2000, .ended = 1000, .seconds = 10, .work = 4, .work_done = 1}) ==
        "1 000 of 2 000 jobs, 100 jobs/s, 30 s left");
  CHECK(pace_text({.jobs = 3, .ended = 1, .seconds = 600, .work = 1000, .work_done = 50}) ==
        "1 of 3 jobs, 6.0 jobs/h, 3 h 10 min left");
  CHECK(pace_text({.jobs = 3, .ended = 1, .seconds = 40, .work = 1000, .work_done = 100}) ==
        "1 of 3 jobs, 1.5 jobs/min, 6 min left");
  CHECK(pace_text({.jobs = 1, .ended = 1, .failed = 1, .seconds = 40, .work = 7, .work_done = 7}) ==
        "1 of 1 job, 1 failed");
}

}  // namespace
}  // namespace stowage::test
