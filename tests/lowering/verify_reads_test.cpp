// SPDX-License-Identifier: Apache-2.0
// Small nests that would read what is not there, or something else, on some core or in some trip only.
#include <catch2/catch.hpp>

#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage {
namespace {

std::string verdict(const std::string& text) {
  Target target;
  target.name = "machine";
  return verify(parsed(text), target).value_or("sound");
}

/// Y[x, i] = X[i] + X[i], every core a row of its own; the body says when which part of X is loaded.
std::string twice(const std::string& body, const std::string& variables = "c, ko") {
  return "nest twice {\n  input X f32[16]\n  output Y f32[2,8]\n  table t = [0]\n"
         "  stage twice {\n    Y[x < 2, i < 8] = (#0 + #0)\n    #0 = X[i]\n  }\n"
         "  variables " +
         variables +
         "\n  core c < 2 of x stride 1\n"
         "  memory X = X strides [1]\n  memory Y = Y strides [8, 1] written\n"
         "  ldm 96 bytes\n"
         "  buffer XX f32[8] at 0, 32 bytes = X[0]\n  buffer YY f32[1,8] at 64, 32 bytes = Y[c, 0]\n"
         "  body {\n" +
         body +
         "    compute map YY = twice(XX from [0]) over x=c:c + 1, i=0:8\n"
         "    put YY -> Y[c:c + 1, 0:8]\n"
         "    wait YY\n  }\n}\n";
}

TEST_CASE("box-in-slot: a loop of which another core has more trips is walked anew", "[verify]") {
  const auto loop_of = [](const std::string& trips) {
    return verdict(twice("    for ko < " + trips +
                         " of k {\n      get X[8*ko:8*ko + 8] -> XX from [8*ko]\n"
                         "      wait XX\n    }\n"));
  };
  const std::string refused =
      "box-in-slot: statement 3 'compute map YY = twice(XX from [0]) over x=c:c + 1, i=0:8': buffer XX is used as the "
      "box from [0], but statement 1 put the one from [8] there";
  CHECK(loop_of("1") == "sound");
  CHECK(loop_of("2") == refused);
  CHECK(loop_of("c + 1") == refused + " (c = 1)");
}

)";
  CHECK(verdict(text) == "sound");
  CHECK(verdict(replaced(text, "buffer TT f32[8] at 32, 32 bytes", "buffer TT i8[8] at 32, 8 bytes")) ==
        "structure: buffer TT has another type than T");
}

}  // namespace
}  // namespace stowage
