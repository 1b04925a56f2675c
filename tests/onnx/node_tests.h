// SPDX-License-Identifier: Apache-2.0
// The ONNX project's own tests of operators: a model, inputs and expected outputs each. They come from Debian's
// libonnx-testdata and from ../shared/models/node-tests.tar.xz. Used by the tests of the import and of the driver,
// which run the same cases through different executors.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/tensor.h"

namespace stowage::test {

/// A test on disk that Stowage ought to pass: operators in the table, opset 7 or newer.
struct NodeTest {
  std::string id;       ///< "debian/node/test_add"
  std::string name;     ///< "test_add"
  std::string subject;  ///< the operator it is about, for the summary
  std::string folder;
};

/// Where node tests come from.
enum class NodeTestSource { debian_package, onnx_1_23 };

struct NodeTestList {
  std::vector<NodeTest> tests;                     ///< sorted by id
  std::map<std::string, std::size_t> passed_over;  ///< how many were not selected, by reason
  std::string skipped;                             ///< "skipped, 3 cases: …" where the source is not here, for WARN
  std::size_t at_least = 0;                        ///< as many were selected when this was written
};
/// Throws std::runtime_error where the source is here and cannot be read.
NodeTestList find_node_tests(NodeTestSource source);

/// A test ready to run.
struct NodeTestCase {
  std::string id;
  Graph graph;
  std::vector<Tensor> inputs;  ///< by graph input; inputs whose values decide shapes were bound and are not among them
  std::vector<Tensor> expected;  ///< by graph output
};
/// Nothing if the test uses tensors of other types than float32, integers and bool. Failures to import are in
/// `failure`.
std::optional<NodeTestCase> load_node_test(const NodeTest& test, std::string& failure);

/// The reason from node_test_exemptions.txt why a test of this name need not pass.
std::optional<std::string> node_test_exemption(const std::string& name);

/// The first element that differs by more than relative 1e-3 and absolute 1e-5, in words; empty if none does.
std::string difference(const Tensor& expected, const Tensor& actual);

/// Counts outcomes per operator.
class NodeTestTally {
 public:
  /// `failure` is empty for a test that passed.
  void record(const NodeTest& test, const std::string& failure);
  void skip(const NodeTest& test);             ///< uses other element types
  [[nodiscard]] std::string summary() const;   ///< table: operator, passed, exempt, failed
  [[nodiscard]] std::string failures() const;  ///< one line a failed test, and exemptions that are stale
  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::size_t passed() const { return passed_; }

 private:
  struct Row {
    std::size_t passed = 0, exempt = 0, failed = 0, skipped = 0;
  };
  std::map<std::string, Row> rows_;
  std::string failures_;
  std::size_t failed_ = 0;
  std::size_t passed_ = 0;
};

/// Runs every test of the list through `run` (inputs to outputs) and prints the summary. Returns the failures' text.
std::string run_node_tests(const NodeTestList& list,
                           const std::function<std::vector<Tensor>(const NodeTestCase&)>& run);

}  // namespace stowage::test
