// SPDX-License-Identifier: Apache-2.0
// LeNet as Caffe's MNIST example defines it: a descendant of LeCun's LeNet-5 with more channels, max pooling and one
// ReLU.
#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

void build_lenet(NetworkBuilder& builder) {
  Value x = builder.input("data", {builder.batch(), 1, 28, 28});
  x = builder.conv("conv1", x, 20, 5, {.gain = 1.0});
  x = builder.max_pool("pool1", x, 2, {.stride = 2});
  x = builder.conv("conv2", x, 50, 5, {.gain = 1.0});
  x = builder.max_pool("pool2", x, 2, {.stride = 2});
  x = builder.flatten("flatten", x);
  x = builder.dense("ip1", x, 500);
  x = builder.relu("relu1", x);
  x = builder.dense("ip2", x, 10, 1.0);
  builder.output(builder.pointwise("Softmax", "prob", {x}, {{"axis", std::int64_t{1}}}));
}

}  // namespace stowage
