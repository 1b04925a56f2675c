// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/layered_layout.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "core/check.h"
#include "core/index.h"

namespace stowage {

namespace {

/// Longest path from a source; sources stand right above what reads them first.
std::vector<int> ranks_of(const LayoutInput& input) {
  const std::size_t count = input.nodes.size();
  std::vector<std::vector<int>> below(count);
  std::vector<int> missing(count, 0);
  std::vector<bool> is_source(count, true);
  for (const LayoutEdge& edge : input.edges) {
    below[at(edge.from)].push_back(edge.to);
    ++missing[at(edge.to)];
    is_source[at(edge.to)] = false;
  }
  std::vector<int> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push_back(static_cast<int>(i));
  }
  std::vector<int> rank(count, 0);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const int from = ready[next];
    for (const int to : below[at(from)]) {
      rank[at(to)] = std::max(rank[at(to)], rank[at(from)] + 1);
      if (--missing[at(to)] == 0) ready.push_back(to);
    }
  }
  check(ready.size() == count, "a graph to be laid out has a cycle");
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_source[i] || below[i].empty()) continue;
    int first = std::numeric_limits<int>::max();
    for (const int to : below[i]) first = std::min(first, rank[at(to)]);
    rank[i] = first - 1;
  }
  return rank;
}

/// A node of the proper graph, in which every link leads to the next row: a node of the input, or a bend of a bundle.
/// Input nodes stand in even rows, labels in odd ones.
struct Item {
  double width = 0;
  double height = 0;
  int row = 0;
  int node = -1;  ///< of the input; -1 is a bend
  double x = 0;   ///< middle
};

struct Link {
  int upper = 0;
  int lower = 0;
  double from = 0;  ///< offset from the upper item's middle
  double to = 0;    ///< offset from the lower item's middle
  double weight = 1;
};

struct Proper {
  std::vector<Item> items;
  std::vector<Link> links;
  std::vector<std::vector<int>> rows;
  std::vector<std::vector<int>> bends;     ///< by input edge, from the top
  std::vector<std::vector<int>> up, down;  ///< links by item
};

double offset_of(double port, double width) { return port < 0 ? 0 : port - width / 2; }

Proper make_proper(const LayoutInput& input) {
  const std::vector<int> rank = ranks_of(input);
  Proper graph;
  for (std::size_t i = 0; i < input.nodes.size(); ++i) {
    graph.items.push_back({input.nodes[i].width, input.nodes[i].height, 2 * rank[i], static_cast<int>(i), 0});
  }
  std::map<std::pair<int, int>, std::vector<int>> bundles;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    bundles[{input.edges[e].from, input.edges[e].bundle}].push_back(static_cast<int>(e));
  }
  graph.bends.resize(input.edges.size());
  // Bends are what a long edge costs. Where there would be far too many, the longest go straight.
  const std::size_t maximum = 40 * input.nodes.size() + 20000;
  for (const auto& [key, edges] : bundles) {
    const Item& source = graph.items[at(key.first)];
    const int first_row = source.row + 1;
    int last_row = first_row;
    LayoutEdge widest = input.edges[at(edges.front())];
    for (const int e : edges) {
      last_row = std::max(last_row, graph.items[at(input.edges[at(e)].to)].row - 1);
      widest.label_width = std::max(widest.label_width, input.edges[at(e)].label_width);
      widest.label_height = std::max(widest.label_height, input.edges[at(e)].label_height);
    }
    const bool straight = graph.items.size() + at(last_row - first_row) > maximum;
    if (straight) last_row = first_row;
    std::vector<int> chain;
    int upper = key.first;
    double from = offset_of(widest.from_port, source.width);
    for (int row = first_row; row <= last_row; ++row) {
      const bool label = row == first_row;
      const int bend = static_cast<int>(graph.items.size());
      graph.items.push_back({label ? widest.label_width : 2, label ? widest.label_height : 0, row, -1, 0});
      graph.links.push_back({upper, bend, from, 0, label ? 2.0 : 8.0});
      chain.push_back(bend);
      upper = bend;
      from = 0;
    }
    for (const int e : edges) {
      const LayoutEdge& edge = input.edges[at(e)];
      const Item& target = graph.items[at(edge.to)];
      const int bend_count = straight ? 1 : target.row - first_row;
      graph.bends[at(e)].assign(chain.begin(), chain.begin() + bend_count);
      if (target.row == first_row + bend_count) {
        graph.links.push_back({chain[at(bend_count - 1)], edge.to, 0, offset_of(edge.to_port, target.width), 2});
      }
    }
  }
  int last = 0;
  for (const Item& item : graph.items) last = std::max(last, item.row);
  graph.rows.resize(at(last) + 1);
  for (std::size_t i = 0; i < graph.items.size(); ++i) {
    graph.rows[at(graph.items[i].row)].push_back(static_cast<int>(i));
  }
  graph.up.resize(graph.items.size());
  graph.down.resize(graph.items.size());
  for (std::size_t l = 0; l < graph.links.size(); ++l) {
    graph.down[at(graph.links[l].upper)].push_back(static_cast<int>(l));
    graph.up[at(graph.links[l].lower)].push_back(static_cast<int>(l));
  }
  return graph;
}

/// Where a link wants an item's middle, seen from the other end.
double wish_of(const Proper& graph, const Link& link, bool from_above) {
  return from_above ? graph.items[at(link.upper)].x + link.from - link.to
                    : graph.items[at(link.lower)].x + link.to - link.from;
}

void pack(Proper& graph, const std::vector<int>& row, double gap) {
  double x = 0;
  for (const int i : row) {
    Item& item = graph.items[at(i)];
    item.x = x + item.width / 2;
    x += item.width + gap;
  }
}

/// Sorts a row by the mean place of its neighbours in the row above or below; items without any stay where they are.
void order_row(Proper& graph, std::vector<int>& row, bool by_above, double gap) {
  std::vector<std::pair<double, int>> keyed;
  keyed.reserve(row.size());
  for (const int i : row) {
    const auto& links = by_above ? graph.up[at(i)] : graph.down[at(i)];
    double sum = 0;
    for (const int l : links) {
      const Link& link = graph.links[at(l)];
      sum += by_above ? graph.items[at(link.upper)].x + link.from : graph.items[at(link.lower)].x + link.to;
    }
    keyed.emplace_back(links.empty() ? graph.items[at(i)].x : sum / static_cast<double>(links.size()), i);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = keyed[k].second;
  pack(graph, row, gap);
}

/// Moves a row's items to where their neighbours want them, in their order and without overlap, with the least sum of
/// weighted squares: an isotonic regression by pooling adjacent violators, linear in the row.
void settle_row(Proper& graph, const std::vector<int>& row, bool above, bool below, double gap) {
  struct Pool {
    double weight, sum;
    std::size_t count;
  };
  std::vector<Pool> pools;
  std::vector<double> shift(row.size(), 0);
  for (std::size_t k = 0; k < row.size(); ++k) {
    const Item& item = graph.items[at(row[k])];
    if (k > 0) shift[k] = shift[k - 1] + (graph.items[at(row[k - 1])].width + item.width) / 2 + gap;
    double weight = 0;
    double sum = 0;
    const auto add = [&](const std::vector<int>& links, bool from_above) {
      for (const int l : links) {
        weight += graph.links[at(l)].weight;
        sum += graph.links[at(l)].weight * wish_of(graph, graph.links[at(l)], from_above);
      }
    };
    if (above) add(graph.up[at(row[k])], true);
    if (below) add(graph.down[at(row[k])], false);
    if (weight == 0) {  // nobody asks: it stays, but gives way
      weight = 0.01;
      sum = weight * item.x;
    }
    pools.push_back({weight, sum - weight * shift[k], 1});
    while (pools.size() > 1) {
      const Pool& last = pools.back();
      Pool& before = pools[pools.size() - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.weight += last.weight;
      before.sum += last.sum;
      before.count += last.count;
      pools.pop_back();
    }
  }
  std::size_t k = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i, ++k) graph.items[at(row[k])].x = pool.sum / pool.weight + shift[k];
  }
}

void add_curve(std::vector<LayoutPoint>& path, LayoutPoint to) {
  const LayoutPoint from = path.back();
  const double middle = (from.y + to.y) / 2;
  path.push_back({from.x, middle});
  path.push_back({to.x, middle});
  path.push_back(to);
}

}  // namespace

std::optional<LayoutResult> layered_layout(const LayoutInput& input, std::stop_token stop) {
  LayoutResult result;
  if (input.nodes.empty()) return result;
  Proper graph = make_proper(input);
  for (const auto& row : graph.rows) pack(graph, row, input.gap_across);
  constexpr int order_sweeps = 4;
  constexpr int settle_sweeps = 8;
  const int last = static_cast<int>(graph.rows.size()) - 1;
  for (int sweep = 0; sweep < order_sweeps; ++sweep) {
    if (stop.stop_requested()) return std::nullopt;
    for (int row = 1; row <= last; ++row) order_row(graph, graph.rows[at(row)], true, input.gap_across);
    if (sweep + 1 == order_sweeps) break;  // inputs stand in the order of the network
    for (int row = last; row-- > 0;) order_row(graph, graph.rows[at(row)], false, input.gap_across);
  }
  for (int sweep = 0; sweep < settle_sweeps; ++sweep) {
    if (stop.stop_requested()) return std::nullopt;
    const bool both = sweep + 2 >= settle_sweeps;
    for (int row = 0; row <= last; ++row) settle_row(graph, graph.rows[at(row)], true, both, input.gap_across);
    for (int row = last; row >= 0; --row) settle_row(graph, graph.rows[at(row)], both, true, input.gap_across);
  }

  double left = std::numeric_limits<double>::max();
  double right = std::numeric_limits<double>::lowest();
  for (const Item& item : graph.items) {
    left = std::min(left, item.x - item.width / 2);
    right = std::max(right, item.x + item.width / 2);
  }
  std::vector<double> top(graph.rows.size(), 0);
  std::vector<double> height(graph.rows.size(), 0);
  double y = 0;
  for (std::size_t row = 0; row < graph.rows.size(); ++row) {
    for (const int i : graph.rows[row]) height[row] = std::max(height[row], graph.items[at(i)].height);
    top[row] = y;
    y += height[row] + input.gap_down;
  }
  result.width = right - left;
  result.height = y - input.gap_down;
  for (std::size_t i = 0; i < input.nodes.size(); ++i) {
    const Item& item = graph.items[i];
    const double room = height[at(item.row)] - item.height;
    result.nodes.push_back({item.x - item.width / 2 - left, top[at(item.row)] + room / 2});
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const LayoutEdge& edge = input.edges[e];
    const LayoutPoint& from = result.nodes[at(edge.from)];
    const LayoutPoint& to = result.nodes[at(edge.to)];
    const LayoutNode& source = input.nodes[at(edge.from)];
    const LayoutNode& target = input.nodes[at(edge.to)];
    std::vector<LayoutPoint> path = {
        {from.x + source.width / 2 + offset_of(edge.from_port, source.width), from.y + source.height}};
    for (const int b : graph.bends[e]) {
      const Item& bend = graph.items[at(b)];
      const double x = bend.x - left;
      add_curve(path, {x, top[at(bend.row)]});
      if (height[at(bend.row)] > 0) add_curve(path, {x, top[at(bend.row)] + height[at(bend.row)]});
    }
    add_curve(path, {to.x + target.width / 2 + offset_of(edge.to_port, target.width), to.y});
    result.edges.push_back(std::move(path));
    const Item& label = graph.items[at(graph.bends[e].front())];
    result.labels.push_back({label.x - left, top[at(label.row)] + height[at(label.row)] / 2});
  }
  return result;
}

}  // namespace stowage
