// SPDX-License-Identifier: Apache-2.0
// A plan's graphs to be looked at: the computation graph (operators, after parameters were folded) and the fused graph
// (fused operators, opened as boxes around their operators or closed). A sketch knows sizes and edges; with a layout it
// becomes a picture. Values, made on worker threads.
#pragma once

#include <QFont>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "emitter/pictures/layered_layout.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

enum class GraphKind : std::uint8_t { computation, fused };

/// Widths of a font's characters, taken on the window's thread, where fonts may be asked.
struct TextMeasure {
  std::array<double, 128> advance{};
  double other = 0;
  double line = 0;
  TextMeasure() = default;
  explicit TextMeasure(const QFont& font);
  [[nodiscard]] double width(const QString& text) const;
};

struct GraphWish {
  GraphKind kind = GraphKind::fused;
  std::set<StepId> flipped;  ///< steps that are open where the others are closed, or the other way round
  TextMeasure title, text;
  Units units;
  friend bool operator==(const GraphWish& a, const GraphWish& b) {
    return a.kind == b.kind && a.flipped == b.flipped && a.units == b.units;
  }
};

/// Networks of more operators open with their groups closed.
constexpr std::size_t max_operators_open = 300;

struct GraphNode {
  enum class Kind : std::uint8_t { op, group, end } kind = Kind::op;
  Subject subject;             ///< what it stands for; the network for inputs and outputs
  std::optional<StepId> step;  ///< fused operator that colours it
  std::optional<int> around;   ///< box it lies in; boxes come before what is inside
  bool open = false;           ///< a group that shows its operators
  QRectF rect;                 ///< once laid out
  int column = 0;              ///< of a folded picture
  QStringList lines;           ///< the first is its title
  QStringList names;           ///< what a search looks at, each by itself: kind, names, shape, template
  QString tip;
};

struct GraphEdge {
  std::vector<QPointF> path;  ///< Bézier control points, 1 + 3 n
  int from = 0, to = 0;       ///< nodes
  QString name, bytes;        ///< of its tensor; the label's two lines
  bool labelled = false;
  QRectF label;
  double width = 1;
  QString tip;
};

struct GraphPicture {
  GraphKind kind = GraphKind::fused;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  QRectF bounds;
  bool by_dot = false;
  /// The node that stands for a subject: an operator's own, or the group's it is closed in. -1 without one.
  [[nodiscard]] int find(const Subject& subject) const;
};
using PicturePtr = std::shared_ptr<const GraphPicture>;

struct GraphSketch {
  GraphPicture picture;      ///< nodes inside boxes already have rectangles, relative to their box
  LayoutInput input;         ///< what is to be laid out: the outermost nodes
  std::vector<int> node_of;  ///< picture's node of an input's node
  std::vector<int> edge_of;  ///< picture's edge of an input's edge
};

/// Nothing when stopped.
std::optional<GraphSketch> sketch_graph(const LoadedPlan& plan, const GraphWish& wish, std::stop_token stop = {});
/// Folded where it would be too long.
PicturePtr finish_picture(const GraphSketch& sketch, const LayoutResult& layout, bool by_dot);

/// True if groups show their operators unless they are flipped.
bool opens_groups(const LoadedPlan& plan);

}  // namespace stowage::inspector
