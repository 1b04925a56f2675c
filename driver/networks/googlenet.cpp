// SPDX-License-Identifier: Apache-2.0
// GoogLeNet (Szegedy et al. 2014), the inference part of Caffe's version: with local response normalisation, without
// the two auxiliary classifiers; pools round up.
#include <array>
#include <string>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

/// Channels of the four branches of an inception module, by the names of the paper's table 1.
struct Inception {
  const char* name;
  std::int64_t one_by_one;
  std::int64_t reduce_3x3;
  std::int64_t three_by_three;
  std::int64_t reduce_5x5;
  std::int64_t five_by_five;
  std::int64_t pool_projection;
};

constexpr std::array modules = {
    Inception{"3a", 64, 96, 128, 16, 32, 32},     Inception{"3b", 128, 128, 192, 32, 96, 64},
    Inception{"4a", 192, 96, 208, 16, 48, 64},    Inception{"4b", 160, 112, 224, 24, 64, 64},
    Inception{"4c", 128, 128, 256, 24, 64, 64},   Inception{"4d", 112, 144, 288, 32, 64, 64},
    Inception{"4e", 256, 160, 320, 32, 128, 128}, Inception{"5a", 256, 160, 320, 32, 128, 128},
    Inception{"5b", 384, 192, 384, 48, 128, 128},
};

Value conv_relu(NetworkBuilder& builder, const std::string& name, const Value& x, std::int64_t channels,
                std::int64_t kernel, std::int64_t stride = 1) {
  const Value y = builder.conv(name, x, channels, kernel, {.stride = stride, .padding = kernel / 2});
  return builder.relu(name + "_relu", y);
}

Value local_response_norm(NetworkBuilder& builder, const std::string& name, const Value& x) {
  return builder.pointwise("LRN", name, {x},
                           {{"size", std::int64_t{5}}, {"alpha", 1e-4}, {"beta", 0.75}, {"bias", 1.0}});
}

Value inception(NetworkBuilder& builder, const Inception& module, const Value& x) {
  const std::string name = std::string("inception_") + module.name;
  const Value one = conv_relu(builder, name + "_1x1", x, module.one_by_one, 1);
  Value three = conv_relu(builder, name + "_3x3_reduce", x, module.reduce_3x3, 1);
  three = conv_relu(builder, name + "_3x3", three, module.three_by_three, 3);
  Value five = conv_relu(builder, name + "_5x5_reduce", x, module.reduce_5x5, 1);
  five = conv_relu(builder, name + "_5x5", five, module.five_by_five, 5);
  Value pooled = builder.max_pool(name + "_pool", x, 3, {.stride = 1, .padding = 1});
  pooled = conv_relu(builder, name + "_pool_proj", pooled, module.pool_projection, 1);
  return builder.concat_channels(name + "_output", {one, three, five, pooled});
}

}  // namespace

void build_googlenet(NetworkBuilder& builder) {
  constexpr PoolOptions halve = {.stride = 2, .ceil_mode = true};
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  x = conv_relu(builder, "conv1_7x7", x, 64, 7, 2);
  x = builder.max_pool("pool1", x, 3, halve);
  x = local_response_norm(builder, "norm1", x);
  x = conv_relu(builder, "conv2_3x3_reduce", x, 64, 1);
  x = conv_relu(builder, "conv2_3x3", x, 192, 3);
  x = local_response_norm(builder, "norm2", x);
  x = builder.max_pool("pool2", x, 3, halve);
  for (const Inception& module : modules) {
    const std::string name = module.name;
    if (name == "4a") x = builder.max_pool("pool3", x, 3, halve);
    if (name == "5a") x = builder.max_pool("pool4", x, 3, halve);
    x = inception(builder, module, x);
  }
  x = builder.average_pool("pool5", x, 7, {.stride = 1});
  x = builder.pointwise("Dropout", "dropout", {x});
  x = builder.flatten("flatten", x);
  x = builder.dense("classifier", x, 1000, 1.0);
  builder.output(builder.pointwise("Softmax", "prob", {x}, {{"axis", std::int64_t{1}}}));
}

}  // namespace stowage
