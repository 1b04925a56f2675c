// SPDX-License-Identifier: Apache-2.0
#include "driver/json/json_rows.h"

#include <catch2/catch.hpp>
#include <vector>

namespace stowage::test {
namespace {

TEST_CASE("rows of an array go to their reader and all else is as the library parses it") {
  const std::string text =
      R"({"name": "x", "rows": [{"a": [1, {"rows": [2]}]}, 3, [], "four", null], "in": {"rows": [5], "also": [6]},
          "list": [{"rows": [7]}, -1, 1.5, true, 18446744073709551615], "last": {}})";
  std::vector<Json> rows;
  std::vector<Json> inner;
  std::vector<std::size_t> before;
  const Json rest = parse_rows(text, {{"rows",
                                       [&](const Json& row, const Json& file) {
                                         rows.push_back(row);
                                         before.push_back(file.size());
                                       }},
                                      {"in/rows", [&](const Json& row, const Json&) { inner.push_back(row); }}});
  Json whole = Json::parse(text);
  CHECK(Json(rows) == whole["rows"]);
  CHECK(Json(inner) == whole["in"]["rows"]);
  CHECK(before == std::vector<std::size_t>(5, 2));  // "name", and "rows" that is empty still
  whole["rows"] = Json::array();
  whole["in"]["rows"] = Json::array();
  CHECK(rest == whole);
  CHECK(rest.dump() == whole.dump());  // in the same order
}

TEST_CASE("a text that is no JSON is refused as the library refuses it, wherever it breaks") {
  const std::string text = R"({"rows": [{"a": 1}, {"b": [2, 3]}], "n": 12})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    std::string wanted;
    try {
      const Json taken = Json::parse(cut);
      FAIL("the library took it as " << taken);
    } catch (const Json::parse_error& error) {
      wanted = in_words(error);
    }
    CAPTURE(cut);
    REQUIRE_FALSE(wanted.empty());
    try {
      parse_rows(cut, {{"rows", [](const Json&, const Json&) {}}});
      FAIL("it was taken");
    } catch (const Json::parse_error& error) {
      CHECK(in_words(error) == wanted);
    }
  }
  CHECK_THROWS_AS(parse_rows("[1e999]", {}), Json::out_of_range);
}

}  // namespace
}  // namespace stowage::test
