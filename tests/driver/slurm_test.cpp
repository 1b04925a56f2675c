// SPDX-License-Identifier: Apache-2.0
// `stowage batch --slurm`: what the scripts say, which shards are left, and every mistake in [slurm].
#include <chrono>
#include <filesystem>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/file_lock.h"
#include "driver/batch/journal.h"
#include "driver/batch/slurm.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* four_jobs = R"([defaults]
planner = "swtvm"
fusion = "none"

[[job]]
name = "v"
network = "vector"
[job.sweep]
"target.ldm.bytes" = [8192, 16384, 32768, 65536]
)";

/// Without where the test happens to run, and the hash over that.
std::string plain(std::string script) {
  const std::string here = fs::current_path().string();
  for (auto at = script.find(here); at != std::string::npos; at = script.find(here)) {
    script.replace(at, here.size(), "HERE");
  }
  return script.substr(0, script.find("# end, "));
}

void run_shard(int number, int of) {
  const std::string shard = std::to_string(number) + "/" + std::to_string(of);
  const std::string folder = "jobs-out/shards/" + std::to_string(number) + "-of-" + std::to_string(of);
  const ToolRun run = run_stowage({"batch", "jobs.toml", "--shard", shard, "-o", folder});
  INFO(run.err);
  REQUIRE(run.code == 0);
}

TEST_CASE("a script for Slurm, with the resources of the batch file") {
  const Workplace here;
  const std::string slurm =
      "\n[slurm]\nshards = 4\nlimit = 2\npartition = \"gpu,cpu\"\naccount = \"a1\"\nqos = \"low\"\ntime = "
      "\"1-12:00\"\nmemory = \"4G\"\ncpus = 8\noptions = [\"--requeue\", \"--nice=100\"]\n";
  write_text("jobs.toml", four_jobs + slurm);
  const ToolRun good = run_stowage({"batch", "jobs.toml", "--slurm", "a b.sbatch", "--timeout", "60",
                                    "--memory-per-job", "512M", "--cost-cache", "costs"});
  INFO(good.err);
  CHECK(good.code == 0);
  CHECK(good.out == golden("slurm.txt", good.out));
  const std::string script = plain(read_text("a b.sbatch"));
  CHECK(script == golden("slurm.sbatch", script));
  CHECK(is_own_script(read_text("a b.sbatch")));
}

TEST_CASE("shards that are left get a script, and it says which") {
  const Workplace here;
  write_text("jobs.toml", std::string(four_jobs) + "[slurm]\nshards = 4\n");
  const std::vector<std::string> command = {"batch", "jobs.toml", "--slurm", "go.sbatch"};
  CHECK(run_stowage(command).code == 0);
  CHECK(read_text("go.sbatch").find("#SBATCH --array=1-4\n") != std::string::npos);
  run_shard(2, 4);
  run_shard(3, 4);
  // Stopped: its note says that it has no results.
  const std::string ended = read_text("jobs-out/shards/3-of-4/shard.json");
  auto note = nlohmann::ordered_json::parse(ended);
  note["results"] = "";
  write_text("jobs-out/shards/3-of-4/shard.json", note.dump(1) + "\n");
  const ToolRun again = run_stowage(command);
  CHECK(again.code == 0);
  CHECK(
      again.out.find("4 shards in jobs-out/shards: 1 done (2), 1 stopped before the end (3) and 2 not begun (1,4)\n") !=
      std::string::npos);
  CHECK(read_text("go.sbatch").find("#SBATCH --array=1,3-4\n") != std::string::npos);
  write_text("jobs-out/shards/3-of-4/shard.json", ended);
  for (const int left : {1, 4}) run_shard(left, 4);
  const std::string before = read_text("go.sbatch");
  const ToolRun last = run_stowage(command);
  CHECK(last.out.find("4 shards in jobs-out/shards: 4 done (1-4)\nput them together by\n  stowage batch --merge "
                      "jobs-out/shards/*-of-4 -o jobs-out\n") != std::string::npos);
  CHECK(read_text("go.sbatch") == before);  // nothing is left to be written
  const auto json = nlohmann::json::parse(run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch", "--json"}).out);
  CHECK(json.at("done") == std::vector<int>{1, 2, 3, 4});
  CHECK(json.at("scripts").empty());
  // What a time limit decided is done once there is more time.
  const fs::path results = "jobs-out/shards/2-of-4/results.jsonl";
  const std::string complete = read_text(results);
  auto row = nlohmann::ordered_json::parse(complete);
  row["out_of_time"] = 2;
  write_text(results, row.dump() + "\n");
  CHECK(run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch", "--timeout", "2"}).out.find("4 done (1-4)") !=
        std::string::npos);
  for (const bool limited : {true, false}) {
    std::vector<std::string> longer = command;
    if (limited) longer.insert(longer.end(), {"--timeout", "3"});
    const ToolRun more = run_stowage(longer);
    INFO(more.out << more.err);
    CHECK(more.out.find("3 done (1,3-4) and 1 stopped before the end (2)\n") != std::string::npos);
    CHECK(read_text("go.sbatch").find("#SBATCH --array=2\n") != std::string::npos);
  }
  write_text(results, complete);
  // The same bytes as from one process.
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "one"}).code == 0);
  REQUIRE(run_stowage({"batch", "--merge", "jobs-out/shards/1-of-4", "jobs-out/shards/2-of-4", "jobs-out/shards/3-of-4",
                       "jobs-out/shards/4-of-4", "-o", "jobs-out"})
              .code == 0);
  for (const char* const file : {"results.jsonl", "summary.csv"}) {
    CHECK(read_text(fs::path("one") / file) == read_text(fs::path("jobs-out") / file));
  }
}

TEST_CASE("a shard that runs gets no script, and to look whether it does keeps none from running") {
  const Workplace here;
  write_text("jobs.toml", std::string(four_jobs) + "[slurm]\nshards = 2\n");
  const fs::path folder = "jobs-out/shards/1-of-2";
  run_shard(1, 2);
  const std::string ended = read_text(folder / "shard.json");
  auto note = nlohmann::ordered_json::parse(ended);
  note["results"] = "";
  write_text(folder / "shard.json", note.dump(1) + "\n");
  {
    const FileLock as_a_batch_does(folder / journal_name, std::chrono::milliseconds(0));
    REQUIRE(as_a_batch_does.is_held());
    const ToolRun run = run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch"});
    INFO(run.out << run.err);
    CHECK(run.out.find("2 shards in jobs-out/shards: 1 running (1) and 1 not begun (2)\n") != std::string::npos);
    CHECK(read_text("go.sbatch").find("#SBATCH --array=2\n") != std::string::npos);
  }
  write_text(folder / "shard.json", ended);
  const std::jthread looks([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      is_batch_running(folder);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i) run_shard(1, 2);
}

TEST_CASE("shards of another batch are refused, and a script that somebody edited stays") {
  const Workplace here;
  write_text("jobs.toml", std::string(four_jobs) + "[slurm]\nshards = 2\n");
  const std::vector<std::string> command = {"batch", "jobs.toml", "--slurm", "go.sbatch"};
  CHECK(run_stowage(command).code == 0);
  write_text("go.sbatch", read_text("go.sbatch") + "# mine\n");
  const ToolRun edited = run_stowage(command);
  CHECK(edited.code == 1);
  CHECK(edited.err.find("[output-exists]") != std::string::npos);
  CHECK(run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch", "--force"}).code == 0);
  run_shard(1, 2);
  std::string others = four_jobs;
  others.replace(others.find("none"), 4, "greedy");
  write_text("jobs.toml", others + "[slurm]\nshards = 2\n");
  const ToolRun other = run_stowage(command);
  CHECK(other.code == 1);
  CHECK(other.err.find("jobs-out/shards/1-of-2: error: the batch file, or a file that one of its jobs reads, was "
                       "another then [other-batch]") == 0);
}

TEST_CASE("an array that is too long for the site is split") {
  const std::vector<SlurmArray> arrays = slurm_arrays({1, 2, 3, 4, 5, 9, 10, 12}, 4);
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].shards == std::vector<int>{1, 2, 3, 4});
  CHECK(arrays[0].offset == 0);
  CHECK(arrays[1].shards == std::vector<int>{5});
  CHECK(arrays[1].offset == 4);
  CHECK(arrays[2].shards == std::vector<int>{9, 10, 12});
  CHECK(arrays[2].offset == 8);
  CHECK(ranges_text({1, 2, 3, 7, 9, 10}) == "1-3,7,9-10");
  CHECK(ranges_text({}).empty());
  const Workplace here;
  write_text("jobs.toml", std::string(four_jobs) + "[slurm]\nshards = 5\nmax_array = 2\nlimit = 1\n");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch"});
  CHECK(run.out.find("  sbatch go.sbatch\n  sbatch go-2.sbatch\n  sbatch go-3.sbatch\n") != std::string::npos);
  CHECK(read_text("go.sbatch").find("#SBATCH --array=1-2%1\n") != std::string::npos);
  CHECK(read_text("go-2.sbatch").find("#SBATCH --array=1-2%1\n") != std::string::npos);
  CHECK(read_text("go-2.sbatch").find("shard=$((SLURM_ARRAY_TASK_ID + 2))\n") != std::string::npos);
  CHECK(read_text("go-3.sbatch").find("#SBATCH --array=1%1\n") != std::string::npos);
  // Parts of a longer array go, but for what somebody has made his own.
  write_text("go-4.sbatch", "echo mine\n");
  write_text("jobs.toml", std::string(four_jobs) + "[slurm]\nshards = 5\nmax_array = 4\nlimit = 1\n");
  CHECK(run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch"}).code == 0);
  CHECK(fs::exists("go-2.sbatch"));
  CHECK_FALSE(fs::exists("go-3.sbatch"));
  CHECK(read_text("go-4.sbatch") == "echo mine\n");
}

struct Mistake {
  std::string table;
  std::string told;
};

TEST_CASE("every mistake in the table for Slurm has its place") {
  const Workplace here;
  const std::vector<Mistake> mistakes = {
      {"partitoin = \"x\"", "2:1: error: unknown key 'slurm.partitoin' [unknown-key]"},
      {"shards = 0", "2:10: error: 'slurm.shards' "},
      {"shards = 10001", "2:10: error: 'slurm.shards' "},
      {"shards = \"4\"", "2:10: error: "},
      {"limit = -1", "2:9: error: 'slurm.limit' "},
      {"cpus = 0", "2:8: error: 'slurm.cpus' "},
      {"max_array = 0", "2:13: error: 'slurm.max_array' "},
      {"time = \"soon\"",
       "2:8: error: 'soon' is no time as Slurm has it: minutes, \"HOURS:MINUTES:SECONDS\" or "
       "\"DAYS-HOURS\" were wanted [slurm-value]"},
      {"time = \"-5\"", "2:8: error: '-5' is no time"},
      {"time = 30", "2:8: error: "},
      {"memory = \"4 GB\"",
       "2:10: error: '4 GB' is no size as Slurm has it: a whole number with K, M, G or T was "
       "wanted [slurm-value]"},
      {"partition = \"a b\"", "2:13: error: 'a b' is no name of a partition [slurm-value]"},
      {"account = \"\"", "2:11: error: '' is no name of an account [slurm-value]"},
      {"qos = \"x\\n#SBATCH --uid=0\"", "2:7: error: "},
      {"options = [\"-N 2\"]",
       "2:11: error: '-N 2' is no option of sbatch: --NAME or --NAME=VALUE without spaces was "
       "wanted [slurm-value]"},
      {"options = [\"--array=1\"]", "2:11: error: '--array=1' is set by the script itself [slurm-value]"},
      {"options = [\"--arr=1-9\"]", "2:11: error: '--arr=1-9' is set by the script itself [slurm-value]"},
      {"options = \"--requeue\"", "2:11: error: "},
      {"partition = \"" + std::string(100'000, 'a') + "\"", "2:13: error: 'aaa"},
  };
  for (const Mistake& mistake : mistakes) {
    write_text("jobs.toml", "[slurm]\n" + mistake.table + "\n" + four_jobs);
    for (const bool for_slurm : {true, false}) {
      const ToolRun run = for_slurm ? run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch"})
                                    : run_stowage({"batch", "jobs.toml", "--dry-run"});
      INFO(mistake.table << "\n" << run.err);
      CHECK(run.code == 1);
      CHECK(run.err.find("jobs.toml:" + mistake.told) == 0);
      CHECK(!fs::exists("go.sbatch"));
    }
  }
  write_text("jobs.toml", "[slurm]\nshards = 4\n");
  const ToolRun empty = run_stowage({"batch", "jobs.toml", "--slurm", "go.sbatch"});
  CHECK(empty.code == 1);
  INFO(empty.err);
  CHECK(empty.err.find("[missing-key]") != std::string::npos);
  CHECK(empty.err.find("'job'") != std::string::npos);
}

TEST_CASE("options that do not go with a script for Slurm are refused") {
  const std::vector<std::vector<std::string>> others = {{"-j", "2"},       {"--only", "x"},     {"--retry-failed"},
                                                        {"--dry-run"},     {"--baseline", "x"}, {"--junit", "x.xml"},
                                                        {"--shard", "1/2"}};
  for (const std::vector<std::string>& other : others) {
    std::vector<std::string> command = {"batch", "jobs.toml", "--slurm", "go.sbatch"};
    command.insert(command.end(), other.begin(), other.end());
    const ToolRun run = run_stowage(command);
    INFO(other[0] << "\n" << run.err);
    CHECK(run.code == 2);
    CHECK(run.err.find(" does not go with ") != std::string::npos);
  }
  CHECK(run_stowage({"batch", "--merge", "x", "--slurm", "go.sbatch"}).code == 2);
}

}  // namespace
}  // namespace stowage::test
