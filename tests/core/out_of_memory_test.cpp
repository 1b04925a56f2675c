// SPDX-License-Identifier: Apache-2.0
#include "core/out_of_memory.h"

#include <new>
#include <stdexcept>
#include <system_error>

#include <catch2/catch.hpp>

namespace stowage::test {
namespace {

TEST_CASE("memory that runs out is told from other faults") {
  const auto is_reported = [](const std::exception& fault) {
    Diagnostics diagnostics;
    const bool reported = report_out_of_memory(fault, {}, diagnostics);
    CHECK(diagnostics.has_errors() == reported);
    return reported;
  };
  CHECK(is_reported(std::bad_alloc()));
  CHECK(is_reported(std::length_error("vector")));
  CHECK(is_reported(std::system_error(EAGAIN, std::generic_category())));  // no room for a thread's stack
  CHECK_FALSE(is_reported(std::system_error(ENOENT, std::generic_category())));
  CHECK_FALSE(is_reported(std::runtime_error("else")));
}

}  // namespace
}  // namespace stowage::test
