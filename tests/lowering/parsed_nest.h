// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "lowering/ir/loop_nest_parser.h"

namespace stowage {

/// The nest of a text that is to be one; else the test ends with what is wrong with it.
inline LoopNest parsed(const std::string& text) {
  Diagnostics diagnostics;
  auto nest = parse_loop_nest(text, diagnostics);
  INFO(text << format_diagnostics(diagnostics));
  REQUIRE(nest);
  return *std::move(nest);
}

}  // namespace stowage
