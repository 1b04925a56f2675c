// SPDX-License-Identifier: Apache-2.0
// Pages for people name types of ours that there are.
#include <regex>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

/// Words that are written as our types are, and are others'.
const std::set<std::string> of_others = {
    "MBW_map",       // a measurement of swGEMM's authors
    "MaxArraySize",  // a setting of Slurm
};

/// Types of the project, and words that it has as texts: operators of ONNX are written as types are.
std::set<std::string> known_words() {
  const std::regex defined(R"(\b(?:struct|enum class|class|enum|using|concept) (\w+))");
  const std::regex quoted(R"re("([A-Z]\w+)")re");
  std::set<std::string> known;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || file.folder() == "tests") continue;
    for (const std::string& line : file.lines) {
      for (const std::regex& kind : {defined, quoted}) {
        for (std::sregex_iterator found(line.begin(), line.end(), kind), end; found != end; ++found) {
          known.insert((*found)[1]);
        }
      }
    }
  }
  return known;
}

TEST_CASE("types that pages name are in the sources", "[house]") {
  const std::set<std::string> known = known_words();
  const std::regex in_backticks(R"(`([A-Z]\w*[a-z]\w*)`)");
  // In what is set off as code texts of networks stand too, so that only words with several capitals are looked at, and
  // in the list of a page's own folders those that are explained: "Document (what is open)".
  const std::regex in_code(R"(\b([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b|\b([A-Z][a-z]\w+)(?= \([a-z]))");
  int named = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.path.ends_with(".md") || (file.folder() != "docs" && !file.folder().empty())) continue;
    bool is_code = false;
    for (const std::string& line : file.lines) {
      if (line.starts_with("```")) is_code = !is_code;
      const std::regex& kind = is_code ? in_code : in_backticks;
      for (std::sregex_iterator found(line.begin(), line.end(), kind), end; found != end; ++found) {
        const std::string word = (*found)[1].matched ? (*found)[1] : (*found)[2];
        INFO(file.path << " names " << word << ": " << line);
        CHECK((known.contains(word) || of_others.contains(word)));
        ++named;
      }
    }
  }
  CHECK(named > 50);
}

}  // namespace
}  // namespace stowage::test
