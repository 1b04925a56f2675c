// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/ldm_map.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "inspector/ldm/buffer_states.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 14;

struct Frame {
  QRectF area;     ///< where the map itself is
  double top = 1;  ///< address at the upper edge
  [[nodiscard]] double y(double address) const { return area.bottom() - address / top * area.height(); }
};

/// Title, and below it one line of numbers. Returns the height used.
double add_title(Drawing& drawing, const Look& look, double width, const QString& title, const QString& numbers) {
  const QFontMetricsF big(look.titleFont());
  const QFontMetricsF text(look.textFont());
  drawing.text({margin, 8, width - 2 * margin, big.height() + 2}, title, look.theme().text, look.titleFont());
  drawing.text({margin, 10 + big.height(), width - 2 * margin, text.height() + 2}, numbers, look.theme().muted,
               look.textFont());
  return 16 + big.height() + text.height();
}

/// Addresses at the left, with lines across.
void add_addresses(Drawing& drawing, const Frame& frame, const Look& look, double left) {
  const QFontMetricsF metrics(look.smallFont());
  const int most = std::max(2, static_cast<int>(frame.area.height() / (metrics.height() * 2.5)));
  for (const double address : ticks(frame.top, most, true)) {
    const double y = frame.y(address);
    drawing.line({frame.area.left(), y}, {frame.area.right(), y}, look.theme().line, 0.6);
    drawing.text({left, y - metrics.height() / 2, frame.area.left() - left - 6, metrics.height()},
                 size_text(static_cast<std::int64_t>(address)), look.theme().muted, look.smallFont(),
                 Qt::AlignRight | Qt::AlignVCenter);
  }
}

std::vector<LegendEntry> state_legend(const Theme& theme) {
  std::vector<LegendEntry> entries;
  for (const BufferState state :
       {BufferState::filling, BufferState::in_use, BufferState::draining, BufferState::idle}) {
    entries.push_back({name_of(state), theme.state(state), theme.pattern(state)});
  }
  return entries;
}

/// Places labels of one height at wanted middles without overlap, within [top, bottom]; same order as given.
std::vector<double> spread(const std::vector<double>& wanted, double height, double top, double bottom) {
  std::vector<double> middles = wanted;  // ascending from the bottom upwards means descending y
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const double highest = i == 0 ? bottom - height / 2 : middles[i - 1] - height;
    middles[i] = std::min(middles[i], highest);
  }
  double lowest = top + height / 2;
  for (std::size_t i = middles.size(); i-- > 0;) {
    middles[i] = std::max(middles[i], lowest);
    lowest = middles[i] + height;
  }
  return middles;
}

/// "filling from main memory", … with what the buffer is.
QString span_tip(const StepFacts& step, const BufferTimeline& timeline, const BufferSpan& span) {
  const Buffer& buffer = step.plan->nest.buffers[static_cast<std::size_t>(span.buffer)];
  return format("{}: {} of {}\n{} at address {} to {}\n{} from statement {} to {}", buffer.name,
                extents_text(buffer.extents), tensor_of_buffer(step.plan->nest, span.buffer),
                size_text(buffer.bytes()).toStdString(), buffer.offset, buffer.offset + buffer.bytes(),
                name_of(span.state).toStdString(), timeline.columns[static_cast<std::size_t>(span.first)],
                timeline.columns[static_cast<std::size_t>(span.last)]);
}

/// Short name of a column: "get A", "wait A", "fill C", "compute".
QString column_label(const LoadedPlan& plan, int step, int statement) {
  QString label = qt(describe(plan, statement_place(step, statement)));
  label.replace(QStringLiteral("wait for "), QStringLiteral("wait "));
  return label;
}

}  // namespace

Drawing ldm_map(const LoadedPlan& plan, int index, const Look& look, QSizeF room) {
  Drawing drawing;
  const StepFacts* step = plan.step(index);
  if (step == nullptr || step->plan == nullptr) return drawing;
  const Theme& theme = look.theme();
  const Target& target = plan.program().target;
  const LoopNest& nest = step->plan->nest;
  const BufferTimeline timeline = buffer_timeline(*step);
  const QFontMetricsF small(look.smallFont());
  const double row = small.height() + 4;
  const double width = std::max(room.width(), 420.0);

  const std::int64_t available = target.ldm_available();
  double y = add_title(drawing, look, width, format("LDM of one core: {}", step->step->group.name),
                       format("peak {} of {} ({:.0f} %), free {}", size_text(nest.ldm_bytes).toStdString(),
                              size_text(available).toStdString(),
                              100.0 * static_cast<double>(nest.ldm_bytes) / static_cast<double>(available),
                              size_text(available - nest.ldm_bytes).toStdString()));
  std::vector<LegendEntry> legend = state_legend(theme);
  legend.push_back({QStringLiteral("free"), theme.base});
  if (target.ldm_reserved > 0) {
    legend.push_back({QStringLiteral("reserved (stack, replies)"), theme.raised, Qt::DiagCrossPattern});
  }
  y += add_legend(drawing, {margin, y}, width - margin, legend, theme.text, theme.line, look.smallFont()) + 6;

  int depth = 0;
  for (const Bracket& bracket : timeline.brackets) depth = std::max(depth, bracket.depth + 1);
  double label_width = 0;
  std::vector<int> order;  // buffers by address
  for (std::size_t b = 0; b < nest.buffers.size(); ++b) order.push_back(static_cast<int>(b));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return nest.buffers[static_cast<std::size_t>(a)].offset < nest.buffers[static_cast<std::size_t>(b)].offset;
  });
  const auto buffer_label = [&](int b) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(b)];
    QString label = format("{} · {}", tensor_of_buffer(nest, b), size_text(buffer.bytes()).toStdString());
    if (buffer.slots > 1) label += format(" · {} slots", buffer.slots);
    return label;
  };
  for (const int b : order) label_width = std::max(label_width, small.horizontalAdvance(buffer_label(b)));
  label_width = std::min(label_width + 4, width * 0.32);

  double column_text = 0;
  for (const int id : timeline.columns) {
    column_text = std::max(column_text, small.horizontalAdvance(column_label(plan, index, id)));
  }
  column_text = std::min(column_text + 6, 130.0);
  const double left = margin + small.horizontalAdvance(QStringLiteral("65.00 KiB")) + 8;
  const double map_top = y + depth * row + 4;
  const double wanted = std::max(
      {room.height() - map_top - column_text - row - margin, row * static_cast<double>(order.size()) + 8, 160.0});
  Frame frame;
  frame.area = QRectF(left, map_top, width - left - margin - label_width - 24, wanted);
  frame.top = static_cast<double>(target.ldm_bytes);
  const double column_width = frame.area.width() / std::max<double>(1, static_cast<double>(timeline.columns.size()));
  const auto x = [&](int column) { return frame.area.left() + column_width * column; };

  drawing.rect(frame.area, theme.base, theme.line);
  add_addresses(drawing, frame, look, 2);
  if (target.ldm_reserved > 0) {
    const double edge = frame.y(static_cast<double>(available));
    Mark& reserved = drawing.rect({frame.area.left(), frame.area.top(), frame.area.width(), edge - frame.area.top()},
                                  theme.raised, theme.line);
    reserved.pattern = Qt::DiagCrossPattern;
    reserved.tip = format("{} are reserved for the stack and reply words; buffers use {}",
                          size_text(target.ldm_reserved).toStdString(), size_text(available).toStdString());
  }
  for (const Bracket& bracket : timeline.brackets) {
    const QRectF bar(x(bracket.first) + 1, y + bracket.depth * row, x(bracket.last + 1) - x(bracket.first) - 2,
                     row - 3);
    Mark& mark = drawing.rect(bar, theme.raised, theme.line);
    mark.place = statement_place(index, bracket.statement);
    mark.radius = 3;
    const QString text = qt(statement_text(*step, bracket.statement));
    mark.tip = text;
    drawing.text(bar.adjusted(4, 0, -2, 0), text, theme.text, look.smallFont());
  }
  for (const BufferSpan& span : timeline.spans) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(span.buffer)];
    const double top = frame.y(static_cast<double>(buffer.offset + buffer.bytes()));
    const double bottom = frame.y(static_cast<double>(buffer.offset));
    Mark& mark = drawing.rect(
        {x(span.first), std::min(top, bottom - 3), x(span.last + 1) - x(span.first), std::max(bottom - top, 3.0)},
        theme.state(span.state), theme.line);
    mark.pattern = theme.pattern(span.state);
    mark.place = buffer_place(index, span.buffer);
    mark.tip = span_tip(*step, timeline, span);
  }
  // Peak and capacity.
  const double peak = frame.y(static_cast<double>(nest.ldm_bytes));
  Mark& peak_line = drawing.line({frame.area.left(), peak}, {frame.area.right(), peak}, theme.text, 1);
  peak_line.pen = Qt::DotLine;
  const double capacity = frame.y(static_cast<double>(available));
  drawing.line({frame.area.left(), capacity}, {frame.area.right(), capacity}, theme.error, 2);
  const QString capacity_text = format("capacity {}", size_text(available).toStdString());
  const double capacity_room = small.horizontalAdvance(capacity_text) + 6;
  if (peak - capacity > row) {
    drawing.text({frame.area.right() - capacity_room, capacity + 1, capacity_room - 4, row - 2}, capacity_text,
                 theme.error, look.smallFont(), Qt::AlignRight | Qt::AlignVCenter);
    if (peak - capacity > 2 * row) {
      drawing.text({frame.area.left() + 4, peak - row + 1, 160, row - 2},
                   format("peak {}", size_text(nest.ldm_bytes).toStdString()), theme.muted, look.smallFont());
    }
  }
  // Names at the right, each tied to its buffer.
  std::vector<double> middles;
  for (const int b : order) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(b)];
    middles.push_back(frame.y(static_cast<double>(buffer.offset) + static_cast<double>(buffer.bytes()) / 2));
  }
  const std::vector<double> places = spread(middles, row, frame.area.top(), frame.area.bottom());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double from = frame.area.right();
    drawing.polyline({{from, middles[i]}, {from + 8, middles[i]}, {from + 18, places[i]}, {from + 22, places[i]}},
                     theme.line, 1);
    Mark& name = drawing.text({from + 24, places[i] - row / 2, label_width, row}, buffer_label(order[i]), theme.text,
                              look.smallFont());
    name.place = buffer_place(index, order[i]);
    name.tip = buffer_label(order[i]);
  }
  // Statements below.
  for (std::size_t c = 0; c < timeline.columns.size(); ++c) {
    const int column = static_cast<int>(c);
    drawing.line({x(column), frame.area.top()}, {x(column), frame.area.bottom()}, theme.line, 0.4);
    const bool fits = column_width >= small.height();
    const int every = fits ? 1 : static_cast<int>(std::ceil(small.height() / column_width));
    if (column % every != 0) continue;
    const double wide = std::min(column_width * every, 24.0);
    Mark& label =
        drawing.text({x(column) + (column_width * every - wide) / 2, frame.area.bottom() + 4, wide, column_text},
                     column_label(plan, index, timeline.columns[c]), theme.text, look.smallFont(),
                     Qt::AlignRight | Qt::AlignVCenter);
    label.upward = true;
    label.place = statement_place(index, timeline.columns[c]);
    label.tip = qt(statement_text(*step, timeline.columns[c]));
  }
  const double bottom = frame.area.bottom() + 4 + column_text;
  drawing.text({frame.area.left(), bottom, frame.area.width(), row}, QStringLiteral("program order →"), theme.muted,
               look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter);
  drawing.size = QSizeF(width, bottom + row + 4);
  return drawing;
}

Drawing ldm_peaks(const LoadedPlan& plan, const Look& look, QSizeF room) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const Target& target = plan.program().target;
  const QFontMetricsF small(look.smallFont());
  const double width = std::max(room.width(), 360.0);
  const double y = add_title(
      drawing, look, width, QStringLiteral("LDM peak of every group"),
      format("highest {} of {}; click a group to see its buffers", size_text(plan.totals.ldm_peak_bytes).toStdString(),
             size_text(target.ldm_available()).toStdString()));
  const double left = margin + small.horizontalAdvance(QStringLiteral("65.00 KiB")) + 8;
  Frame frame;
  const double top_edge = y + small.height() + 6;  // the capacity's name stands above its line
  frame.area =
      QRectF(left, top_edge, width - left - margin, std::max(room.height() - top_edge - small.height() - 12, 120.0));
  frame.top = static_cast<double>(target.ldm_bytes);
  drawing.rect(frame.area, theme.base, theme.line);
  add_addresses(drawing, frame, look, 2);
  const double step_width = frame.area.width() / std::max<double>(1, static_cast<double>(plan.steps.size()));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepFacts& step = plan.steps[i];
    if (step.plan == nullptr) continue;
    const double top = frame.y(static_cast<double>(step.plan->nest.ldm_bytes));
    Mark& bar = drawing.rect({frame.area.left() + step_width * static_cast<double>(i) + step_width * 0.1, top,
                              step_width * 0.8, frame.area.bottom() - top},
                             theme.category(2));
    bar.place = step_place(static_cast<int>(i));
    bar.tip = format("{}\npeak {} of {}", step.step->group.name, size_text(step.plan->nest.ldm_bytes).toStdString(),
                     size_text(target.ldm_available()).toStdString());
  }
  const double capacity = frame.y(static_cast<double>(target.ldm_available()));
  drawing.line({frame.area.left(), capacity}, {frame.area.right(), capacity}, theme.error, 2);
  drawing.text({frame.area.right() - 200, capacity - small.height() - 2, 196, small.height()},
               format("capacity {}", size_text(target.ldm_available()).toStdString()), theme.error, look.smallFont(),
               Qt::AlignRight | Qt::AlignVCenter);
  drawing.text({frame.area.left(), frame.area.bottom() + 4, frame.area.width(), small.height()},
               QStringLiteral("groups in order of execution →"), theme.muted, look.smallFont(),
               Qt::AlignHCenter | Qt::AlignVCenter);
  drawing.size = QSizeF(width, frame.area.bottom() + small.height() + 12);
  return drawing;
}

Drawing dram_map(const LoadedPlan& plan, const Place& chosen, const Look& look, QSizeF room) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const MemoryMap& memory = plan.program().memory;
  const Graph& graph = plan.graph();
  const QFontMetricsF small(look.smallFont());
  const double row = small.height() + 4;
  const double width = std::max(room.width(), 420.0);
  double y = add_title(drawing, look, width, QStringLiteral("Main memory: activations"),
                       format("{} for activations, {} for parameters", size_text(memory.activation_bytes).toStdString(),
                              size_text(memory.parameter_bytes).toStdString()));
  const std::vector<LegendEntry> legend = {{QStringLiteral("network input"), theme.category(5)},
                                           {QStringLiteral("between groups"), theme.category(0)},
                                           {QStringLiteral("network output"), theme.category(1)},
                                           {QStringLiteral("read or written by the chosen group"), theme.category(3)}};
  y += add_legend(drawing, {margin, y}, width - margin, legend, theme.text, theme.line, look.smallFont()) + 6;
  const double left = margin + small.horizontalAdvance(QStringLiteral("655.00 KiB")) + 8;
  Frame frame;
  frame.area = QRectF(left, y + 4, width - left - margin, std::max(room.height() - y - row - 14, 120.0));
  frame.top = std::max<double>(1, static_cast<double>(memory.activation_bytes));
  drawing.rect(frame.area, theme.base, theme.line);
  add_addresses(drawing, frame, look, 2);
  const auto steps = static_cast<double>(plan.steps.size());
  const double step_width = frame.area.width() / (steps + 2);  // one column before and one behind for what lives there
  const auto x = [&](int step) { return frame.area.left() + step_width * (step + 1); };
  if (const StepFacts* step = plan.step(chosen.step)) {
    QColor band = theme.accent;
    band.setAlphaF(0.15F);
    drawing.rect({x(chosen.step), frame.area.top(), step_width, frame.area.height()}, band);
    static_cast<void>(step);
  }
  for (const MemoryPlace& place : memory.places) {
    if (place.area != MemoryPlace::Area::activations || place.shares_with || place.bytes == 0) continue;
    const GraphTensor& tensor = graph.tensor(place.tensor);
    bool of_chosen = false;
    if (const StepFacts* step = plan.step(chosen.step)) {
      const FusedOperator& group = step->step->group;
      of_chosen = group.output == place.tensor ||
                  std::find(group.inputs.begin(), group.inputs.end(), place.tensor) != group.inputs.end();
    }
    const double top = frame.y(static_cast<double>(place.offset + place.bytes));
    const double bottom = frame.y(static_cast<double>(place.offset));
    const QRectF area(x(place.first_step), std::min(top, bottom - 2), x(place.last_step + 1) - x(place.first_step),
                      std::max(bottom - top, 2.0));
    const QColor fill = of_chosen          ? theme.category(3)
                        : tensor.is_input  ? theme.category(5)
                        : tensor.is_output ? theme.category(1)
                                           : theme.category(0);
    Mark& mark = drawing.rect(area, fill, theme.base);
    if (tensor.producer) {
      const auto op = static_cast<int>(tensor.producer->index());
      mark.place = op_place(plan.step_of_operator[static_cast<std::size_t>(op)], op);
    }
    mark.tip = format("{} {}{}\n{} at offset {}\nfrom step {} to step {}", tensor.name, name_of(tensor.type),
                      to_text(tensor.shape), size_text(place.bytes).toStdString(), place.offset, place.first_step,
                      place.last_step);
    if (area.height() >= row - 2 && area.width() > 30) {
      drawing.text(area.adjusted(4, 0, -2, 0), qt(tensor.name), theme.on(fill), look.smallFont());
    }
  }
  drawing.text({frame.area.left(), frame.area.bottom() + 4, frame.area.width(), row},
               QStringLiteral("steps in order of execution →"), theme.muted, look.smallFont(),
               Qt::AlignHCenter | Qt::AlignVCenter);
  drawing.size = QSizeF(width, frame.area.bottom() + row + 8);
  return drawing;
}

}  // namespace stowage::inspector
