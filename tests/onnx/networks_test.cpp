// SPDX-License-Identifier: Apache-2.0
// Real networks: those of the shared folder, as their exporters wrote them.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/npy.h"
#include "core/onnx/import.h"
#include "core/operators.h"
#include "core/reference/reference.h"
#include "tests/onnx/seeded_weights.h"
#include "tests/onnx/text_model.h"
#include "tests/shared_files.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models_in(const std::string& folder) {
  const auto root = shared_file("models/" + folder);
  if (!root) {
    std::cout << "skipped: ../shared/models/" << folder << " is not here\n";
    return {};
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(*root)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Golden {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  ImportOptions options;
};

/// What ONNX Runtime computed, and the sizes of dynamic dimensions that it was given.
std::optional<Golden> golden_of(const fs::path& model) {
  const auto folder = shared_file(fs::path("models/golden") / model.stem());
  if (!folder || !fs::exists(*folder / "meta.json")) return std::nullopt;
  const auto meta = nlohmann::json::parse(std::ifstream(*folder / "meta.json"));
  Golden golden;
  Diagnostics diagnostics;
  const auto declared = onnx_inputs(model.string(), diagnostics);
  REQUIRE(declared);
  for (const auto& info : meta.at("inputs")) {
    auto tensor = read_npy((*folder / info.at("file").get<std::string>()).string(), diagnostics);
    if (!tensor) return std::nullopt;  // float16
    const auto input = std::find_if(declared->begin(), declared->end(), [&](const NetworkInput& i) {
      return i.name == info.at("name").get<std::string>();
    });
    REQUIRE(input != declared->end());
    for (std::size_t d = 0; d < input->dimensions.size(); ++d) {
      if (input->dimensions[d].find_first_not_of("0123456789") != std::string::npos) {
        golden.options.dimensions[input->dimensions[d]] = tensor->shape()[d];
      }
    }
    golden.inputs.push_back(*std::move(tensor));
  }
  for (const auto& info : meta.at("outputs")) {
    auto tensor = read_npy((*folder / info.at("file").get<std::string>()).string(), diagnostics);
    if (!tensor) return std::nullopt;
    golden.outputs.push_back(*std::move(tensor));
  }
  return golden;
}

/// Names that onnx_coverage says are missing.
std::vector<std::string> unsupported_of(const fs::path& model) {
  Diagnostics diagnostics;
  const auto rows = onnx_coverage(model.string(), diagnostics);
  std::vector<std::string> names;
  if (!rows) return names;
  for (const CoverageRow& row : *rows) {
    if (!row.supported) names.push_back(row.operator_name);
  }
  return names;
}

void check_graph(const Graph& graph) {
  const auto broken = verify(graph);
  INFO(broken.value_or(""));
  CHECK_FALSE(broken);
  for (const Operator& op : graph.operators()) CHECK_FALSE(op.origins.empty());
}

/// Whether all elements agree to 1e-3 of the tensor's largest magnitude. ONNX Runtime approximates the logistic
/// function to about 2^-21, which shows where a whole output lies below 1e-5: hence the absolute term.
bool agrees(const Tensor& expected, const Tensor& actual) {
  double magnitude = 0;
  double error = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    magnitude = std::max(magnitude, std::abs(expected.as_double(i)));
    error = std::max(error, std::abs(expected.as_double(i) - actual.as_double(i)));
  }
  return error <= 1e-3 * magnitude + 1e-6;
}

}  // namespace

TEST_CASE("every network of the shared folder imports, or is refused with all that is missing", "[onnx][networks]") {
  for (const std::string folder : {"exported", "light", "real"}) {
    for (const fs::path& model : models_in(folder)) {
      const auto golden = golden_of(model);
      ImportOptions options = golden ? golden->options : ImportOptions{};
      if (model.stem() == "tv_resnet18_dynbatch") options.dimensions["N"] = 2;
      const ImportOutcome outcome = import_file(model.string(), options);
      INFO(model.string() << "\n" << outcome.text());
      const auto missing = unsupported_of(model);
      std::cout << fmt::format(
          "{:<40} {}\n", model.filename().string(),
          outcome.graph ? fmt::format("{} operators", outcome.graph->operators().size()) : outcome.codes());
      if (missing.empty() && model.stem() != "cls_squeezenet_fp16_caffe2") {
        REQUIRE(outcome.graph);
        check_graph(*outcome.graph);
        continue;
      }
      CHECK_FALSE(outcome.graph);
      for (const std::string& name : missing) CHECK(outcome.text().find("operator " + name) != std::string::npos);
    }
  }
}

TEST_CASE("trained networks compute in the reference executor what ONNX Runtime computes", "[onnx][networks]") {
  for (const fs::path& model : models_in("real")) {
    const auto golden = golden_of(model);
    if (!golden || !unsupported_of(model).empty()) continue;
    const ImportOutcome outcome = import_file(model.string(), golden->options);
    INFO(model.string() << "\n" << outcome.text());
    REQUIRE(outcome.graph);
    const auto outputs = run_reference(*outcome.graph, golden->inputs, ReferenceMode::onednn);
    REQUIRE(outputs.size() == golden->outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      INFO("output " << o);
      REQUIRE(outputs[o].shape() == golden->outputs[o].shape());
      CHECK(agrees(golden->outputs[o], outputs[o]));
    }
  }
}

TEST_CASE("networks without weights compute finite numbers with seeded ones", "[onnx][networks]") {
  for (const std::string name : {"tv_resnet18", "tv_mobilenet_v2", "tv_shufflenet_v2_x1_0"}) {
    const auto model = shared_file("models/exported/" + name + ".onnx");
    if (!model) {
      std::cout << "skipped: " << name << " is not here\n";
      continue;
    }
    const ImportOutcome outcome = import_file(model->string());
    INFO(name << "\n" << outcome.text());
    REQUIRE(outcome.graph);
    const Graph graph = with_seeded_weights(*outcome.graph, 1);
    const GraphTensor& input = graph.tensor(graph.inputs()[0]);
    std::vector<float> values(static_cast<std::size_t>(element_count(input.shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 8 - 1;
    const std::vector<Tensor> inputs = {Tensor::of_floats(input.shape, values)};
    const auto outputs = run_reference(graph, inputs, ReferenceMode::onednn);
    double largest = 0;
    for (std::int64_t i = 0; i < outputs[0].size(); ++i) {
      REQUIRE(std::isfinite(outputs[0].as_double(i)));
      largest = std::max(largest, std::abs(outputs[0].as_double(i)));
    }
    INFO("largest output " << largest);
    CHECK(largest > 1e-3);
    CHECK(largest < 1e4);
  }
}

TEST_CASE("networks that must be refused are, by the name of the cause", "[onnx][networks]") {
  if (models_in("negative").empty()) return;
  const auto outcome = [](const std::string& name) {
    return import_file(shared_file("models/negative/" + name)->string());
  };
  CHECK(outcome("cls_mnist_cntk_op1.onnx").codes() == "opset-too-old");
  const auto custom = outcome("finn_custom_domain.onnx");
  CHECK(custom.codes().find("custom-domain") != std::string::npos);
  const auto removed = outcome("style_candy_winml_removed_ops.onnx");
  CHECK(removed.codes().find("unsupported-operator") != std::string::npos);
  CHECK(removed.text().find("operator ImageScaler") != std::string::npos);
  const auto shared = shared_file("models/real/cls_squeezenet_fp16_caffe2.onnx");
  if (shared) CHECK(import_file(shared->string()).text().find("float16") != std::string::npos);
}

}  // namespace stowage::test
