// SPDX-License-Identifier: Apache-2.0
// The ONNX project's operator tests through the import and the reference executor.
#include <catch2/catch.hpp>

#include "core/reference/reference.h"
#include "tests/onnx/node_tests.h"

namespace stowage::test {

TEST_CASE("ONNX's operator tests pass in the reference executor, by oneDNN", "[onnx][nodes]") {
  const std::string failures =
      run_node_tests([](const NodeTestCase& c) { return run_reference(c.graph, c.inputs, ReferenceMode::onednn); });
  CHECK(failures == "");
}

TEST_CASE("ONNX's operator tests pass in the reference executor, by plain evaluation", "[onnx][nodes]") {
  const std::string failures =
      run_node_tests([](const NodeTestCase& c) { return run_reference(c.graph, c.inputs, ReferenceMode::plain); });
  CHECK(failures == "");
}

}  // namespace stowage::test
