// SPDX-License-Identifier: Apache-2.0
// One-operator graphs with random operands, from a seed that the test prints.
#pragma once

#include <random>

#include "core/graph.h"

namespace stowage::test {

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::int64_t draw(std::int64_t low, std::int64_t high);
  bool flip() { return draw(0, 1) == 1; }
  Shape shape(int rank, std::int64_t high = 6);
  /// Elements in [low, high).
  Tensor tensor(Shape shape, double low = -1, double high = 1);

 private:
  std::mt19937 generator_;
};

struct Case {
  std::string kind;
  Attributes attributes;
  std::vector<std::optional<Tensor>> operands;
};

/// Operand 0 as the graph's input, the others as constants.
Graph graph_of(const Case& c);
std::string to_text(const Case& c);

}  // namespace stowage::test
