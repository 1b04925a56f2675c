// SPDX-License-Identifier: Apache-2.0
// What the page of a batch tells of its sweeps: knees in words, the Pareto front, links, and the filter of the table.
#include "driver/batch/sweep_page.h"

#include <filesystem>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/quoting.h"
#include "driver/diff/plan_diff.h"
#include "driver/store/plan_file.h"
#include "driver/text/url_text.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// Jobs of one network that sweep the LDM beside the strategy, with these times.
struct Sweep {
  std::vector<Job> jobs;
  std::vector<JobEnd> results;

  void add(const std::string& network, const std::string& fusion, std::int64_t ldm, double seconds,
           const std::string& key = "target.ldm.bytes") {
    Job job;
    job.name = network + "-" + fusion + "-" + std::to_string(ldm);
    JobKeys keys;
    keys.network = network;
    job.keys = keys;
    job.swept = {SweptValue{"fusion", TomlValue{fusion}, "\"" + fusion + "\""},
                 SweptValue{key, TomlValue{ldm}, std::to_string(ldm)}};
    jobs.push_back(job);
    JobEnd result;
    result.totals.emplace();
    result.totals->seconds = seconds;
    result.totals->cycles = static_cast<std::int64_t>(seconds * 1e9);
    results.push_back(result);
  }
};

std::string page_of(const std::string& folder) { return read_text(folder + "/summary.html"); }

}  // namespace

TEST_CASE("on the front is what no other job of the network beats in time and value") {
  Sweep sweep;
  sweep.add("lenet", "none", 16, 5);    // 0: the least value there is, but
  sweep.add("lenet", "exact", 16, 4);   // 1: this one takes less time with it
  sweep.add("lenet", "greedy", 16, 4);  // 2: just as good
  sweep.add("lenet", "none", 32, 3);    // 3
  sweep.add("lenet", "exact", 32, 3.5);
  sweep.add("lenet", "none", 64, 3);   // 5: no less time with more
  sweep.add("lenet", "exact", 64, 2);  // 6
  sweep.add("vector", "none", 8, 9);   // another network
  sweep.add("vector", "exact", 16, 10);
  using Places = std::set<std::size_t>;
  CHECK(pareto_front("target.ldm.bytes", sweep.jobs, sweep.results) == Places{1, 2, 3, 6, 7});
  CHECK(pareto_front("fusion", sweep.jobs, sweep.results).empty());  // no resource
  sweep.results[1].totals.reset();                                   // a job that failed
  CHECK(pareto_front("target.ldm.bytes", sweep.jobs, sweep.results) == Places{2, 3, 6, 7});

  Sweep alone;  // one line: every value is either on it or beaten by a smaller one, which the curve shows
  alone.add("lenet", "exact", 16, 2);
  alone.add("lenet", "exact", 32, 1);
  CHECK(pareto_front("target.ldm.bytes", alone.jobs, alone.results).empty());
  Sweep batches;
  batches.add("lenet", "none", 1, 2, "batch");
  batches.add("lenet", "exact", 2, 1, "batch");
  CHECK(pareto_front("batch", batches.jobs, batches.results).empty());  // less of it is not better
}

TEST_CASE("a name is one part of an address") {
  CHECK(url_segment("lenet-16384_a.b~c") == "lenet-16384_a.b~c");
  CHECK(url_segment("a b?c#d%e\"f") == "a%20b%3fc%23d%25e%22f");
  CHECK(url_segment("é") == "%c3%a9");
}

TEST_CASE("a batch's page tells what changes at knees, the front, and where the reports are") {
  const Workplace here;
  write_text("jobs.toml",
             "[defaults]\nplanner = \"swtvm\"\n[[job]]\nname = \"a & b {fusion} {target.ldm.bytes}\"\n"
             "network = \"lenet\"\n[job.sweep]\nfusion = [\"none\", \"exact\"]\n"
             "target.ldm.bytes = [8192, 16384, 65536, 131072]\n"
             "[[job]]\nname = \"bad\"\nmodel = \"none.onnx\"\n");
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 1);
  const std::string page = page_of("out");
  CHECK(page.find("<td><a href=\"./a%20%26%20b%20none%208192/report.md\">a &amp; b none 8192</a></td>") !=
        std::string::npos);
  CHECK(fs::exists("out/a & b none 8192/report.md"));
  CHECK(page.find("<td>bad</td>") != std::string::npos);  // it has no plan
  CHECK(page.find("<input id=\"filter-rows\"") != std::string::npos);
  CHECK(page.find("<table class=\"sortable filtered\">") != std::string::npos);
  CHECK(page.find("<h2>Least time and least target.ldm.bytes</h2>\n<h3>lenet</h3>") != std::string::npos);
  CHECK(page.find(">on the front of</th>") != std::string::npos);
  for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos;) {
    const std::size_t end = page.find("</svg>", at) + 6;
    CHECK(malformed(page.substr(at, end - at)) == "");
    at = end;
  }

  // The words are those of `diff` between the plans that lie there.
  std::istringstream lines(page);
  int told = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("<li>lenet, ")) continue;
    const std::size_t at = line.find("; at ");
    if (at == std::string::npos) continue;
    ++told;
    const std::string fusion = line.starts_with("<li>lenet, none") ? "none" : "exact";
    std::istringstream words(line.substr(at + 5));
    std::string after;
    words >> after;
    const std::string before = after == "16384" ? "8192" : after == "65536" ? "16384" : "65536";
    Diagnostics diagnostics;
    const auto plan_at = [&](const std::string& value) {
      auto plan = read_compilation("out/a & b " + fusion + " " + value, diagnostics);
      REQUIRE(plan);
      return *std::move(plan);
    };
    const std::string wanted = step_words(diff_compilations(plan_at(before), plan_at(after)), before, after);
    CHECK(line.substr(at + 2) == escaped(wanted) + ".</li>");
  }
  CHECK(told == 2);

  // Once more nothing is run again.
  CHECK(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 1);
  CHECK(page_of("out") == page);

  // In parts and merged it is the same page.
  for (const std::string part : {"1/2", "2/2"}) run_stowage({"batch", "jobs.toml", "--shard", part});
  CHECK(run_stowage({"batch", "--merge", "jobs-out-1-of-2", "jobs-out-2-of-2", "-o", "merged"}).code == 1);
  CHECK(page_of("merged") == page);
  for (const auto& entry : fs::directory_iterator("jobs-out-1-of-2")) {
    if (entry.is_directory() && entry.path().filename() != "networks") fs::remove_all(entry.path());
  }
  CHECK(run_stowage({"batch", "--merge", "jobs-out-1-of-2", "jobs-out-2-of-2", "-o", "gone"}).code == 1);
  CHECK(page_of("gone").find("<h2>Time against target.ldm.bytes</h2>") != std::string::npos);
}

}  // namespace stowage::test
