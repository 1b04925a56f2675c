// SPDX-License-Identifier: Apache-2.0
// `stowage report`: the page as a whole, that it is well-formed and needs nothing from elsewhere.
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/number_text.h"
#include "core/operators.h"
#include "core/quoting.h"
#include "driver/diff/model_error.h"
#include "driver/page/page_parts.h"
#include "driver/page/page_scope.h"
#include "driver/page/report_page.h"
#include "driver/report/fusion_tables.h"
#include "driver/report/nest_rows.h"
#include "driver/report/plan_tables.h"
#include "driver/report/report.h"
#include "driver/store/plan_file.h"
#include "emitter/pictures/graphviz.h"
#include "lowering/model/ldm_room.h"
#include "tests/driver/dense_net.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

Compilation compiled(const std::string& network) {
  REQUIRE(run_stowage({"network", network, "-o", network + ".onnx"}).code == 0);
  CompileRequest request;
  request.model = network + ".onnx";
  request.command_line = "stowage compile " + request.model;
  Diagnostics diagnostics;
  auto compilation = compile(request, diagnostics);
  REQUIRE(compilation);
  return *std::move(compilation);
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

TEST_CASE("the checker of well-formedness sees what is wrong") {
  CHECK(malformed("<!DOCTYPE html>\n<p a=\"1 > 0\">x &amp; y<br/></p>\n").empty());
  for (const char* text : {"<p>", "<p></b>", "<p a=1></p>", "<p>a & b</p>", "<p a=\"<\"></p>", "<p", "<p>&nbsp;</p>"}) {
    INFO(text);
    CHECK_FALSE(malformed(text).empty());
  }
}

TEST_CASE("the page of a tiny network") {
  const Workplace here;
  const Compilation compilation = compiled("matmul");
  // Without pictures: their places depend on Graphviz and its fonts.
  const std::string page = report_page(compilation, {{"A picture", "", "Not drawn: no reason"}});
  CHECK(page == golden("report-matmul.html", page));
  CHECK(malformed(page).empty());
}

TEST_CASE(
    "the room for buffers is told as the planner has it, parameters taken off where nothing is reserved for them") {
  testing::Net net("rows");
  const Graph graph = net.done({net.op("Relu", "positive", {net.input("x", {64, 100})})});
  CompileRequest request;
  request.settings = {"target.ldm.reserved=0"};
  Diagnostics diagnostics;
  const auto compilation = compile_graph(graph, request, diagnostics);
  REQUIRE(compilation);
  const Program& program = compilation->program;
  const std::int64_t room = ldm_for_buffers(program.steps.at(StepId(0)).plan()->nest, program.target);
  REQUIRE(room < program.target.ldm.available());
  const std::string told = "of " + grouped_digits(room);
  CHECK_THAT(step_text(program, StepId(0)), Catch::Contains(told + " bytes"));
  CHECK_THAT(report_markdown(*compilation), Catch::Contains("LDM peak") && Catch::Contains(told));
  const std::string page = report_page(*compilation, {});
  CHECK_THAT(page, Catch::Contains(std::to_string(program.target.ldm.bytes - room) + " bytes for parameters"));
}

TEST_CASE("what is stopped is simulated no further, neither for a page nor for a comparison") {
  const Workplace here;
  const Compilation compilation = compiled("matmul");
  CHECK_FALSE(PageScope(compilation, all_details).simulated().empty());
  std::stop_source source;
  source.request_stop();
  CHECK(PageScope(compilation, all_details, source.get_token()).simulated().empty());
  PlanDiff diff = diff_compilations(compilation, compilation);
  add_simulated(diff, compilation, compilation, source.get_token());
  CHECK_FALSE(diff.before.simulated_seconds);
}

TEST_CASE("report writes a page that needs nothing from elsewhere") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "lenet"}).code == 0);
  const ToolRun run = run_stowage({"report", "lenet", "-o", "lenet.html"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == "written to lenet.html\n");
  const std::string page = read_text("lenet.html");
  CHECK(malformed(page) == "");
  CHECK(page.find("stowage 0.1.0 | stowage compile lenet.onnx") != std::string::npos);
  // What a browser would fetch.
  for (const char* outside : {"src=", "<link", "@import", "url("}) {
    INFO(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
  for (std::size_t at = 0; (at = page.find("href=\"", at)) != std::string::npos; at += 6) {
    CHECK(page.substr(at + 6, 1) == "#");
  }
  for (const char* id : {"time", "groups", "pictures", "roofline", "memory", "fusion", "each", "step-0", "step-5"}) {
    INFO(id);
    CHECK(page.find(std::string(" id=\"") + id + "\"") != std::string::npos);
  }
  CHECK((page.find("id=\"fused-graph0\"") != std::string::npos) == has_graphviz());

  const ToolRun again = run_stowage({"report", "lenet", "-o", "lenet.html"});
  CHECK(again.code == 1);
  CHECK(again.err ==
        "lenet.html: error: the file exists already [output-exists]\n  help: give --force to replace it\n");
  const auto json =
      nlohmann::json::parse(run_stowage({"report", "lenet", "-o", "lenet.html", "--force", "--json"}).out);
  CHECK(json.at("bytes") == page.size());
  CHECK(read_text("lenet.html") == page);
}

TEST_CASE("tables for a spreadsheet") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "matmul.onnx", "-o", "matmul"}).code == 0);
  std::string all;
  for (const std::string table : {"groups", "operators", "dma", "buffers"}) {
    const ToolRun run = run_stowage({"report", "matmul", "-o", table + ".csv", "--table", table});
    INFO(run.err);
    REQUIRE(run.code == 0);
    all += read_text(table + ".csv");
  }
  CHECK(all == golden("report-matmul-tables.csv", all));
  CHECK(run_stowage({"report", "matmul", "-o", "x.csv", "--table", "tables"}).code == 2);
}

TEST_CASE("every column of a plan's tables says what it is, and every row has a cell for it") {
  const Workplace here;
  const Program program = compiled("lenet").program;
  for (const auto make : {plan_groups_table, plan_operators_table, plan_buffers_table, plan_dma_table}) {
    const PlanTable table = make(program);
    INFO(table.title);
    std::set<std::string> keys;
    std::set<std::string> titles;
    for (const Column& column : table.columns) {
      INFO(column.title);
      CHECK_FALSE(column.tip.empty());
      CHECK(keys.insert(column.key).second);
      CHECK(titles.insert(column.title).second);
      CHECK_FALSE(column.key.empty());
    }
    CHECK(table.rows.size() >= 6);
    for (const PlanRow& row : table.rows) {
      REQUIRE(row.cells.size() == table.columns.size());
      for (std::size_t c = 0; c < row.cells.size(); ++c) {
        const bool text = std::holds_alternative<std::string>(row.cells[c]);
        CHECK((std::holds_alternative<std::monostate>(row.cells[c]) || text == is_text(table.columns[c].kind)));
      }
      REQUIRE((row.step && program.steps.contains(*row.step)));
    }
  }
  CHECK_THROWS_AS(columns_by_key(plan_groups_table(program).columns, {"cycels"}), InternalError);
  CHECK(plain_text(Cell(0.25), ColumnKind::share) == "0.25");
  CHECK(plain_text(Cell(2857101624.4), ColumnKind::rate) == "2857101624");
}

TEST_CASE("candidates and strategies stand on the page as in their tables") {
  const Workplace here;
  const Compilation compilation = compiled("lenet");
  std::vector<const CandidateRecord*> all;
  for (const CandidateRecord& candidate : compilation.fusion.candidates) all.push_back(&candidate);
  std::vector<StrategyNumbers> strategies;
  for (const StrategyTotal& total : compilation.fusion.totals)
    strategies.push_back({.strategy = total.strategy, .groups = total.groups, .cycles = total.cycles});
  const std::string page = report_page(compilation, {});
  const auto check_on_page = [&](const PlanTable& table, const std::vector<std::string_view>& keys) {
    check_keys(table.columns);
    CHECK(table.rows.size() > 1);
    for (const std::size_t c : columns_by_key(table.columns, keys)) {
      INFO(table.title << ": " << table.columns[c].title);
      CHECK(page.find(html_heading(table.columns[c])) != std::string::npos);
      for (const PlanRow& row : table.rows) {
        INFO(html_cell(row.cells[c], table.columns[c]));
        CHECK(page.find(html_cell(row.cells[c], table.columns[c])) != std::string::npos);
      }
    }
  };
  const PlanTable candidates = candidates_table(compilation, all);
  check_on_page(candidates, {"operators", "template", "cycles", "fate", "loss", "why"});
  check_on_page(strategies_table(strategies, "by the cycles of the candidate groups"),
                {"strategy", "cycles", "groups"});
  const std::string marked =
      html_table(candidates, {"fate"}, [](std::size_t row) { return row == 1 ? "refused" : ""; });
  CHECK(times_in(marked, "<tr class=\"refused\">") == 1);
}

TEST_CASE("a page without Graphviz says what is missing") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "vector"}).code == 0);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const ToolRun run = run_stowage({"report", "vector", "-o", "vector.html"});
  ::setenv("PATH", path.c_str(), 1);
  CHECK(run.code == 0);
  CHECK(run.err.find("note: The computation graph: Not drawn: the program 'dot' is not installed") !=
        std::string::npos);
  CHECK(read_text("vector.html").find("install Graphviz (Debian: apt-get install graphviz)") != std::string::npos);
}

TEST_CASE("a report does not wait for a layout that takes minutes, and says which pictures have a simpler one") {
  if (!has_graphviz()) {
    WARN("skipped, 1 case: Graphviz is not installed");
    return;
  }
  const Workplace here;
  CompileRequest request;
  request.fusion = "greedy";
  request.command_line = "stowage compile densenet.onnx";
  Diagnostics diagnostics;
  const auto compilation = compile_graph(dense_net({6, 12, 24, 16}), request, diagnostics);
  REQUIRE(compilation);
  REQUIRE(write_compilation(*compilation, "densenet", false, diagnostics));
  const auto start = std::chrono::steady_clock::now();
  const ToolRun run = run_stowage({"report", "densenet", "-o", "densenet.html", "--layout-timeout", "0.5"});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  REQUIRE(run.code == 0);
  CHECK(run.err ==
        "warning: The fused operators and the tensors between them: Graphviz had found no layout within 0.5 s; the "
        "picture has a simpler one [layout-timeout]\n  help: give it longer with --layout-timeout SECONDS\n"
        "warning: The computation graph: Graphviz had found no layout within 0.5 s; the picture has a simpler one "
        "[layout-timeout]\n  help: give it longer with --layout-timeout SECONDS\n"
        "note: of 240 fused operators the 220 that take the most time are told in full; --details all tells all\n");
  const std::string page = read_text("densenet.html");
  CHECK(malformed(page) == "");
  CHECK(times_in(page, ">A simpler layout: Graphviz had found none within 0.5 s<") == 2);
  CHECK(run_stowage({"report", "densenet", "-o", "x.csv", "--layout-timeout", "1"}).code == 2);
}

TEST_CASE("installing Graphviz is advised only where it is missing") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "vector"}).code == 0);
  std::filesystem::create_directory("bin");
  write_text("bin/dot", "#!/bin/sh\necho 'Error: no memory'\nexit 1\n");
  std::filesystem::permissions("bin/dot", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (std::filesystem::current_path() / "bin").c_str(), 1);
  const ToolRun page = run_stowage({"report", "vector", "-o", "vector.html"});
  const ToolRun picture = run_stowage({"graph", "vector", "-o", "vector.svg"});
  ::setenv("PATH", path.c_str(), 1);
  CHECK(page.code == 0);
  CHECK(page.err.find("Not drawn: 'dot' failed with exit code 1: Error: no memory.\n") != std::string::npos);
  CHECK(read_text("vector.html").find("install Graphviz") == std::string::npos);
  CHECK(picture.code == 1);
  CHECK(picture.err == "error: 'dot' failed with exit code 1: Error: no memory [graphviz]\n");
}

TEST_CASE("names that look like markup stay text") {
  GraphBuilder builder("<script>alert(1)</script>");
  Diagnostics diagnostics;
  const TensorId x = builder.add_input("a\"b<c>&'", ElementType::f32, {8, 8});
  const auto y = append_operator(builder, "Relu", "</pre><b>&amp;", {}, {x}, "]]>\"--", {}, {}, diagnostics);
  builder.mark_output(*y);
  CompileRequest request;
  request.command_line = "stowage compile '<i>.onnx'";
  const auto compilation = compile_graph(std::move(builder).build(), request, diagnostics);
  REQUIRE(compilation);
  const std::string page = report_page(*compilation, page_pictures(*compilation, usual_layout_time, diagnostics));
  CHECK(malformed(page) == "");
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("&lt;/pre&gt;&lt;b&gt;&amp;amp;") != std::string::npos);
}

TEST_CASE("the page of ResNet-50 is of a size to mail") {
  const Workplace here;
  const Compilation compilation = compiled("resnet50");
  const std::string page = report_page(compilation, {});
  CHECK(malformed(page) == "");
  CHECK(page.size() > 300'000);
  CHECK(page.size() < 4'000'000);
  CHECK(times_in(page, "<details class=\"group\"") == compilation.program.steps.size());
}

/// A chain of fused operators of which those up to number 7 have much less to do than those behind.
Compilation long_chain(int fused_operators) {
  testing::Net net("chain");
  TensorId x = net.input("x", {4, 8});
  for (int i = 0; i < fused_operators; ++i) {
    x = i == 7 ? net.op("MatMul", "product", {x, net.constant("w", {8, 512})})
               : net.op("Softmax", "softmax" + std::to_string(i), {x});
  }
  CompileRequest request;
  request.planner = "swtvm";
  request.command_line = "stowage compile chain.onnx";
  Diagnostics diagnostics;
  auto compilation = compile_graph(net.unplaced({x}), request, diagnostics);
  REQUIRE(compilation);
  return *std::move(compilation);
}

TEST_CASE("a network of very many fused operators has a page to mail, which says what it leaves out") {
  const Workplace here;
  const Compilation compilation = long_chain(600);
  const std::size_t count = compilation.program.steps.size();
  REQUIRE(count == 600);
  const std::string page = report_page(compilation, {});
  const std::string section = "<details class=\"group\"";
  CHECK(malformed(page) == "");
  CHECK(times_in(page, section) == usual_details);
  CHECK(times_in(page, "<tr class=\"brief\">") == count - usual_details);
  CHECK(page.find("Of 600 fused operators this page tells in full the 220 that take the most time") !=
        std::string::npos);
  CHECK(page.find("stowage report DIR -o FILE.html --details all") != std::string::npos);
  CHECK(page.find("stowage explain DIR --op NAME") != std::string::npos);
  // Links lead to sections that there are, and of the rest every part is about those.
  for (std::size_t at = 0; (at = page.find("href=\"#step-", at)) != std::string::npos; at += 12) {
    const std::string anchor = page.substr(at + 7, page.find('"', at + 6) - at - 7);
    CHECK(page.find(" id=\"" + anchor + "\"") != std::string::npos);
  }
  const std::size_t dots = times_in(page, "<ellipse ");
  CHECK((dots > 0 && dots <= usual_details));
  const std::size_t tensors = times_in(page, "class=\"between o-base\"");
  CHECK((tensors > 0 && tensors < 4 * usual_details));

  const std::string one = report_page(compilation, {}, 1);
  CHECK(times_in(one, section) == 1);
  std::size_t slowest = 0;
  const auto cycles = [&](std::size_t step) { return compilation.program.steps[StepId(step)].plan()->time.cycles; };
  for (std::size_t i = 1; i < count; ++i) {
    if (cycles(i) > cycles(slowest)) slowest = i;
  }
  CHECK(slowest >= 7);
  CHECK(one.find(" id=\"step-" + std::to_string(slowest) + "\"") != std::string::npos);
  CHECK(one.size() < page.size() / 4);
  // A fused operator that is left out costs its row and nothing else.
  CHECK((one.size() - report_page(long_chain(300), {}, 1).size()) / 300 < 500);

  const std::string all = report_page(compilation, {}, all_details);
  CHECK(malformed(all) == "");
  CHECK(times_in(all, section) == count);
  CHECK(all.find("brief\">") == std::string::npos);
  CHECK(all.find("<p class=\"cut\">") == std::string::npos);
  CHECK(times_in(all, "<ellipse ") == count);

  const std::string markdown = report_markdown(compilation);
  CHECK(times_in(markdown, "\n## softmax") + times_in(markdown, "\n## product") == usual_details);
  CHECK(markdown.find("Of 600 fused operators the 220 that take the most time follow.") != std::string::npos);
  Diagnostics diagnostics;
  REQUIRE(write_compilation(compilation, "chain", false, diagnostics));
  const ToolRun other = run_stowage({"explain", "chain", "--op", "softmax599"});
  CHECK(other.code == 0);

  const ToolRun run = run_stowage({"report", "chain", "-o", "few.html", "--details", "3"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.err.find("note: of 600 fused operators the 3 that take the most time are told in full; --details all tells "
                     "all\n") != std::string::npos);
  CHECK(times_in(read_text("few.html"), section) == 3);
  CHECK(run_stowage({"report", "chain", "-o", "one.html", "--details", "1"})
            .err.find("note: of 600 fused operators the one that takes the most time is told in full; --details all "
                      "tells all\n") != std::string::npos);
  const auto json =
      nlohmann::json::parse(run_stowage({"report", "chain", "-o", "all.html", "--details", "all", "--json"}).out);
  CHECK(json.at("fused_operators") == 600);
  CHECK(json.at("in_full") == 600);
  CHECK(times_in(read_text("all.html"), section) == 600);
  for (const char* wrong : {"0", "-1", "none", "", "3.5"}) {
    CHECK(run_stowage({"report", "chain", "-o", "x.html", "--details", wrong}).code == 2);
  }
  CHECK(run_stowage({"report", "chain", "-o", "x.csv", "--details", "3"}).code == 2);
}

TEST_CASE("the sample networks of most fused operators are told in full") {
  const Workplace here;
  for (const std::string network : {"bert_base", "googlenet"}) {
    INFO(network);
    const Compilation compilation = compiled(network);
    CHECK(times_in(report_page(compilation, {}), "<details class=\"group\"") == compilation.program.steps.size());
    CHECK(report_markdown(compilation).find("that take the most time follow") == std::string::npos);
  }
}

TEST_CASE("rows of a nest add up to its plan") {
  const Workplace here;
  const Compilation compilation = compiled("lenet");
  int checked = 0;
  for (const ProgramStep& step : compilation.program.steps) {
    if (step.plan() == nullptr) continue;
    NestRow sum;
    std::int64_t launch = 0;
    for (const TimeTerm& term : step.plan()->time.terms) {
      if (kind_of(term.cost) == CostKind::launch) launch = term.cycles;
    }
    for (const NestRow& row : nest_rows(*step.plan(), compilation.program.target)) {
      sum.transfers += row.transfers;
      sum.bytes += row.bytes;
      sum.cycles += row.cycles;
      if (row.kind == NestRow::Kind::get) {
        CHECK(row.text.find("get " + row.tensor + "[") != std::string::npos);
        CHECK(row.bytes_per_second > 0);
        CHECK(row.smallest_block > 0);
      }
      ++checked;
    }
    const DmaTotals totals = dma_totals(step.plan()->counts);
    INFO(step.group.name);
    CHECK(sum.transfers == totals.transfers);
    CHECK(sum.bytes == totals.bytes);
    // Each term is rounded up to cycles, each statement too.
    CHECK(sum.cycles >= step.plan()->time.cycles - launch);
    CHECK(sum.cycles <= step.plan()->time.cycles - launch + 16);
  }
  CHECK(checked > 50);
}

TEST_CASE("long names are shortened in the middle, by characters") {
  CHECK(shortened("conv1", 8) == "conv1");
  CHECK(shortened("abcdefghij", 5) == "ab…ij");
  CHECK(shortened("äöüßäöüß", 5) == "äö…üß");
  CHECK(escaped("a<b>&\"'\x01") == "a&lt;b&gt;&amp;&quot;&#39;");
}

}  // namespace
}  // namespace stowage::test
