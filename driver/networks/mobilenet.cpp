// SPDX-License-Identifier: Apache-2.0
// MobileNet v1 (Howard et al. 2017) and v2 (Sandler et al. 2018), width 1.0, 224x224.
#include <array>

#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

/// v1 pads as TensorFlow does (SAME), which at stride 2 is one more row and column below and to the right.
Value conv_v1(NetworkBuilder& builder, const std::string& name, const Value& x, std::int64_t channels,
              std::int64_t kernel, std::int64_t stride, std::int64_t groups) {
  Value y = builder.conv(name, x, channels, kernel, {.stride = stride, .groups = groups, .bias = false, .same = true});
  y = builder.batch_norm(name + "_bn", y);
  return builder.relu(name + "_relu", y);
}

Value conv_v2(NetworkBuilder& builder, const std::string& name, const Value& x, std::int64_t channels,
              std::int64_t kernel, std::int64_t stride, std::int64_t groups) {
  Value y = builder.conv(name, x, channels, kernel,
                         {.stride = stride, .padding = kernel / 2, .groups = groups, .bias = false});
  y = builder.batch_norm(name + "_bn", y);
  const Value lowest{"relu6_min", {}};
  const Value highest{"relu6_max", {}};
  return builder.pointwise("Clip", name + "_relu6", {y, lowest, highest});
}

struct Residual {
  std::int64_t expansion;
  std::int64_t channels;
  int repeats;
  std::int64_t stride;  ///< of the first repeat
};

Value inverted_residual(NetworkBuilder& builder, const std::string& name, const Value& x, std::int64_t expansion,
                        std::int64_t channels, std::int64_t stride) {
  const std::int64_t expanded = expansion * x.shape[1];
  Value y = x;
  if (expansion != 1) y = conv_v2(builder, name + "_expand", y, expanded, 1, 1, 1);
  y = conv_v2(builder, name + "_depthwise", y, expanded, 3, stride, expanded);
  y = builder.conv(name + "_project", y, channels, 1, {.bias = false, .gain = 1.0});
  y = builder.batch_norm(name + "_project_bn", y);
  return x.shape == y.shape ? builder.add(name + "_add", x, y) : y;
}

}  // namespace

void build_mobilenet_v1(NetworkBuilder& builder) {
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  x = conv_v1(builder, "conv0", x, 32, 3, 2, 1);
  struct Separable {
    std::int64_t channels;
    std::int64_t stride;
  };
  constexpr std::array layers = {Separable{64, 1},  Separable{128, 2}, Separable{128, 1}, Separable{256, 2},
                                 Separable{256, 1}, Separable{512, 2}, Separable{512, 1}, Separable{512, 1},
                                 Separable{512, 1}, Separable{512, 1}, Separable{512, 1}, Separable{1024, 2},
                                 Separable{1024, 1}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = fmt::format("conv{}", i + 1);
    x = conv_v1(builder, name + "_depthwise", x, x.shape[1], 3, layers[i].stride, x.shape[1]);
    x = conv_v1(builder, name + "_pointwise", x, layers[i].channels, 1, 1, 1);
  }
  x = builder.global_average_pool("average_pool", x);
  x = builder.flatten("flatten", x);
  builder.output(builder.dense("fc", x, 1000, 1.0));
}

void build_mobilenet_v2(NetworkBuilder& builder) {
  constexpr std::array layers = {Residual{1, 16, 1, 1}, Residual{6, 24, 2, 2}, Residual{6, 32, 3, 2},
                                 Residual{6, 64, 4, 2}, Residual{6, 96, 3, 1}, Residual{6, 160, 3, 2},
                                 Residual{6, 320, 1, 1}};
  builder.constant("relu6_min", Tensor::scalar(ElementType::f32, 0.0));
  builder.constant("relu6_max", Tensor::scalar(ElementType::f32, 6.0));
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  x = conv_v2(builder, "conv0", x, 32, 3, 2, 1);
  int block = 0;
  for (const Residual& layer : layers) {
    for (int i = 0; i < layer.repeats; ++i) {
      x = inverted_residual(builder, fmt::format("block{}", ++block), x, layer.expansion, layer.channels,
                            i == 0 ? layer.stride : 1);
    }
  }
  x = conv_v2(builder, "conv_last", x, 1280, 1, 1, 1);
  x = builder.global_average_pool("average_pool", x);
  x = builder.flatten("flatten", x);
  builder.output(builder.dense("fc", x, 1000, 1.0));
}

}  // namespace stowage
