// SPDX-License-Identifier: Apache-2.0
#include "tests/onnx/text_model.h"

#include <fmt/format.h>
#include <onnx/defs/parser.h>
#include <catch2/catch.hpp>

#include <fstream>

#include "core/check.h"

namespace stowage::test {

namespace fs = std::filesystem;

std::string TemporaryFolder::write(const std::string& name, const std::string& content) const {
  fs::create_directories((path() / name).parent_path());
  fs::remove(path() / name);  // a file that is truncated and written again is flushed to disk: slow thousands of times
  std::ofstream(path() / name, std::ios::binary) << content;
  return (path() / name).string();
}

onnx::ModelProto text_model(const std::string& graph, int opset) {
  const std::string text = fmt::format("<ir_version: 7, opset_import: [\"\" : {}]> {}", opset, graph);
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  check(status.IsOK(), "text model: " + status.ErrorMessage());
  return model;
}

onnx::TensorProto float_tensor(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const auto extent : shape) tensor.add_dims(extent);
  for (const float value : values) tensor.add_float_data(value);
  return tensor;
}

std::string ImportOutcome::codes() const {
  std::string all;
  for (const Diagnostic& d : diagnostics.entries()) {
    if (d.severity == Severity::error) all += (all.empty() ? "" : " ") + d.code;
  }
  return all;
}

ImportOutcome import_file(const std::string& path, const ImportOptions& options) {
  ImportOutcome outcome;
  auto graph = import_onnx(path, options, outcome.diagnostics);
  if (graph) outcome.graph = *std::move(graph);
  return outcome;
}

ImportOutcome import_model(const onnx::ModelProto& model, const ImportOptions& options) {
  const TemporaryFolder folder;
  return import_file(folder.write("model.onnx", model.SerializeAsString()), options);
}

ImportOutcome import_text(const std::string& graph, int opset, const ImportOptions& options) {
  return import_model(text_model(graph, opset), options);
}

Shape output_shape(const ImportOutcome& outcome) {
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  return outcome.graph->tensor(outcome.graph->outputs()[0]).shape;
}

std::string outline(const Graph& graph) {
  std::string text;
  for (const Operator& op : graph.operators()) {
    std::string operands;
    for (const auto& operand : op.inputs) {
      operands += (operands.empty() ? "" : ",") + (operand ? graph.tensor(*operand).name : std::string("-"));
    }
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", op.kind, operands);
  }
  return text;
}

}  // namespace stowage::test
