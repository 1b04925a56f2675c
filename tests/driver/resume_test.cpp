// SPDX-License-Identifier: Apache-2.0
// A batch that was killed or interrupted goes on where it was: nothing is done twice, lost or half written.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/driver/batch_that_goes_on.h"
#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a batch killed at any moment goes on, does nothing twice and loses nothing") {
  const Workplace here;
  const auto begun = std::chrono::steady_clock::now();
  const Files whole = whole_batch();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun;
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
  const Files whole = whole_batch();
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
  const Files whole = whole_batch();
  const auto times = done_plans();
  Arguments forced = to_out;
  forced.emplace_back("--force");
  kill_when(forced, [&] { return done_plans().size() < times.size(); });
  go_on(whole);
  for (const auto& [job, time] : done_plans()) CHECK(time != times.at(job));
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
  kill_when(first, [] { return fs::exists("jobs-out-1-of-2/shard.json"); });
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
