// SPDX-License-Identifier: Apache-2.0
// `stowage graph`: texts for Graphviz, and pictures where it is installed.
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/store/plan_file.h"
#include "emitter/pictures/draw_graph.h"
#include "emitter/pictures/graphviz.h"
#include "tests/driver/dense_net.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// PATH without anything in it while it lives, so that no dot is found.
class EmptyPath {
 public:
  EmptyPath() : before_(std::getenv("PATH")) { ::setenv("PATH", "/nonexistent", 1); }
  ~EmptyPath() { ::setenv("PATH", before_.c_str(), 1); }
  EmptyPath(const EmptyPath&) = delete;
  EmptyPath& operator=(const EmptyPath&) = delete;

 private:
  std::string before_;
};

TEST_CASE("the texts of the pictures") {
  const Workplace here;
  compile_lenet();
  for (const std::string view : {"graph", "fused"}) {
    const ToolRun run = run_stowage({"graph", "lenet", "--view", view, "-o", view + ".dot"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.out == "written to " + view + ".dot\n");
    const std::string text = read_text(view + ".dot");
    CHECK(text == golden("graph-lenet-" + view + ".dot", text));
  }
}

TEST_CASE("the text of what a strategy searched") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--fusion", "exact", "-o", "exact"}).code == 0);
  REQUIRE(run_stowage({"graph", "exact", "--view", "strategy", "-o", "strategy.dot"}).code == 0);
  const std::string text = read_text("strategy.dot");
  CHECK(text == golden("graph-lenet-strategy.dot", text));
  // A path: as many chosen edges as groups.
  std::size_t chosen = 0;
  for (std::size_t at = 0; (at = text.find("class=\"chosen\"", at)) != std::string::npos; ++at) ++chosen;
  std::size_t groups = 0;
  REQUIRE(run_stowage({"graph", "exact", "-o", "fused.dot"}).code == 0);
  const std::string fused = read_text("fused.dot");
  for (std::size_t at = 0; (at = fused.find("\n  group", at)) != std::string::npos; ++at) {
    if (fused.substr(at, fused.find('\n', at + 1) - at).find(" -> ") == std::string::npos) ++groups;
  }
  CHECK(chosen == groups);

  REQUIRE(run_stowage({"compile", "lenet.onnx", "--fusion", "none", "-o", "none"}).code == 0);
  const ToolRun run = run_stowage({"graph", "none", "--view", "strategy", "-o", "none.svg"});
  CHECK(run.code == 1);
  CHECK(run.err ==
        "error: fusion 'none' searched no graph that could be drawn [no-strategy-graph]\n"
        "  help: compile with --fusion dnnvm or --fusion exact\n");
}

TEST_CASE("pictures are drawn in every format") {
  const Workplace here;
  compile_lenet();
  if (!has_graphviz()) {
    WARN("skipped, 3 cases: Graphviz is not installed");
    return;
  }
  for (const auto& [format, start] : {std::pair{"svg", std::string("<?xml")}, std::pair{"png", std::string("\x89PNG")},
                                      std::pair{"pdf", std::string("%PDF")}}) {
    const std::string file = std::string("lenet.") + format;
    const ToolRun run = run_stowage({"graph", "lenet", "-o", file});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(read_text(file).find(start) == 0);
  }
  const std::string svg = read_text("lenet.svg");
  CHECK(svg.find("<desc>stowage 0.1.0 | stowage compile lenet.onnx") != std::string::npos);
  CHECK(svg.find(">template convolution_pool<") != std::string::npos);
  CHECK(svg.find(">Relu<") != std::string::npos);
  // On a page the ids of several pictures do not clash.
  const std::string part = inline_svg(svg, "one_");
  CHECK(part.find("<svg") == 0);
  CHECK(part.find("<!--") == std::string::npos);
  CHECK(part.find(" id=\"one_graph0\"") != std::string::npos);
}

TEST_CASE("without Graphviz the text can be had, and a picture says what to install") {
  const Workplace here;
  compile_lenet();
  const EmptyPath nothing;
  CHECK(run_stowage({"graph", "lenet", "-o", "lenet.dot"}).code == 0);
  const ToolRun run = run_stowage({"graph", "lenet", "-o", "lenet.svg"});
  CHECK(run.code == 1);
  CHECK(run.err ==
        "error: the program 'dot' is not installed [graphviz]\n"
        "  help: install Graphviz (Debian: apt-get install graphviz); a FILE.dot is written without it\n");
  CHECK_FALSE(fs::exists("lenet.svg"));
}

/// Compiles a network and writes its folder, which is called as it is.
void compile_into_folder(const Graph& graph) {
  CompileRequest request;
  request.fusion = "greedy";
  request.command_line = "stowage compile " + graph.name() + ".onnx";
  Diagnostics diagnostics;
  const auto compilation = compile_graph(graph, request, diagnostics);
  REQUIRE(compilation);
  REQUIRE(write_compilation(*compilation, graph.name(), false, diagnostics));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

/// In an SVG of Graphviz; a class of ours may follow theirs.
std::size_t nodes_in(const std::string& svg) { return occurrences(svg, "class=\"node"); }
std::size_t edges_in(const std::string& svg) { return occurrences(svg, "class=\"edge"); }

TEST_CASE("a graph for which Graphviz finds no layout in time is drawn in a simpler one, which is said") {
  if (!has_graphviz()) {
    WARN("skipped, 1 case: Graphviz is not installed");
    return;
  }
  const Workplace here;
  // Wired as DenseNet-121, for which dot takes many minutes.
  compile_into_folder(dense_net({6, 12, 24, 16}));
  for (const std::string view : {"fused", "graph"}) {
    INFO(view);
    const auto start = std::chrono::steady_clock::now();
    const ToolRun run =
        run_stowage({"graph", "densenet", "--view", view, "-o", view + ".svg", "--layout-timeout", "1"});
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    REQUIRE(run.code == 0);
    CHECK(run.err ==
          "warning: Graphviz had found no layout within 1 s; the picture has a simpler one [layout-timeout]\n"
          "  help: give it longer with --layout-timeout SECONDS\n");
    const std::string svg = read_text(view + ".svg");
    CHECK(svg.find(">A simpler layout: Graphviz had found none within 1 s<") != std::string::npos);
    REQUIRE(run_stowage({"graph", "densenet", "--view", view, "-o", view + ".dot"}).code == 0);
    const std::string text = read_text(view + ".dot");
    const std::size_t edges = occurrences(text, " -> ");
    CHECK(edges > 700);
    CHECK(edges_in(svg) == edges);
    CHECK(nodes_in(svg) + edges == occurrences(text, "];\n") - 3);
  }
}

TEST_CASE("Graphviz is ended in time in whatever it is asked for a picture") {
  const Workplace here;
  fs::create_directory("bin");
  write_text("bin/dot", "#!/bin/sh\nexec /bin/sleep 30\n");
  fs::permissions("bin/dot", fs::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (fs::current_path() / "bin").c_str(), 1);
  DotGraph graph("g", {"a picture"});
  graph.node("a", {{"label", "a"}});
  Diagnostics diagnostics;
  const auto start = std::chrono::steady_clock::now();
  const auto picture =
      draw_graph(graph, "svg", std::chrono::milliseconds(200), diagnostics, {}, std::chrono::milliseconds(300));
  const auto took = std::chrono::steady_clock::now() - start;
  ::setenv("PATH", before.c_str(), 1);
  CHECK_FALSE(picture);
  CHECK(took < std::chrono::seconds(20));
  CHECK(format_diagnostics(diagnostics) ==
        "error: 'dot' had not drawn the picture within 0.5 s [graphviz]\n  help: write a FILE.dot and draw that\n");
}

TEST_CASE("the simpler layout shows what Graphviz's shows, in every format and without waiting") {
  if (!has_graphviz()) {
    WARN("skipped, 4 cases: Graphviz is not installed");
    return;
  }
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--fusion", "exact", "-o", "lenet"}).code == 0);
  for (const std::string view : {"fused", "graph", "strategy"}) {
    INFO(view);
    const ToolRun full = run_stowage({"graph", "lenet", "--view", view, "-o", view + ".svg"});
    CHECK(full.err.empty());
    const auto json = nlohmann::json::parse(
        run_stowage({"graph", "lenet", "--view", view, "-o", "0.svg", "--force", "--layout-timeout", "0", "--json"})
            .out);
    CHECK(json.at("diagnostics").at(0).at("code") == "layout-timeout");
    const std::string svg = read_text("0.svg");
    CHECK(nodes_in(svg) == nodes_in(read_text(view + ".svg")));
    CHECK(edges_in(svg) == edges_in(read_text(view + ".svg")));
  }
  REQUIRE(run_stowage({"graph", "lenet", "-o", "lenet.png", "--layout-timeout", "0"}).code == 0);
  CHECK(read_text("lenet.png").starts_with("\x89PNG"));
  CHECK(run_stowage({"graph", "lenet", "-o", "x.svg", "--layout-timeout", "-1"}).code == 2);
}

TEST_CASE("a picture is written whole, in a format that is known, and not over another file") {
  const Workplace here;
  compile_lenet();
  const ToolRun unknown = run_stowage({"graph", "lenet", "-o", "lenet.bmp"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err ==
        "lenet.bmp: error: '.bmp' is no picture that can be drawn [unknown-format]\n"
        "  help: choose .svg, .png, .pdf, or .dot for the text that Graphviz reads\n");
  write_text("mine.dot", "precious");
  const ToolRun existing = run_stowage({"graph", "lenet", "-o", "mine.dot"});
  CHECK(existing.code == 1);
  CHECK(existing.err ==
        "mine.dot: error: the file exists already [output-exists]\n  help: give --force to replace it\n");
  CHECK(read_text("mine.dot") == "precious");
  CHECK(run_stowage({"graph", "lenet", "-o", "mine.dot", "--force"}).code == 0);
  CHECK(run_stowage({"graph", "lenet", "-o", "nowhere/picture.dot"}).code == 1);
  CHECK(run_stowage({"graph", "nothing", "-o", "picture.dot"}).code == 1);
  CHECK_FALSE(fs::exists("picture.dot"));
  CHECK(run_stowage({"graph", "lenet", "-o", "x.svg", "--view", "wrong"}).code == 2);
}

}  // namespace
}  // namespace stowage::test
