// SPDX-License-Identifier: Apache-2.0
// Networks without branches: CifarNet, AlexNet and VGG.
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

/// TensorFlow's LRN sums over `radius` neighbours on each side and multiplies by alpha; ONNX names the whole window and
/// divides alpha by it.
Value tensorflow_response_norm(NetworkBuilder& builder, const std::string& name, const Value& x) {
  constexpr std::int64_t window = 2 * 4 + 1;
  return builder.pointwise("LRN", name, {x}, {{"size", window}, {"alpha", 0.001}, {"beta", 0.75}, {"bias", 1.0}});
}

/// Two fully connected layers of 4096 and the classifier.
Value classify(NetworkBuilder& builder, const Value& features) {
  Value x = builder.flatten("flatten", features);
  x = builder.relu("relu_fc6", builder.dense("fc6", x, 4096));
  x = builder.relu("relu_fc7", builder.dense("fc7", x, 4096));
  return builder.dense("fc8", x, 1000, 1.0);
}

void build_vgg(NetworkBuilder& builder, std::span<const int> convolutions) {
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  std::int64_t channels = 64;
  for (std::size_t block = 0; block < convolutions.size(); ++block) {
    for (int i = 0; i < convolutions[block]; ++i) {
      const std::string place = fmt::format("{}_{}", block + 1, i + 1);
      x = builder.conv("conv" + place, x, channels, 3, {.padding = 1});
      x = builder.relu("relu" + place, x);
    }
    x = builder.max_pool(fmt::format("pool{}", block + 1), x, 2, {.stride = 2});
    channels = std::min<std::int64_t>(512, 2 * channels);
  }
  builder.output(classify(builder, x));
}

}  // namespace

void build_cifarnet(NetworkBuilder& builder) {
  Value x = builder.input("data", {builder.batch(), 3, 32, 32});
  x = builder.relu("relu1", builder.conv("conv1", x, 64, 5, {.same = true}));
  x = builder.max_pool("pool1", x, 2, {.stride = 2});
  x = tensorflow_response_norm(builder, "norm1", x);
  x = builder.relu("relu2", builder.conv("conv2", x, 64, 5, {.same = true}));
  x = tensorflow_response_norm(builder, "norm2", x);
  x = builder.max_pool("pool2", x, 2, {.stride = 2});
  x = builder.flatten("flatten", x);
  x = builder.relu("relu3", builder.dense("fc3", x, 384));
  x = builder.relu("relu4", builder.dense("fc4", x, 192));
  x = builder.dense("logits", x, 10, 1.0);
  builder.output(builder.pointwise("Softmax", "predictions", {x}, {{"axis", std::int64_t{1}}}));
}

void build_alexnet(NetworkBuilder& builder) {
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  x = builder.relu("relu1", builder.conv("conv1", x, 64, 11, {.stride = 4, .padding = 2}));
  x = builder.max_pool("pool1", x, 3, {.stride = 2});
  x = builder.relu("relu2", builder.conv("conv2", x, 192, 5, {.padding = 2}));
  x = builder.max_pool("pool2", x, 3, {.stride = 2});
  x = builder.relu("relu3", builder.conv("conv3", x, 384, 3, {.padding = 1}));
  x = builder.relu("relu4", builder.conv("conv4", x, 256, 3, {.padding = 1}));
  x = builder.relu("relu5", builder.conv("conv5", x, 256, 3, {.padding = 1}));
  x = builder.max_pool("pool5", x, 3, {.stride = 2});
  builder.output(classify(builder, x));
}

void build_vgg16(NetworkBuilder& builder) { build_vgg(builder, std::vector<int>{2, 2, 3, 3, 3}); }
void build_vgg19(NetworkBuilder& builder) { build_vgg(builder, std::vector<int>{2, 2, 4, 4, 4}); }

}  // namespace stowage
