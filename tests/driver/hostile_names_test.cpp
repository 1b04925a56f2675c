// SPDX-License-Identifier: Apache-2.0
// Names that look like something else: in every language that is written here they stay names.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/operators.h"
#include "core/quoting.h"
#include "driver/page/report_page.h"
#include "driver/report/plan_tables.h"
#include "driver/report/report.h"
#include "driver/store/plan_file.h"
#include "emitter/pictures/draw_graph.h"
#include "emitter/pictures/graph_picture.h"
#include "emitter/pictures/graphviz.h"
#include "tests/driver/hostile_names.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"
#include "tests/emitter/vendor_compile.h"

namespace stowage::test {
namespace {

constexpr int names_at_once = 25;

/// What no file of a model may hold besides what it may, then random sentences of what has a meaning somewhere.
std::vector<std::string> hostile_names(int count) {
  std::vector<std::string> names = markup_names();
  for (const char* control :
       {"\tx", "\x1b[2J\x1b[31mred\x07", "two\nlines\r\n", "*/\nint evil = 1;", "ends in \\\nnext"}) {
    names.emplace_back(control);
  }
  names.emplace_back(20'000, '<');
  names.emplace_back(40'000, 'x');
  const std::vector<std::string> parts = {
      "<",   ">",    "\"",      "'",           "&",    "&lt;",   "\\", "\\N", "]",    "[",    "{",   "}",
      ";",   "=",    "+",       "-",           "@",    ",",      ":",  "|",   "--",   "->",   "/",   "*/",
      "\n",  "\r",   "\t",      "\x1b",        "\x7f", "\u202e", "é",  "名",  " ",    "<!--", "-->", "]]>",
      "URL", "href", "onclick", "javascript:", "a",    "0",      "%",  "$",   "${x}", "`"};
  std::mt19937 random(12);
  while (static_cast<int>(names.size()) < count) {
    std::string name;
    for (std::size_t i = 1 + random() % 8; i > 0; --i) name += parts[random() % parts.size()];
    names.push_back(name);
  }
  return names;
}

/// A chain of operators with these names, of tensors, operators and network.
Graph named(const std::vector<std::string>& names) {
  GraphBuilder builder(names.front());
  Diagnostics diagnostics;
  TensorId x = builder.add_input(names.front(), ElementType::f32, {8, 8});
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Every tensor must have a name of its own.
    const auto y =
        append_operator(builder, i % 2 == 0 ? "Relu" : "Tanh", names[i], {}, {x}, names[i] + "_", {}, {}, diagnostics);
    REQUIRE(y);
    x = *y;
  }
  builder.mark_output(x);
  return std::move(builder).build();
}

/// What a file of dot says: names and values of attributes, markup apart.
struct DotFile {
  std::set<std::string> attributes;
  std::vector<std::string> strings;  ///< unquoted, with entities and escapes resolved
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string without_entities(std::string text) {
  for (const auto& [entity, c] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    text = replaced(text, entity, c);
  }
  return text;
}

/// Reads the language as its grammar says; anything else is a failure.
DotFile read_dot(const std::string& text) {
  DotFile file;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && std::string(" \n,;[]{}").find(text[at]) != std::string::npos) ++at;
  };
  const auto word = [&] {
    const std::size_t start = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_' || text[at] == ':'))
      ++at;
    return text.substr(start, at - start);
  };
  const auto string = [&] {
    std::string value;
    for (;;) {
      const std::size_t start = ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      REQUIRE(at < text.size());
      REQUIRE(at - start < 16'384);  // Graphviz reads no longer ones
      value += text.substr(start, at - start);
      ++at;
      if (text.compare(at, 4, " + \"") != 0) return replaced(without_entities(value), "\\\\", "\\");
      at += 3;
    }
  };
  for (skip(); at < text.size(); skip()) {
    if (text.compare(at, 2, "->") == 0) {
      at += 2;
      continue;
    }
    if (text[at] == '"') {
      file.strings.push_back(string());
      continue;
    }
    const std::string name = word();
    INFO(text.substr(at, 60));
    REQUIRE_FALSE(name.empty());
    if (at >= text.size() || text[at] != '=') continue;
    ++at;
    file.attributes.insert(name);
    if (text[at] == '"') {
      file.strings.push_back(string());
    } else {
      REQUIRE(text[at] == '<');
      std::size_t end = at;
      for (int depth = 0;; ++end) {
        REQUIRE(end < text.size());
        depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
        if (depth == 0) break;
      }
      const std::string markup = text.substr(at + 1, end - at - 1);
      CHECK(malformed("<p>" + replaced(replaced(markup, "&#160;", " "), "<br/>", "") + "</p>") == "");
      for (const char* wrong : {"href", "HREF", "<img", "<IMG", "<a"}) {
        INFO(markup);
        CHECK(markup.find(std::string(wrong) + "=") == std::string::npos);
      }
      at = end + 1;
    }
  }
  return file;
}

/// What XML can hold of a text, in which a carriage return has no place of its own.
std::string shown(const std::string& text) { return without_entities(escaped(text)); }

/// Elements and attributes that a picture or page may have, whatever the names in it.
void check_harmless(const std::string& markup) {
  for (std::size_t at = 0; (at = markup.find('<', at)) != std::string::npos; ++at) {
    const std::string tag = markup.substr(at, markup.find('>', at) - at);
    // Attributes with quoted values taken out are names only.
    std::string bare;
    bool quoted = false;
    std::string value;
    for (const char c : tag) {
      if (c == '"') {
        if (quoted && (bare.ends_with(" href=") || bare.ends_with("xlink:href="))) CHECK(value.starts_with('#'));
        quoted = !quoted;
        value.clear();
      } else if (quoted) {
        value += c;
      } else {
        bare += c;
      }
    }
    INFO(tag.substr(0, 200));
    CHECK(bare.find(" on") == std::string::npos);
    CHECK(bare.find("<img") == std::string::npos);
    CHECK(bare.find("javascript") == std::string::npos);
  }
}

TEST_CASE("hostile names stay names in pictures, pages, tables, reports and comments of C") {
  const std::vector<std::string> names = hostile_names(300);
  const std::set<std::string> allowed = {"label",     "labelloc",  "fontname", "fontsize",     "bgcolor", "pad",
                                         "rankdir",   "ranksep",   "nodesep",  "shape",        "style",   "color",
                                         "fillcolor", "fontcolor", "margin",   "height",       "tooltip", "edgetooltip",
                                         "penwidth",  "arrowsize", "class",    "labeltooltip", "weight"};
  std::vector<EmittedProgram> programs;
  for (std::size_t first = 0; first < names.size(); first += names_at_once) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), first + names_at_once));
    const std::vector<std::string> some(names.begin() + static_cast<std::ptrdiff_t>(first), end);
    INFO("names from " << first << ": " << dot_string(some.front()).substr(0, 100));
    CompileRequest request;
    request.command_line = "stowage compile '<i>.onnx'";
    request.model = some.back() + ".onnx";
    Diagnostics diagnostics;
    const auto compilation = compile_graph(named(some), request, diagnostics);
    REQUIRE(compilation);
    const Program& program = compilation->program;
    programs.push_back(compilation->emitted);
    const std::string report = report_markdown(*compilation);
    const auto steers = [](char c) { return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7F; };
    const auto steering = std::find_if(report.begin(), report.end(), steers);
    INFO(terminal_text(std::string(steering - std::min<std::ptrdiff_t>(steering - report.begin(), 100), steering)));
    CHECK(steering == report.end());
    CHECK(report.find("\u202e") == std::string::npos);

    const std::vector<DotGraph> pictures = {graph_picture(program.fused.graph), fused_picture(program),
                                            strategy_picture(program.fused.graph, compilation->fusion)};
    for (const DotGraph& picture : pictures) {
      const DotFile file = read_dot(picture.text());
      for (const std::string& attribute : file.attributes) {
        INFO(attribute);
        CHECK(allowed.contains(attribute));
      }
      std::string all;
      for (const std::string& string : file.strings) all += string + "\n";
      for (const std::string& name : some) CHECK(all.find(shown(name)) != std::string::npos);
    }
    if (has_graphviz()) {
      for (const std::chrono::milliseconds time : {std::chrono::milliseconds(0), std::chrono::milliseconds(600'000)}) {
        Diagnostics of_drawing;
        const auto drawn = page_pictures(*compilation, time, of_drawing);
        CHECK_FALSE(of_drawing.has_errors());
        const std::string page = report_page(*compilation, drawn);
        for (const PagePicture& picture : drawn) CHECK(picture.missing == "");
        CHECK(malformed(page.substr(0, page.find("<script>\n")) + "</body>\n</html>\n") == "");
        check_harmless(page.substr(0, page.find("<script>\n")));
      }
    }
    for (const std::string_view table : plan_table_names()) {
      const std::string csv = plan_table_csv(program, table).value();
      // Cells begin at the start, behind a comma and behind a line's end, outside of quotes.
      bool quoted = false;
      bool starts = true;
      for (std::size_t i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        if (c == '"') quoted = !quoted;
        const bool begins = starts && c != '"' && (c == '=' || c == '@' || c == '+' || c == '-');
        INFO(csv.substr(i, 60));
        CHECK_FALSE(begins);
        starts = quoted ? starts && c == '"' : c == ',' || c == '\n';
      }
      CHECK_FALSE(quoted);
    }
  }
  std::vector<const EmittedProgram*> all;
  for (const EmittedProgram& program : programs) {
    all.push_back(&program);
    for (const EmittedFile& file : program.files) {
      INFO(file.path);
      CHECK(std::none_of(file.text.begin(), file.text.end(),
                         [](char c) { return c != '\n' && c != '\t' && (c < 0x20 || c == 0x7F); }));
    }
  }
  CHECK(complaints_of_vendor_headers(all) == "");
}

TEST_CASE("characters that XML does not have are left out of every page and picture") {
  const std::vector<std::string> illegal = {"\uffff",       "\ufffe", "\x01", "\x08", "\x0b", "\x0c", "\x1f",
                                            "\xed\xa0\x80",  // half of a pair
                                            "\xc0\x80",     "\xff"};
  std::vector<std::string> names;
  for (const std::string& c : illegal) names.push_back("before" + c + "behind" + std::to_string(names.size()));
  CompileRequest request;
  request.model = names.front();
  request.command_line = "stowage compile " + names.front();
  Diagnostics diagnostics;
  const auto compilation = compile_graph(named(names), request, diagnostics);
  REQUIRE(compilation);
  std::vector<PagePicture> pictures = page_pictures(*compilation, usual_layout_time, diagnostics);
  for (const PagePicture& picture : pictures) {
    INFO(picture.title);
    CHECK((picture.svg.empty() || malformed(picture.svg).empty()));
  }
  for (const std::string& text : {report_page(*compilation, pictures), described_svg("<svg></svg>", names.front())}) {
    CHECK(malformed(text.substr(0, text.find("<script>\n")) + (text.starts_with("<svg") ? "" : "</body>\n</html>\n")) ==
          "");
    CHECK(text.find("beforebehind0") != std::string::npos);
    // Tabs and line breaks are all the controls that XML has, and neither surrogates nor the last two are characters.
    CHECK(std::all_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t'; }));
    for (const char* none : {"\uffff", "\ufffe", "\xed\xa0", "\xc0", "\xff"})
      CHECK(text.find(none) == std::string::npos);
  }
}

TEST_CASE("names cannot steer a terminal") {
  const Workplace here;
  const std::string name = "\x1b[2Jgone\x07 \u202egnp\u009b31m\r";
  GraphBuilder builder(name);
  Diagnostics diagnostics;
  const TensorId x = builder.add_input("x" + name, ElementType::f32, {8, 8});
  builder.mark_output(*append_operator(builder, "Relu", name, {}, {x}, "y" + name, {}, {}, diagnostics));
  CompileRequest request;
  request.command_line = "stowage compile x.onnx";
  const auto compilation = compile_graph(std::move(builder).build(), request, diagnostics);
  REQUIRE(compilation);
  REQUIRE(write_compilation(*compilation, "out", false, diagnostics));
  const auto steers = [](const std::string& text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return (c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }) ||
           text.find("\u202e") != std::string::npos || text.find("\u009b") != std::string::npos;
  };
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"explain", "out"},
                                                    {"explain", "out", "--steps"},
                                                    {"explain", "out", "--op", name},
                                                    {"explain", "out", "--op", "no" + name},
                                                    {"explain", "out", "--json"},
                                                    {"diff", "out", "out"},
                                                    {"graph", "out", "-o", name},
                                                    {"compile", name},
                                                    {name},
                                                    {"explain", name}}) {
    const ToolRun run = run_stowage(arguments);
    INFO(arguments.front());
    CHECK_FALSE(steers(run.out));
    CHECK_FALSE(steers(run.err));
    CHECK_FALSE((run.out + run.err).empty());
  }
  const ToolRun explain = run_stowage({"explain", "out"});
  INFO(explain.out << explain.err);
  CHECK(explain.out.find("\\u001b[2Jgone\\u0007 \\u202egnp\\u009b31m\\u000d") != std::string::npos);
  const ToolRun graph = run_stowage({"graph", "out", "-o", "x.dot", "--json"});
  INFO(graph.out << graph.err);
  const auto json = nlohmann::json::parse(graph.out);
  CHECK(json.at("network") == name);
}

TEST_CASE("text in every language") {
  CHECK(escaped("<a href=\"x\">&'\x01\uffff\xff") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  CHECK(dot_string("<b>") == "\"&lt;b&gt;\"");
  CHECK(dot_string("a\"b\\N") == "\"a&quot;b\\\\N\"");
  CHECK(dot_string(std::string(8100, 'x')).find("\" + \"") != std::string::npos);
  CHECK(csv_cell("=1+1") == "'=1+1");
  CHECK(csv_cell("@x,y") == "\"'@x,y\"");
  CHECK(csv_cell("-1.5e-7") == "-1.5e-7");
  CHECK(csv_cell("+3") == "+3");
  CHECK(csv_cell("-2+3") == "'-2+3");
  CHECK(csv_cell("a\"b") == "\"a\"\"b\"");
  CHECK(line_text("a\tb\n\u2028\u202e\u0085\xff é") == "a\\u0009b\\u000a\\u2028\\u202e\\u0085\\xff é");
  CHECK(c_comment_text("*/ /* /*/ **//") == "* / / * / * / ** //");
  CHECK(c_comment_text("?\?/ ends in \\") == "? ?/ ends in \\u005c");
  CHECK(c_comment_text("a\nb\tc\u202e\u2029é名\U0001f600\x80") ==
        "a\\u000ab\\u0009c\\u202e\\u2029\\u00e9\\u540d\\U0001f600\\x80");
  CHECK(c_comment_text("//x (" + std::string(9000, 'a') + ")").size() == 3800);
  CHECK(markdown_text("<script> [x](y) `z` \\ a_b\n\u202e") == "\\<script> [x]\\(y) \\`z\\` \\\\ a_b\\u000a\\u202e");
  CHECK(markdown_code("a") == "`a`");
  CHECK(markdown_code("a``b\n") == "``` a``b\\u000a ```");
  CHECK(terminal_text("a\tb\n\x1b[0m\xff\u0085é") == "a\tb\n\\u001b[0m\\xff\\u0085é");
}

}  // namespace
}  // namespace stowage::test
