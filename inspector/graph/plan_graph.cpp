// SPDX-License-Identifier: Apache-2.0
#include "inspector/graph/plan_graph.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/id_vector.h"
#include "core/index.h"
#include "core/number_text.h"
#include "emitter/pictures/dot_graph.h"
#include "inspector/graph/fold_layout.h"
#include "inspector/look/look.h"
#include "inspector/state/background.h"
#include "lowering/model/ldm_room.h"

namespace stowage::inspector {

namespace {

constexpr double padding = 8;
constexpr int longest_name = 26;

QString shortened(const std::string& name) {
  const QString text = qt(name);
  if (text.size() <= longest_name) return text;
  return text.left(longest_name / 2) + QStringLiteral("…") + text.right(longest_name / 2 - 1);
}

QString shape_of(const GraphTensor& tensor) { return qt(extents_text({tensor.shape.begin(), tensor.shape.end()})); }

QString tensor_text(const GraphTensor& tensor, Units units) {
  return qt(tensor.name) + QStringLiteral("  ") + shape_of(tensor) + QStringLiteral("  ") +
         size_text(tensor_bytes(tensor), units);
}

/// Wider for more bytes, in three decades from 1 KiB.
double line_width(std::int64_t bytes) {
  return 1 + std::clamp(std::log10(std::max(1.0, static_cast<double>(bytes) / 1024)), 0.0, 4.0) * 0.7;
}

class Sketcher {
 public:
  Sketcher(const LoadedPlan& plan, const GraphWish& wish, std::stop_token stop)
      : plan_(plan), graph_(plan.graph()), wish_(wish), stop_(std::move(stop)) {
    sketch_.picture.kind = wish.kind;
    node_of_op_.assign(graph_.operators().size(), std::nullopt);
    for (const StepFacts& step : plan.steps) all_cycles_ += step.cycles;
  }

  std::optional<GraphSketch> make() {
    add_ends(true);
    if (wish_.kind == GraphKind::computation) {
      for (std::size_t i = 0; i < graph_.operators().size(); ++i) add_outer(op_node(OpId(i)));
    } else {
      for (const StepId step : plan_.steps.ids()) {
        if (stop_.stop_requested()) return std::nullopt;
        add_group(step);
      }
    }
    add_ends(false);
    if (stop_.stop_requested()) return std::nullopt;
    add_outer_edges();
    return std::move(sketch_);
  }

 private:
  [[nodiscard]] LayoutNode size_of(const GraphNode& node) const {
    double width = 40;
    double height = 2 * padding - 4;
    for (qsizetype i = 0; i < node.lines.size(); ++i) {
      const TextMeasure& font = i == 0 ? wish_.title : wish_.text;
      width = std::max(width, font.width(node.lines[i]) + 2 * padding + 4);
      height += font.line;
    }
    return {std::ceil(width), std::ceil(height)};
  }

  int add_node(GraphNode node) {
    sketch_.picture.nodes.push_back(std::move(node));
    return static_cast<int>(sketch_.picture.nodes.size()) - 1;
  }

  void add_outer(GraphNode node) {
    const LayoutNode size = size_of(node);
    const int index = add_node(std::move(node));
    add_outer(index, size);
  }

  void add_outer(int index, LayoutNode size) {
    if (const Subject& subject = sketch_.picture.nodes[at(index)].subject; subject.op) node_of_op_[*subject.op] = index;
    outer_of_[index] = static_cast<int>(sketch_.input.nodes.size());
    sketch_.node_of.push_back(index);
    sketch_.input.nodes.push_back(size);
  }

  void add_ends(bool inputs) {
    for (const TensorId id : inputs ? graph_.inputs() : graph_.outputs()) {
      const GraphTensor& tensor = graph_.tensor(id);
      GraphNode node;
      node.kind = GraphNode::Kind::end;
      node.lines = {inputs ? QStringLiteral("input") : QStringLiteral("output"), shortened(tensor.name),
                    shape_of(tensor)};
      node.names = {qt(tensor.name), shape_of(tensor)};
      node.tip = node.lines[0] + QLatin1Char(' ') + tensor_text(tensor, wish_.units);
      (inputs ? input_node_ : output_node_)[id] = static_cast<int>(sketch_.picture.nodes.size());
      add_outer(std::move(node));
    }
  }

  [[nodiscard]] GraphNode op_node(OpId id) const {
    const Operator& op = graph_.op(id);
    const GraphTensor& output = graph_.tensor(op.first_output());
    GraphNode node;
    node.step = plan_.step_of_operator[id];
    node.subject = op_subject(node.step, id);
    node.lines = {qt(op.kind), shortened(op.name), shape_of(output)};
    node.names = {qt(op.kind), qt(op.name), node.lines[2]};
    node.tip = qt(op.kind) + QLatin1Char(' ') + qt(op.name);
    for (const TensorId id_of_output : outputs_of(op)) {
      node.tip += QStringLiteral("\noutput ") + tensor_text(graph_.tensor(id_of_output), wish_.units);
    }
    for (const auto& input : op.inputs) {
      if (!input) continue;
      const GraphTensor& tensor = graph_.tensor(*input);
      node.tip += (tensor.constant ? QStringLiteral("\nparameter ") : QStringLiteral("\ninput ")) +
                  tensor_text(tensor, wish_.units);
    }
    if (const StepFacts* step = plan_.step(node.step)) {
      node.tip += QStringLiteral("\nin fused operator ") + qt(step->step->group.name) + QStringLiteral(" (template ") +
                  qt(step->step->group.template_name) + QLatin1Char(')');
    }
    return node;
  }

  [[nodiscard]] GraphNode group_node(StepId index) const {
    const StepFacts& step = plan_.steps[index];
    const FusedOperator& group = step.step->group;
    GraphNode node;
    node.kind = GraphNode::Kind::group;
    node.step = index;
    node.subject = step_subject(index);
    node.lines = {shortened(group.name)};
    node.names = {qt(group.name)};
    node.tip = format("step {}: {} (template {})", index.index(), group.name, group.template_name);
    if (step.step->step_plan() == nullptr) {
      node.lines.push_back(QStringLiteral("a view: no kernel"));
    } else if (step.plan == nullptr) {
      node.lines.push_back(qt(step.step->kind().by) + QStringLiteral(", ") +
                           full_time_text(step.cycles, plan_.program().target.clock_hz, wish_.units));
    } else {
      const double share = all_cycles_ > 0 ? static_cast<double>(step.cycles) / static_cast<double>(all_cycles_) : 0;
      const QString time = full_time_text(step.cycles, plan_.program().target.clock_hz, wish_.units);
      node.lines.push_back(time + QStringLiteral(" (") + percent_text(share) + QStringLiteral("), DMA ") +
                           size_text(step.dma.bytes, wish_.units));
      node.tip += QStringLiteral("\ntime ") + time + QStringLiteral(", ") + percent_text(share) +
                  QStringLiteral(" of the network\nDMA ") + size_text(step.dma.bytes, wish_.units) +
                  QStringLiteral(" over all cores\nLDM peak ") + size_text(step.plan->nest.ldm_bytes, wish_.units) +
                  QStringLiteral(" of ") +
                  size_text(ldm_for_buffers(step.plan->nest, plan_.program().target), wish_.units);
    }
    QStringList kinds;
    for (const OpId op : group.operators) {
      kinds.push_back(qt(graph_.op(op).kind));
      node.names.push_back(qt(graph_.op(op).name));
      node.tip += QLatin1Char('\n') + kinds.back() + QLatin1Char(' ') + qt(graph_.op(op).name);
    }
    const auto count = kinds.size();
    node.names << kinds << qt(group.template_name);
    if (count > 4) kinds = kinds.mid(0, 3) << format("{} more", count - 3);
    node.lines.push_back(kinds.join(QStringLiteral(" + ")));
    return node;
  }

  [[nodiscard]] LayoutEdge labelled(LayoutEdge edge, TensorId id) const {
    const GraphTensor& tensor = graph_.tensor(id);
    edge.bundle = static_cast<int>(id.index());
    edge.label_width = std::max(wish_.text.width(shortened(tensor.name)),
                                wish_.text.width(size_text(tensor_bytes(tensor), wish_.units))) +
                       6;
    edge.label_height = 2 * wish_.text.line;
    return edge;
  }

  [[nodiscard]] GraphEdge picture_edge(TensorId id, int from, int to) const {
    const GraphTensor& tensor = graph_.tensor(id);
    GraphEdge edge;
    edge.from = from;
    edge.to = to;
    edge.name = shortened(tensor.name);
    edge.bytes = size_text(tensor_bytes(tensor), wish_.units);
    edge.width = line_width(tensor_bytes(tensor));
    edge.tip = tensor_text(tensor, wish_.units);
    return edge;
  }

  /// A group, closed or as a box around a layout of its own. Tensors from outside come in at pins of its upper side.
  void add_group(StepId index) {
    const FusedOperator& group = plan_.steps[index].step->group;
    GraphNode node = group_node(index);
    node.open = opens_groups(plan_) != wish_.flipped.contains(index);
    if (!node.open || group.operators.size() < 2) {
      node.open = false;
      const int box = static_cast<int>(sketch_.picture.nodes.size());
      add_outer(std::move(node));
      for (const OpId op : group.operators) node_of_op_[op] = box;
      return;
    }
    node.lines.pop_back();  // the operators are there to be seen
    const LayoutNode header = size_of(node);
    const int box = add_node(std::move(node));
    LayoutInput inner;
    std::vector<int> members;
    for (const OpId op : group.operators) {
      GraphNode member = op_node(op);
      member.around = box;
      inner.nodes.push_back(size_of(member));
      members.push_back(add_node(std::move(member)));
      node_of_op_[op] = members.back();
    }
    const auto member_of = [&](OpId op) {
      const auto found = std::find(group.operators.begin(), group.operators.end(), op);
      return found == group.operators.end() ? -1 : static_cast<int>(found - group.operators.begin());
    };
    std::map<TensorId, int> pins;
    struct Line {
      TensorId tensor;
      int from, to;
    };
    std::vector<Line> lines;
    for (std::size_t m = 0; m < group.operators.size(); ++m) {
      std::set<TensorId> read;
      for (const auto& input : graph_.op(group.operators[m]).inputs) {
        if (!input || graph_.tensor(*input).constant || !read.insert(*input).second) continue;
        const auto producer = graph_.tensor(*input).producer;
        int from = producer ? member_of(*producer) : -1;
        const bool inside = from >= 0;
        if (!inside) {
          const auto [pin, fresh] = pins.emplace(*input, static_cast<int>(inner.nodes.size()));
          if (fresh) inner.nodes.push_back({});
          from = pin->second;
        }
        LayoutEdge edge{from, static_cast<int>(m), static_cast<int>(input->index())};
        inner.edges.push_back(inside ? labelled(edge, *input) : edge);
        lines.push_back({*input, inside ? members[at(from)] : box, members[m]});
      }
    }
    const LayoutResult layout = *layered_layout(inner);
    const double width = std::max(header.width, layout.width + 2 * padding);
    const QPointF origin((width - layout.width) / 2, header.height);
    for (std::size_t m = 0; m < members.size(); ++m) {
      const LayoutPoint& laid_out = layout.nodes[m];
      sketch_.picture.nodes[at(members[m])].rect =
          QRectF(laid_out.x + origin.x(), laid_out.y + origin.y(), inner.nodes[m].width, inner.nodes[m].height);
    }
    for (const auto& [tensor, pin] : pins) pin_of_[{box, tensor}] = layout.nodes[at(pin)].x + origin.x();
    for (std::size_t e = 0; e < lines.size(); ++e) {
      GraphEdge edge = picture_edge(lines[e].tensor, lines[e].from, lines[e].to);
      for (const LayoutPoint& point : layout.edges[e]) edge.path.push_back(origin + QPointF(point.x, point.y));
      // From the edge of the box to the pin below its heading.
      if (lines[e].from == box) {
        const QPointF pin = edge.path.front();
        const QPointF top(pin.x(), 0);
        edge.path.insert(edge.path.begin(), {top, top, pin});
      }
      edge.labelled =
          inner.edges[e].label_width > 0 && !std::exchange(labelled_[{lines[e].from, lines[e].tensor}], true);
      const QPointF middle = origin + QPointF(layout.labels[e].x, layout.labels[e].y);
      edge.label = QRectF(0, 0, inner.edges[e].label_width, inner.edges[e].label_height);
      edge.label.moveCenter(middle);
      sketch_.picture.edges.push_back(std::move(edge));
    }
    sketch_.picture.nodes[at(box)].rect = QRectF(0, 0, width, header.height + layout.height + padding);
    add_outer(box, {width, header.height + layout.height + padding});
  }

  [[nodiscard]] int outermost(int node) const { return sketch_.picture.nodes[at(node)].around.value_or(node); }

  void add_outer_edge(TensorId tensor, int from, int to) {
    const int outer_from = outermost(from);
    const int outer_to = outermost(to);
    if (outer_from == outer_to || !drawn_.insert({tensor, {outer_from, outer_to}}).second) return;
    LayoutEdge edge{outer_of_.at(outer_from), outer_of_.at(outer_to)};
    if (from != outer_from) {
      const QRectF& rect = sketch_.picture.nodes[at(from)].rect;
      edge.from_port = rect.center().x();
    }
    if (const auto pin = pin_of_.find({outer_to, tensor}); pin != pin_of_.end()) edge.to_port = pin->second;
    sketch_.edge_of.push_back(static_cast<int>(sketch_.picture.edges.size()));
    sketch_.input.edges.push_back(labelled(edge, tensor));
    GraphEdge line = picture_edge(tensor, from, outer_to);
    line.labelled = !std::exchange(labelled_[{outer_from, tensor}], true);
    sketch_.picture.edges.push_back(std::move(line));
  }

  void add_outer_edges() {
    const auto source_of = [&](TensorId id) -> std::optional<int> {
      const GraphTensor& tensor = graph_.tensor(id);
      if (tensor.producer) return node_of_op_[*tensor.producer];
      const auto input = input_node_.find(id);
      return input == input_node_.end() ? std::nullopt : std::optional(input->second);
    };
    for (const OpId op : node_of_op_.ids()) {
      for (const auto& input : graph_.op(op).inputs) {
        if (!input) continue;
        if (const auto from = source_of(*input); from && node_of_op_[op]) {
          add_outer_edge(*input, *from, *node_of_op_[op]);
        }
      }
    }
    for (const auto& [tensor, node] : output_node_) {
      if (const auto from = source_of(tensor)) add_outer_edge(tensor, *from, node);
    }
  }

  const LoadedPlan& plan_;
  const Graph& graph_;
  const GraphWish& wish_;
  std::stop_token stop_;
  GraphSketch sketch_;
  std::int64_t all_cycles_ = 0;
  IdVector<OpId, std::optional<int>> node_of_op_;
  std::map<TensorId, int> input_node_, output_node_;
  std::map<int, int> outer_of_;
  std::map<std::pair<int, TensorId>, double> pin_of_;
  std::map<std::pair<int, TensorId>, bool> labelled_;
  std::set<std::pair<TensorId, std::pair<int, int>>> drawn_;
};

}  // namespace

TextMeasure::TextMeasure(const QFont& font) {
  const QFontMetricsF metrics(font);
  for (std::size_t c = 0; c < advance.size(); ++c) {
    advance[c] = c < 32 ? 0 : metrics.horizontalAdvance(QChar(static_cast<char16_t>(c)));
  }
  other = metrics.horizontalAdvance(QLatin1Char('M'));
  line = std::ceil(metrics.height());
}

double TextMeasure::width(const QString& text) const {
  double sum = 0;
  for (const QChar c : text) sum += c.unicode() < advance.size() ? advance[c.unicode()] : other;
  return sum;
}

int GraphPicture::find(const Subject& subject) const {
  if (subject == Subject{}) return -1;
  int found = -1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = nodes[i];
    if (node.kind == GraphNode::Kind::end) continue;
    if (subject.op && node.subject.op == subject.op) return static_cast<int>(i);
    if (found < 0 && subject.step && node.step == subject.step) found = static_cast<int>(i);
  }
  return found;
}

bool opens_groups(const LoadedPlan& plan) { return plan.graph().operators().size() <= max_operators_open; }

std::optional<GraphSketch> sketch_graph(const LoadedPlan& plan, const GraphWish& wish, std::stop_token stop) {
  off_window_thread("a graph was laid out");
  return Sketcher(plan, wish, std::move(stop)).make();
}

PicturePtr finish_picture(const GraphSketch& sketch, const LayoutResult& unfolded, bool by_dot) {
  auto picture = std::make_shared<GraphPicture>(sketch.picture);
  const std::optional<LayoutResult> fold = folded(sketch.input, unfolded);
  const LayoutResult& layout = fold ? *fold : unfolded;
  picture->by_dot = by_dot;
  for (std::size_t i = 0; i < sketch.node_of.size(); ++i) {
    const LayoutNode& size = sketch.input.nodes[i];
    GraphNode& node = picture->nodes[at(sketch.node_of[i])];
    node.rect = QRectF(layout.nodes[i].x, layout.nodes[i].y, size.width, size.height);
    if (!layout.columns.empty()) node.column = layout.columns[i];
  }
  std::vector<bool> outer(picture->edges.size(), false);
  for (std::size_t e = 0; e < sketch.edge_of.size(); ++e) {
    GraphEdge& edge = picture->edges[at(sketch.edge_of[e])];
    outer[at(sketch.edge_of[e])] = true;
    for (const LayoutPoint& point : layout.edges[e]) edge.path.emplace_back(point.x, point.y);
    const GraphNode& source = picture->nodes[at(edge.from)];
    if (source.around) {  // from the operator down to the edge of its box, whose corner is laid out already
      const QPointF corner = picture->nodes[at(*source.around)].rect.topLeft();
      const QPointF start = QPointF(source.rect.center().x(), source.rect.bottom()) + corner;
      edge.path.insert(edge.path.begin(), {start, start, edge.path.front()});
    }
    edge.label = QRectF(0, 0, sketch.input.edges[e].label_width, sketch.input.edges[e].label_height);
    edge.label.moveCenter({layout.labels[e].x, layout.labels[e].y});
  }
  for (GraphNode& node : picture->nodes) {
    if (node.around) node.rect.translate(picture->nodes[at(*node.around)].rect.topLeft());
  }
  for (std::size_t e = 0; e < picture->edges.size(); ++e) {
    if (outer[e]) continue;
    GraphEdge& edge = picture->edges[e];
    const GraphNode& target = picture->nodes[at(edge.to)];  // lies in the box whose corner the edge is told from
    const QPointF corner = picture->nodes[at(target.around.value())].rect.topLeft();
    for (QPointF& point : edge.path) point += corner;
    edge.label.translate(corner);
  }
  QRectF bounds;
  for (const GraphNode& node : picture->nodes) bounds |= node.rect;
  for (const GraphEdge& edge : picture->edges) {
    for (const QPointF& point : edge.path) bounds |= QRectF(point, QSizeF(0.1, 0.1));
    if (edge.labelled) bounds |= edge.label;
  }
  picture->bounds = bounds;
  return picture;
}

}  // namespace stowage::inspector
