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

/// `trained` networks must have golden outputs; others get seeded weights.
void check_folder(const std::string& folder, bool trained, const std::string& planner) {
  const SharedNetworks networks = networks_in(folder);
  if (!networks.missing.empty()) WARN(networks.skipped());
  for (const auto& model : networks.here) {
    if (!unsupported_of(model).empty() || has_unread_types(model)) {
      std::cout << model.filename().string() << ": refused, see the tests of the import\n";
      continue;
    }
    INFO(model.string());
    const auto golden = golden_of(model);
    REQUIRE(golden.has_value() == trained);
    ImportOptions options = golden ? golden->options : ImportOptions{};
    if (model.stem() == "tv_resnet18_dynbatch") options.dimensions["N"] = 2;
    Diagnostics diagnostics;
    const auto imported = import_onnx(model.string(), options, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(imported);
    const Graph graph = golden ? *imported : with_seeded_weights(*imported, 1);
    const auto inputs = golden ? golden->inputs : seeded_inputs(graph, 1);
    CompileRequest request;
    request.planner = planner;
    request.costs.cache = costs_of_networks();
    // Late layers of YOLOX amplify rounding beyond what is tolerated, which the check tells from a wrong kernel.
    const auto outputs = checked(compiled(graph, request), inputs);
    std::cout << model.filename().string() << ": checked" << (golden ? ", golden outputs met" : "") << "\n";
    if (!golden) continue;
    REQUIRE(outputs.size() == golden->outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      INFO("output " << o);
      CHECK(golden_difference(golden->outputs[o], outputs[o]) == "");
    }
  }
}

}  // namespace

TEST_CASE("trained networks, compiled and emulated, meet the reference and ONNX Runtime") {
  check_folder("real", true, "swtvm");
}
TEST_CASE("trained networks, planned by searched and emulated, meet the reference and ONNX Runtime") {
  check_folder("real", true, "searched");
}
TEST_CASE("exported networks with seeded weights, compiled and emulated, meet the reference") {
  check_folder("exported", false, "searched");
}
// The same networks as above, as others wrote them.
TEST_CASE("light networks, compiled and emulated, meet the reference") { check_folder("light", false, "swtvm"); }

}  // namespace stowage::test
