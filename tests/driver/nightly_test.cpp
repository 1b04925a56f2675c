// SPDX-License-Identifier: Apache-2.0
// What a nightly run does with all of it: shards that are merged and compared with the night before, and test cases of
// a batch that goes on.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;

using Arguments = std::vector<std::string>;

/// Two that change with the planner, one that fails with more to say than its summary, and a sweep.
std::string jobs_with(const std::string& planner) {
  return "[defaults]\nplanner = \"" + planner +
         "\"\n[[job]]\nname = \"m\"\nnetwork = \"matmul\"\n"
         "[[job]]\nname = \"bad\"\nnetwork = \"vector\"\ndim = { q = 3 }\n"
         "[[job]]\nname = \"v\"\nnetwork = \"vector\"\n[job.sweep]\ntarget.ldm.bytes = [32768, 65536]\n"
         "\"target.cores.count\" = [16, 64]\n";
}

ToolRun stowage_batch(Arguments arguments) {
  arguments.insert(arguments.begin(), "batch");
  return run_stowage(arguments);
}

TEST_CASE("merged shards beside a baseline are the same bytes as the batch beside it") {
  const Workplace here;
  write_text("jobs.toml", jobs_with("searched"));
  REQUIRE(stowage_batch({"jobs.toml", "-o", "monday"}).code == 1);
  write_text("jobs.toml", jobs_with("swtvm"));
  const ToolRun whole = stowage_batch({"jobs.toml", "-o", "whole", "--baseline", "monday", "--junit", "whole.xml"});
  CHECK(whole.code == 4);
  for (const std::string part : {"1", "2"}) {
    const int code =
        stowage_batch({"jobs.toml", "--shard", part + "/2", "-o", "part" + part, "--junit", part + ".xml"}).code;
    CHECK((code == 0 || code == 1));
    CHECK_THAT(read_text(part + ".xml"), Contains("<testsuite name=\"jobs\" tests=\""));
  }
  const Arguments merge = {"--merge", "part2", "part1", "--baseline", "monday", "--junit", "merged.xml"};
  Arguments here_too = merge;
  here_too.insert(here_too.end(), {"-o", "merged"});
  const ToolRun merged = stowage_batch(here_too);
  CHECK(merged.code == 4);
  CHECK(merged.err.empty());
  const std::string beside = merged.out.substr(merged.out.find("\nagainst "));
  CHECK(beside == whole.out.substr(whole.out.find("\nagainst ")));
  // The plans are found in the shards' folders.
  CHECK_THAT(beside, Contains("m: planner swtvm instead of searched; layout given instead of blocked; now is ") &&
                         Contains(": matmul "));
  for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) {
    INFO(file);
    CHECK(read_text("merged/" + file) == read_text("whole/" + file));
  }
  CHECK_THAT(read_text("merged/summary.csv"), Contains(",target.cores.count,target.ldm.bytes,"));
  const std::string cases = read_text("merged.xml");
  CHECK(cases == read_text("whole.xml"));
  CHECK_THAT(cases,
             Contains("name=\"jobs\" tests=\"6\"") && Contains("<skipped message=\"fails in the baseline too: "));

  CHECK_THAT(stowage_batch({"--merge", "part1", "part2", "--baseline", "merged", "--json", "-o", "again"}).out,
             Contains("\"regressed\": false"));
  // What is wrong with the baseline, or with the places of results, is said before anything is written.
  const auto refused = [&](const Arguments& more, const std::string& why) {
    Arguments arguments = {"--merge", "part1", "part2", "-o", "new"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ToolRun run = stowage_batch(arguments);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains(why));
    CHECK_FALSE(fs::exists("new"));
  };
  refused({"--baseline", "nowhere"}, "nowhere: error: cannot be read: ");
  refused({"--junit", "whole.xml"}, "whole.xml: error: the file exists already [output-exists]");
  refused({"--junit", "part1/results.jsonl", "--force"}, "[output-in-use]");
  refused({"--junit", "new/summary.csv"}, "error: the batch writes there itself [output-in-use]");
  const std::string before = read_text("merged/results.jsonl");
  const ToolRun over = stowage_batch({"--merge", "part1", "part2", "-o", "merged", "--force", "--baseline", "merged"});
  CHECK_THAT(over.err, Contains("merged/results.jsonl: error: writing it would replace merged/results.jsonl"));
  CHECK(read_text("merged/results.jsonl") == before);
}

TEST_CASE("a shard is not compared, its merged batch is") {
  const Workplace here;
  const ToolRun run = stowage_batch({"jobs.toml", "--shard", "1/2", "--baseline", "monday"});
  CHECK(run.code == 2);
  CHECK(run.err ==
        "error: --baseline does not go with --shard [usage]\n"
        "  help: compare the merged result: stowage batch --merge DIR... --baseline FILE\n"
        "see 'stowage batch --help'\n");
}

TEST_CASE("a batch that goes on replaces the test cases that it wrote itself, and no others") {
  const Workplace here;
  write_text("jobs.toml", jobs_with("swtvm"));
  fs::create_directory("ci");
  const Arguments command = {"jobs.toml", "-o", "out", "--junit", "ci/tests.xml"};
  REQUIRE(stowage_batch(command).code == 1);
  const auto whole = files_below(".");
  // As if the last job had not been reached.
  const auto lose_a_job = [] {
    fs::remove_all("out/v-64-65536");
    write_text("ci/tests.xml", read_text("ci/tests.xml"));
  };
  lose_a_job();
  CHECK(stowage_batch(command).code == 1);
  CHECK((files_below(".") == whole));
  // From elsewhere, the folder's name given otherwise.
  lose_a_job();
  fs::create_directory_symlink("out", "link");
  CHECK(stowage_batch({"jobs.toml", "-o", "link/", "--junit", "./out/../ci//tests.xml"}).code == 1);
  fs::remove("link");
  CHECK((files_below(".") == whole));
  // A batch that is done is compared later.
  const ToolRun later = stowage_batch({"jobs.toml", "-o", "out", "--junit", "ci/tests.xml", "--baseline", "out"});
  CHECK_THAT(later.err, Contains("error: writing it would replace out/results.jsonl"));
  fs::copy_file("out/results.jsonl", "old.jsonl");
  CHECK(stowage_batch({"jobs.toml", "-o", "out", "--junit", "ci/tests.xml", "--baseline", "old.jsonl"}).code == 0);
  CHECK_THAT(read_text("ci/tests.xml"), Contains("failures=\"0\" errors=\"0\" skipped=\"1\""));

  write_text("ci/tests.xml", read_text("ci/tests.xml") + "<!-- mine -->\n");
  const auto edited = files_below(".");
  const ToolRun foreign = stowage_batch(command);
  CHECK(foreign.code == 1);
  CHECK_THAT(foreign.err, StartsWith("ci/tests.xml: error: the file exists already [output-exists]"));
  CHECK((files_below(".") == edited));
  // A link to what was written is none of ours.
  fs::remove("ci/tests.xml");
  fs::create_symlink("../out/results.jsonl", "ci/tests.xml");
  CHECK_THAT(stowage_batch(command).err, Contains("[output-exists]"));
  for (const std::string own : {".batch.jsonl", "shard.json"}) {
    CHECK_THAT(stowage_batch({"jobs.toml", "-o", "new", "--junit", "new/" + own}).err,
               Contains("error: the batch writes there itself [output-in-use]"));
  }
}

}  // namespace
}  // namespace stowage::test
