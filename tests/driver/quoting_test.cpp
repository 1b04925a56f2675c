// SPDX-License-Identifier: Apache-2.0
// Quoting by chance; tests/fuzz/fuzz_quoting.cpp looks further. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS makes it
// longer.
#include <iostream>
#include <random>

#include <catch2/catch.hpp>

#include "core/quoting.h"
#include "tests/quoting_promises.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

TEST_CASE("what is written in any language is read again as it was, or stays in its place", "[quoting]") {
  // What has a meaning somewhere, and pieces of characters.
  const std::vector<std::string> parts = {
      "<",    ">",   "\"",     "'",        "&",        "&lt;", "\\",     "\\N",    "]",      "=",         "+",
      "-",    "@",   ",",      "\r",       "\n",       "\t",   "\x1b",   "\x7f",   "1",      "e",         ".",
      "inf",  "nan", "0x",     "a",        "\xc3",     "\xa9", "\u202e", "\u2066", "\u061c", "\xff",      "名",
      "\xf0", " ",   "\ufffe", "\uffff",   "\u0085",   "*",    "/",      "?",      "(",      "\u2028",    "\u2029",
      "$",    "`",   "!",      "\xed\xa0", "\xc0\x80", "^",    "%",      "~",      "|",      "\U0001f600"};
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 20'000);
  std::cout << "STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << "\n";
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::mt19937_64 random(seed + round);
    std::string text;
    for (std::uint64_t i = random() % 9; i > 0; --i) {
      text += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256)) : parts[random() % parts.size()];
    }
    if (random() % 500 == 0) text = std::string(20'000, text.empty() ? '\\' : text.back()) + text;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1, " << terminal_text(text));
    REQUIRE(broken_promise_of_quoting(text).empty());
  }
}

}  // namespace
}  // namespace stowage::test
