// SPDX-License-Identifier: Apache-2.0
// A layout of our own for directed acyclic graphs, from top to bottom, in the tradition of Sugiyama, Tagawa and Toda
// ("Methods for visual understanding of hierarchical system structures", 1981): ranks by longest path, order within a
// rank by barycentres, then abscissae as near to the neighbours as the order allows. Plain values, no Qt; some tens of
// milliseconds for 10 000 nodes.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

namespace stowage {

struct LayoutNode {
  double width = 0;
  double height = 0;
};

/// Edges of one bundle leave the same node, share their way as long as they can, and have one label.
struct LayoutEdge {
  int from = 0;
  int to = 0;
  int bundle = 0;
  double from_port = -1;  ///< where on the lower side it begins, from the left; negative: the middle
  double to_port = -1;    ///< where on the upper side it ends
  double label_width = 0;
  double label_height = 0;
};

struct LayoutInput {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;  ///< without cycles
  double gap_across = 22;         ///< least distance within a rank
  double gap_down = 12;           ///< least distance between a rank and the labels below it
};

struct LayoutPoint {
  double x = 0;
  double y = 0;
};

struct LayoutResult {
  std::vector<LayoutPoint> nodes;               ///< upper left corners
  std::vector<std::vector<LayoutPoint>> edges;  ///< control points of joined cubic Bézier curves: 1 + 3 n
  std::vector<LayoutPoint> labels;              ///< by edge: middle of its label (one for a bundle)
  double width = 0;
  double height = 0;
  std::vector<int> columns;  ///< by node, once it is folded (fold_layout.h); empty otherwise
};

/// Nothing when stopped. An InternalError for a graph with a cycle.
std::optional<LayoutResult> layered_layout(const LayoutInput& input, std::stop_token stop = {});

}  // namespace stowage
