// SPDX-License-Identifier: Apache-2.0
#include "driver/networks/networks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

constexpr std::array network_rows = {
    NetworkRow{"alexnet", "AlexNet, one tower as in torchvision, Nx3x224x224", 13, build_alexnet},
    NetworkRow{"bert_base", "BERT-base with pooler, N x 16 token ids below 30522", 17, build_bert_base},
    NetworkRow{"cifarnet", "CifarNet of TensorFlow-Slim, Nx3x32x32", 13, build_cifarnet},
    NetworkRow{"dcgan", "DCGAN's generator, Nx100x1x1 to Nx3x64x64", 13, build_dcgan},
    NetworkRow{"googlenet", "GoogLeNet as in Caffe, with LRN, without auxiliary heads, Nx3x224x224", 13,
               build_googlenet},
    NetworkRow{"lenet", "LeNet as in Caffe's MNIST example, Nx1x28x28", 13, build_lenet},
    NetworkRow{"matmul", "C = A*B of the swTVM papers: A is Nx1024, B is 1024x1024, both inputs", 13, build_matmul},
    NetworkRow{"mobilenet_v1", "MobileNet v1, width 1.0, Nx3x224x224", 13, build_mobilenet_v1},
    NetworkRow{"mobilenet_v2", "MobileNet v2, width 1.0, Nx3x224x224", 13, build_mobilenet_v2},
    NetworkRow{"resnet18", "ResNet-18, Nx3x224x224", 13, build_resnet18},
    NetworkRow{"resnet50", "ResNet-50 v1.5 (stride in the 3x3 convolution), Nx3x224x224", 13, build_resnet50},
    NetworkRow{"vector", "v = v1*v2 of the swTVM papers, N*1024 elements", 13, build_vector},
    NetworkRow{"vgg16", "VGG-16 (configuration D), Nx3x224x224", 13, build_vgg16},
    NetworkRow{"vgg19", "VGG-19 (configuration E), Nx3x224x224", 13, build_vgg19},
};

}  // namespace

std::span<const NetworkRow> network_table() { return network_rows; }

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const NetworkRow& row : network_rows) names.emplace_back(row.name);
  return names;
}

NetworkSize size_of_network(std::string_view name, const NetworkOptions& options) {
  const auto row = std::find_if(network_rows.begin(), network_rows.end(),
                                [&](const NetworkRow& candidate) { return candidate.name == name; });
  check(row != network_rows.end(), "no such sample network");
  NetworkBuilder builder(*row, options);
  row->build(builder);
  return builder.size();
}

Result<std::string> write_network(std::string_view name, const NetworkOptions& options, const std::string& path,
                                  Diagnostics& diagnostics, std::stop_token stop, Existing existing) {
  const auto row = std::find_if(network_rows.begin(), network_rows.end(),
                                [&](const NetworkRow& candidate) { return candidate.name == name; });
  if (row == network_rows.end()) {
    const auto names = network_names();
    diagnostics.error("unknown-network", {}, fmt::format("there is no sample network '{}'", name),
                      suggest_name(name, names));
    return Failed{};
  }
  if (options.batch < 1 || options.batch > largest_network_batch) {
    diagnostics.error("invalid-batch", {}, fmt::format("a batch of {} is not possible", options.batch),
                      fmt::format("give a number from 1 to {}", largest_network_batch));
    return Failed{};
  }
  NetworkBuilder builder(*row, options);
  row->build(builder);
  return std::move(builder).save(path, diagnostics, stop, existing);
}

}  // namespace stowage
