// SPDX-License-Identifier: Apache-2.0
// ResNet (He et al. 2015). The 50-layer one is "v1.5": the stride of a bottleneck block is in its 3x3 convolution, as
// torchvision and NVIDIA have it, where the paper has it in the first 1x1 convolution.
#include <array>

#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

/// The last normalisation of a residual branch has a small scale, so that activations do not double with each block.
constexpr double branch_scale = 0.25;

Value convolve_and_normalise(NetworkBuilder& builder, const std::string& block, const std::string& part, const Value& x,
                             std::int64_t channels, std::int64_t kernel, std::int64_t stride, double scale = 1.0) {
  const Value y = builder.conv(block + "_conv" + part, x, channels, kernel,
                               {.stride = stride, .padding = kernel / 2, .bias = false});
  return builder.batch_norm(block + "_bn" + part, y, scale);
}

Value shortcut_of(NetworkBuilder& builder, const std::string& block, const Value& x, const Value& branch,
                  std::int64_t stride) {
  if (x.shape == branch.shape) return x;
  return convolve_and_normalise(builder, block, "_shortcut", x, branch.shape[1], 1, stride);
}

Value basic_block(NetworkBuilder& builder, const std::string& block, const Value& x, std::int64_t channels,
                  std::int64_t stride) {
  Value y = convolve_and_normalise(builder, block, "1", x, channels, 3, stride);
  y = builder.relu(block + "_relu1", y);
  y = convolve_and_normalise(builder, block, "2", y, channels, 3, 1, branch_scale);
  y = builder.add(block + "_add", y, shortcut_of(builder, block, x, y, stride));
  return builder.relu(block + "_relu2", y);
}

Value bottleneck_block(NetworkBuilder& builder, const std::string& block, const Value& x, std::int64_t channels,
                       std::int64_t stride) {
  Value y = convolve_and_normalise(builder, block, "1", x, channels, 1, 1);
  y = builder.relu(block + "_relu1", y);
  y = convolve_and_normalise(builder, block, "2", y, channels, 3, stride);
  y = builder.relu(block + "_relu2", y);
  y = convolve_and_normalise(builder, block, "3", y, 4 * channels, 1, 1, branch_scale);
  y = builder.add(block + "_add", y, shortcut_of(builder, block, x, y, stride));
  return builder.relu(block + "_relu3", y);
}

template <class Block>
void build_resnet(NetworkBuilder& builder, const std::array<int, 4>& blocks, const Block& block) {
  Value x = builder.input("data", {builder.batch(), 3, 224, 224});
  x = builder.conv("conv1", x, 64, 7, {.stride = 2, .padding = 3, .bias = false});
  x = builder.batch_norm("bn1", x);
  x = builder.relu("relu1", x);
  x = builder.max_pool("pool1", x, 3, {.stride = 2, .padding = 1});
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, channels *= 2) {
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::int64_t stride = i == 0 && stage > 0 ? 2 : 1;
      x = block(builder, fmt::format("layer{}_{}", stage + 1, i), x, channels, stride);
    }
  }
  x = builder.global_average_pool("average_pool", x);
  x = builder.flatten("flatten", x);
  builder.output(builder.dense("fc", x, 1000, 1.0));
}

}  // namespace

void build_resnet18(NetworkBuilder& builder) { build_resnet(builder, {2, 2, 2, 2}, basic_block); }
void build_resnet50(NetworkBuilder& builder) { build_resnet(builder, {3, 4, 6, 3}, bottleneck_block); }

}  // namespace stowage
