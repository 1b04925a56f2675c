// SPDX-License-Identifier: Apache-2.0
// SECURITY.md promises nothing that no test keeps.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

/// Paragraphs and items of the sections of SECURITY.md that promise something, each on one line.
std::vector<std::string> promises() {
  std::vector<std::string> found;
  bool promised = false;
  bool goes_on = false;
  for (const SourceFile& file : source_tree()) {
    if (file.path != "SECURITY.md") continue;
    for (const std::string& line : file.lines) {
      if (line.starts_with("## ")) promised = line.starts_with("## What is promised");
      if (!promised || line.empty() || line.starts_with("## ")) {
        goes_on = false;
        continue;
      }
      if (line.starts_with("- ") || !goes_on) found.emplace_back();
      found.back() += (found.back().empty() ? "" : " ") + line.substr(line.find_first_not_of(' '));
      goes_on = true;
    }
  }
  return found;
}

/// What stands between asterisks.
std::vector<std::string> tests_in(const std::string& promise) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = promise.find('*', at)) != std::string::npos;) {
    const std::size_t end = promise.find('*', at + 1);
    if (end == std::string::npos) break;
    names.push_back(promise.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

TEST_CASE("every promise of SECURITY.md names a test that there is", "[house]") {
  std::set<std::string> known;
  for (const SourceFile& file : source_tree()) {
    if (!file.path.starts_with("tests/") || !file.path.ends_with("_test.cpp")) continue;
    for (const std::string& line : file.lines) {
      constexpr std::string_view opening = "TEST_CASE(\"";
      if (!line.starts_with(opening)) continue;
      known.insert(line.substr(opening.size(), line.find('"', opening.size()) - opening.size()));
    }
  }
  const auto all = promises();
  CHECK(all.size() >= 8);
  for (const std::string& promise : all) {
    INFO(promise);
    const auto names = tests_in(promise);
    CHECK_FALSE(names.empty());
    for (const std::string& name : names) {
      INFO(name);
      CHECK(known.contains(name));
    }
  }
}

}  // namespace
}  // namespace stowage::test
