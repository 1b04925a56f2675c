// SPDX-License-Identifier: Apache-2.0
// Parts of a batch: every job in one of them, about the same work in each, and merged the same bytes as without them.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/batch/estimate.h"
#include "driver/batch/shard.h"
#include "driver/networks/networks.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

using Arguments = std::vector<std::string>;

constexpr const char* mixed_jobs = R"([defaults]
planner = "swtvm"

[[job]]
name = "checked"
network = "vector"
check = true

[[job]]
name = "bad"
model = "missing.onnx"

[[job]]
name = "tiny"
network = "matmul"
set = { target.ldm.bytes = 6200 }
[job.schedule."matmul"]
slots = { B = 1 }

[[job]]
name = "no such dimension"
network = "vector"
dim = { q = 3 }

[[job]]
name = "lenet"
network = "lenet"
[job.sweep]
fusion = ["none", "greedy"]
"target.ldm.bytes" = [16384, 65536]
"target.clock_hz" = [1.45e9, 2.0e9]

[[job]]
name = "file"
model = "matmul.onnx"
[job.schedule."matmul"]
slots = { B = 1 }
)";

/// The batch in so many parts, each in its folder; the names of these.
Arguments run_shards(int count) {
  Arguments folders;
  for (int number = 1; number <= count; ++number) {
    const std::string part = std::to_string(number) + "/" + std::to_string(count);
    const int code = run_stowage({"batch", "jobs.toml", "--shard", part}).code;
    CHECK((code == 0 || code == 1));
    folders.push_back("jobs-out-" + std::to_string(number) + "-of-" + std::to_string(count));
  }
  return folders;
}

ToolRun merge(Arguments folders, const Arguments& options = {"-o", "merged"}) {
  folders.insert(folders.begin(), {"batch", "--merge"});
  folders.insert(folders.end(), options.begin(), options.end());
  return run_stowage(folders);
}

/// What a merge says that fails and writes nothing.
std::string complaint(const Arguments& folders) {
  const ToolRun run = merge(folders);
  CHECK(run.code == 1);
  CHECK_FALSE(fs::exists("merged"));
  return run.err;
}

void write_jobs() {
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  write_text("jobs.toml", mixed_jobs);
}

TEST_CASE("a batch in one process and in merged shards gives the same bytes") {
  const Workplace here;
  write_jobs();
  const ToolRun whole = run_stowage({"batch", "jobs.toml"});
  CHECK(whole.code == 1);
  for (const int count : {4, 20}) {
    INFO(count);
    Arguments folders = run_shards(count);
    std::rotate(folders.begin(), folders.begin() + 2, folders.end());
    const ToolRun merged = merge(folders);
    INFO(merged.err);
    CHECK(merged.code == 1);  // as the whole batch, of which jobs failed
    for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) {
      INFO(file);
      CHECK(read_text("merged/" + file) == read_text("jobs-out/" + file));
    }
    CHECK(files_below("merged").size() == 3);
    CHECK(merged.out.substr(0, merged.out.find("results in")) == whole.out.substr(0, whole.out.find("results in")));
    // So are the plans, each in one of the shards.
    std::size_t plans = 0;
    for (const std::string& folder : folders) {
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (!entry.is_directory() || entry.path().filename() == "networks") continue;
        CHECK(files_below(entry.path()) == files_below("jobs-out" / entry.path().filename()));
        ++plans;
      }
    }
    CHECK(plans == 10);
    fs::remove_all("merged");
  }
}

TEST_CASE("a merge writes where the batch would, and replaces nothing unasked") {
  const Workplace here;
  write_text("jobs.toml", "[[job]]\nname = \"a\"\nnetwork = \"vector\"\n");
  const Arguments folders = run_shards(2);
  CHECK(merge(folders, {}).code == 0);
  CHECK(fs::exists("jobs-out/results.jsonl"));
  CHECK_THAT(merge(folders, {}).err, Catch::Contains("jobs-out/results.jsonl: error: the file exists already"));
  const ToolRun again = merge(folders, {"--force", "--json"});
  CHECK(again.code == 0);
  CHECK(nlohmann::json::parse(again.out).at("jobs").size() == 1);
  // What it reads it does not replace, whatever is forced.
  const auto before = files_below(folders[0]);
  CHECK_THAT(merge(folders, {"-o", folders[0], "--force"}).err, Catch::Contains("[output-in-use]"));
  CHECK(files_below(folders[0]) == before);
}

TEST_CASE("a shard lists its jobs without running them") {
  const Workplace here;
  write_jobs();
  std::size_t jobs = 0;
  for (const std::string part : {"1/3", "2/3", "3/3"}) {
    const ToolRun run = run_stowage({"batch", "jobs.toml", "--shard", part, "--dry-run", "--json"});
    CHECK(run.code == 0);
    jobs += nlohmann::json::parse(run.out).size();
  }
  CHECK(jobs == 13);
  CHECK(files_below(".").size() == 2);
}

TEST_CASE("what is no shard is a usage error that says why") {
  const auto mistake = [](const std::string& part) {
    const ToolRun run = run_stowage({"batch", "jobs.toml", "--shard", part});
    CHECK(run.code == 2);
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  for (const std::string part : {"2", "1of4", "1/4x", "x/4", "/4", "1/", "1/2/3", " 1/4", "1/99999999999999999999"}) {
    CHECK(mistake(part) ==
          "error: --shard: '" + part + "' is no shard: I/N was wanted, for instance 1/4 for the first of four");
  }
  CHECK(mistake("5/4") == "error: --shard: there is no shard 5 of 4: they are counted from 1 to 4");
  CHECK(mistake("0/4") == "error: --shard: there is no shard 0 of 4: they are counted from 1 to 4");
  CHECK(mistake("-1/4") == "error: --shard: there is no shard -1 of 4: they are counted from 1 to 4");
  CHECK(mistake("1/0") == "error: --shard: '1/0' is no shard: a batch is divided into 1 to 10000 of them");
  const auto refused = [](const Arguments& arguments) {
    const ToolRun run = run_stowage(arguments);
    CHECK(run.code == 2);
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  CHECK(refused({"batch"}) == "error: JOBS.toml is required");
  CHECK(refused({"batch", "x.toml", "--merge", "a"}) == "error: JOBS.toml does not go with --merge");
  CHECK(refused({"batch", "x.toml", "--shard", "1/2", "--only", "a"}) == "error: --only does not go with --shard");
  CHECK(refused({"batch", "--merge", "a", "-j", "2"}) == "error: -j does not go with --merge");
}

TEST_CASE("a merge names shards that are missing, given twice, or of another batch") {
  const Workplace here;
  write_jobs();
  const Arguments folders = run_shards(3);
  CHECK(complaint({folders[1], "nowhere"}) ==
        "nowhere: error: is no folder [no-shard]\n"
        "  help: give the folders that 'stowage batch JOBS.toml --shard I/N' wrote\n");
  CHECK_THAT(complaint({folders[1], "."}), Catch::StartsWith(".: error: no shard of a batch was run here: it has no "
                                                             "shard.json [no-shard]\n"));
  CHECK(complaint({folders[1], folders[1]}) ==
        "jobs-out-2-of-3: error: is shard 2 of 3, as jobs-out-2-of-3 is [shard-given-twice]\n"
        "  help: give each shard once\n"
        "error: the batch has 3 shards, of which 2 are missing: 1/3 and 3/3 [missing-shard]\n"
        "  help: run 'stowage batch jobs.toml --shard 1/3', and give its folder too\n");
  CHECK_THAT(complaint({folders[0], folders[2]}), Catch::Contains("of which 1 is missing: 2/3 [missing-shard]"));
  const std::string remedy = " [other-batch]\n  help: give the folders of all shards of one batch, and no others\n";

  const Arguments halves = run_shards(2);
  CHECK(complaint({folders[0], halves[1], folders[2]}) ==
        "jobs-out-2-of-2: error: is shard 2 of 2, and jobs-out-1-of-3 is shard 1 of 3" + remedy);

  fs::copy_file("jobs.toml", "others.toml");
  REQUIRE(run_stowage({"batch", "others.toml", "--shard", "2/3", "-o", "other"}).code == 1);
  CHECK(complaint({folders[0], "other", folders[2]}) ==
        "other: error: is of 'stowage batch others.toml', and jobs-out-1-of-3 of 'stowage batch jobs.toml'" + remedy);

  // The same command, but the jobs, or a file that they read, are others.
  const auto changed = [&] {
    REQUIRE(run_stowage({"batch", "jobs.toml", "--shard", "2/3", "-o", "other", "--force"}).code <= 1);
    CHECK_THAT(complaint({folders[0], "other", folders[2]}),
               Catch::StartsWith("other: error: its jobs are of another batch than those of jobs-out-1-of-3: ") &&
                   Catch::Contains("run the shards again with --force"));
  };
  const std::string text = mixed_jobs;
  write_text("jobs.toml", text + "[[job]]\nname = \"more\"\nnetwork = \"vector\"\n");
  changed();
  write_text("jobs.toml", text.substr(0, text.find("B = 1")) + "B = 2 }\n");
  changed();
  write_text("jobs.toml", text);
  REQUIRE(run_stowage({"network", "matmul", "--batch", "2", "-o", "matmul.onnx", "--force"}).code == 0);
  changed();
}

TEST_CASE("a merge tells of a shard that is not done, or whose files are damaged") {
  const Workplace here;
  write_jobs();
  const Arguments folders = run_shards(3);
  const std::string note = read_text(folders[1] + "/shard.json");
  const std::string results = read_text(folders[1] + "/results.jsonl");
  const std::string again = "'stowage batch jobs.toml --shard 2/3 -o jobs-out-2-of-3'";
  const auto with_note = [&](const std::string& text) {
    write_text(folders[1] + "/shard.json", text);
    const std::string said = complaint(folders);
    write_text(folders[1] + "/shard.json", note);
    return said;
  };
  const auto with_results = [&](const std::string& text) {
    write_text(folders[1] + "/results.jsonl", text);
    const std::string said = complaint(folders);
    write_text(folders[1] + "/results.jsonl", results);
    return said;
  };
  const auto edited = [](std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string hash = nlohmann::json::parse(note).at("results");
  CHECK(with_note(edited(note, hash, "")) ==
        "jobs-out-2-of-3: error: shard 2 of 3 is not done: it runs still, or was stopped [unfinished-shard]\n"
        "  help: wait for it, or run " +
            again + "\n");
  CHECK_THAT(with_note(note.substr(0, note.size() / 2)),
             Catch::StartsWith("jobs-out-2-of-3/shard.json: error: it is not JSON, or was cut short (byte "));
  CHECK_THAT(with_note(edited(note, "\"shard\": 2", "\"shard\": 4")),
             Catch::Contains("4 stands where a whole number from 1 to 3 was wanted [damaged-shard]"));
  CHECK_THAT(with_note(edited(note, "\"job\": \"", "\"job\": \"../")),
             Catch::Contains("cannot be the name of a job: "));
  CHECK_THAT(with_note(edited(note, "0.1.0", "0.0.9")), Catch::Contains("stowage 0.0.9 ran this shard, and this is"));
  for (const std::string& folder : folders) {
    const std::string own = read_text(folder + "/shard.json");
    write_text(folder + "/shard.json", edited(own, "\"jobs_of_batch\": 13", "\"jobs_of_batch\": 9000000000000000000"));
  }
  CHECK_THAT(complaint(folders), Catch::Contains("do not name each of the batch's 9 000 000 000 000 000 000 jobs"));
  for (const std::string& folder : folders) {
    const std::string own = read_text(folder + "/shard.json");
    write_text(folder + "/shard.json", edited(own, "9000000000000000000", "13"));
  }

  const auto first_end = results.find('\n');
  REQUIRE(first_end != results.rfind('\n'));
  CHECK(with_results(results.substr(0, first_end + 20)) ==
        "jobs-out-2-of-3/results.jsonl:2: error: the file is cut off in the middle of this line [damaged-results]\n"
        "  help: remove this file, and run " +
            again + "\n");
  CHECK_THAT(with_results(results.substr(0, results.size() - 1)), Catch::Contains("cut off in the middle"));
  CHECK_THAT(with_results(results.substr(0, first_end + 1)),
             Catch::Contains("jobs, and the file 1 line [damaged-results]"));
  CHECK_THAT(with_results(results + "{}\n"), Catch::Contains("the shard has no job for this line"));
  CHECK_THAT(with_results(edited(results, "\"job\":", "\"jab\":")),
             Catch::Contains("results.jsonl:1: error: 'job' is"));
  CHECK_THAT(with_results(edited(results, "\"job\":\"", "\"job\":\"x")), Catch::Contains("it is about the job 'x"));
  CHECK_THAT(with_results(edited(results, "done", "dons")),
             Catch::Contains("there is no status 'dons', did you mean 'done'?"));
  CHECK_THAT(with_results(edited(results, "\"groups\":", "\"groups\":-")), Catch::Contains("a whole number from 0"));
  CHECK_THAT(with_results(edited(results, "\"cycles\":", "\"cycles\":1")),
             Catch::Contains("the file was changed since"));
  fs::remove(folders[1] + "/results.jsonl");
  CHECK_THAT(complaint(folders), Catch::Contains("results.jsonl: error: there is no such file any more"));
}

TEST_CASE("a shard does not write over another's results without force") {
  const Workplace here;
  write_text("jobs.toml", "[[job]]\nname = \"v\"\nnetwork = \"vector\"\n[job.sweep]\ntarget.cores.count = [1, 4]\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "--shard", "1/2", "-o", "out"}).code == 0);
  const auto before = files_below("out");
  const ToolRun other = run_stowage({"batch", "jobs.toml", "--shard", "2/2", "-o", "out"});
  CHECK(other.code == 1);
  CHECK_THAT(other.err, Catch::Contains("out/shard.json: error: the file exists already [output-exists]"));
  CHECK(files_below("out") == before);
}

TEST_CASE("shards take every job once, and about as long") {
  std::vector<std::int64_t> work;
  for (std::int64_t i = 0; i < 200; ++i) work.push_back(1 + i * i % 97 * (i % 13));
  const std::int64_t longest = *std::max_element(work.begin(), work.end());
  const std::int64_t sum = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  for (const int count : {1, 2, 4, 7, 300}) {
    INFO(count);
    std::vector<int> taken(work.size(), 0);
    for (int number = 1; number <= count; ++number) {
      const auto own = numbers_in_shard(work, {number, count});
      CHECK(std::is_sorted(own.begin(), own.end()));
      std::int64_t load = 0;
      for (const std::size_t job : own) {
        ++taken[job];
        load += work[job];
      }
      CHECK(load <= sum / count + longest);
    }
    CHECK(std::all_of(taken.begin(), taken.end(), [](int times) { return times == 1; }));
  }
  CHECK(numbers_in_shard({5, 5, 5, 5}, {1, 2}) == std::vector<std::size_t>{0, 2});
  CHECK(numbers_in_shard({1, 1, 9, 1, 1}, {1, 2}) == std::vector<std::size_t>{2});
}

TEST_CASE("the size of a sample network is what compiling it finds") {
  const auto multiply_adds = [](const std::string& name) { return size_of_network(name, {}).multiply_adds; };
  CHECK(multiply_adds("vector") == 0);
  CHECK(multiply_adds("lenet") == 2'293'000);
  CHECK(multiply_adds("cifarnet") == 32'778'112);
  CHECK(multiply_adds("alexnet") == 714'188'480);
  CHECK(multiply_adds("resnet18") == 1'814'073'344);
  CHECK(multiply_adds("mobilenet_v1") == 568'740'352);
  CHECK(size_of_network("resnet18", {}).convolutions.size() == 11);
}

TEST_CASE("the work of a job grows with its network, its planner and its check") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  const auto work = [](const std::string& network, const std::string& planner, bool check) {
    Job job;
    JobKeys keys;
    (network.ends_with(".onnx") ? keys.request.model : keys.network) = network;
    keys.request.planner = planner;
    keys.check = check;
    job.keys = keys;
    return estimated_work({job}).front();
  };
  CHECK(work("lenet", "swtvm", false) < work("resnet18", "swtvm", false));
  CHECK(work("resnet18", "swtvm", false) < work("resnet18", "swtvm", true));
  CHECK(work("resnet18", "swtvm", true) < work("resnet18", "searched", true));
  CHECK(work("lenet.onnx", "swtvm", false) < work("lenet.onnx", "searched", false));
  CHECK(work("missing.onnx", "swtvm", false) == 1);
}

}  // namespace
}  // namespace stowage::test
