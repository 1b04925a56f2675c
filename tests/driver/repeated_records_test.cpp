// SPDX-License-Identifier: Apache-2.0
// What a planner recorded of equal fused operators stands in trace.json once.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/trace/of_planner.h"
#include "driver/json/json.h"
#include "driver/store/plan_file.h"
#include "driver/store/trace_file.h"
#include "tests/driver/equal_products.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

Json stored_trace() { return Json::parse(read_text("plan/trace.json")); }

void write_equal_products() {
  Diagnostics diagnostics;
  REQUIRE(write_compilation(compile_equal_products(), "plan", false, diagnostics));
}

/// The row by which a fused operator repeats another's records.
Json& repeating_row(Json& trace, const std::string& subject) {
  for (Json& row : trace.at("records")) {
    if (row.at("subject") == subject && row.contains("same_as")) return row;
  }
  FAIL("no row of " << subject << " repeats others");
  return trace;
}

TEST_CASE("records of equal plans stand once, and are read as each operator's own", "[trace]") {
  const Workplace here;
  Compilation compilation = compile_equal_products();
  const bool differ = GENERATE(false, true);
  if (differ) {
    std::set<std::string> begun;
    for (TraceRecord& record : compilation.trace.records) {
      if (!is_of_planner(record) || !begun.insert(record.subject).second) continue;
      record.what = SplitUnaligned{"rows of " + record.subject + " are no whole blocks"};
    }
  }
  const std::vector<TraceRecord>& wanted = compilation.trace.records;
  Diagnostics diagnostics;
  REQUIRE(write_compilation(compilation, "plan", false, diagnostics));
  Json trace = stored_trace();
  CHECK(trace.at("version") == 4);
  for (const std::string name : {"second", "third"}) {
    const Json& row = repeating_row(trace, name);
    CHECK(row.at("same_as") == "first");
    CHECK(row.contains("except") == differ);
  }
  CHECK(trace.at("records").size() < wanted.size());

  const auto read = read_compilation("plan", diagnostics);
  REQUIRE(read);
  const std::vector<TraceRecord>& found = read->trace.records;
  REQUIRE(found.size() == wanted.size());
  bool has_name = false;  // of its own tensors
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(found[i].subject == wanted[i].subject);
    CHECK(sentence(found[i]) == sentence(wanted[i]));
    has_name = has_name || (found[i].subject == "third" && sentence(found[i]).find("third_w") != std::string::npos);
  }
  CHECK(has_name);
  CHECK(trace_json(*read) == read_text("plan/trace.json"));
}

TEST_CASE("a trace of version 3, which repeats nothing by reference, is read as before", "[trace]") {
  const Workplace here;
  write_equal_products();
  const ToolRun now = run_stowage({"explain", "plan", "--steps"});
  REQUIRE(now.code == 0);
  const Json trace = stored_trace();
  Json before = trace;
  before["version"] = 3;
  before["records"] = Json::array();
  for (const Json& row : trace.at("records")) {
    if (!row.contains("same_as")) {
      before["records"].push_back(row);
      continue;
    }
    for (Json other : trace.at("records")) {
      if (other.at("subject") != row.at("same_as") || other.at("algorithm") == "fusion") continue;
      other["subject"] = row.at("subject");
      before["records"].push_back(other);
    }
  }
  REQUIRE(before["records"].size() > trace.at("records").size());
  write_text("plan/trace.json", before.dump());
  CHECK(run_stowage({"explain", "plan", "--steps"}).out == now.out);
}

TEST_CASE("the first plan of an operator is repeated, whatever stands behind it", "[trace]") {
  const Workplace here;
  Compilation compilation = compile_equal_products();
  std::vector<TraceRecord>& records = compilation.trace.records;
  // All of "second" once more, behind a record that is no planner's.
  const std::vector<TraceRecord> before = records;
  records.push_back({"second", GroupFixed{{"second"}}, nullptr});
  for (const TraceRecord& record : before) {
    if (record.subject == "second") records.push_back(record);
  }
  Diagnostics diagnostics;
  REQUIRE(write_compilation(compilation, "plan", false, diagnostics));
  Json trace = stored_trace();
  CHECK(repeating_row(trace, "third").at("same_as") == "first");
  const auto rows_of_second = [](const Json& row) { return row.at("subject") == "second" && row.contains("same_as"); };
  const Json& rows = trace.at("records");
  CHECK(std::count_if(rows.begin(), rows.end(), rows_of_second) == 1);
  const auto read = read_compilation("plan", diagnostics);
  REQUIRE(read);
  CHECK(read->trace.records.size() == records.size());
  CHECK(trace_json(*read) == read_text("plan/trace.json"));
}

TEST_CASE("in a trace of version 3 a row is read by its event alone", "[trace]") {
  const Workplace here;
  write_equal_products();
  Json trace = stored_trace();
  trace["version"] = 3;
  write_text("plan/trace.json", trace.dump());
  const ToolRun run = run_stowage({"explain", "plan"});
  CHECK(run.code == 1);
  CHECK(run.err.find("plan/trace.json: error: 'event' is missing") == 0);
}

TEST_CASE("a row that repeats what is not there, or of another form, is refused", "[trace][damaged]") {
  const Workplace here;
  write_equal_products();
  const Json whole = stored_trace();
  const auto says = [&](const std::string& reason, const std::function<void(Json&)>& edit) {
    Json damaged = whole;
    edit(damaged);
    write_text("plan/trace.json", damaged.dump());
    const ToolRun run = run_stowage({"explain", "plan", "--steps"});
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("plan/trace.json: error: " + reason) == 0);
    CHECK(run.err.find("[damaged-plan]") != std::string::npos);
  };
  const auto edit_row = [](const char* key, const Json& value) {
    return [key, value](Json& trace) { repeating_row(trace, "second")[key] = value; };
  };
  says("'nothing' has no records of a plan before", edit_row("same_as", "nothing"));
  says("'second' has no records of a plan before", edit_row("same_as", "second"));
  says("'third' has no records of a plan before", edit_row("same_as", "third"));
  says("'other' has not as many iterators and buffers as 'first'", edit_row("subject", "other"));
  says("an entry is of another type", edit_row("same_as", 7));
  says("'subject' is missing", [](Json& trace) { repeating_row(trace, "second").erase("subject"); });
  for (const char* list : {"iterators", "buffers"}) {
    says("'second' has not as many iterators and buffers as 'first'",
         [list](Json& trace) { trace.at("groups").at(1).at(list).push_back("one_more"); });
  }
  const auto except = [](const Json& others) {
    return [others](Json& trace) { repeating_row(trace, "second")["except"] = others; };
  };
  const Json event = whole.at("records").at(0).at("event");
  says("an entry is of another type", except(Json::object({{"record", 0}})));
  says("1000 stands where a whole number from 0 to ", except({{{"record", 1000}, {"event", event}}}));
  says("-1 stands where a whole number from 0 to ", except({{{"record", -1}, {"event", event}}}));
  says("'event' is missing", except({{{"record", 0}}}));
  says("a record of a plan is replaced by one of no planner", except({{{"record", 0}, {"event", event}}}));
  // What repeats cannot be repeated, so that a short file stands for no more than its rows times their number.
  says("'second' has no records of a plan before",
       [](Json& trace) { repeating_row(trace, "third")["same_as"] = "second"; });
  says("records of more than 256 MiB are repeated", [](Json& trace) {
    const Json row = repeating_row(trace, "third");
    for (int i = 0; i < 60'000; ++i) trace["records"].push_back(row);
  });
}

}  // namespace
}  // namespace stowage::test
