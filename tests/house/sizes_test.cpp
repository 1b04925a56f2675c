// SPDX-License-Identifier: Apache-2.0
// Sizes of files and functions, and types that the linker sees.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

/// A smoke alarm, not a law: a file above its budget is split by reason to change, or gets a line here with the reason.
const std::map<std::string, std::string> oversized = {
    {"lowering/ir/loop_nest.h", "the statements of a loop nest read best side by side"},
    {"fusion/groups/place_tensors.cpp", "places of views and of branches share what is placed already"},
    {"emitter/emulation/runtime/swemu_dma.c", "an operation's checks and moves are inlined into its call"},
};

/// Functions of more than 80 lines, and why each may be so long.
const std::map<std::string, std::string> long_functions = {
    {"core/onnx/import_rows.cpp: std::vector<ImportRow> build_table() {", "a table: a row for every ONNX operator"},
    {"inspector/replay/algorithm_text.cpp: std::span<const AlgorithmText> algorithm_texts() {",
     "a table: the text of every algorithm"},
};

/// First line and length of the blocks that end in lines of "}" or, inside of a class, "  }": functions, as the
/// formatter writes them, and what stands in those of a namespace.
std::vector<std::pair<std::string, std::size_t>> blocks_of(const SourceFile& file) {
  std::vector<std::pair<std::string, std::size_t>> blocks;
  for (std::size_t end = 0; end < file.lines.size(); ++end) {
    const std::string& last = file.lines[end];
    if (last != "}" && last != "  }") continue;
    const std::size_t indent = last.size() - 1;
    std::size_t begin = end;
    while (begin > 0) {
      const std::string& line = file.lines[--begin];
      if (line.size() > indent && line.find_first_not_of(' ') == indent && line[indent] != '#') break;
    }
    blocks.emplace_back(file.lines[begin], end - begin + 1);
  }
  return blocks;
}

TEST_CASE("functions have at most 80 lines", "[house]") {
  std::set<std::string> needed;
  std::size_t blocks = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.is_product()) continue;
    for (const auto& [first, lines] : blocks_of(file)) {
      ++blocks;
      if (lines <= 80) continue;
      const std::string place = file.path + ": " + first;
      INFO(place << " has " << lines << " lines");
      CHECK(long_functions.contains(place));
      needed.insert(place);
    }
  }
  CHECK(blocks > 1000);
  CHECK(needed.size() == long_functions.size());  // an exception that is no longer needed goes
}

/// The types that a file defines at namespace scope and shows to the linker ("stowage::Graph"). The formatter indents
/// nothing in namespaces, so that such a definition begins its line.
std::vector<std::string> types_shown_by(const SourceFile& file) {
  std::vector<std::string> types;
  std::vector<std::string> namespaces;
  const std::regex opening(R"(^(?:inline )?namespace ?([\w:]*) ?\{$)");
  const std::regex definition(
      R"(^(?:struct|class|union|enum class|enum)(?: \[\[.*\]\])? (\w+)(?: final)?(?: : .*)? \{.*)");
  for (const std::string& line : file.lines) {
    std::smatch found;
    if (std::regex_match(line, found, opening)) {
      namespaces.push_back(found[1]);
    } else if (line.starts_with("}  // namespace") && !namespaces.empty()) {
      namespaces.pop_back();
    } else if (std::regex_match(line, found, definition)) {
      const bool is_local = std::find(namespaces.begin(), namespaces.end(), "") != namespaces.end();
      std::string name = found[1];
      for (auto outer = namespaces.rbegin(); outer != namespaces.rend(); ++outer) name = *outer + "::" + name;
      if (!is_local) types.push_back(name);
    }
  }
  return types;
}

TEST_CASE("a type that the linker sees has one definition", "[house]") {
  // Two of one name are undefined behaviour: the linker keeps one destructor for both.
  std::map<std::string, std::string> defined;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.is_product()) continue;
    for (const std::string& type : types_shown_by(file)) {
      INFO(type << " in " << file.path);
      const auto [before, is_new] = defined.emplace(type, file.path);
      INFO("and in " << before->second);
      CHECK(is_new);
    }
  }
  CHECK(defined.size() > 500);
}

TEST_CASE("files keep to their size budgets", "[house]") {
  constexpr std::size_t header_budget = 150;
  constexpr std::size_t source_budget = 450;
  for (const SourceFile& file : source_tree()) {
    const bool is_source = file.is_cpp() || file.path.ends_with(".c");
    const bool is_test = file.folder() == "tests";
    if (!is_source || (!is_test && !file.is_product())) continue;
    // Goldens, and folders that an earlier version wrote, are exactly what was written.
    if (file.path.starts_with("tests/driver/data/") || file.path.find("/golden/") != std::string::npos) continue;
    // Headers of tests hold their helpers whole.
    const std::size_t budget = file.is_header() && !is_test ? header_budget : source_budget;
    INFO(file.path << " has " << file.lines.size() << " lines");
    if (oversized.contains(file.path)) {
      // An exception that is no longer needed goes.
      CHECK(file.lines.size() > budget);
    } else {
      CHECK(file.lines.size() <= budget);
    }
  }
}

}  // namespace
}  // namespace stowage::test
