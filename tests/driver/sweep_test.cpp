// SPDX-License-Identifier: Apache-2.0
// Sweeps, presets and included files of a batch: the jobs that come of them, and every mistake in them.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/drawing/sweep_chart.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

std::vector<nlohmann::json> jobs_of(const std::string& text) {
  write_text("jobs.toml", text);
  const ToolRun run = run_stowage({"batch", "jobs.toml", "--dry-run", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.err.empty());
  CHECK_FALSE(fs::exists("jobs-out"));
  return nlohmann::json::parse(run.out);
}

std::vector<std::string> names_of(const std::vector<nlohmann::json>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) names.push_back(job.at("job"));
  return names;
}

/// What the batch of that text complains of.
std::string complaint(const std::string& text) {
  write_text("jobs.toml", text);
  const ToolRun run = run_stowage({"batch", "jobs.toml", "--dry-run"});
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  return run.err;
}

std::string swept(const std::string& lines) {
  return "[[job]]\nname = \"j\"\nnetwork = \"matmul\"\n[job.sweep]\n" + lines;
}

TEST_CASE("a sweep takes every combination of its values, the last key fastest") {
  const Workplace here;
  const auto jobs = jobs_of(R"([[job]]
name = "m"
[job.sweep]
network = ["matmul", "vector"]
fusion = ["greedy", "none"]
"target.ldm.bytes" = { from = 16384, to = 65536, factor = 2 }
)");
  REQUIRE(jobs.size() == 12);
  CHECK(names_of(jobs)[0] == "m-greedy-matmul-16384");
  // Keys come in the order of their names.
  CHECK(names_of(jobs)[1] == "m-greedy-matmul-32768");
  CHECK(names_of(jobs)[3] == "m-greedy-vector-16384");
  CHECK(names_of(jobs)[11] == "m-none-vector-65536");
  CHECK(
      jobs[4].dump() ==
      R"({"cost":"closed","fusion":"greedy","job":"m-greedy-vector-32768","layout":"blocked","network":"vector","planner":"searched","settings":)"
      R"(["target.ldm.bytes=32768"],"sweep":{"fusion":"greedy","network":"vector","target.ldm.bytes":32768},)"
      R"("target":"sw26010"})");
}

TEST_CASE("keys of a sweep stand in tables as well, beside settings of the job") {
  const Workplace here;
  const auto jobs = jobs_of(R"([[job]]
name = "m-{target.cores.count}"
network = "matmul"
set = { target.ldm.reserved = 0, target.cores.count = 1 }
[job.sweep]
target.cores.count = [8, 64]
)");
  REQUIRE(jobs.size() == 2);
  CHECK(names_of(jobs) == std::vector<std::string>{"m-8", "m-64"});
  // The later setting counts.
  CHECK(jobs[0].at("settings") ==
        std::vector<std::string>{"target.cores.count=1", "target.ldm.reserved=0", "target.cores.count=8"});
}

TEST_CASE("zipped values are taken side by side, and excluded ones left out") {
  const Workplace here;
  CHECK(names_of(jobs_of(swept("combine = \"zip\"\nfusion = [\"greedy\", \"exact\"]\nbatch = [1, 4]\n"))) ==
        std::vector<std::string>{"j-1-greedy", "j-4-exact"});
  CHECK(names_of(jobs_of(
            swept("fusion = [\"greedy\", \"exact\"]\nbatch = { from = 1, to = 3, step = 1 }\n"
                  "exclude = [{ fusion = \"exact\", batch = [1, 2] }, { batch = 3, fusion = \"greedy\" }]\n"))) ==
        std::vector<std::string>{"j-1-greedy", "j-2-greedy", "j-3-exact"});
}

TEST_CASE("ranges end where they say") {
  const Workplace here;
  const auto values = [](const std::string& range) {
    std::vector<double> found;
    for (const auto& job : jobs_of(swept("\"target.clock_hz\" = " + range + "\n"))) {
      found.push_back(job.at("sweep").at("target.clock_hz"));
    }
    return found;
  };
  CHECK(values("{ from = 1, to = 10, step = 4 }") == std::vector<double>{1, 5, 9});
  CHECK(values("{ from = 5, to = 5, step = 4 }") == std::vector<double>{5});
  CHECK(values("{ from = 1000, to = 9000, factor = 3 }") == std::vector<double>{1000, 3000, 9000});
  CHECK(values("{ values = [3, 1] }") == std::vector<double>{3, 1});
  const std::vector<double> tenths = values("{ from = 0.1, to = 0.5, step = 0.1 }");
  REQUIRE(tenths.size() == 5);
  CHECK(tenths.back() == Approx(0.5));
}

TEST_CASE("a swept batch runs, and its results say what was swept") {
  const Workplace here;
  write_text("jobs.toml",
             "[defaults]\nplanner = \"swtvm\"\n[[job]]\nname = \"v\"\nnetwork = \"vector\"\n[job.sweep]\n"
             "\"target.cores.count\" = [1, 64]\n");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
  INFO(run.err);
  CHECK(run.code == 0);
  std::istringstream lines(read_text("out/results.jsonl"));
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("sweep").at("target.cores.count") == 1);
  CHECK(rows[1].at("sweep").at("target.cores.count") == 64);
  CHECK(rows[0].at("cycles") != rows[1].at("cycles"));
  CHECK(fs::exists("out/v-64/plan.json"));
}

TEST_CASE("a batch writes a row a job for spreadsheets, and a page with what its sweeps gain") {
  const Workplace here;
  write_text("jobs.toml",
             "[defaults]\nplanner = \"swtvm\"\n[[job]]\nname = \"l\"\n[job.sweep]\n"
             "network = [\"lenet\"]\nfusion = [\"none\", \"exact\"]\n"
             "target.ldm.bytes = [131072, 8192, 65536]\n"
             "[[job]]\nname = \"bad\"\nmodel = \"<b>.onnx\"\n");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
  CHECK(run.code == 1);
  std::istringstream lines(read_text("out/summary.csv"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  REQUIRE(rows.size() == 8);
  CHECK(rows[0] ==
        "job,status,network,target,fusion,planner,target.ldm.bytes,groups,kernels,dma_transfers,dma_bytes,"
        "ldm_peak_bytes,cycles,time_s,summary\r");
  std::istringstream results(read_text("out/results.jsonl"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::string line;
    std::getline(results, line);
    const auto row = nlohmann::json::parse(line);
    INFO(rows[i]);
    CHECK(rows[i].starts_with(row.at("job").get<std::string>() + "," + row.at("status").get<std::string>() + ","));
    if (row.contains("cycles")) CHECK(rows[i].find("," + row.at("cycles").dump() + ",") != std::string::npos);
  }
  CHECK(rows[7].starts_with("bad,failed,<b>.onnx,sw26010,"));
  const std::string page = read_text("out/summary.html");
  CHECK(page.find("7 jobs, 6 done, 1 failed.") != std::string::npos);
  CHECK(page.find("<h2>Time against target.ldm.bytes</h2>") != std::string::npos);
  CHECK(page.find("<h2>Time against fusion") == std::string::npos);  // no numbers
  CHECK(page.find("<b>.onnx") == std::string::npos);
  std::vector<std::string> told;
  std::istringstream page_lines(page);
  for (std::string line; std::getline(page_lines, line);) {
    if (line.starts_with("<li>")) told.push_back(line);
  }
  REQUIRE(told.size() == 2);
  CHECK_THAT(told[0],
             Catch::Matches("<li>lenet, (none|exact): fastest at (65536|131072), in [0-9.]+ % less time than at "
                            "8192.*</li>"));
  CHECK_THAT(told[1], Catch::StartsWith("<li>lenet, ") && Catch::Contains("fastest at"));
  // What is there stays there without --force.
  write_text("out/summary.csv", "mine");
  write_text("out/summary.html", "mine");
  const ToolRun again = run_stowage({"batch", "jobs.toml", "-o", "out"});
  CHECK(again.code == 1);
  CHECK_THAT(again.err, Catch::Contains("out/summary.csv: error") && Catch::Contains("out/summary.html: error"));
}

TEST_CASE("a knee is where more gains less than a hundredth") {
  using drawing::SweepLine;
  const auto knee = [](const std::vector<double>& cycles) {
    SweepLine line;
    for (std::size_t i = 0; i < cycles.size(); ++i) line.points.push_back({static_cast<double>(i), cycles[i], ""});
    return drawing::knee_of(line);
  };
  CHECK(knee({1000, 800, 600, 400}) == 3);
  CHECK(knee({1000, 500, 499, 498}) == 1);
  CHECK(knee({1000, 995, 989, 983}) == 2);  // small steps add up
  CHECK(knee({500, 600, 700}) == 0);
  CHECK(knee({500, 600, 400, 400}) == 2);
  CHECK(knee({500, 300, 500}) == 1);
  CHECK(knee({500, 500}) == 0);
}

TEST_CASE("presets lie between defaults and the job") {
  const Workplace here;
  const auto jobs = jobs_of(R"([defaults]
fusion = "none"
planner = "swtvm"
[preset.small]
fusion = "greedy"
target = "small.toml"
set = { target.cores.count = 4 }
[[job]]
name = "a"
network = "vector"
preset = "small"
planner = "searched"
[[job]]
name = "b"
network = "vector"
)");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].at("fusion") == "greedy");
  CHECK(jobs[0].at("planner") == "searched");
  CHECK(jobs[0].at("settings") == std::vector<std::string>{"target.cores.count=4"});
  CHECK(jobs[1].at("fusion") == "none");
  CHECK(jobs[1].at("settings").empty());
}

TEST_CASE("included files bring defaults, presets and jobs, each from its own folder") {
  const Workplace here;
  fs::create_directories("common/deeper");
  write_text("common/deeper/base.toml",
             "[defaults]\nfusion = \"none\"\nplanner = \"swtvm\"\n[preset.p]\nbatch = 2\n"
             "[[job]]\nname = \"base\"\nmodel = \"base.onnx\"\n");
  write_text("common/all.toml", "include = [\"deeper/base.toml\"]\n[defaults]\nplanner = \"searched\"\n");
  const auto jobs = jobs_of(
      "include = [\"common/all.toml\"]\n[[job]]\nname = \"own\"\nnetwork = \"vector\"\n"
      "preset = \"p\"\n");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].at("job") == "base");
  CHECK(jobs[0].at("network") == "common/deeper/base.onnx");
  CHECK(jobs[0].at("planner") == "swtvm");
  CHECK(jobs[1].at("fusion") == "none");
  CHECK(jobs[1].at("planner") == "searched");

  write_text("common/all.toml", "include = [\"../jobs.toml\"]\n");
  CHECK_THAT(complaint("include = [\"common/all.toml\"]\n"), Catch::Contains("'common/../jobs.toml' includes itself") ||
                                                                 Catch::Contains("'jobs.toml' includes itself"));
  CHECK_THAT(complaint("include = [\"none.toml\"]\n"), Catch::Contains("jobs.toml:1:11: error: 'none.toml': "));
  write_text("common/shared.toml", "[defaults]\nplanner = \"swtvm\"\n");
  CHECK_THAT(complaint("include = [\"common/shared.toml\"]\n"),
             Catch::Contains("neither the file nor those that it includes have a job [missing-key]") &&
                 Catch::Contains("help: add a table [[job]]"));
  write_text("jobs.toml", "include = [\"common/shared.toml\"]\n[[job]]\nname = \"own\"\nnetwork = \"vector\"\n");
  const ToolRun with_shared = run_stowage({"batch", "jobs.toml", "--dry-run", "--json"});
  INFO(with_shared.err);
  REQUIRE(with_shared.code == 0);
  CHECK(nlohmann::json::parse(with_shared.out).at(0).at("planner") == "swtvm");
}

TEST_CASE("mistakes of a sweep are told once, with the value that is wrong") {
  const Workplace here;
  CHECK(complaint(swept("fusion = [\"gredy\", \"exact\"]\nbatch = [0, 1]\nplanner = \"swtvm\"\n"))
            .find("jobs.toml:7:11: error: 'planner' is no list of values [wrong-type]") == 0);
  CHECK(complaint(swept("bach = [1, 2]\n")) ==
        "jobs.toml:5:8: error: unknown key 'bach' (value 1) [unknown-key]\n"
        "    bach = [1, 2]\n"
        "           ^^^^^^\n"
        "  help: did you mean 'batch'?\n"
        "jobs.toml:5:8: error: unknown key 'bach' (value 2) [unknown-key]\n"
        "    bach = [1, 2]\n"
        "           ^^^^^^\n"
        "  help: did you mean 'batch'?\n");
  CHECK(complaint(swept("batch = [0, 1]\n")).find("'batch' is 0, but lies between 1 and ") != std::string::npos);
  CHECK(complaint(swept("network = [\"vektor\"]\n")).find("no sample network 'vektor' (value ") != std::string::npos);
  CHECK_THAT(complaint(swept("model = [\"a.onnx\"]\n")), Catch::Contains("[two-models]"));
  CHECK_THAT(complaint(swept("\"target.ldm.bytes\" = [1024]\n[job.sweep.target]\nldm = { bytes = [4096] }\n")),
             Catch::Contains("the sweep has 'target.ldm.bytes' twice [given-twice]"));
  CHECK_THAT(complaint(swept("\"target.ldm\" = [1024]\n\"target.ldm.bytes\" = [4096]\n")),
             Catch::Contains("the sweep has 'target.ldm' and, in it, 'target.ldm.bytes' [given-twice]"));
  CHECK_THAT(complaint(swept("")), Catch::Contains("no key whose values it could take [no-values]"));
  CHECK_THAT(complaint(swept("batch = []\n")), Catch::Contains("'batch' has no value"));
  CHECK_THAT(complaint(swept("batch = [2, 2]\n")), Catch::Contains("'batch' has the value 2 twice [given-twice]"));
  CHECK_THAT(complaint(swept("batch = [[1], 2]\n")), Catch::Contains("a value of 'batch' is no single value"));
  const auto range = [](const std::string& text) { return complaint(swept("batch = " + text + "\n")); };
  CHECK_THAT(range("{ from = 1, to = 4 }"), Catch::Contains("has neither 'step' nor 'factor'") &&
                                                Catch::Contains("help: give what is added ('step')"));
  CHECK_THAT(range("{ from = 1, to = 4, step = 1, factor = 2 }"),
             Catch::Contains("has both 'step' and 'factor'") && Catch::Contains("help: take one of them out"));
  CHECK_THAT(range("{ from = 4, to = 1, step = 1 }"), Catch::Contains("ends at 1 before its beginning 4") &&
                                                          Catch::Contains("help: give the smaller one as 'from'"));
  CHECK_THAT(range("{ from = 1, to = 4, step = 0 }"),
             Catch::Contains("not more than 0") && Catch::Contains("help: give a step of more than 0"));
  CHECK_THAT(range("{ from = 1, to = 4, factor = 1 }"),
             Catch::Contains("wants one more than 1") && Catch::Contains("help: give such numbers"));
  CHECK_THAT(range("{ from = 0, to = 4, factor = 2 }"), Catch::Contains("a 'from' more than 0"));
  CHECK_THAT(range("{ values = [1, 2], from = 1, to = 2, step = 1 }"),
             Catch::Contains("'batch' has both 'values' and 'from', a list or a range was wanted [wrong-range]") &&
                 Catch::Contains("help: take one of them out") && !Catch::Contains("unknown key"));
  CHECK_THAT(range("{ from = 1, step = 1 }"), Catch::Contains("'job.sweep.batch.to' is missing"));
  CHECK_THAT(range("{ from = 1, to = 4, stp = 1 }"), Catch::Contains("did you mean 'step'?"));
  CHECK_THAT(
      range("{ from = 1, to = 1e17, step = 1 }"),
      Catch::Contains("has more than 1000000 values") && Catch::Contains("help: take larger steps, or a nearer end"));
  CHECK_THAT(range("{ from = 1.0, to = inf, step = 1 }"), Catch::Contains("is no number that a range can have"));
  CHECK_THAT(range("{ from = 1e300, to = 1e301, step = 1.0 }"),
             Catch::Contains("does not move on") && Catch::Contains("help: take larger steps"));
  CHECK_THAT(complaint(swept("combine = \"zip\"\nbatch = [1, 2]\nfusion = [\"none\"]\n")),
             Catch::Contains("of 'batch' 2, of 'fusion' 1 [unequal-lengths]"));
  CHECK_THAT(complaint(swept("combine = \"both\"\nbatch = [1]\n")), Catch::Contains("[wrong-value]"));
  CHECK_THAT(complaint(swept("batch = [1, 2]\nexclude = [{ bach = 1 }]\n")),
             Catch::Contains("'exclude' names 'bach', which is not swept") && Catch::Contains("did you mean 'batch'?"));
  CHECK_THAT(complaint(swept("batch = [1, 2]\nexclude = [{ batch = 3 }]\n")),
             Catch::Contains("entry 1 of 'exclude' fits no combination [excludes-nothing]"));
  CHECK_THAT(complaint(swept("batch = [1, 2]\nexclude = [{ batch = [1, 2] }]\n")), Catch::Contains("[nothing-left]"));
  CHECK_THAT(complaint(swept("batch = { from = 1, to = 1000, step = 1 }\nseed = { from = 1, to = 1001, step = 1 }\n")),
             Catch::Contains("makes 1000 x 1001 jobs, at most 1000000 are allowed [too-many-jobs]"));
  CHECK_THAT(
      complaint("[[job]]\nname = \"{fusion}\"\nnetwork = \"vector\"\n[job.sweep]\nfusion = [\"none\"]\n"
                "batch = [1, 2]\n"),
      Catch::Contains("two jobs have the name 'none' [duplicate-job]") &&
          Catch::Contains("help: name all swept keys whose values differ in it, for instance '{batch}-{fusion}'"));
  CHECK_THAT(complaint("[[job]]\nname = \"a/{batch}\"\nnetwork = \"vector\"\n[job.sweep]\nbatch = [1, 2]\n"),
             Catch::Contains("'a/1' cannot be the name of a folder"));
  CHECK_THAT(
      complaint("[preset.fast]\nfusion = \"none\"\n[[job]]\nname = \"a\"\nnetwork = \"vector\"\npreset = \"fst\"\n"),
      Catch::Contains("no preset 'fst' [unknown-preset]") && Catch::Contains("did you mean 'fast'?"));
  CHECK_THAT(
      complaint("[preset.fast]\nfuson = \"none\"\n[[job]]\nname = \"a\"\nnetwork = \"vector\"\npreset = \"fast\"\n"),
      Catch::Contains("unknown key 'preset.fast.fuson'"));
}

}  // namespace
}  // namespace stowage::test
