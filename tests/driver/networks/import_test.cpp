// SPDX-License-Identifier: Apache-2.0
// The sample networks read back: multiply-adds from the operators' own definitions, batches, and magnitudes of
// activations by the reference executor.
#include <cmath>
#include <filesystem>

#include <catch2/catch.hpp>

#include "core/onnx/import.h"
#include "core/operators.h"
#include "core/reference/reference.h"
#include "driver/networks/networks.h"
#include "tests/driver/networks/scratch_file.h"

namespace stowage {
namespace {

Graph imported(const std::string& network, const NetworkOptions& options = {}) {
  const test::ScratchFile file(network + "_import");
  Diagnostics diagnostics;
  REQUIRE(write_network(network, options, file.path(), diagnostics));
  auto graph = import_onnx(file.path(), {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(graph);
  return *std::move(graph);
}

std::int64_t network_multiply_adds(const Graph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    sum += multiply_adds(define_operator(graph, OpId(i)).list);
  }
  return sum;
}

struct Count {
  const char* network;
  std::int64_t multiply_adds;
  const char* published;
};

const Count counts[] = {
    {"alexnet", 714'188'480, "0.71 G (torchvision)"},
    {"bert_base", 1'364'262'912, ""},
    {"cifarnet", 32'778'112, ""},
    {"dcgan", 116'916'224, ""},
    {"googlenet", 1'582'671'872, "1.5 G (Szegedy et al. 2014)"},
    {"lenet", 2'293'000, ""},
    {"matmul", 1'048'576, "1024 * 1024"},
    {"mobilenet_v1", 568'740'352, "569 M (Howard et al. 2017)"},
    {"mobilenet_v2", 300'774'272, "0.30 G (torchvision)"},
    {"resnet18", 1'814'073'344, "1.81 G (torchvision)"},
    {"resnet50", 4'089'184'256, "4.09 G (torchvision)"},
    {"vector", 0, ""},
    {"vgg16", 15'470'264'320, "15.47 G (torchvision)"},
    {"vgg19", 19'632'062'464, "19.63 G (torchvision)"},
};

TEST_CASE("each sample network has exactly its multiply-adds", "[networks]") {
  for (const Count& count : counts) {
    INFO(count.network << ", published: " << count.published);
    CHECK(network_multiply_adds(imported(count.network)) == count.multiply_adds);
  }
}

TEST_CASE("a batch multiplies the work and leaves the weights alone", "[networks]") {
  for (const char* network : {"lenet", "dcgan", "matmul", "mobilenet_v1", "resnet18"}) {
    INFO(network);
    const Graph one = imported(network);
    const Graph four = imported(network, {.batch = 4});
    CHECK(network_multiply_adds(four) == 4 * network_multiply_adds(one));
    CHECK(one.tensor(one.outputs()[0]).shape[0] * 4 == four.tensor(four.outputs()[0]).shape[0]);
  }
}

/// Values in [-1, 1) for real inputs, 0 to 99 for token ids.
Tensor input_of(const GraphTensor& tensor) {
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  if (tensor.type == ElementType::i64) {
    std::vector<std::int64_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::int64_t>(i * 37 % 100);
    return Tensor::of_int64s(tensor.shape, ids);
  }
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761u % 1000) / 500.0f - 1.0f;
  return Tensor::of_floats(tensor.shape, values);
}

TEST_CASE("activations stay in range from the first layer to the last", "[networks]") {
  for (const char* network : {"lenet", "cifarnet", "dcgan", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet18",
                              "resnet50", "alexnet", "bert_base"}) {
    INFO(network);
    const Graph graph = imported(network);
    std::vector<Tensor> inputs;
    for (const TensorId id : graph.inputs()) inputs.push_back(input_of(graph.tensor(id)));
    run_reference(graph, inputs, ReferenceMode::onednn, [&](TensorId id, const Tensor& value) {
      if (value.type() != ElementType::f32) return;
      double sum_of_squares = 0;
      double largest = 0;
      for (const float element : value.as<float>()) {
        sum_of_squares += static_cast<double>(element) * element;
        largest = std::max(largest, std::isfinite(element) ? std::abs(static_cast<double>(element)) : INFINITY);
      }
      INFO(graph.tensor(id).name);
      CHECK(largest < 1e4);
      // A layer of zeros would make every later comparison meaningless.
      CHECK(std::sqrt(sum_of_squares / static_cast<double>(value.size())) > 1e-4);
    });
  }
}

}  // namespace
}  // namespace stowage
