// SPDX-License-Identifier: Apache-2.0
// The ONNX project's operator tests through the import and the reference executor.
#include <catch2/catch.hpp>

#include "core/reference/reference.h"
#include "tests/onnx/node_tests.h"

namespace stowage::test {

namespace {

void check_source(NodeTestSource source, ReferenceMode mode) {
  const NodeTestList list = find_node_tests(source);
  if (!list.skipped.empty()) {
    WARN(list.skipped);
    return;
  }
  CHECK(list.tests.size() >= list.at_least);
  CHECK(run_node_tests(list, [&](const NodeTestCase& c) { return run_reference(c.graph, c.inputs, mode); }) == "");
}

}  // namespace

TEST_CASE("the operator tests of Debian's ONNX pass in the reference executor, by oneDNN", "[onnx][nodes]") {
  check_source(NodeTestSource::debian_package, ReferenceMode::onednn);
}

TEST_CASE("the operator tests of ONNX 1.23 pass in the reference executor, by oneDNN", "[onnx][nodes]") {
  check_source(NodeTestSource::onnx_1_23, ReferenceMode::onednn);
}

TEST_CASE("the operator tests of Debian's ONNX pass in the reference executor, by plain evaluation", "[onnx][nodes]") {
  check_source(NodeTestSource::debian_package, ReferenceMode::plain);
}

TEST_CASE("the operator tests of ONNX 1.23 pass in the reference executor, by plain evaluation", "[onnx][nodes]") {
  check_source(NodeTestSource::onnx_1_23, ReferenceMode::plain);
}

}  // namespace stowage::test
