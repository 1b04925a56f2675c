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
#include "tests/onnx/shared_networks.h"
#include "tests/onnx/text_model.h"
#include "tests/shared_files.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void check_graph(const Graph& graph) {
  const auto broken = verify(graph);
  INFO(broken.value_or(""));
  CHECK_FALSE(broken);
  for (const Operator& op : graph.operators()) CHECK_FALSE(op.origins.empty());
}

}  // namespace

TEST_CASE("every network of the shared folder imports, or is refused with all that is missing", "[onnx][networks]") {
  for (const std::string folder : {"exported", "light", "real"}) {
    const SharedNetworks networks = networks_in(folder);
    if (!networks.missing.empty()) WARN(networks.skipped());
    for (const fs::path& model : networks.here) {
      const auto golden = golden_of(model);
      ImportOptions options = golden ? golden->options : ImportOptions{};
      if (model.stem() == "tv_resnet18_dynbatch") options.dimensions["N"] = 2;
      const ImportOutcome outcome = import_file(model.string(), options);
      INFO(model.string() << "\n" << outcome.text());
      const auto missing = unsupported_of(model);
      std::cout << fmt::format(
          "{:<40} {}\n", model.filename().string(),
          outcome.graph ? fmt::format("{} operators", outcome.graph->operators().size()) : outcome.codes());
      if (missing.empty() && !has_unread_types(model)) {
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
  const SharedNetworks networks = networks_in("real");
  if (!networks.missing.empty()) WARN(networks.skipped());
  for (const fs::path& model : networks.here) {
    if (!unsupported_of(model).empty() || has_unread_types(model)) continue;
    INFO(model.string());
    const auto golden = golden_of(model);
    REQUIRE(golden);
    const ImportOutcome outcome = import_file(model.string(), golden->options);
    INFO(outcome.text());
    REQUIRE(outcome.graph);
    const auto outputs = run_reference(*outcome.graph, golden->inputs, ReferenceMode::onednn);
    REQUIRE(outputs.size() == golden->outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      INFO("output " << o);
      CHECK(golden_difference(golden->outputs[o], outputs[o]) == "");
    }
  }
}

TEST_CASE("networks without weights compute finite numbers with seeded ones", "[onnx][networks]") {
  for (const std::string name : {"tv_resnet18", "tv_mobilenet_v2", "tv_shufflenet_v2_x1_0"}) {
    const auto model = shared_file("models/exported/" + name + ".onnx");
    if (!model) {
      WARN("skipped, 1 case: no " << name << " in the shared folder");
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
  const SharedNetworks networks = networks_in("negative");
  if (!networks.missing.empty()) {
    WARN("skipped, " << networks.here.size() + networks.missing.size() << " cases: no " << networks.missing[0]
                     << " in the shared folder");
    return;
  }
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
