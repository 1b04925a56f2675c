// SPDX-License-Identifier: Apache-2.0
#include "inspector/graph/fold_layout.h"
#include "core/index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace stowage::inspector {

namespace {

constexpr double lane = 7;    ///< between edges that run on beside each other
constexpr double corner = 8;  ///< radius
constexpr double apart = 24;  ///< between a column and the edges in its gutter
constexpr double above = 14;  ///< between the lowest lane and what it leads to

using Path = std::vector<LayoutPoint>;

/// Ranges of ordinates with nothing but edges: where a cut can be.
std::vector<double> free_ordinates(const LayoutInput& input, const LayoutResult& layout) {
  std::vector<std::pair<double, double>> taken;
  for (std::size_t i = 0; i < input.nodes.size(); ++i) {
    taken.emplace_back(layout.nodes[i].y, layout.nodes[i].y + input.nodes[i].height);
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const double half = input.edges[e].label_height / 2;
    if (half > 0) taken.emplace_back(layout.labels[e].y - half, layout.labels[e].y + half);
  }
  std::sort(taken.begin(), taken.end());
  std::vector<double> free;
  double end = taken.empty() ? 0 : taken.front().second;
  constexpr double least_gap = 4;
  for (const auto& [low, high] : taken) {
    if (low - end >= least_gap) free.push_back((low + end) / 2);
    end = std::max(end, high);
  }
  return free;
}

/// Bundles that pass each ordinate; their edges run together.
std::vector<int> passing(const LayoutInput& input, const LayoutResult& layout, const std::vector<double>& ordinates) {
  std::map<std::pair<int, int>, std::pair<double, double>> spans;
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const double low = layout.edges[e].front().y;
    const double high = layout.edges[e].back().y;
    const auto [span, fresh] = spans.try_emplace({input.edges[e].from, input.edges[e].bundle}, low, high);
    if (!fresh) span->second = {std::min(span->second.first, low), std::max(span->second.second, high)};
  }
  std::vector<int> change(ordinates.size() + 1, 0);
  const auto first_above = [&](double y) {
    return static_cast<std::size_t>(std::upper_bound(ordinates.begin(), ordinates.end(), y) - ordinates.begin());
  };
  for (const auto& [bundle, span] : spans) {
    ++change[first_above(span.first)];
    --change[first_above(span.second)];
  }
  std::vector<int> count;
  int now = 0;
  for (std::size_t i = 0; i < ordinates.size(); ++i) count.push_back(now += change[i]);
  return count;
}

/// Where to cut a layout into so many columns: near equal parts, where few edges pass.
std::vector<double> choose_cuts(const LayoutInput& input, const LayoutResult& layout, int columns) {
  const std::vector<double> free = free_ordinates(input, layout);
  const std::vector<int> edges = passing(input, layout, free);
  const double part = layout.height / columns;
  constexpr double reach = 0.4;     // of a column, that a cut may lie off its place
  constexpr double edge_cost = 80;  // of an edge more that is cut, in pixels off that place
  constexpr int max_edges = 24;     // through one gutter
  std::vector<double> cuts;
  for (int k = 1; k < columns; ++k) {
    double best = std::numeric_limits<double>::max();
    double cut = -1;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double off = std::abs(free[i] - k * part);
      const double cost = off + edge_cost * edges[i];
      if (edges[i] > max_edges || off > reach * part || cost >= best || (!cuts.empty() && free[i] <= cuts.back()))
        continue;
      best = cost;
      cut = free[i];
    }
    if (cut >= 0) cuts.push_back(cut);
  }
  return cuts;
}

LayoutPoint between(const LayoutPoint& a, const LayoutPoint& b, double t) {
  return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
}

/// The path up to an ordinate that it passes, and the rest (de Casteljau).
std::pair<Path, Path> split_at(const Path& path, double y) {
  for (std::size_t p = 0; p + 3 < path.size(); p += 3) {
    if (path[p + 3].y <= y) continue;
    const auto point_at = [&](double t) {
      const LayoutPoint a = between(path[p], path[p + 1], t);
      const LayoutPoint b = between(path[p + 1], path[p + 2], t);
      const LayoutPoint c = between(path[p + 2], path[p + 3], t);
      const LayoutPoint ab = between(a, b, t);
      const LayoutPoint bc = between(b, c, t);
      return std::array<LayoutPoint, 5>{a, ab, between(ab, bc, t), bc, c};
    };
    double low = 0;
    double high = 1;
    for (int round = 0; round < 40; ++round) {
      const double middle = (low + high) / 2;
      (point_at(middle)[2].y <= y ? low : high) = middle;
    }
    const auto [a, ab, middle, bc, c] = point_at(low);
    const auto here = path.begin() + static_cast<std::ptrdiff_t>(p);
    Path first(path.begin(), here + 1);
    first.insert(first.end(), {a, ab, middle});
    Path rest = {middle, bc, c};
    rest.insert(rest.end(), here + 3, path.end());
    return {first, rest};
  }
  return {path, {path.back()}};
}

void line_to(Path& path, LayoutPoint to) {
  const LayoutPoint from = path.back();
  path.insert(path.end(), {from, to, to});
}

/// Along straight lines with round corners.
void run_along(Path& path, const std::vector<LayoutPoint>& corners, LayoutPoint end) {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const LayoutPoint turn = corners[i];
    const LayoutPoint next = i + 1 < corners.size() ? corners[i + 1] : end;
    const auto near = [&](const LayoutPoint& other) {
      const double length = std::hypot(other.x - turn.x, other.y - turn.y);
      return between(turn, other, length > 0 ? std::min(corner, length / 2) / length : 0);
    };
    line_to(path, near(path.back()));
    path.insert(path.end(), {turn, turn, near(next)});
  }
  line_to(path, end);
}

struct Column {
  double left = std::numeric_limits<double>::max();
  double right = std::numeric_limits<double>::lowest();
  double dx = 0, dy = 0;  ///< from the layout's place to the column's
  double bottom = 0;      ///< where its edges are cut, in the folded picture
  int lanes = 0;          ///< bundles that run on from its end
  void take(double x) {
    left = std::min(left, x);
    right = std::max(right, x);
  }
};

class Folder {
 public:
  Folder(const LayoutInput& input, const LayoutResult& layout, std::vector<double> cuts)
      : input_(input), layout_(layout), cuts_(std::move(cuts)), columns_(cuts_.size() + 1) {}

  LayoutResult fold() {
    cut_edges();
    measure();
    LayoutResult result;
    for (std::size_t i = 0; i < input_.nodes.size(); ++i) {
      const int k = column_of(layout_.nodes[i].y + input_.nodes[i].height / 2);
      result.nodes.push_back(moved(layout_.nodes[i], k));
      result.columns.push_back(k);
    }
    for (const LayoutPoint& label : layout_.labels) result.labels.push_back(moved(label, column_of(label.y)));
    for (std::size_t e = 0; e < pieces_.size(); ++e) result.edges.push_back(joined(e));
    result.width = columns_.back().right + columns_.back().dx;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      result.height = std::max(result.height, columns_[k].bottom + above + lane * columns_[k].lanes);
    }
    return result;
  }

  /// Of a column, once it is folded.
  [[nodiscard]] double mean_width() const {
    double sum = 0;
    for (const Column& column : columns_) sum += column.right - column.left;
    return sum / static_cast<double>(columns_.size());
  }

 private:
  struct Piece {
    int column = 0;
    Path path;
  };

  [[nodiscard]] int column_of(double y) const {
    return static_cast<int>(std::lower_bound(cuts_.begin(), cuts_.end(), y) - cuts_.begin());
  }

  [[nodiscard]] LayoutPoint moved(LayoutPoint point, int column) const {
    return {point.x + columns_[at(column)].dx, point.y + columns_[at(column)].dy};
  }

  void cut_edges() {
    for (std::size_t e = 0; e < input_.edges.size(); ++e) {
      const Path& path = layout_.edges[e];
      std::vector<Piece> pieces;
      Path rest = path;
      const int last = column_of(path.back().y);
      for (int k = column_of(path.front().y); k < last; ++k) {
        auto [first, beyond] = split_at(rest, cuts_[at(k)]);
        leaving_[{k, {input_.edges[e].from, input_.edges[e].bundle}}] = first.back().x;
        pieces.push_back({k, std::move(first)});
        rest = std::move(beyond);
      }
      pieces.push_back({last, std::move(rest)});
      pieces_.push_back(std::move(pieces));
    }
    // The rightmost turns first, so that no two cross.
    for (std::size_t k = 0; k < cuts_.size(); ++k) {
      std::vector<std::pair<double, std::pair<int, int>>> sorted;
      for (const auto& [key, x] : leaving_) {
        if (key.first == static_cast<int>(k)) sorted.emplace_back(-x, key.second);
      }
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < sorted.size(); ++i)
        lanes_[{static_cast<int>(k), sorted[i].second}] = static_cast<int>(i);
      columns_[k].lanes = static_cast<int>(sorted.size());
    }
  }

  void measure() {
    for (std::size_t i = 0; i < input_.nodes.size(); ++i) {
      Column& column = columns_[at(column_of(layout_.nodes[i].y + input_.nodes[i].height / 2))];
      column.take(layout_.nodes[i].x);
      column.take(layout_.nodes[i].x + input_.nodes[i].width);
    }
    for (std::size_t e = 0; e < pieces_.size(); ++e) {
      Column& column = columns_[at(column_of(layout_.labels[e].y))];
      const double half = input_.edges[e].label_width / 2;
      if (half > 0) {
        column.take(layout_.labels[e].x - half);
        column.take(layout_.labels[e].x + half);
      }
      for (const Piece& piece : pieces_[e]) {
        for (const LayoutPoint& point : piece.path) columns_[at(piece.column)].take(point.x);
      }
    }
    double x = 0;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      Column& column = columns_[k];
      column.dx = x - column.left;
      const double top = k == 0 ? 0 : cuts_[k - 1];
      const double lead = k == 0 ? 0 : lane * columns_[k - 1].lanes + above;
      column.dy = lead - top;
      column.bottom = (k < cuts_.size() ? cuts_[k] : layout_.height) + column.dy;
      x += column.right - column.left + 2 * apart + lane * column.lanes;
    }
  }

  /// The pieces of an edge, through the gutters where it goes on in the next column.
  [[nodiscard]] Path joined(std::size_t e) const {
    Path path;
    for (const Piece& piece : pieces_[e]) {
      Path here;
      for (const LayoutPoint& point : piece.path) here.push_back(moved(point, piece.column));
      if (path.empty()) {
        path = std::move(here);
        continue;
      }
      const int before = piece.column - 1;
      const Column& column = columns_[at(before)];
      const double i = lanes_.at({before, {input_.edges[e].from, input_.edges[e].bundle}});
      const double low = column.bottom + above + lane * i;
      const double gutter = column.right + column.dx + apart + lane * i;
      const double high = lane * i;
      run_along(path, {{path.back().x, low}, {gutter, low}, {gutter, high}, {here.front().x, high}}, here.front());
      path.insert(path.end(), here.begin() + 1, here.end());
    }
    return path;
  }

  const LayoutInput& input_;
  const LayoutResult& layout_;
  std::vector<double> cuts_;
  std::vector<Column> columns_;
  std::vector<std::vector<Piece>> pieces_;                         ///< by edge
  std::map<std::pair<int, std::pair<int, int>>, double> leaving_;  ///< column and bundle: where it is cut
  std::map<std::pair<int, std::pair<int, int>>, int> lanes_;
};

}  // namespace

std::optional<LayoutResult> folded(const LayoutInput& input, const LayoutResult& layout, const FoldWish& wish) {
  if (layout.height < wish.max_ratio * layout.width || layout.width <= 0) return std::nullopt;
  const auto columns_of = [&](double width) {  // of one
    const double with_gutter = width + 2 * apart + lane;
    return static_cast<int>(
        std::min(std::sqrt(layout.height / with_gutter / wish.wanted_ratio), layout.height / wish.least_column));
  };
  // A picture that goes askew is wider than its columns will be: how wide these are is known once it is folded.
  int columns = columns_of(layout.width);
  std::optional<LayoutResult> result;
  for (int round = 0; round < 2 && columns >= 2; ++round) {
    std::vector<double> cuts = choose_cuts(input, layout, columns);
    if (cuts.empty()) break;
    Folder folder(input, layout, std::move(cuts));
    result = folder.fold();
    const int better = columns_of(folder.mean_width());
    if (better <= columns) break;
    columns = better;
  }
  return result;
}

}  // namespace stowage::inspector
