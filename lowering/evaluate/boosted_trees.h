// SPDX-License-Identifier: Apache-2.0
// Regression by gradient-boosted trees: small trees, each fitted to what those before it leave, whose outputs add up.
// Deterministic: equal samples in equal order give equal trees.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stowage {

/// A binary tree in an array: the children of a node stand behind it.
struct RegressionTree {
  struct Node {
    std::optional<std::size_t> feature = std::nullopt;  ///< asked about; none of a leaf
    double threshold = 0;                               ///< up to this: the left child
    std::size_t left = 0;
    std::size_t right = 0;
    double value = 0;  ///< of a leaf
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes;  ///< the first is the root
  [[nodiscard]] double value(std::span<const double> features) const;
  friend bool operator==(const RegressionTree&, const RegressionTree&) = default;
};

struct BoostedTrees {
  double start = 0;
  std::vector<RegressionTree> trees;
  [[nodiscard]] double value(std::span<const double> features) const;
  friend bool operator==(const BoostedTrees&, const BoostedTrees&) = default;
};

/// Whether every node names features below `features` and children behind itself, so that value() ends.
bool is_sound(const BoostedTrees& trees, std::size_t features);

struct BoostingOptions {
  std::size_t trees = 150;
  int depth = 3;
  double rate = 0.05;           ///< how much of what is left a tree takes
  std::size_t least_leaf = 10;  ///< samples
  double least_deviation = 0.;  ///< leaves are drawn to 0 as if so many samples of 0 were in them
};

/// Samples are rows of the same length, at least one.
BoostedTrees boosted_trees(const std::vector<std::vector<double>>& samples, const std::vector<double>& wanted,
                           const BoostingOptions& options);

}  // namespace stowage
