// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/boosted_trees.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace stowage {
namespace {

using Samples = std::vector<std::vector<double>>;

/// The best cut of a node's samples by one feature: by which the sum of squared errors falls most.
struct Cut {
  std::optional<std::size_t> feature;
  double threshold = 0;
  double gain = 0;
};

class Grower {
 public:
  Grower(const Samples& samples, const BoostingOptions& options) : samples_(samples), options_(options) {
    const std::size_t features = samples.front().size();
    order_.resize(features);
    for (std::size_t f = 0; f < features; ++f) {
      order_[f].resize(samples.size());
      std::iota(order_[f].begin(), order_[f].end(), std::size_t{0});
      std::stable_sort(order_[f].begin(), order_[f].end(),
                       [&](std::size_t a, std::size_t b) { return samples[a][f] < samples[b][f]; });
    }
  }

  /// A tree for what is left of each sample.
  RegressionTree grow(const std::vector<double>& left) {
    left_ = &left;
    std::vector<std::size_t> node_of(samples_.size(), 0);
    RegressionTree tree;
    tree.nodes.push_back({});
    std::vector<std::size_t> open = {0};
    for (int depth = 0; !open.empty(); ++depth) {
      std::vector<Cut> cuts(tree.nodes.size());
      if (depth < options_.depth) find_cuts(node_of, cuts);
      std::vector<std::size_t> next;
      for (const std::size_t node : open) {
        const Cut& cut = cuts[node];
        if (!cut.feature) continue;
        const std::size_t child = tree.nodes.size();
        tree.nodes[node] = {cut.feature, cut.threshold, child, child + 1, 0};
        tree.nodes.resize(tree.nodes.size() + 2);
        next.insert(next.end(), {child, child + 1});
      }
      for (std::size_t i = 0; i < node_of.size(); ++i) {
        const RegressionTree::Node& node = tree.nodes[node_of[i]];
        if (!node.feature) continue;
        const double value = samples_[i][*node.feature];
        node_of[i] = value <= node.threshold ? node.left : node.right;
      }
      open = std::move(next);
    }
    set_leaves(tree, node_of);
    return tree;
  }

 private:
  struct Sums {
    double sum = 0;
    double count = 0;
    [[nodiscard]] double score() const { return count == 0 ? 0 : sum * sum / count; }
  };

  /// Of a node's samples in the order of a feature, those that a look has passed.
  struct Passed {
    Sums sums;
    double last = 0;  ///< value of the feature
  };

  void find_cuts(const std::vector<std::size_t>& node_of, std::vector<Cut>& cuts) const {
    std::vector<Sums> all(cuts.size());
    for (std::size_t i = 0; i < node_of.size(); ++i) add(all[node_of[i]], i);
    for (std::size_t f = 0; f < order_.size(); ++f) {
      std::vector<Passed> passed(cuts.size());
      for (const std::size_t i : order_[f]) {
        const std::size_t node = node_of[i];
        const double value = samples_[i][f];
        auto& [left, last] = passed[node];
        const Sums right{all[node].sum - left.sum, all[node].count - left.count};
        const auto least = static_cast<double>(options_.least_leaf);
        if (left.count >= least && right.count >= least && value > last) {
          const double gain = left.score() + right.score() - all[node].score();
          if (gain > cuts[node].gain + 1e-15) {
            cuts[node] = {f, last + (value - last) / 2, gain};
          }
        }
        add(left, i);
        last = value;
      }
    }
  }

  void add(Sums& sums, std::size_t sample) const {
    sums.sum += (*left_)[sample];
    sums.count += 1;
  }

  void set_leaves(RegressionTree& tree, const std::vector<std::size_t>& node_of) const {
    std::vector<Sums> sums(tree.nodes.size());
    for (std::size_t i = 0; i < node_of.size(); ++i) add(sums[node_of[i]], i);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      if (tree.nodes[n].feature || sums[n].count == 0) continue;
      tree.nodes[n].value = options_.rate * sums[n].sum / (sums[n].count + options_.least_deviation);
    }
  }

  const Samples& samples_;
  const BoostingOptions& options_;
  const std::vector<double>* left_ = nullptr;
  std::vector<std::vector<std::size_t>> order_;  ///< samples by each feature
};

}  // namespace

double RegressionTree::value(std::span<const double> features) const {
  std::size_t at = 0;
  while (nodes[at].feature) {
    const Node& node = nodes[at];
    at = features[*node.feature] <= node.threshold ? node.left : node.right;
  }
  return nodes[at].value;
}

double BoostedTrees::value(std::span<const double> features) const {
  double sum = start;
  for (const RegressionTree& tree : trees) sum += tree.value(features);
  return sum;
}

bool is_sound(const BoostedTrees& trees, std::size_t features) {
  return std::all_of(trees.trees.begin(), trees.trees.end(), [&](const RegressionTree& tree) {
    const std::size_t size = tree.nodes.size();
    for (std::size_t n = 0; n < size; ++n) {
      const RegressionTree::Node& node = tree.nodes[n];
      if (!node.feature) continue;
      const bool children = node.left > n && node.right > n && node.left < size && node.right < size;
      if (!children || *node.feature >= features) return false;
    }
    return size > 0;
  });
}

BoostedTrees boosted_trees(const std::vector<std::vector<double>>& samples, const std::vector<double>& wanted,
                           const BoostingOptions& options) {
  check(!samples.empty() && samples.size() == wanted.size(), "trees are grown of samples with a value each");
  BoostedTrees result;
  result.start = std::accumulate(wanted.begin(), wanted.end(), 0.0) / static_cast<double>(wanted.size());
  std::vector<double> left = wanted;
  for (double& value : left) value -= result.start;
  Grower grower(samples, options);
  for (std::size_t t = 0; t < options.trees; ++t) {
    RegressionTree tree = grower.grow(left);
    if (tree.nodes.size() == 1) break;
    for (std::size_t i = 0; i < left.size(); ++i) left[i] -= tree.value(samples[i]);
    result.trees.push_back(std::move(tree));
  }
  return result;
}

}  // namespace stowage
