// SPDX-License-Identifier: Apache-2.0
// Networks that nobody here wrote, compiled, emulated and compared: with the reference in every fused operator, and
// with what ONNX Runtime computed where that is known.
#include <catch2/catch.hpp>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "core/onnx/import.h"
#include "tests/onnx/seeded_weights.h"
#include "tests/onnx/shared_networks.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

/// Every second network of a folder, from the first or from the second on: all together would not end in a test's time
/// on a slow machine.
enum class Half : std::uint8_t { all, odd, even };

template <class Value>
void keep(Half half, std::vector<Value>& values) {
  if (half == Half::all) return;
  std::vector<Value> kept;
  for (std::size_t i = half == Half::odd ? 0 : 1; i < values.size(); i += 2) kept.push_back(std::move(values[i]));
  values = std::move(kept);
}

/// `trained` networks must have golden outputs; others get seeded weights.
void check_folder(const std::string& folder, bool trained, const std::string& planner, Half half = Half::all) {
  SharedNetworks networks = networks_in(folder);
  keep(half, networks.here);
  keep(half, networks.missing);
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
TEST_CASE("exported networks with seeded weights, compiled and emulated, meet the reference: the odd ones") {
  check_folder("exported", false, "searched", Half::odd);
}
TEST_CASE("exported networks with seeded weights, compiled and emulated, meet the reference: the even ones") {
  check_folder("exported", false, "searched", Half::even);
}
TEST_CASE("light networks, compiled and emulated, meet the reference") { check_folder("light", false, "searched"); }

}  // namespace stowage::test
