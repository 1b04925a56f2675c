// SPDX-License-Identifier: Apache-2.0
// `stowage batch --junit`: what is red, and that it is XML whatever jobs and messages hold.
#include <filesystem>

#include <catch2/catch.hpp>

#include "driver/batch/junit.h"
#include "tests/driver/hostile_names.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;

constexpr std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

std::string not_well_formed(const std::string& xml) {
  if (!xml.starts_with(declaration)) return "no declaration";
  return malformed(std::string_view(xml).substr(declaration.size()));
}

JobResult result_of(const std::string& name, JobState state, const std::string& summary) {
  JobResult result;
  result.name = name;
  result.state = state;
  result.summary = summary;
  result.json = "{}";
  return result;
}

/// The element of a job.
std::string element_of(const std::string& xml, const std::string& job) {
  const auto start = xml.find("name=\"" + job + "\">");
  REQUIRE(start != std::string::npos);
  return xml.substr(start, xml.find("</testcase>", start) - start);
}

TEST_CASE("jobs are test cases, red where they make the exit code other than 0") {
  std::vector<JobResult> results = {
      result_of("good", JobState::done, "compiled"), result_of("bad", JobState::failed, "cannot be read"),
      result_of("ours", JobState::fault, "check failed"), result_of("late", JobState::interrupted, "")};
  results.back().json.clear();
  results[1].diagnostics.error("file-error", {"m.onnx"}, "cannot be read", "give another one");
  const std::string alone = junit_xml("nightly", results, nullptr);
  CHECK(not_well_formed(alone) == "");
  CHECK(alone == golden("junit.xml", alone));

  Comparison comparison;
  comparison.jobs = {
      {"good", {Mark::slower, Mark::smaller}, JobState::done, std::nullopt, std::nullopt, "", "now is so"},
      {"bad", {Mark::still_failing}, JobState::failed},
      {"ours", {Mark::failing}, JobState::fault},
      {"old", {Mark::gone}}};
  const std::string beside = junit_xml("nightly", results, &comparison);
  CHECK(not_well_formed(beside) == "");
  CHECK_THAT(beside, Contains("tests=\"5\" failures=\"1\" errors=\"2\" skipped=\"2\""));
  CHECK_THAT(element_of(beside, "good"),
             Contains("<failure type=\"slower, smaller\" message=\"slower, smaller: now is so\">"));
  CHECK_THAT(element_of(beside, "bad"), Contains("<skipped message=\"fails in the baseline too: cannot be read\"/>"));
  CHECK_THAT(element_of(beside, "ours"), Contains("<error type=\"fault\" message=\"check failed\">"));
  CHECK_THAT(element_of(beside, "old"), Contains("<skipped message=\"in the baseline, but not in this batch\"/>"));
}

TEST_CASE("test cases are XML whatever jobs and messages are called") {
  std::vector<std::string> names = markup_names();
  for (const char* hard :
       {"\x1b[31mred", "two\nlines", "\x01\x02", "\xff\xfe", "\xef\xbf\xbe", "]]>", "\xe2\x80\xae"}) {
    names.emplace_back(hard);
  }
  std::vector<JobResult> results;
  Comparison comparison;
  for (const std::string& name : names) {
    results.push_back(result_of(name, JobState::failed, name));
    results.back().diagnostics.error("code", {name}, name, name);
    comparison.jobs.push_back({name, {Mark::failing}, JobState::failed, std::nullopt, std::nullopt, name, name});
  }
  for (const Comparison* beside :
       {static_cast<const Comparison*>(nullptr), static_cast<const Comparison*>(&comparison)}) {
    const std::string xml = junit_xml(names.front(), results, beside);
    CHECK(not_well_formed(xml) == "");
    for (const char c : xml) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    CHECK(xml.find("\xef\xbf\xbe") == std::string::npos);
    // What cannot stand in XML is told instead of left out: two names that differ stay two.
    CHECK_THAT(xml, Contains("name=\"\\u001b[31mred\"") && Contains("name=\"two\\u000alines\"") &&
                        Contains("name=\"\\u0001\\u0002\"") && Contains("name=\"\\xff\\xfe\""));
  }
}

TEST_CASE("a batch writes test cases where it is told, and nowhere else") {
  const Workplace here;
  write_text("nightly.toml",
             "[[job]]\nname = \"v\"\nnetwork = \"vector\"\n[[job]]\nname = \"bad\"\nmodel = \"x.onnx\"\n");
  const ToolRun run = run_stowage({"batch", "nightly.toml", "-o", "a", "--junit", "a/tests.xml"});
  CHECK(run.code == 1);
  const std::string xml = read_text("a/tests.xml");
  CHECK(not_well_formed(xml) == "");
  CHECK_THAT(xml, Contains("<testsuite name=\"nightly\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">"));
  CHECK_THAT(element_of(xml, "bad"), Contains("x.onnx: error: cannot be read"));
  CHECK_THAT(element_of(xml, "v"), Contains("<system-out>compiled\n") && Contains(" cycles, "));
  // Beside that run the same failure is known.
  const ToolRun again = run_stowage({"batch", "nightly.toml", "-o", "b", "--baseline", "a", "--junit", "b.xml"});
  CHECK(again.code == 0);
  CHECK_THAT(read_text("b.xml"), Contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""));

  const auto complaint = [](const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"batch", "nightly.toml", "-o", "c", "--junit", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ToolRun refused = run_stowage(arguments);
    CHECK(refused.code == 1);
    CHECK_FALSE(fs::exists("c"));
    return refused.err;
  };
  CHECK_THAT(complaint("b.xml"), StartsWith("b.xml: error: the file exists already [output-exists]"));
  CHECK_THAT(complaint("nightly.toml", {"--force"}), Contains("[output-in-use]"));
  CHECK_THAT(complaint("a/results.jsonl", {"--force", "--baseline", "a"}), Contains("[output-in-use]"));
  for (const std::string file :
       {"c/results.jsonl", "c/../c/summary.html", "c/v/tests.xml", "./c/networks/t.xml", "c"}) {
    CHECK_THAT(complaint(file), Contains("error: the batch writes there itself [output-in-use]"));
  }
  CHECK_THAT(complaint("nowhere/t.xml"),
             Contains("nowhere/t.xml: error: there is no folder ") && Contains("/nowhere [file-error]"));
  CHECK_THAT(complaint("a"), Contains("this is a folder"));
  CHECK(run_stowage({"batch", "x.toml", "--dry-run", "--junit", "x"}).code == 2);
}

}  // namespace
}  // namespace stowage::test
