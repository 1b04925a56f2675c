// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools of pictures with channels in blocks: what they compute is what they compute without.
#include "core/channel_blocks.h"

#include <catch2/catch.hpp>
#include <random>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

/// Small whole numbers, so that sums are exact in every order.
Tensor drawn(Shape shape, std::mt19937& generator) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = static_cast<float>(generator() % 17) - 8;
  return floats(std::move(shape), values);
}

/// The operator's result on blocks, taken apart.
Tensor run_blocked(const std::string& kind, Attributes attributes, Operands operands, const ChannelBlocks& blocks) {
  attributes[channel_blocks_attribute] = Ints{blocks.operand, blocks.result};
  if (blocks.operand > 0) operands[0] = blocked(*operands[0], 1, blocks.operand);
  if (blocks.result > 0 && operands.size() > 1) operands[1] = blocked(*operands[1], 0, blocks.result);
  const Tensor result = run(kind, attributes, operands);
  return blocks.result > 0 ? unblocked(result, 1) : result;
}

}  // namespace

TEST_CASE("channels in blocks and back") {
  const Tensor picture = counting({1, 4, 1, 3});
  const Tensor blocks = blocked(picture, 1, 2);
  check_floats(blocks, {1, 2, 1, 3, 2}, {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  check_floats(unblocked(blocks, 1), picture.shape(), values(picture));
  check_floats(blocked(counting({4, 1, 2}), 0, 2), {2, 1, 2, 2}, {0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(blocked(floats({0, 4, 3}, {}), 1, 2).shape() == Shape{0, 2, 3, 2});
}

TEST_CASE("convolutions and pools compute the same on blocks") {
  const unsigned first = 2611;
  WARN("seeds from " << first);
  for (unsigned seed = first; seed < first + 120; ++seed) {
    INFO("seed " << seed);
    std::mt19937 generator(seed);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(high - low + 1));
    };
    const auto dimensions = static_cast<std::size_t>(draw(1, 3));
    const std::int64_t sizes[] = {0, 2, 4};
    ChannelBlocks blocks{sizes[draw(0, 2)], sizes[draw(0, 2)]};
    Shape in = {draw(1, 2), 4 * draw(1, 3)};
    Ints kernel, strides, dilations, pads(2 * dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      in.push_back(draw(4, 7));
      kernel.push_back(draw(1, 3));
      strides.push_back(draw(1, 2));
      dilations.push_back(kernel.back() == 3 && in.back() < 5 ? 1 : draw(1, 2));
      pads[d] = draw(0, kernel.back() - 1);
      pads[dimensions + d] = draw(0, kernel.back() - 1);
    }
    const Tensor x = drawn(in, generator);
    Attributes attributes = {{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
    const std::int64_t form = draw(0, 4);
    std::string kind = "Conv";
    Operands operands = {x};
    if (form <= 2) {
      const std::int64_t groups = form == 0 ? 1 : form == 1 ? in[1] : 2;
      Shape weights = {groups * (form == 1 ? draw(1, 2) : 4), in[1] / groups};
      weights.insert(weights.end(), kernel.begin(), kernel.end());
      attributes["group"] = groups;
      operands.emplace_back(drawn(weights, generator));
      if (draw(0, 1) == 0) operands.emplace_back(drawn({weights[0]}, generator));
    } else {
      kind = form == 3 ? "MaxPool" : "AveragePool";
      attributes["kernel_shape"] = kernel;
    }
    if (form == 4 && draw(0, 2) == 0) {
      kind = draw(0, 1) == 0 ? "GlobalAveragePool" : "GlobalMaxPool";
      attributes.clear();
    }
    INFO(kind << " " << to_text(in) << " blocks " << blocks.operand << " " << blocks.result);
    const Tensor plain = run(kind, attributes, operands);
    const Tensor result = run_blocked(kind, attributes, operands, blocks);
    CHECK(result.shape() == plain.shape());
    CHECK(values(result) == values(plain));
  }
}

TEST_CASE("blocks that do not fit are refused") {
  const Attributes blocks = {{channel_blocks_attribute, Ints{2, 2}}};
  CHECK(refusal("Conv", blocks, {counting({1, 2, 3, 3, 3}), counting({2, 4, 1, 1, 2})}) ==
        "[shape-mismatch] operand X of shape [1,2,3,3,3] for blocks of 2 channels");
  CHECK(refusal("Conv", blocks, {counting({1, 2, 3, 3, 2}), counting({2, 4, 1, 1, 4})}) ==
        "[shape-mismatch] input [1,2,3,3,2] and weights [2,4,1,1,4] do not fit 1 group");
  CHECK(refusal("GlobalMaxPool", {{channel_blocks_attribute, Ints{0, 2}}}, {counting({1, 3, 2, 2})}) ==
        "[shape-mismatch] 3 channels are no number of blocks of 2");
  CHECK(refusal("GlobalMaxPool", {{channel_blocks_attribute, Ints{2}}}, {counting({1, 4, 2, 2})}) ==
        "[bad-attribute] attribute channel_blocks is [2]");
  CHECK(refusal("GlobalMaxPool", {{channel_blocks_attribute, Ints{0, -2}}}, {counting({1, 4, 2, 2})}) ==
        "[bad-attribute] attribute channel_blocks is [0,-2]");
}
