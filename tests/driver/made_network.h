// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {

/// NAME.onnx in the current folder.
inline void make_network(const std::string& name) {
  REQUIRE(run_stowage({"network", name, "-o", name + ".onnx"}).code == 0);
}

}  // namespace stowage::test
