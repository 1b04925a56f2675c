// SPDX-License-Identifier: Apache-2.0
// Small nests that would read what is not there, or something else, on some core or in some trip only.
#include <catch2/catch.hpp>

#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::verify_reads_test {
namespace {

std::string verdict(const std::string& text) {
  Target target;
  target.name = "machine";
  return verify(parsed(text), target).value_or("sound");
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
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

/// C[x] = sum over k of A[x] * B[k]; `k` is what each of two trips adds.
std::string dot(const std::string& k) {
  return "nest s {\n  input A f32[8]\n  input B f32[8]\n  output C f32[8]\n"
         "  stage s {\n    C[x < 8] = sum over k < 8 of (#0 * #1)\n    #0 = A[x]\n    #1 = B[k]\n  }\n"
         "  variables ko\n"
         "  memory A = A strides [1]\n  memory B = B strides [1]\n  memory C = C strides [1] written\n"
         "  ldm 128 bytes\n"
         "  buffer AA f32[8] at 0, 32 bytes = A[0]\n  buffer BB f32[8] at 32, 64 bytes = B[0] slots 2\n"
         "  buffer CC f32[8] at 96, 32 bytes = C[0]\n"
         "  body {\n"
         "    fill CC with 0\n"
         "    get A[0:4] -> AA\n"
         "    wait AA\n"
         "    for ko < 2 of k {\n"
         "      get B[0:8] -> BB[ko]\n"
         "      wait BB[ko]\n"
         "      compute update CC = s(AA, BB[ko]) over x=0:8, k=" +
         k +
         "\n    }\n"
         "    put CC -> C[0:8]\n"
         "    wait CC\n  }\n}\n";
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

TEST_CASE("touches-what-is-there: a trip that computes nothing shows nothing of the next", "[verify]") {
  const auto statement = [](const std::string& k) {
    return "touches-what-is-there: statement 6 'compute update CC = s(AA, BB[ko]) over x=0:8, k=" + k +
           " <= 8': touches 0..7 of dimension 0 of A, of which buffer AA holds 0..3 ";
  };
  CHECK(verdict(dot("0:4*ko + 4")) == statement("0:4*ko + 4") + "(ko = 0)");
  CHECK(verdict(dot("0:8*ko")) == statement("0:8*ko") + "(ko = 1)");
}

TEST_CASE("structure: a buffer has the type of its tensor", "[verify]") {
  const std::string text = R"(nest chain {
  input X f32[8]
  intermediate T f32[8]
  output Y f32[8]
  stage one {
    T[i < 8] = (#0 + #0)
    #0 = X[i]
  }
  stage two {
    Y[i < 8] = (#0 + #0)
    #0 = T[i]
  }
  variables c
  core c < 1 of i stride 1
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 96 bytes
  buffer XX f32[8] at 0, 32 bytes = X[0]
  buffer TT f32[8] at 32, 32 bytes = T[0]
  buffer YY f32[8] at 64, 32 bytes = Y[0]
  body {
    0  get X[0:8] -> XX
    1  wait 0
    2  compute map TT = one(XX) over i=0:8
    3  compute map YY = two(TT) over i=0:8
    4  put YY -> Y[0:8]
    5  wait 4
  }
}
)";
  CHECK(verdict(text) == "sound");
  CHECK(verdict(replaced(text, "buffer TT f32[8] at 32, 32 bytes", "buffer TT i8[8] at 32, 8 bytes")) ==
        "structure: buffer TT has another type than T");
}

TEST_CASE("table-lookup: where a use says that its box begins", "[verify]") {
  const auto loaded_from = [](const std::string& origin) {
    return verdict(twice(
        "    for ko < 2 of k {\n      let q = 5\n      get X[0:8] -> XX from [" + origin + "]\n      wait XX\n    }\n",
        "c, ko, q"));
  };
  CHECK(loaded_from("t[0]") == "sound");
  CHECK(loaded_from("t[ko]") ==
        "table-lookup: statement 2 'get X[0:8] -> XX from [t[ko]]': looks up entry 1 of table t, which has 1");
  CHECK(loaded_from("t[q]") ==
        "table-lookup: statement 2 'get X[0:8] -> XX from [t[q]]': looks up entry 5 of table t, which has 1");
  // A name of such an entry is not made use of.
  CHECK(
      verdict(twice("    let q = 5\n    let r = t[q]\n    get X[r:r + 8] -> XX from [r]\n    wait XX\n", "c, q, r")) ==
      "table-lookup: statement 1 'let r = t[q]': looks up entry 5 of table t, which has 1");
}

TEST_CASE("read-before-there: a loop that may have no trip leaves what was there", "[verify]") {
  const auto loop_of = [](const std::string& trips, const std::string& wait) {
    return verdict(
        twice("    for ko < " + trips + " of k {\n      get X[0:8] -> XX from [0]\n      wait " + wait + "\n    }\n"));
  };
  const std::string refused =
      "read-before-there: statement 3 'compute map YY = twice(XX from [0]) over x=c:c + 1, i=0:8': buffer XX is read, "
      "but nothing was put there";
  CHECK(loop_of("c", "XX") == refused);
  CHECK(loop_of("c + 1", "XX") == "sound");
  CHECK(loop_of("2 - c", "1") == "sound");
  // The same where no buffer is followed.
  const auto plain = [&](const std::string& trips) {
    return verdict(
        replaced(replaced(twice("    for ko < " + trips + " of k {\n      get X[0:8] -> XX\n      wait 1\n    }\n"),
                          "twice(XX from [0])", "twice(XX)"),
                 "wait YY", "wait 4"));
  };
  CHECK(plain("c") == replaced(refused, " from [0]", ""));
  CHECK(plain("2 - c") == "sound");
}

TEST_CASE("touches-what-is-there: the same part on every path", "[verify]") {
  const auto reads = [](const std::string& body) {
    return verdict(replaced(replaced(twice(body), "twice(XX from [0])", "twice(XX)"), "wait YY", "wait 6"));
  };
  const std::string first = "    0  get X[0:4] -> XX\n    1  wait 0\n";
  const std::string all = "    3    get X[0:8] -> XX\n    4    wait 3\n       }\n";
  const std::string refused =
      "touches-what-is-there: statement 5 'compute map YY = twice(XX) over x=c:c + 1, i=0:8': buffer XX may hold what "
      "another statement than 3 put there";
  CHECK(reads(first + "    2  if any(c) > 0 {\n" + all) == refused);
  CHECK(reads(first + "    2  for ko < c of k {\n" + all) == refused);
  CHECK(reads(first + "    2  for ko < c + 1 of k {\n" + all) == "sound");
  // The second trip finds what the first one has put there behind the computation.
  const std::string text = twice("    0  get X[0:8] -> XX\n    1  wait 0\n    2  for ko < 2 of x {\n");
  CHECK(verdict(text.substr(0, text.find("    compute")) +
                "    3    compute map YY = twice(XX) over x=c:c + 1, i=0:8\n"
                "    4    get X[0:4] -> XX\n    5    wait 4\n       }\n"
                "    6  put YY -> Y[c:c + 1, 0:8]\n    7  wait 6\n  }\n}\n") ==
        "touches-what-is-there: statement 3 'compute map YY = twice(XX) over x=c:c + 1, i=0:8': buffer XX may hold "
        "what another statement than 0 put there");
}

TEST_CASE("touches-what-is-there: of a loop that has ended, what its last trip loaded", "[verify]") {
  const auto loaded = [](const std::string& part, const std::string& wait) {
    return verdict(replaced(
        replaced(twice("    for ko < 3 of k {\n      get X[" + part + "] -> XX\n      wait " + wait + "\n    }\n"),
                 "twice(XX from [0])", "twice(XX)"),
        "wait YY", "wait 4"));
  };
  const std::string statement = "statement 3 'compute map YY = twice(XX) over x=c:c + 1, i=0:8': ";
  CHECK(loaded("0:2*ko + 4", "1") == "sound");
  CHECK(loaded("2*ko:2*ko + 2", "1") == "touches-what-is-there: " + statement +
                                            "touches 0..7 of dimension 0 of X, of which buffer XX holds another part");
  CHECK(loaded("2*ko:2*ko + 2", "XX") ==
        "read-before-there: " + statement + "buffer XX is read, but nothing was put there");
}

TEST_CASE("read-before-there: what is finished is what was summed up", "[verify]") {
  const std::string text = R"(nest mean {
  input A f32[2,8]
  output M f32[2]
  stage mean {
    M[x < 2] = sum over k < 8 of #0
    #0 = A[x, k]
    finish (acc * 0.125)
  }
  variables c
  core c < 2 of k stride 1
  memory A = A strides [8, 1]
  memory M = M strides [1] written
  ldm 96 bytes
  buffer AA f32[2,8] at 0, 64 bytes = A[0, 0]
  buffer MM f32[2] at 64, 8 bytes = M[0]
  body {
    get A[0:2, 0:8] -> AA
    wait 0
    fill MM with 0
    if any(1) > 0 {
      compute update MM = mean(AA) over x=0:2, k=0:8
    }
    compute finish MM = mean(_) over x=0:2
    put MM -> M[c:c + 1]
    wait 6
  }
}
)";
  const std::string finish = "    compute finish MM = mean(_) over x=0:2\n";
  const std::string guarded = "    if any(1) > 0 {\n      compute update MM = mean(AA) over x=0:2, k=0:8\n    }\n";
  const std::string update = "    compute update MM = mean(AA) over x=0:2, k=0:8\n    barrier\n";
  const std::string at_once = replaced(text, guarded, update);
  CHECK(verdict(at_once) == "sound");
  CHECK(
      verdict(replaced(text, "any(1)", "any(c)")) ==
      "read-before-there: statement 5 'compute finish MM = mean(_) over x=0:2': buffer MM is finished, but it is only "
      "filled");
  CHECK(verdict(replaced(at_once, "    barrier\n", finish)) ==
        "read-before-there: statement 5 'compute finish MM = mean(_) over x=0:2': buffer MM is finished, but it is "
        "complete");
  CHECK(verdict(replaced(replaced(at_once, "    barrier\n", ""), finish,
                         finish + update.substr(0, update.find('\n') + 1))) ==
        "read-before-there: statement 5 'compute update MM = mean(AA) over x=0:2, k=0:8': buffer MM is accumulated "
        "into, but it is complete");
  CHECK(
      verdict(replaced(at_once, "mean(AA) over x=0:2", "mean(AA) over x=0:1")) ==
      "touches-what-is-there: statement 5 'compute finish MM = mean(_) over x=0:2': touches 0..1 of dimension 0 of M, "
      "of which buffer MM holds another part");
}

TEST_CASE("number-range: factors that lets multiply", "[verify]") {
  const auto with = [](const std::string& lets) {
    return verdict(
        twice("    get X[0:8] -> XX from [0]\n    wait XX\n    for x < 1 of x {\n" + lets + "    }\n", "c, x, a, b"));
  };
  CHECK(with("      let a = 4096*x\n      let b = 4096*a\n") == "sound");
  const std::string refused = "numbers are too large, names put in, to be counted with";
  CHECK(with("      let a = 1099511627776*x\n      let b = 1099511627776*a\n") ==
        "number-range: statement 4 'let b = 1099511627776*a': " + refused);
  CHECK(with("      let a = 1099511627776*x\n      if any(1099511627776*a) > 0 {\n        let b = 0\n      }\n") ==
        "number-range: statement 4 'if any(1099511627776*a) > 0 {': " + refused);
  CHECK(with("      let a = 1099511627776*x\n      get X[0:8] -> XX from [1099511627776*a]\n      wait XX\n"
             "      let b = 0\n") == "number-range: statement 4 'get X[0:8] -> XX from [1099511627776*a]': " + refused);
}

TEST_CASE("number-range: what emitted code counts fits its int", "[verify]") {
  const auto with = [](const std::string& lets) {
    return verdict(
        twice("    get X[0:8] -> XX from [0]\n    wait XX\n    for y < 8 of x {\n" + lets + "    }\n", "c, y, q"));
  };
  CHECK(with("      let q = 134217728*y\n") == "sound");
  CHECK(with("      let q = 134217728*y in 0..1099511627776\n") == "sound");
  CHECK(with("      let q = min(-134217728*y + 1073741824, 1073741824) + 134217728*y\n") == "sound");
  CHECK(
      with("      let q = 536870912*y\n") ==
      "number-range: statement 3 'let q = 536870912*y': counts with 536870912*y, which may not fit an int of 32 bits");
  CHECK(with("      let q = ((536870912*y + 1) / 536870913)\n") ==
        "number-range: statement 3 'let q = ((536870912*y + 1) / 536870913)': counts with ((536870912*y + 1) / "
        "536870913), which may not fit an int of 32 bits");
  CHECK(with("      if any(536870912*y - 536870912*y + 2147483648) > 0 {\n        let q = 0\n      }\n") ==
        "number-range: statement 3 'if any(2147483648) > 0 {': counts with 2147483648, which may not fit an int of 32 "
        "bits");
}

}  // namespace
}  // namespace stowage::verify_reads_test
