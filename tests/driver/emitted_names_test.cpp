// SPDX-License-Identifier: Apache-2.0
// Hostile names in every role of a network, a batch and a target: the whole way from the ONNX file through the emitted
// C to the checked run, and back from every file that is written.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
#include "core/quoting.h"
#include "core/target.h"
#include "core/tensor.h"
#include "core/toml_reader.h"
#include "driver/report/plan_tables.h"
#include "driver/store/plan_file.h"
#include "tests/driver/hostile_names.h"
#include "tests/driver/malformed.h"
#include "tests/driver/tool_runner.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t networks = 10;
constexpr std::size_t at_once = 30;  // names in one role of one network
constexpr std::size_t chains = 3;
constexpr std::size_t links = at_once / chains;

/// Names by role; each network turns them by one slice, so that every name has every role once.
class Roles {
 public:
  Roles(const std::vector<std::string>& names, std::size_t network) : names_(names), network_(network) {}
  [[nodiscard]] const std::string& operator()(std::size_t role, std::size_t i) const {
    return names_[((network_ + role) % networks) * at_once + i];
  }

 private:
  const std::vector<std::string>& names_;
  std::size_t network_;
};

enum Role : std::size_t {
  first_node,
  initializer,
  input,
  intermediate,
  result,
  dimension,
  second_node,
  output,
  last_node
};

/// Digits alone would be a size.
std::string dimension_name(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos ? "d" + name : name;
}

/// Three chains of additions, each one kernel, and an output for every input, which share three more.
void write_network(const Roles& name, const std::string& path) {
  ModelWriter model(name(last_node, 0), 13, name(first_node, 0));
  const auto f32 = ElementType::f32;
  for (std::size_t c = 0; c < chains; ++c) {
    const auto width = static_cast<std::int64_t>(4 + c);
    std::string y;
    for (std::size_t l = 0; l < links; ++l) {
      const std::size_t i = c * links + l;
      const Tensor weight(f32, {8, width}, std::vector<std::byte>(static_cast<std::size_t>(32 * width)));
      model.add_constant(name(initializer, i), weight);
      model.add_input(name(input, i), f32,
                      std::vector<std::string>{dimension_name(name(dimension, i)), std::to_string(width)});
      const std::string& x = name(input, i);
      model.add_node("Add", name(first_node, i), {y.empty() ? x : y, name(initializer, i)}, {name(intermediate, i)});
      if (y.empty()) {
        model.add_node("Relu", name(second_node, i), {name(intermediate, i)}, {name(result, i)});
      } else {
        model.add_node("Add", name(second_node, i), {name(intermediate, i), x}, {name(result, i)});
      }
      y = name(result, i);
      if (l + 1 == links) continue;
      model.add_node("Neg", name(last_node, i), {x}, {name(output, i)});
      model.add_output(name(output, i), f32, Shape{8, width});
    }
    model.add_output(y, f32, Shape{8, width});
  }
  Diagnostics diagnostics;
  REQUIRE(model.save(path, diagnostics));
}

/// The rows of a CSV file (RFC 4180).
std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.emplace_back(1, "");
    } else {
      cell += c;
    }
  }
  CHECK_FALSE(quoted);
  return rows;
}

/// Nothing that shows or hides what stands around it, and no line of its own.
bool steers(const std::string& text) {
  for (const char* sign : {"\u202e", "\u2066", "\u2069", "\u200f", "\u061c", "\u2028", "\u2029", "\u0085", "\u009b"}) {
    if (text.find(sign) != std::string::npos) return true;
  }
  return false;
}

EmittedProgram sources_in(const fs::path& folder) {
  EmittedProgram program;
  for (const auto& [path, text] : files_below(folder)) {
    if (path.ends_with(".c") || path.ends_with(".h")) program.files.push_back({path, text, {}});
  }
  return program;
}

void check_sources(const EmittedProgram& program) {
  for (const EmittedFile& file : program.files) {
    INFO(file.path);
    CHECK(file.path.size() <= 100);
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
      if (!ascii || line.size() > 4095 || line.ends_with('\\') != line.ends_with(" \\")) FAIL(terminal_text(line));
    }
  }
}

/// Every text that a compiled folder's plan, tables, page and pictures hold, read again.
void check_other_files(const Roles& name) {
  const auto plan = nlohmann::json::parse(read_text("out/plan.json"));
  const std::string all = plan.dump();
  Diagnostics diagnostics;
  const auto compilation = read_compilation("out", diagnostics);
  REQUIRE(compilation);
  const Graph& graph = compilation->program.fused.graph;
  CHECK(graph.name() == name(last_node, 0));
  CHECK(compilation->program.target.name == name(output, 1));
  std::vector<std::string> operators;
  for (const auto& row : csv_rows(plan_table_csv(compilation->program, "operators").value())) {
    for (const std::string& cell : row) operators.push_back(cell.starts_with('\'') ? cell.substr(1) : cell);
  }
  for (std::size_t i = 0; i < at_once; ++i) {
    INFO(terminal_text(shortened(name(first_node, i), 60)));
    CHECK(graph.find_operator(name(first_node, i)));
    for (const Role role : {initializer, input, intermediate, result}) CHECK(graph.find_tensor(name(role, i)));
    std::string expected = name(first_node, i);
    if (expected.starts_with('\'')) expected.erase(0, 1);
    CHECK(std::find(operators.begin(), operators.end(), expected) != operators.end());
  }
  const std::string report = read_text("out/report.md");
  CHECK_FALSE(steers(report));
  CHECK(report.find("](http", report.find('\n')) == std::string::npos);  // the first line is code
  const ToolRun page = run_stowage({"report", "out", "-o", "page.html"});
  INFO(page.err);
  REQUIRE(page.code == 0);
  const std::string html = read_text("page.html");
  CHECK(malformed(html.substr(0, html.find("<script>\n")) + "</body>\n</html>\n") == "");
}

TEST_CASE("300 hostile names in every role of a network: the emitted C builds and agrees") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 12);
  INFO("STOWAGE_SEED=" << seed);
  const auto names = names_of_any_kind(networks * at_once, static_cast<unsigned>(seed));
  REQUIRE(names.size() == networks * at_once);
  std::vector<EmittedProgram> programs;
  for (std::size_t n = 0; n < networks; ++n) {
    const Workplace here;
    const Roles name(names, n);
    INFO("network " << n << " with names from " << terminal_text(shortened(name(first_node, 0), 60)));
    write_network(name, "model.onnx");
    Diagnostics diagnostics;
    auto target = load_target("sw26010", {}, diagnostics);
    REQUIRE(target);
    target->name = name(output, 1);
    write_text("target.toml", to_toml(*target));
    std::vector<std::string> arguments = {"compile",     "model.onnx", "-o",     "out",       "--target",
                                          "target.toml", "--fusion",   "greedy", "--planner", "swtvm"};
    for (std::size_t i = 0; i < at_once; ++i) {
      arguments.push_back("--dim=" + dimension_name(name(dimension, i)) + "=8");
    }
    const ToolRun compiled = run_stowage(arguments);
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
    programs.push_back(sources_in("out/src"));
    check_sources(programs.back());
    // What the compilers warn of stands on standard error.
    for (const char* compiler : {"gcc", "clang"}) {
      // The vendor's signatures below have clang read all of them.
      if (n % 3 != 0 && std::string_view(compiler) == "clang") continue;
      setenv("CC", compiler, 1);
      const ToolRun run = run_stowage({"run", "out", "--check"});
      unsetenv("CC");
      INFO(compiler << ": " << run.out << run.err);
      CHECK(run.code == 0);
      CHECK(run.err.find("the C compiler") == std::string::npos);
    }
    check_other_files(name);
  }
  std::vector<const EmittedProgram*> all;
  for (const EmittedProgram& program : programs) all.push_back(&program);
  CHECK(complaints_of_vendor_headers(all) == "");
}

TEST_CASE("hostile names of jobs come back from a batch") {
  const Workplace here;
  std::string jobs;
  std::vector<std::string> names;
  for (const std::string& name : names_of_any_kind(300, 12)) {
    if (names.size() == 30) break;
    if (name.front() == '.' || name.find('/') != std::string::npos || name.size() > 200) continue;
    names.push_back(name);
  }
  REQUIRE(names.size() == 30);
  for (const std::string& name : names)
    jobs += fmt::format("[[job]]\nname = {}\nnetwork = \"vector\"\n\n", quoted_toml(name));
  write_text("jobs.toml", jobs);
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
  INFO(run.err);
  CHECK(run.code == 0);
  std::istringstream rows(read_text("out/results.jsonl"));
  std::size_t i = 0;
  for (std::string line; std::getline(rows, line); ++i) {
    REQUIRE(i < names.size());
    CHECK(nlohmann::json::parse(line).at("job") == names[i]);
    CHECK(fs::exists(fs::path("out") / names[i] / "plan.json"));
  }
  CHECK(i == names.size());
}

}  // namespace
}  // namespace stowage::test
