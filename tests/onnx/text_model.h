// SPDX-License-Identifier: Apache-2.0
// Small models written in ONNX's text form, changed as a test needs them, saved to files that vanish with the test.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>
#include <string>

#include "core/diagnostics.h"
#include "core/graph.h"
#include "core/onnx/import.h"
#include "core/temporary_folder.h"

namespace stowage::test {

/// A folder of its own below the system's temporary folder.
class TemporaryFolder : public stowage::TemporaryFolder {
 public:
  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& content) const;
};

/// "agraph (float[2] x) => (float[2] y) { y = Relu(x) }" as a model of an opset.
onnx::ModelProto text_model(const std::string& graph, int opset = 13);

onnx::TensorProto float_tensor(const std::string& name, const Shape& shape, const std::vector<float>& values);

struct ImportOutcome {
  std::optional<Graph> graph;
  Diagnostics diagnostics;
  [[nodiscard]] std::string codes() const;  ///< codes of the errors in order, joined by a space
  [[nodiscard]] std::string text() const { return format_diagnostics(diagnostics); }
};
ImportOutcome import_model(const onnx::ModelProto& model, const ImportOptions& options = {});
ImportOutcome import_text(const std::string& graph, int opset = 13, const ImportOptions& options = {});
ImportOutcome import_file(const std::string& path, const ImportOptions& options = {});

/// Of the graph's first output, or a failed test.
Shape output_shape(const ImportOutcome& outcome);

/// "Conv[x,w,b] Relu[Conv_1]" …: kinds and operands of all operators, for comparing a graph at a glance.
std::string outline(const Graph& graph);

}  // namespace stowage::test
