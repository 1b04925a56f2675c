// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>

#include "emitter/pictures/layered_layout.h"

namespace stowage::test {

/// Of a node, whose numbers are those of an edge's ends.
inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// A random acyclic graph: most edges short, some long.
inline LayoutInput random_graph(int nodes, unsigned seed) {
  std::mt19937 random(seed);
  LayoutInput input;
  for (int i = 0; i < nodes; ++i) {
    input.nodes.push_back({40.0 + static_cast<double>(random() % 120), 20.0 + static_cast<double>(random() % 60)});
    if (i == 0) continue;
    for (unsigned k = 0; k < 1 + random() % 2; ++k) {
      const int back = 1 + static_cast<int>(random() % (random() % 50 == 0 ? 40 : 3));
      const int from = std::max(0, i - back);
      input.edges.push_back({from, i, from, -1, -1, 60, 24});
    }
  }
  return input;
}

}  // namespace stowage::test
