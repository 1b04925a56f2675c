// SPDX-License-Identifier: Apache-2.0
// DenseNet (Huang et al., CVPR 2017) with few channels: every layer reads the results of all layers before it in its
// block, which is what layouts of graphs find hardest.
#pragma once

#include <string>
#include <vector>

#include "tests/fusion/net.h"

namespace stowage::test {

/// {6, 12, 24, 16} is wired as DenseNet-121 is.
inline Graph dense_net(const std::vector<int>& layers) {
  constexpr std::int64_t growth = 4;
  testing::Net net("densenet");
  const auto normalised = [&](const std::string& name, TensorId x) {
    return net.op("Relu", name + "_relu", {net.batch_norm(name + "_norm", x)});
  };
  TensorId x = net.op("Relu", "stem_relu", {net.conv("stem", net.input("image", {1, 3, 16, 16}), 2 * growth, 3)});
  for (std::size_t block = 0; block < layers.size(); ++block) {
    std::vector<std::optional<TensorId>> features = {x};
    for (int layer = 0; layer < layers[block]; ++layer) {
      const std::string name = "block" + std::to_string(block) + "_layer" + std::to_string(layer);
      const TensorId all = layer == 0 ? x : net.op("Concat", name + "_concat", features, {{"axis", std::int64_t{1}}});
      const TensorId narrow = net.conv(name + "_conv1", normalised(name + "_1", all), 4 * growth, 1);
      features.emplace_back(net.conv(name + "_conv2", normalised(name + "_2", narrow), growth, 3));
    }
    const std::string name = "block" + std::to_string(block);
    x = normalised(name, net.op("Concat", name + "_concat", features, {{"axis", std::int64_t{1}}}));
    if (block + 1 == layers.size()) break;
    x = net.op("AveragePool", name + "_pool", {net.conv(name + "_conv", x, net.shape(x)[1] / 2, 1)},
               {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  }
  return net.unplaced({net.op("GlobalAveragePool", "pool", {x})});
}

}  // namespace stowage::test
