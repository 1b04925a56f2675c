// SPDX-License-Identifier: Apache-2.0
// Every sample network, written as ONNX, compiled, emulated and held against the reference, operator by operator.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "core/onnx/import.h"
#include "core/temporary_folder.h"
#include "driver/networks/networks.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planners.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

Graph sample(const std::string& name, std::int64_t batch) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / (name + ".onnx")).string();
  Diagnostics diagnostics;
  NetworkOptions options;
  options.batch = batch;
  REQUIRE(write_network(name, options, path, diagnostics));
  const auto graph = import_onnx(path, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(graph);
  return *graph;
}

void check_network(const std::string& name, std::int64_t batch, const std::string& planner,
                   const std::string& fusion = "exact") {
  INFO(name << ", batch " << batch << ", planned by " << planner << ", fused by " << fusion);
  const Graph graph = sample(name, batch);
  CompileRequest request;
  request.planner = planner;
  request.costs.cache = costs_of_networks();
  request.fusion = fusion;
  const Compilation compilation = compiled(graph, request);
  CHECK(compilation.program.planner == planner);
  CHECK(compilation.program.fusion == fusion);
  CHECK(complaints_of_vendor_headers({&compilation.emitted}) == "");
  checked(compilation, seeded_inputs(graph, 1));
}

/// All planners with all strategies.
void check_all_ways(const std::string& name) {
  for (const std::string& planner : planner_names()) {
    for (const std::string& fusion : strategy_names()) check_network(name, 1, planner, fusion);
  }
}

}  // namespace

// One test each, so that they run side by side and a failure names its network.
TEST_CASE("sample network matmul agrees with the reference under each planner and strategy") {
  check_all_ways("matmul");
}
TEST_CASE("sample network vector agrees with the reference under each planner and strategy") {
  check_all_ways("vector");
}
TEST_CASE("sample network lenet agrees with the reference under each planner and strategy") { check_all_ways("lenet"); }
TEST_CASE("sample network cifarnet agrees with the reference under each planner and strategy") {
  check_all_ways("cifarnet");
}
TEST_CASE("sample network alexnet planned by swtvm agrees with the reference") { check_network("alexnet", 1, "swtvm"); }
TEST_CASE("sample network alexnet planned by searched agrees with the reference") {
  check_network("alexnet", 1, "searched");
}
TEST_CASE("sample network vgg16 planned by swtvm agrees with the reference") { check_network("vgg16", 1, "swtvm"); }
TEST_CASE("sample network vgg16 planned by searched agrees with the reference") {
  check_network("vgg16", 1, "searched");
}
TEST_CASE("sample network vgg19 planned by swtvm agrees with the reference") { check_network("vgg19", 1, "swtvm"); }
TEST_CASE("sample network vgg19 planned by searched agrees with the reference") {
  check_network("vgg19", 1, "searched");
}
TEST_CASE("sample network resnet18 planned by swtvm agrees with the reference") {
  check_network("resnet18", 1, "swtvm");
}
TEST_CASE("sample network resnet18 planned by searched agrees with the reference") {
  check_network("resnet18", 1, "searched");
}
TEST_CASE("sample network resnet50 planned by swtvm agrees with the reference") {
  check_network("resnet50", 1, "swtvm");
}
TEST_CASE("sample network resnet50 planned by searched agrees with the reference") {
  check_network("resnet50", 1, "searched");
}
TEST_CASE("sample network googlenet planned by swtvm agrees with the reference") {
  check_network("googlenet", 1, "swtvm");
}
TEST_CASE("sample network googlenet planned by searched agrees with the reference") {
  check_network("googlenet", 1, "searched");
}
TEST_CASE("sample network mobilenet_v1 planned by swtvm agrees with the reference") {
  check_network("mobilenet_v1", 1, "swtvm");
}
TEST_CASE("sample network mobilenet_v1 planned by searched agrees with the reference") {
  check_network("mobilenet_v1", 1, "searched");
}
TEST_CASE("sample network mobilenet_v2 planned by swtvm agrees with the reference") {
  check_network("mobilenet_v2", 1, "swtvm");
}
TEST_CASE("sample network mobilenet_v2 planned by searched agrees with the reference") {
  check_network("mobilenet_v2", 1, "searched");
}
TEST_CASE("sample network dcgan planned by swtvm agrees with the reference") { check_network("dcgan", 1, "swtvm"); }
TEST_CASE("sample network dcgan planned by searched agrees with the reference") {
  check_network("dcgan", 1, "searched");
}
TEST_CASE("sample network bert_base planned by swtvm agrees with the reference") {
  check_network("bert_base", 1, "swtvm");
}
TEST_CASE("sample network bert_base planned by searched agrees with the reference") {
  check_network("bert_base", 1, "searched");
}
TEST_CASE("sample network resnet18 at batch 4 planned by swtvm agrees with the reference") {
  check_network("resnet18", 4, "swtvm");
}
TEST_CASE("sample network resnet18 at batch 4 planned by searched agrees with the reference") {
  check_network("resnet18", 4, "searched");
}
TEST_CASE("sample network mobilenet_v1 at batch 4 planned by swtvm agrees with the reference") {
  check_network("mobilenet_v1", 4, "swtvm");
}
TEST_CASE("sample network mobilenet_v1 at batch 4 planned by searched agrees with the reference") {
  check_network("mobilenet_v1", 4, "searched");
}

// Too long for every day: test_whole_way "[optimal]".
TEST_CASE("sample networks planned by optimal agree with the reference", "[.][optimal]") {
  for (const std::string& name : network_names()) {
    check_network(name, 1, "optimal");
    std::cout << name << ": checked" << std::endl;
  }
}

TEST_CASE("every sample network is checked") {
  CHECK(network_names() == std::vector<std::string>{"alexnet", "bert_base", "cifarnet", "dcgan", "googlenet", "lenet",
                                                    "matmul", "mobilenet_v1", "mobilenet_v2", "resnet18", "resnet50",
                                                    "vector", "vgg16", "vgg19"});
}

}  // namespace stowage::test
