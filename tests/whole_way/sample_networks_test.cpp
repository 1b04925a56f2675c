// SPDX-License-Identifier: Apache-2.0
// Every sample network, written as ONNX, compiled, emulated and held against the reference, operator by operator.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "core/onnx/import.h"
#include "core/temporary_folder.h"
#include "driver/networks.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

void check_network(const std::string& name, std::int64_t batch) {
  INFO(name << ", batch " << batch);
  const TemporaryFolder folder;
  const std::string path = (folder.path() / (name + ".onnx")).string();
  Diagnostics diagnostics;
  NetworkOptions options;
  options.batch = batch;
  REQUIRE(write_network(name, options, path, diagnostics));
  const auto graph = import_onnx(path, {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(graph);
  const Compilation compilation = compiled(*graph);
  CHECK(complaints_of_vendor_headers({&compilation.emitted}) == "");
  checked(compilation, seeded_inputs(*graph, 1));
}

}  // namespace

// One test each, so that they run side by side and a failure names its network.
TEST_CASE("sample network matmul agrees with the reference in every fused operator") { check_network("matmul", 1); }
TEST_CASE("sample network vector agrees with the reference in every fused operator") { check_network("vector", 1); }
TEST_CASE("sample network lenet agrees with the reference in every fused operator") { check_network("lenet", 1); }
TEST_CASE("sample network cifarnet agrees with the reference in every fused operator") { check_network("cifarnet", 1); }
TEST_CASE("sample network alexnet agrees with the reference in every fused operator") { check_network("alexnet", 1); }
TEST_CASE("sample network vgg16 agrees with the reference in every fused operator") { check_network("vgg16", 1); }
TEST_CASE("sample network vgg19 agrees with the reference in every fused operator") { check_network("vgg19", 1); }
TEST_CASE("sample network resnet18 agrees with the reference in every fused operator") { check_network("resnet18", 1); }
TEST_CASE("sample network resnet18 at batch 4 agrees with the reference") { check_network("resnet18", 4); }
TEST_CASE("sample network resnet50 agrees with the reference in every fused operator") { check_network("resnet50", 1); }
TEST_CASE("sample network googlenet agrees with the reference in every fused operator") {
  check_network("googlenet", 1);
}
TEST_CASE("sample network mobilenet_v1 agrees with the reference in every fused operator") {
  check_network("mobilenet_v1", 1);
}
TEST_CASE("sample network mobilenet_v1 at batch 4 agrees with the reference") { check_network("mobilenet_v1", 4); }
TEST_CASE("sample network mobilenet_v2 agrees with the reference in every fused operator") {
  check_network("mobilenet_v2", 1);
}
TEST_CASE("sample network dcgan agrees with the reference in every fused operator") { check_network("dcgan", 1); }
TEST_CASE("sample network bert_base agrees with the reference in every fused operator") {
  check_network("bert_base", 1);
}

TEST_CASE("every sample network is checked") {
  CHECK(network_names() == std::vector<std::string>{"alexnet", "bert_base", "cifarnet", "dcgan", "googlenet", "lenet",
                                                    "matmul", "mobilenet_v1", "mobilenet_v2", "resnet18", "resnet50",
                                                    "vector", "vgg16", "vgg19"});
}

}  // namespace stowage::test
