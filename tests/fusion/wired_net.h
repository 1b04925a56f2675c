// SPDX-License-Identifier: Apache-2.0
// Randomly wired networks (after Xie et al., ICCV 2019): what makes searches for fusion groups hard.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/fusion/net.h"

namespace stowage::testing {

/// `blocks` blocks of convolution and activation, each behind the sum of one to three of the last `width` results, so
/// that about `width` tensors are alive at any time.
inline Graph randomly_wired(unsigned seed, std::size_t width, int blocks) {
  Net net("randomly_wired", seed);
  std::mt19937 random(seed);
  const TensorId x = net.input("x", {1, 16, 14, 14});
  std::vector<TensorId> last(width, x);
  std::vector<TensorId> unread;
  for (int b = 0; b < blocks; ++b) {
    const std::string name = "block" + std::to_string(b);
    std::vector<TensorId> operands;
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      const TensorId operand = last[random() % last.size()];
      if (std::find(operands.begin(), operands.end(), operand) == operands.end()) operands.push_back(operand);
    }
    for (const TensorId operand : operands) {
      unread.erase(std::remove(unread.begin(), unread.end(), operand), unread.end());
    }
    TensorId sum = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      sum = net.op("Add", name + "_add" + std::to_string(i), {sum, operands[i]});
    }
    const TensorId result = net.op("Relu", name + "_relu", {net.conv(name + "_conv", sum, 16, 3)});
    last[static_cast<std::size_t>(b) % width] = result;
    unread.push_back(result);
  }
  TensorId all = unread[0];
  for (std::size_t i = 1; i < unread.size(); ++i) all = net.op("Add", "sum" + std::to_string(i), {all, unread[i]});
  return net.done({all});
}

}  // namespace stowage::testing
