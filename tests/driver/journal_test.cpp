// SPDX-License-Identifier: Apache-2.0
// What a batch writes down of what it has done: whole on the disk, or noticed.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/disk_limit.h"
#include "tests/driver/batch_that_goes_on.h"
#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("after a power failure only what was on the disk counts as done") {
  const Workplace here;
  const Files whole = whole_batch();
  const std::vector<std::string> lines = journal_lines();
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
  const std::string boot = this_boot();
  CHECK(killed(boot, false) == '8');
  CHECK(killed("another", true) == '4');
  CHECK(killed("another", false) == '0');
}

TEST_CASE("results of a killed batch are on the disk when the next one goes on, whose power failure loses nothing") {
  const Workplace here;
  const Files whole = whole_batch();
  const std::string boot = this_boot();
  const std::vector<std::string> lines = journal_lines();
  // Killed with two jobs done, of which none is certain to be on the disk.
  std::string text = lines.front() + "{\"boot\":\"" + boot + "\"}\n";
  for (std::size_t i = 1; i < 17; i += 2) text += lines[i];
  text += lines[2] + lines[4];
  write_text("out/.batch.jsonl", text);
  for (const std::string file : {"results.jsonl", "summary.csv", "summary.html"}) fs::remove("out/" + file);
  // The second batch is killed as well, as soon as it has begun.
  kill_when(to_out, [&] { return read_text("out/.batch.jsonl").find("\"synced\"") != std::string::npos; });
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
  const Files whole = whole_batch();
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
  kill_when(to_out, [&] { return read_text("out/.batch.jsonl").find("\"boot\"") != std::string::npos; });
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
  const Files whole = whole_batch();
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
    kill_when(to_out,
              [] { return read_text("out/.batch.jsonl").find("\"end\":\"l-greedy-16384") != std::string::npos; });
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

}  // namespace
}  // namespace stowage::test
