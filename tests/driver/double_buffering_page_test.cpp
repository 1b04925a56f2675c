// SPDX-License-Identifier: Apache-2.0
// docs/double-buffering.md: its commands are run in their order, and what they print is what stands there; numbers in
// its sentences are of that. STOWAGE_UPDATE_GOLDEN=1 writes the outputs anew, and the sentences have to follow.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// What a shell prints of a command that calls `stowage`.
std::string printed(const std::string& command) {
  write_text("command.sh", "PATH=\"$PWD/bin:$PATH\"\n" + command + "\n");
  // Networks are compiled several times.
  const int code = std::system("STOWAGE_CACHE_DIR=\"$PWD/costs\" sh command.sh >printed.txt 2>errors.txt");
  INFO(command << "\n" << read_text("errors.txt"));
  CHECK(code == 0);
  CHECK(read_text("errors.txt").empty());
  // Blanks where a line was cut or folded would be lost in an editor.
  return std::regex_replace(read_text("printed.txt"), std::regex(" +\n"), "\n");
}

struct PlayedPage {
  std::string text;       ///< with the outputs as they are now
  std::string sentences;  ///< what is in no block
  std::string outputs;
};

/// Runs the page's commands; files that it shows are written.
PlayedPage played(const std::string& page) {
  PlayedPage made;
  std::istringstream lines(page);
  std::string file;
  enum class In { text, commands, toml } in = In::text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (in == In::toml) write_text(file.substr(2, file.find('\n') - 2), file);
      in = in != In::text ? In::text : line == "```" ? In::commands : In::toml;
      file.clear();
    } else if (in == In::toml) {
      file += line + "\n";
    } else if (in == In::text) {
      made.sentences += line + "\n";
    } else if (!line.starts_with("$ ")) {
      continue;  // of an output, which is made anew
    }
    made.text += line + "\n";
    if (in != In::commands || !line.starts_with("$ ") || line.starts_with("$ stowage-inspector")) continue;
    const std::string output = printed(line.substr(2));
    made.outputs += output;
    made.text += output;
  }
  return made;
}

/// Numbers of three digits or more, without the spaces between their digits: "1082513".
std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> numbers;
  const std::regex number("[0-9]+( [0-9]{3})*(\\.[0-9]+)?");
  for (std::sregex_iterator found(text.begin(), text.end(), number), end; found != end; ++found) {
    const auto at = static_cast<std::size_t>(found->position());
    if (at > 0 && (std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '-')) continue;
    std::string digits = found->str();
    digits.erase(std::remove(digits.begin(), digits.end(), ' '), digits.end());
    if (digits.size() >= 3) numbers.insert(digits);
  }
  return numbers;
}

/// Cycles of one execution of the statement.
std::string cycles_each(const std::string& folder, const std::string& what) {
  const auto json = nlohmann::json::parse(run_stowage({"simulate", folder, "--op", "matmul", "--json"}).out);
  std::string found;
  for (const auto& row : json.at("fused_operators").at(0).at("statements")) {
    if (row.at("what") != what) continue;
    found = std::to_string(row.at("cycles").get<std::int64_t>() / row.at("executions").get<std::int64_t>());
  }
  return found;
}

}  // namespace

TEST_CASE("the page that teaches double buffering says what the tool says") {
  const Workplace here;
  fs::create_directory("bin");
  fs::create_symlink(build_folder() / "driver/stowage", "bin/stowage");
  const fs::path path = source_folder() / "docs/double-buffering.md";
  const std::string before = read_text(path);
  const PlayedPage page = played(before);
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) write_text(path, page.text);
  CHECK(page.text == before);

  std::set<std::string> known = numbers_in(page.outputs);
  const std::vector<std::string> derived = {cycles_each("single", "get B"), cycles_each("single", "compute matmul"),
                                            cycles_each("double", "get B"), cycles_each("double", "compute matmul")};
  const std::set<std::string> said = numbers_in(page.sentences);
  for (const std::string& number : derived) {
    INFO(number);
    CHECK(said.contains(number));
    known.insert(number);
  }
  known.insert({"1024", "128"});  // of the product and of its tile, which the nest shows
  for (const std::string& number : said) {
    INFO("'" << number << "' is in no output");
    CHECK(known.contains(number));
  }
  // What its sentences conclude.
  const auto cycles = [](const std::string& plan) {
    return nlohmann::json::parse(run_stowage({"simulate", plan, "--json"}).out).at("cycles").get<std::int64_t>();
  };
  const auto exposed = [](const std::string& plan) {
    const auto json = nlohmann::json::parse(run_stowage({"simulate", plan, "--json"}).out);
    return json.at("exposed_dma_cycles").get<double>() / json.at("cycles").get<double>();
  };
  CHECK(exposed("single") > 0.5);
  CHECK(cycles("flat") < cycles("double"));
  CHECK(cycles("all-double") * 100 > cycles("all-single") * 97);
  CHECK(cycles("resnet50") < cycles("one-slot"));
  for (const char* picture : {"single", "double", "resnet", "no-wait", "exercise"})
    CHECK(fs::exists(source_folder() / "docs/double-buffering" / (std::string(picture) + ".png")));
}

}  // namespace stowage::test
