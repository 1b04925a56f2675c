// SPDX-License-Identifier: Apache-2.0
// Random transposed convolutions with strides, for tests.
#pragma once

#include <random>

#include "tests/fusion/net.h"

namespace stowage::testing {

/// One of 1 to 3 dimensions with any kernel, stride, pads, output padding and groups, and what may stand behind it:
/// a bias, activations, the sum with another tensor, or nothing. Every second is so that all phases are whole.
inline Graph transposed_net(unsigned seed, int most_dimensions = 3) {
  std::mt19937 random(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  Net net("transposed", seed);
  const auto dimensions = static_cast<std::size_t>(draw(1, most_dimensions));
  const std::int64_t groups = draw(0, 2) == 0 ? draw(2, 3) : 1;
  const std::int64_t group_features = draw(0, 1) == 0 ? 4 * draw(1, 4) : draw(1, 5);
  Shape in = {draw(1, 2), groups * draw(1, 6)};
  Shape weights = {in[1], group_features};
  Shape out = {in[0], groups * group_features};
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> pads(2 * dimensions);
  std::vector<std::int64_t> output_padding;
  const bool whole = draw(0, 3) != 0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    strides.push_back(draw(1, 3));
    weights.push_back(draw(1, 5));
    in.push_back(draw(2, dimensions == 3 ? 4 : 9));
    output_padding.push_back(draw(0, strides[d] - 1));
    const std::int64_t full = strides[d] * (in.back() - 1) + weights.back() + output_padding[d];
    pads[d] = draw(0, 2);
    std::int64_t behind = draw(0, 2);
    while (whole && (full - pads[d] - behind) % strides[d] != 0) ++behind;
    if (full - pads[d] - behind < 1) {
      behind = 0;
      pads[d] = whole ? full % strides[d] : 0;
    }
    pads[dimensions + d] = behind;
    out.push_back(full - pads[d] - behind);
  }
  const TensorId x = net.input("x", in);
  std::vector<std::optional<TensorId>> operands = {x, net.constant("w", weights)};
  if (draw(0, 1) == 0) operands.emplace_back(net.constant("b", {out[1]}));
  TensorId y = net.op(
      "ConvTranspose", "up", operands,
      {{"strides", strides}, {"pads", pads}, {"output_padding", output_padding}, {"group", std::int64_t{groups}}});
  std::vector<TensorId> outputs;
  if (draw(0, 4) == 0) outputs.push_back(y);
  if (draw(0, 2) == 0) y = net.batch_norm("bn", y);
  if (draw(0, 2) == 0) y = net.op("Add", "add", {net.input("skip", out), y});
  if (draw(0, 1) == 0) y = net.op("Relu", "relu", {y});
  if (draw(0, 4) == 0) {
    Shape slope(dimensions + 1, 1);
    slope[0] = out[1];
    y = net.op("PRelu", "prelu", {y, net.constant("slope", slope)});
  }
  if (draw(0, 2) == 0) y = net.op("Mul", "twice", {y, y});
  outputs.push_back(draw(0, 2) == 0 ? net.op("GlobalMaxPool", "pool", {y}) : y);
  return net.unplaced(outputs);
}

}  // namespace stowage::testing
