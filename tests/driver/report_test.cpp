// SPDX-License-Identifier: Apache-2.0
// `stowage report`: the page as a whole, that it is well-formed and needs nothing from elsewhere.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/operators.h"
#include "driver/nest_rows.h"
#include "driver/page/report_page.h"
#include "driver/plan_file.h"
#include "emitter/graphviz.h"
#include "emitter/markup.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// The first thing that is not well-formed XML, or "". Knows what a page can hold: elements, quoted attributes, named
/// and numeric entities, a document type; no comments, no CDATA.
std::string malformed(std::string_view text) {
  const auto around = [&](std::size_t at) { return std::string(text.substr(at, 80)); };
  const auto entities_hold = [&](std::string_view part) {
    for (std::size_t at = 0; (at = part.find('&', at)) != std::string_view::npos; ++at) {
      const std::string_view name = part.substr(at + 1, part.find(';', at) - at - 1);
      const bool known = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name.starts_with("#");
      if (!known || part.find(';', at) == std::string_view::npos) return false;
    }
    return part.find('<') == std::string_view::npos;
  };
  std::vector<std::string> open;
  std::size_t at = 0;
  if (text.starts_with("<!DOCTYPE html>\n")) at = text.find('\n') + 1;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    if (!entities_hold(text.substr(at, tag == std::string_view::npos ? tag : tag - at))) return "text: " + around(at);
    if (tag == std::string_view::npos) break;
    std::size_t end = tag + 1;
    bool quoted = false;
    while (end < text.size() && (quoted || text[end] != '>')) {
      if (text[end] == '"') quoted = !quoted;
      ++end;
    }
    if (end == text.size()) return "no end: " + around(tag);
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "closes something else: " + around(tag);
      open.pop_back();
      continue;
    }
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    std::size_t i = 0;
    while (i < inside.size() && std::isspace(static_cast<unsigned char>(inside[i])) == 0) ++i;
    if (i == 0) return "no name: " + around(tag);
    if (!empty) open.emplace_back(inside.substr(0, i));
    while (i < inside.size()) {  // attributes
      while (i < inside.size() && std::isspace(static_cast<unsigned char>(inside[i])) != 0) ++i;
      if (i == inside.size()) break;
      const std::size_t equals = inside.find("=\"", i);
      const std::size_t close = equals == std::string_view::npos ? equals : inside.find('"', equals + 2);
      if (close == std::string_view::npos) return "attribute: " + around(tag);
      if (!entities_hold(inside.substr(equals + 2, close - equals - 2))) return "attribute's value: " + around(tag);
      i = close + 1;
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

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
  const std::string page = report_page(*compilation, page_pictures(*compilation));
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
  std::size_t sections = 0;
  for (std::size_t at = 0; (at = page.find("<details class=\"group\"", at)) != std::string::npos; ++at) ++sections;
  CHECK(sections == compilation.program.steps.size());
}

TEST_CASE("rows of a nest add up to its plan") {
  const Workplace here;
  const Compilation compilation = compiled("lenet");
  int checked = 0;
  for (const ProgramStep& step : compilation.program.steps) {
    if (!step.plan) continue;
    NestRow sum;
    std::int64_t launch = 0;
    for (const TimeTerm& term : step.plan->time.terms) {
      if (term.name == "launch") launch = term.cycles;
    }
    for (const NestRow& row : nest_rows(*step.plan, compilation.program.target)) {
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
    const DmaTotals totals = dma_totals(step.plan->counts);
    INFO(step.group.name);
    CHECK(sum.transfers == totals.transfers);
    CHECK(sum.bytes == totals.bytes);
    // Each term is rounded up to cycles, each statement too.
    CHECK(sum.cycles >= step.plan->time.cycles - launch);
    CHECK(sum.cycles <= step.plan->time.cycles - launch + 16);
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
