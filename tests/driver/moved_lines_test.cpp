// SPDX-License-Identifier: Apache-2.0
// Lines of emitted sources keep their statements where a person has edited the text around them.
#include "driver/store/moved_lines.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

namespace stowage::test {
namespace {

std::string lines(int count, const std::string& word = "line") {
  std::string text;
  for (int i = 1; i <= count; ++i) text += fmt::format("{} {}\n", word, i);
  return text;
}

/// Lines to which lines 1, 3 and 5 went, 0 for those that are gone.
std::vector<int> places(const std::string& before, const std::string& after) {
  const std::vector<LineOrigin> origins = {
      {1, StepId(0), StatementId(10)}, {3, StepId(0), StatementId(30)}, {5, StepId(0), StatementId(50)}};
  std::vector<int> found(3, 0);
  for (const LineOrigin& origin : moved_origins(origins, before, after)) {
    found.at(origin.statement.index() / 20) = origin.line;
  }
  return found;
}

using Places = std::vector<int>;

TEST_CASE("a line keeps its statement behind lines that were added, taken out or edited", "[moved_lines]") {
  CHECK(places(lines(6), lines(6)) == Places{1, 3, 5});
  CHECK(places(lines(6), "new\n" + lines(6)) == Places{2, 4, 6});
  CHECK(places(lines(6), "line 1\nline 2\nnew\nline 3\nline 4\nline 5\nline 6\n") == Places{1, 4, 6});
  CHECK(places(lines(6), "line 1\nline 4\nline 5\nline 6\n") == Places{1, 0, 3});
  CHECK(places(lines(6), "line 1\nline 2\nLINE 3\nline 4\nline 5\nline 6\n") == Places{1, 3, 5});
  CHECK(places(lines(6), "") == Places{0, 0, 0});
}

TEST_CASE("a source that somebody made very long is read as it is", "[moved_lines]") {
  CHECK(places(lines(6), lines(6) + std::string(3'000'000, '\n')) == Places{1, 3, 5});
  CHECK(places(lines(6), std::string(3'000'000, '\n') + lines(6)) == Places{3'000'001, 3'000'003, 3'000'005});
  // As many others between none: each may be what it was.
  CHECK(places(lines(3000), lines(3000, "other")) == Places{1, 3, 5});
  CHECK(places(lines(3000), lines(4000, "other")) == Places{0, 0, 0});
}

}  // namespace
}  // namespace stowage::test
