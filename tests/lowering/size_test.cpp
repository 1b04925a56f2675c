// SPDX-License-Identifier: Apache-2.0
// Texts of nests that would be large once their variables are expanded, or keep a place for every number up to a large
// one, are refused at once.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "lowering/verify/verify.h"
#include "tests/lowering/parsed_nest.h"

namespace stowage::size_test {
namespace {

/// Eight numbers doubled, and behind that a loop that only has variables.
std::string nest_with(const std::string& variables, const std::string& lets, int last = 5) {
  return fmt::format(R"(nest twice {{
  input X f32[8]
  output Y f32[8]
  stage twice {{
    Y[i < 8] = (#0 + #0)
    #0 = X[i]
  }}
  variables z{}
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 64 bytes
  buffer XX f32[8] at 0, 32 bytes = X[0]
  buffer YY f32[8] at 32, 32 bytes = Y[0]
  body {{
    get X[0:8] -> XX
    wait 0
    compute map YY = twice(XX) over i=0:8
    put YY -> Y[0:8]
    wait 3
    {} for z < 2 of i {{
{}    }}
  }}
}}
)",
                     variables, last, lets);
}

std::string verdict(const std::string& text) { return verify(parsed(text), Target{}).value_or("sound"); }

TEST_CASE("size: variables that each use the one before twice are refused before they are expanded", "[verify]") {
  const auto chain = [](int length) {
    std::string variables;
    std::string lets;
    for (int i = 1; i <= length; ++i) {
      const std::string before = i == 1 ? "z" : fmt::format("a{}", i - 1);
      variables += fmt::format(", a{}", i);
      lets += fmt::format("      let a{0} = min({1}, (({1} + 1) / 2))\n", i, before);
    }
    return nest_with(variables, lets);
  };
  CHECK(verdict(chain(4)) == "sound");
  CHECK(
      verdict(chain(60)) ==
      "size: statement 19 'let a14 = min(a13, ((a13 + 1) / 2))': up to here the nest has more than 200 000 terms with "
      "its variables expanded");
}

TEST_CASE("size: variables that nest without end are refused before they are expanded", "[verify]") {
  std::string variables;
  std::string lets;
  for (int i = 1; i <= 300; ++i) {
    std::string value = i == 1 ? "z" : fmt::format("a{}", i - 1);
    for (int k = 0; k < 60; ++k) value = fmt::format("(({} + 1) / 2)", value);
    variables += fmt::format(", a{}", i);
    lets += fmt::format("      let a{} = {}\n", i, value);
  }
  const std::string said = verdict(nest_with(variables, lets));
  CHECK(said.starts_with("size: statement 9 'let a4 = "));
  CHECK(said.ends_with("nests 241 deep with its variables expanded, 200 at most"));
}

TEST_CASE("size: statements are numbered without large gaps", "[verify]") {
  CHECK(verdict(nest_with("", "", 96)) == "sound");
  CHECK(verdict(nest_with("", "", 1'000'000'000)) ==
        "size: statement 1000000000 is one of 6, numbers go up to 96 then");
}

}  // namespace
}  // namespace stowage::size_test
