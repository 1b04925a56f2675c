// SPDX-License-Identifier: Apache-2.0
// `stowage batch --baseline`: what is marked, what the exit code says, and every mistake in a file of results.
#include <filesystem>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/batch/baseline.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;

std::string two_jobs(const std::string& planner) {
  return "[defaults]\nplanner = \"" + planner +
         "\"\n[[job]]\nname = \"m\"\nnetwork = \"matmul\"\n[[job]]\nname = \"v\"\nnetwork = \"vector\"\n";
}

/// A row of results.jsonl with these numbers.
std::string row(const std::string& job, const std::string& status = "done", std::int64_t cycles = 1000,
                std::int64_t dma = 1000, std::int64_t ldm = 1000, std::int64_t parameters = 1000) {
  nlohmann::ordered_json json = {{"job", job},          {"status", status},          {"stowage", "0.1.0"},
                                 {"network", "matmul"}, {"target", "sw26010"},       {"fusion", "exact"},
                                 {"planner", "swtvm"},  {"summary", "sum of " + job}};
  if (status == "done") {
    json.update({{"groups", 1},
                 {"kernels", 1},
                 {"dma_transfers", 1},
                 {"dma_bytes", dma},
                 {"ldm_peak_bytes", ldm},
                 {"parameter_bytes", parameters},
                 {"activation_bytes", 0},
                 {"cycles", cycles},
                 {"time_s", static_cast<double>(cycles) / 1e9}});
  }
  return json.dump() + "\n";
}

std::vector<ResultRow> rows_of(const std::string& text) {
  Diagnostics diagnostics;
  auto rows = parse_results(text, "r.jsonl", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(rows);
  return *rows;
}

/// The marks of job "j", a word each.
std::string marks(const std::string& before, const std::string& after, double tolerance = 2) {
  const Comparison comparison = compared({"r.jsonl", rows_of(before)}, rows_of(after), {"j", "other"}, tolerance);
  REQUIRE(comparison.jobs.size() == 1);
  std::string text;
  for (const Mark mark : comparison.jobs[0].marks) text += (text.empty() ? "" : " ") + std::string(name_of(mark));
  CHECK(has_regressed(comparison) == (text.find("failing") == 0 || text.find("slower") != std::string::npos ||
                                      text.find("larger") != std::string::npos));
  return text;
}

TEST_CASE("a number is marked where it changed by more than the tolerance") {
  const auto cycles = [](std::int64_t after, double tolerance = 2) {
    return marks(row("j"), row("j", "done", after), tolerance);
  };
  CHECK(cycles(1000).empty());
  CHECK(cycles(1019).empty());
  CHECK(cycles(1021) == "slower");
  CHECK(cycles(1021, 5).empty());
  CHECK(cycles(1001, 0) == "slower");
  CHECK(cycles(979) == "faster");
  CHECK(marks(row("j"), row("j", "done", 1000, 1021)) == "larger");
  CHECK(marks(row("j"), row("j", "done", 1000, 1020)).empty());
  CHECK(marks(row("j"), row("j", "done", 1000, 1000, 1021)) == "larger");
  CHECK(marks(row("j"), row("j", "done", 1000, 1000, 1000, 1021)) == "larger");
  CHECK(marks(row("j"), row("j", "done", 1100, 900, 2000)) == "slower larger smaller");
  CHECK(marks(row("j"), row("j", "done", 1000, 1000, 500)).empty());
  CHECK(marks(row("j", "done", 1000, 0), row("j", "done", 1000, 1)) == "larger");
  CHECK(marks(row("j", "done", 1000, 1), row("j", "done", 1000, 0)) == "smaller");
  // More LDM for less time is no loss, more main memory is one.
  CHECK(marks(row("j"), row("j", "done", 900, 1000, 2000)) == "faster");
  CHECK(marks(row("j"), row("j", "done", 900, 1000, 1000, 2000)) == "larger faster");
}

TEST_CASE("a job that fails is a regression where it did not before") {
  CHECK(marks(row("j"), row("j", "failed")) == "failing");
  CHECK(marks(row("j"), row("j", "fault")) == "failing");
  CHECK(marks(row("j", "failed"), row("j")) == "newly working");
  CHECK(marks(row("j", "failed"), row("j", "failed")) == "still failing");
  CHECK(marks(row("j"), row("j", "interrupted")) == "not compared");
  CHECK(marks(row("j", "interrupted"), row("j", "failed")) == "not compared");
  CHECK(marks(row("other"), row("j")) == "new");
}

TEST_CASE("a batch beside a baseline tells what got worse and why, and its exit code says so") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("searched"));
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "monday"}).code == 0);
  const ToolRun same = run_stowage({"batch", "jobs.toml", "-o", "same", "--baseline", "monday/results.jsonl"});
  CHECK(same.code == 0);
  CHECK(same.err.empty());
  CHECK_THAT(same.out, Catch::EndsWith("\nagainst monday/results.jsonl, tolerance 2 %\n\n2 as before\n"));
  // The results themselves do not depend on what they are compared with.
  CHECK(read_text("same/results.jsonl") == read_text("monday/results.jsonl"));

  write_text("jobs.toml", two_jobs("swtvm"));
  const ToolRun worse = run_stowage({"batch", "jobs.toml", "-o", "tuesday", "-j", "2", "--baseline", "monday"});
  CHECK(worse.code == 4);
  CHECK(worse.out.substr(worse.out.find("against ")) ==
        golden("baseline.txt", worse.out.substr(worse.out.find("against "))));
  const ToolRun better = run_stowage({"batch", "jobs.toml", "-o", "again", "--baseline", "tuesday", "--json"});
  CHECK(better.code == 0);
  write_text("jobs.toml", two_jobs("searched"));
  const ToolRun json_run =
      run_stowage({"batch", "jobs.toml", "-o", "back", "--baseline", "tuesday", "--tolerance", "0.5", "--json"});
  CHECK(json_run.code == 0);
  const auto json = nlohmann::json::parse(json_run.out);
  CHECK(json.at("jobs").size() == 2);
  CHECK(json.at("baseline").at("tolerance") == 0.5);
  CHECK(json.at("baseline").at("regressed") == false);
  const auto& first = json.at("baseline").at("jobs").at(0);
  CHECK(first.at("job") == "m");
  CHECK(first.at("change").at(0) == "faster");
  CHECK(first.at("then").at("cycles") > first.at("now").at("cycles"));
  CHECK(first.at("remark") == "planner searched instead of swtvm; layout blocked instead of given");
  CHECK_THAT(first.at("verdict").get<std::string>(), StartsWith("now is ") && Contains(": matmul "));
}

TEST_CASE("page and spreadsheet have columns of the comparison") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("searched") + "[[job]]\nname = \"w\"\nnetwork = \"vector\"\nplanner = \"swtvm\"\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "monday"}).code == 0);
  CHECK(read_text("monday/summary.html").find("Beside") == std::string::npos);
  std::string rows = read_text("monday/results.jsonl");
  write_text("old<1>.jsonl", rows + row("<gone>"));
  write_text("jobs.toml", two_jobs("swtvm") + "[[job]]\nname = \"w\"\nnetwork = \"vector\"\nplanner = \"swtvm\"\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out", "--baseline", "old<1>.jsonl"}).code == 4);
  const std::string page = read_text("out/summary.html");
  CHECK_THAT(page,
             Contains("<p>Beside <code>old&lt;1&gt;.jsonl</code>, tolerance 2 %: 2 slower, 1 larger, 1 gone, 1 as "
                      "before.</p>\n<p>No longer in the batch: &lt;gone&gt;.</p>"));
  CHECK_THAT(
      page,
      Contains("<tr class=\"refused\"><td><a href=\"./m/report.md\">m</a></td><td>done</td><td>slower, larger</td>"
               "<td class=\"number\" data-value=\"0."));
  CHECK_THAT(page, Contains(" %</td><td>matmul</td>") && Contains(">+0.0 %</td><td>vector</td>"));
  CHECK_THAT(page, Contains("<tr><td><a href=\"./w/report.md\">w</a></td><td>done</td><td>as before</td>"));
  CHECK_THAT(page, Contains("planner swtvm instead of searched; layout given instead of blocked; now is ") &&
                       Contains(" slower</td>"));
  const std::string csv = read_text("out/summary.csv");
  CHECK_THAT(csv, StartsWith("job,status,change,time_change,network,") && Contains(",summary,verdict\r\n"));
  CHECK_THAT(csv, Contains("\r\nm,done,\"slower, larger\",0.") && Contains("\r\nw,done,,0"));
}

TEST_CASE("verdicts tell numbers only where the baseline's plans are gone or others") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("searched"));
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "monday"}).code == 0);
  write_text("jobs.toml", two_jobs("swtvm"));
  fs::create_directory("kept");
  fs::copy_file("monday/results.jsonl", "kept/results.jsonl");
  const ToolRun alone = run_stowage({"batch", "jobs.toml", "-o", "alone", "--baseline", "kept/results.jsonl"});
  CHECK(alone.code == 4);
  CHECK_THAT(alone.out,
             Contains("\nv: planner searched") ||
                 Contains("\nv: planner swtvm instead of searched; layout given instead of blocked; now is "));
  CHECK_THAT(alone.out, !Contains(" uses ") && Contains("(where a verdict tells numbers only, "));
  // The same place, written anew since: those plans are not the ones of the rows.
  fs::copy_file("monday/results.jsonl", "monday/old.jsonl");
  const ToolRun over = run_stowage({"batch", "jobs.toml", "-o", "monday", "--force", "--baseline", "monday/old.jsonl"});
  CHECK(over.code == 4);
  CHECK_THAT(over.out,
             !Contains(" uses ") && !Contains("same plan") && Contains("(where a verdict tells numbers only, "));
}

TEST_CASE("jobs that failed before are known, others that fail are told by the exit code") {
  const Workplace here;
  const std::string good = "[[job]]\nname = \"v\"\nnetwork = \"vector\"\n";
  const std::string bad = "[[job]]\nname = \"bad\"\nmodel = \"missing.onnx\"\n";
  const std::string mended = "[[job]]\nname = \"bad\"\nnetwork = \"vector\"\n";
  const auto run = [](const std::string& jobs, const std::string& output, const std::string& baseline) {
    write_text("jobs.toml", jobs);
    return run_stowage({"batch", "jobs.toml", "-o", output, "--baseline", baseline});
  };
  write_text("jobs.toml", good + bad);
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "a"}).code == 1);
  const ToolRun still = run(good + bad, "b", "a");
  CHECK(still.code == 0);
  CHECK_THAT(still.out, Contains("bad: cannot be read: ") && Catch::EndsWith("1 still failing, 1 as before\n"));
  const ToolRun works = run(good + mended, "c", "a");
  CHECK(works.code == 0);
  CHECK_THAT(works.out, Catch::EndsWith("1 newly working, 1 as before\n"));
  const ToolRun fails = run(good + bad, "d", "c");
  CHECK(fails.code == 4);
  CHECK_THAT(fails.out, Catch::EndsWith("1 failing, 1 as before\n"));
  // One that the baseline does not have is no regression, but it failed.
  write_text("jobs.toml", good);
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "e"}).code == 0);
  const ToolRun added = run(good + bad, "f", "e");
  CHECK(added.code == 1);
  CHECK_THAT(added.err, StartsWith("note: 1 job of the batch is not in the baseline 'e/results.jsonl': 'bad' "));
  CHECK_THAT(added.out, Catch::EndsWith("1 new, 1 as before\n"));
  // One that the batch has no longer is told, and fails nothing.
  const ToolRun gone = run(good, "g", "c");
  CHECK(gone.code == 0);
  CHECK(gone.err ==
        "c/results.jsonl: warning: 1 job of the baseline is not in the batch: 'bad' [baseline-jobs-gone]\n");
  CHECK_THAT(gone.out, Catch::EndsWith("1 gone, 1 as before\n"));
  // --only looks at one job; the others are not gone.
  write_text("jobs.toml", good + mended);
  const ToolRun only = run_stowage({"batch", "jobs.toml", "-o", "h", "--only", "v", "--baseline", "c"});
  CHECK(only.code == 0);
  CHECK(only.err.empty());
  CHECK_THAT(only.out, Catch::EndsWith("\n\n1 as before\n"));
}

TEST_CASE("every mistake in a baseline has its place, and nothing is run") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("swtvm"));
  const auto complaint = [](const std::string& text) {
    write_text("old.jsonl", text);
    const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--baseline", "old.jsonl"});
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK_FALSE(fs::exists("out"));
    return run.err;
  };
  const std::string whole = row("m") + row("v");
  CHECK(complaint(whole.substr(0, whole.size() - 20)) ==
        "old.jsonl:2: error: the file ends in the middle of this line: it was not copied or written whole [cut-off]\n"
        "  help: copy it again; without this line its job counts as new\n");
  CHECK(complaint("{\"job\": }\n[1]\n{\"job\":\"m\"}\n{\"job\":\"m\",\"status\":\"dnoe\"}\n{\"job\":7}\n" + row("m")) ==
        "old.jsonl:1:9: error: no line of a batch's results: it is not JSON [wrong-line]\n"
        "old.jsonl:2: error: no line of a batch's results: an object was wanted [wrong-line]\n"
        "old.jsonl:3: error: no line of a batch's results: 'status' is missing: another version wrote it, or it was "
        "edited [wrong-line]\n"
        "old.jsonl:4: error: no line of a batch's results: there is no status 'dnoe', did you mean 'done'? "
        "[wrong-line]\n"
        "old.jsonl:5: error: no line of a batch's results: an entry is of another type than this version writes: "
        "another version wrote it, or it was edited [wrong-line]\n");
  const std::string text = row("m");
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    return complaint(copy.replace(copy.find(from), from.size(), to) + "\n" + row("v"));
  };
  CHECK_THAT(edited("\"cycles\":1000", "\"cycles\":-1"),
             StartsWith("old.jsonl:1: error: ") && Contains("-1 stands where"));
  CHECK_THAT(edited("\"cycles\":1000,", ""), Contains("'cycles' is missing: another version wrote it"));
  CHECK_THAT(edited("\"cycles\":1000", "\"cycles\":1e30"), Contains("stands where a whole number"));
  CHECK_THAT(edited("\"time_s\":1e-06", "\"time_s\":-1.0"), Contains("'time_s' is negative"));
  CHECK_THAT(edited("\"m\"", "\"\xff\""), Contains("it is not JSON"));
  CHECK_THAT(edited("\"cycles\":1000", "\"cycles\":\"1000\""), Contains("'cycles' is no number"));
  // Neither depth nor breadth is more than a mistake.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK_THAT(edited("\"sw26010\"", deep), Contains("brackets stand in more than 64 others [wrong-line]"));
  CHECK_THAT(edited("\"sw26010\"", deep.substr(0, 200'000)),
             StartsWith("old.jsonl:1: error: ") && Contains("brackets"));
  std::string keys = "{";
  for (int i = 0; i < 200'000; ++i) keys += fmt::format("\"{}\":0,", i);
  CHECK_THAT(complaint(keys + "\"\":0}\n"), Contains("'job' is missing"));
  CHECK(edited("\"done\"", "\"" + std::string(100'000, 'x') + "\"").size() < 1000);
  CHECK(complaint(row("m") + "\n" + row("v") + row("m")) ==
        "old.jsonl:4: error: line 1 has the job 'm' already [duplicate-job]\n  help: give the results of one run\n");
  CHECK_THAT(complaint(""), StartsWith("old.jsonl: error: the baseline has no job [nothing-compared]"));
  CHECK_THAT(complaint(row("x") + row("y")),
             StartsWith("old.jsonl: error: the baseline has no job of this batch, but 'x' and 'y' [nothing-compared]"));
  const ToolRun missing = run_stowage({"batch", "jobs.toml", "--baseline", "nowhere/results.jsonl"});
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, StartsWith("nowhere/results.jsonl: error: cannot be read: "));
  fs::create_directory("empty");
  CHECK_THAT(run_stowage({"batch", "jobs.toml", "--baseline", "empty"}).err,
             StartsWith("empty/results.jsonl: error: cannot be read: "));
}

TEST_CASE("a baseline of another version is compared, with a note") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("swtvm"));
  std::string other = row("m");
  other.replace(other.find("0.1.0"), 5, "9.8.7");
  std::string unsaid = row("v");
  unsaid.replace(unsaid.find("\"stowage\":\"0.1.0\","), 18, "");
  write_text("old.jsonl", other + unsaid);
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--baseline", "old.jsonl"});
  CHECK(run.code == 4);
  CHECK(run.err ==
        "note: 'old.jsonl' was written by an older version, which did not give its number and stowage 9.8.7, this is "
        "stowage 0.1.0: where the time model is another one, numbers differ of plans that are the same "
        "[baseline-version]\n");
}

TEST_CASE("a baseline of which the evaluator is another, or was learned, is compared, and that is told") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("swtvm"));
  std::string learned = row("m");
  learned.replace(learned.find("\"planner\""), 9, "\"cost\":\"learned\",\"planner\"");
  write_text("old.jsonl", learned + row("v"));
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--baseline", "old.jsonl"});
  CHECK(run.err ==
        "old.jsonl: warning: groups of 'm' were compared by what train-cost has learned, and results do not tell from "
        "which file: "
        "with another one the groups may be others [baseline-cost-model]\n");
  CHECK(run.out.find("cost closed instead of learned") != std::string::npos);
}

TEST_CASE("a baseline is not replaced by the batch that is compared with it") {
  const Workplace here;
  write_text("jobs.toml", two_jobs("swtvm"));
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  const auto before = files_below("out");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--force", "--baseline", "out/results.jsonl"});
  CHECK(run.code == 1);
  CHECK_THAT(run.err, StartsWith("out/results.jsonl: error: writing it would replace out/results.jsonl"));
  CHECK(files_below("out") == before);
}

TEST_CASE("what would be ignored beside a baseline, and tolerances that are none") {
  const auto mistake = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"batch", "x.toml"});
    const ToolRun run = run_stowage(arguments);
    CHECK(run.code == 2);
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  CHECK(mistake({"--tolerance", "1"}) == "error: --tolerance has no meaning without --baseline");
  CHECK_THAT(mistake({"--baseline", "x", "--dry-run"}), Contains("does not go with"));
  for (const std::string text : {"-1", "nan", "inf", "2%", "1001", "two"}) {
    CHECK(mistake({"--baseline", "x", "--tolerance=" + text}) ==
          "error: --tolerance: '" + text + "' is no number of per cent from 0 to 1000");
  }
}

}  // namespace
}  // namespace stowage::test
