// SPDX-License-Identifier: Apache-2.0
// Hidden cases that skips_test.cmake runs.
#include <catch2/catch.hpp>

TEST_CASE("seeded: passes", "[.seeded]") { SUCCEED(); }
TEST_CASE("seeded: skips three", "[.seeded]") {
  WARN("skipped, 1 case: seeded");
  WARN("skipped, 2 cases: seeded");
}
TEST_CASE("seeded: skips and fails", "[.seeded]") {
  WARN("skipped, 5 cases: seeded");
  FAIL("seeded");
}
