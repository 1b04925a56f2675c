// SPDX-License-Identifier: Apache-2.0
// Networks that nobody here wrote, compiled, emulated and compared: with the reference in every fused operator, and
// with what ONNX Runtime computed where that is known.
#include <catch2/catch.hpp>
#include <iostream>

#include "core/onnx/import.h"
#include "tests/onnx/seeded_weights.h"
#include "tests/onnx/shared_networks.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

void check_folder(const std::string& folder) {
  for (const auto& model : models_in(folder)) {
    const auto golden = golden_of(model);
    ImportOptions options = golden ? golden->options : ImportOptions{};
    if (model.stem() == "tv_resnet18_dynbatch") options.dimensions["N"] = 2;
    if (!unsupported_of(model).empty() || model.stem() == "cls_squeezenet_fp16_caffe2") {
      std::cout << model.filename().string() << ": refused, see the tests of the import\n";
      continue;
    }
    Diagnostics diagnostics;
    const auto imported = import_onnx(model.string(), options, diagnostics);
    INFO(model.string() << "\n" << format_diagnostics(diagnostics));
    REQUIRE(imported);
    const Graph graph = golden ? *imported : with_seeded_weights(*imported, 1);
    const auto inputs = golden ? golden->inputs : seeded_inputs(graph, 1);
    const auto outputs = checked(compiled(graph), inputs);
    std::cout << model.filename().string() << ": checked" << (golden ? ", golden outputs met" : "") << "\n";
    if (!golden) continue;
    REQUIRE(outputs.size() == golden->outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      INFO("output " << o);
      CHECK(agrees(golden->outputs[o], outputs[o]));
    }
  }
}

}  // namespace

TEST_CASE("trained networks, compiled and emulated, meet the reference and ONNX Runtime") { check_folder("real"); }
TEST_CASE("exported networks with seeded weights, compiled and emulated, meet the reference") {
  check_folder("exported");
}
TEST_CASE("light networks, compiled and emulated, meet the reference") { check_folder("light"); }

}  // namespace stowage::test
