// SPDX-License-Identifier: Apache-2.0
// Shows a GraphPicture: pans, zooms, paints only what is in sight and only as much of it as can be seen at that scale.
// Keys: arrows go to neighbours, Shift+arrows pan, + and - zoom, F fits, 1 is 100 %, Enter opens or closes a group.
#pragma once

#include <QPixmap>
#include <QWidget>

#include "inspector/graph/graph_colours.h"
#include "inspector/graph/plan_graph.h"

namespace stowage::inspector {

class GraphView : public QWidget {
  Q_OBJECT
 public:
  /// Below this scale nodes are drawn without their text.
  static constexpr double text_scale = 0.5;

  explicit GraphView(const Look& look, QWidget* parent = nullptr);

  /// A new picture of the same kind keeps the scale and what stands in the middle.
  void setPicture(PicturePtr picture, bool keep_sight);
  void setColours(IdVector<StepId, NodeColour> colours);
  void setLit(const Subject& chosen, const Subject& hovered);
  /// Nodes to be lit because a search found them.
  void setMatches(std::vector<int> nodes, int current);
  [[nodiscard]] const PicturePtr& picture() const { return picture_; }

  void fit();
  /// Where a picture opens: all of it if that can be read, else what is chosen at a scale that can.
  void start();
  /// 100 %, around what is chosen.
  void setActualSize();
  void zoomBy(double factor, QPointF around);
  /// Moves as little as needed to have the node in sight.
  void reveal(int node);
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] QPointF toPicture(QPointF position) const { return (position - origin_) / scale_; }
  [[nodiscard]] QPointF fromPicture(QPointF point) const { return point * scale_ + origin_; }
  [[nodiscard]] int nodeAt(QPointF position) const;
  void panBy(QPointF way);
  /// Where the map of the whole picture stands; empty where all of it is in sight.
  [[nodiscard]] QRectF minimapRect() const;
  /// What the map leaves of the view: the picture is seen in it, and nowhere else.
  [[nodiscard]] QRectF room() const;
  /// The whole picture at 100 %, from (0, 0), for export.
  void paintAll(QPainter& painter);

 Q_SIGNALS:
  void chosen(const Subject& subject);
  void hovered(const Subject& subject);
  void flipped(StepId step);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void index();
  void paintGraph(QPainter& painter, const QRectF& sight, double scale);
  void paintEdges(QPainter& painter, const std::vector<int>& edges, double scale);
  void paintNode(QPainter& painter, int node, double scale);
  void paintText(QPainter& painter, int node, double scale);
  void paintMinimap(QPainter& painter);
  void lookAtMinimap(QPointF position);
  void collect(const QRectF& sight, std::vector<int>& nodes, std::vector<int>& edges);
  void step(QPointF direction);
  [[nodiscard]] int acrossFold(bool onwards) const;
  void clampSight();
  [[nodiscard]] NodeColour colourOf(const GraphNode& node) const;

  const Look& look_;
  PicturePtr picture_;
  IdVector<StepId, NodeColour> colours_;
  Subject chosen_, hovered_;
  int chosen_node_ = -1;
  std::vector<int> matches_;
  std::vector<bool> is_match_;
  int current_match_ = -1;
  double scale_ = 1;
  QPointF origin_;
  enum class Sight : std::uint8_t { start, fitted, free } sight_ = Sight::start;  ///< what a new size keeps

  // A grid over the picture: which nodes and edges reach into a cell.
  int columns_ = 0, rows_ = 0;
  double cell_ = 1;
  std::vector<std::vector<int>> node_cells_, edge_cells_;
  std::vector<unsigned> node_stamp_, edge_stamp_;
  unsigned stamp_ = 0;

  QPixmap minimap_;
  bool dragging_minimap_ = false;
  bool dragging_ = false;
  bool moved_ = false;
  QPointF pressed_, last_;
};

}  // namespace stowage::inspector
