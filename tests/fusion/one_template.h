// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "fusion/templates/template.h"

namespace stowage::testing {

/// The only template of a file, or a failed test.
inline FusionTemplate read_one(const std::string& toml) {
  Diagnostics diagnostics;
  const auto templates = parse_templates(toml, "t.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  REQUIRE(templates->size() == 1);
  return templates->front();
}

}  // namespace stowage::testing
