// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/ldm_map.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "driver/drawing/sheet.h"
#include "inspector/ldm/address_axis.h"
#include "inspector/ldm/buffer_states.h"
#include "lowering/model/ldm_room.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 14;

struct Frame {
  QRectF area;     ///< where the map itself is
  double top = 1;  ///< address at the upper edge
  [[nodiscard]] double y(double address) const { return area.bottom() - address / top * area.height(); }
};

/// Width of the widest address up to a size.
double size_room(std::int64_t most, const Look& look) {
  const QFontMetricsF metrics(look.smallFont());
  return std::max(metrics.horizontalAdvance(QStringLiteral("555.00 KiB")),
                  metrics.horizontalAdvance(size_text(most, look.units())));
}

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
  for (const double address : drawing::ticks(frame.top, most, true)) {
    const double y = frame.y(address);
    drawing.line({frame.area.left(), y}, {frame.area.right(), y}, look.theme().line, 0.6);
    drawing.text({left, y - metrics.height() / 2, frame.area.left() - left - 6, metrics.height()},
                 size_text(static_cast<std::int64_t>(address), look.units()), look.theme().muted, look.smallFont(),
                 Qt::AlignRight | Qt::AlignVCenter);
  }
}

/// Addresses where stretches meet, as many as have room, with lines across. The ends always have their label.
void add_addresses(Drawing& drawing, const QRectF& area, const AddressAxis& axis, const Look& look, double left) {
  const QFontMetricsF metrics(look.smallFont());
  const double height = metrics.height();
  std::vector<std::int64_t> shown = {axis.ends().front(), axis.ends().back()};
  std::vector<std::int64_t> wanted;
  if (axis.to_scale()) {
    const int most = std::max(2, static_cast<int>(area.height() / (height * 2.5)));
    for (const double tick : drawing::ticks(static_cast<double>(axis.ends().back()), most, true)) {
      wanted.push_back(static_cast<std::int64_t>(tick));
    }
  } else {
    wanted = axis.ends();
  }
  for (const std::int64_t address : wanted) {
    const double y = axis.y(static_cast<double>(address));
    drawing.line({area.left(), y}, {area.right(), y}, look.theme().line, 0.6);
    const bool free = std::none_of(shown.begin(), shown.end(), [&](std::int64_t other) {
      return std::abs(axis.y(static_cast<double>(other)) - y) < height;
    });
    if (free) shown.push_back(address);
  }
  for (const std::int64_t address : shown) {
    const double y = axis.y(static_cast<double>(address));
    drawing.text({left, y - height / 2, area.left() - left - 6, height}, size_text(address, look.units()),
                 look.theme().muted, look.smallFont(), Qt::AlignRight | Qt::AlignVCenter);
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
QString span_tip(const StepFacts& step, const BufferTimeline& timeline, const BufferSpan& span, Units units) {
  const Buffer& buffer = step.plan->nest.buffers[static_cast<std::size_t>(span.buffer)];
  return format("{}: {} of {}\n{} at address {} to {}\n{} from statement {} to {}", buffer.name,
                extents_text(buffer.extents), tensor_of_buffer(step.plan->nest, span.buffer),
                size_text(buffer.bytes(), units).toStdString(), buffer.offset, buffer.offset + buffer.bytes(),
                name_of(span.state).toStdString(), timeline.columns[static_cast<std::size_t>(span.first)],
                timeline.columns[static_cast<std::size_t>(span.last)]);
}

/// Short name of a column: "get A", "wait A", "fill C", "compute".
QString column_label(const LoadedPlan& plan, int step, int statement) {
  QString label = qt(describe(plan, statement_place(step, statement)));
  label.replace(QStringLiteral("wait for "), QStringLiteral("wait "));
  return label;
}

/// A loop or condition in as many words as fit: "for ko < 16 of k", "for ko", "ko".
QString bracket_text(const LoadedPlan& plan, int step, int statement, const QFontMetricsF& metrics, double width) {
  const QString full = qt(statement_text(*plan.step(step), statement));
  const QString shorter = qt(describe(plan, statement_place(step, statement)));
  const QString least = shorter.startsWith(QLatin1String("for ")) ? shorter.mid(4) : shorter;
  for (const QString& text : {full, shorter}) {
    if (metrics.horizontalAdvance(text) <= width) return text;
  }
  return least;
}

/// The tensors in whose memory a group reads and writes: what it uses, or what that lies inside of.
std::vector<TensorId> storages_of(const FusedOperator& group, const MemoryMap& memory) {
  std::vector<TensorId> storages = results_of(group);
  storages.insert(storages.end(), group.inputs.begin(), group.inputs.end());
  for (TensorId& tensor : storages) {
    const MemoryPlace* place = memory.find(tensor);
    if (place != nullptr && place->shares_with) tensor = *place->shares_with;
  }
  return storages;
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

  const std::int64_t available = ldm_for_buffers(nest, target);
  double y =
      add_title(drawing, look, width, format("LDM of one core: {}", step->step->group.name),
                format("peak {} of {} ({:.0f} %), free {}", size_text(nest.ldm_bytes, look.units()).toStdString(),
                       size_text(available, look.units()).toStdString(),
                       100.0 * static_cast<double>(nest.ldm_bytes) / static_cast<double>(available),
                       size_text(available - nest.ldm_bytes, look.units()).toStdString()));
  std::vector<LegendEntry> legend = state_legend(theme);
  legend.push_back({QStringLiteral("free"), theme.base});
  if (available < target.ldm_bytes) {
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
  const auto buffer_number = [&](int b) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(b)];
    QString label = format(" · {}", size_text(buffer.bytes(), look.units()).toStdString());
    if (buffer.slots > 1) label += format(" · {} slots", buffer.slots);
    return label;
  };
  for (const int b : order) {
    label_width = std::max(label_width, small.horizontalAdvance(qt(tensor_of_buffer(nest, b)) + buffer_number(b)));
  }
  label_width = std::min(label_width + 4, width * 0.32);

  double column_text = 0;
  for (const int id : timeline.columns) {
    column_text = std::max(column_text, small.horizontalAdvance(column_label(plan, index, id)));
  }
  column_text = std::min(column_text + 8, 320.0);  // longer names are told by their tips
  const double left = margin + size_room(target.ldm_bytes, look) + 8;
  const double map_top = y + depth * row + 4;
  const double least = std::max(row * static_cast<double>(order.size()) + 8, 110.0);
  const double height = room.height() - map_top - row - margin;  // for the map and the names below it
  // Names give way in their middle before they run out of a room that is too low for all of them.
  constexpr double least_text = 72;
  if (room.height() > 0) column_text = std::min(column_text, std::max(least_text, height - least));
  const double wanted = std::max(height - column_text, least);
  const QRectF area(left, map_top, width - left - margin - label_width - 24, wanted);
  std::vector<AddressAxis::Piece> pieces;
  for (const Buffer& buffer : nest.buffers) pieces.push_back({buffer.offset, buffer.offset + buffer.bytes()});
  pieces.push_back({available, target.ldm_bytes, true});
  const AddressAxis axis(target.ldm_bytes, pieces, area.top(), area.bottom(), row);
  const double column_width = area.width() / std::max<double>(1, static_cast<double>(timeline.columns.size()));
  const auto x = [&](int column) { return area.left() + column_width * column; };

  drawing.rect(area, theme.base, theme.line);
  add_addresses(drawing, area, axis, look, 2);
  if (available < target.ldm_bytes) {
    const double edge = axis.y(static_cast<double>(available));
    Mark& reserved = drawing.rect({area.left(), area.top(), area.width(), edge - area.top()}, theme.raised, theme.line);
    reserved.pattern = Qt::DiagCrossPattern;
    reserved.tip = format("{} are left to parameters, reply words and the stack; buffers use {}",
                          size_text(target.ldm_bytes - available, look.units()).toStdString(),
                          size_text(available, look.units()).toStdString());
  }
  for (const Bracket& bracket : timeline.brackets) {
    const QRectF bar(x(bracket.first) + 1, y + bracket.depth * row, x(bracket.last + 1) - x(bracket.first) - 2,
                     row - 3);
    Mark& mark = drawing.rect(bar, theme.raised, theme.line);
    mark.place = statement_place(index, bracket.statement);
    mark.radius = 3;
    mark.tip = qt(statement_text(*step, bracket.statement));
    const QRectF inner = bar.adjusted(4, 0, -2, 0);
    drawing.text(inner, bracket_text(plan, index, bracket.statement, small, inner.width()), theme.text,
                 look.smallFont());
  }
  for (const BufferSpan& span : timeline.spans) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(span.buffer)];
    const double top = axis.y(static_cast<double>(buffer.offset + buffer.bytes()));
    const double bottom = axis.y(static_cast<double>(buffer.offset));
    Mark& mark = drawing.rect({x(span.first), top, x(span.last + 1) - x(span.first), bottom - top},
                              theme.state(span.state), theme.line);
    mark.pattern = theme.pattern(span.state);
    mark.place = buffer_place(index, span.buffer);
    mark.tip = span_tip(*step, timeline, span, look.units());
  }
  // Peak and capacity.
  const double peak = axis.y(static_cast<double>(nest.ldm_bytes));
  Mark& peak_line = drawing.line({area.left(), peak}, {area.right(), peak}, theme.text, 1);
  peak_line.pen = Qt::DotLine;
  const double capacity = axis.y(static_cast<double>(available));
  drawing.line({area.left(), capacity}, {area.right(), capacity}, theme.error, 2);
  const QString capacity_text = format("capacity {}", size_text(available, look.units()).toStdString());
  const double capacity_room = small.horizontalAdvance(capacity_text) + 6;
  if (peak - capacity > row) {
    drawing.text({area.right() - capacity_room, capacity + 1, capacity_room - 4, row - 2}, capacity_text, theme.error,
                 look.smallFont(), Qt::AlignRight | Qt::AlignVCenter);
    if (peak - capacity > 2 * row) {
      drawing.text({area.left() + 4, peak - row + 1, 160, row - 2},
                   format("peak {}", size_text(nest.ldm_bytes, look.units()).toStdString()), theme.muted,
                   look.smallFont());
    }
  }
  // Names at the right, each tied to its buffer.
  std::vector<double> middles;
  for (const int b : order) {
    const Buffer& buffer = nest.buffers[static_cast<std::size_t>(b)];
    middles.push_back(axis.y(static_cast<double>(buffer.offset) + static_cast<double>(buffer.bytes()) / 2));
  }
  const std::vector<double> places = spread(middles, row, area.top(), area.bottom());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double from = area.right();
    drawing.polyline({{from, middles[i]}, {from + 8, middles[i]}, {from + 18, places[i]}, {from + 22, places[i]}},
                     theme.line, 1);
    // The number is never cut; a long name gives way in its middle.
    const QString number = buffer_number(order[i]);
    const double number_width = small.horizontalAdvance(number) + 1;
    const QString name = qt(tensor_of_buffer(nest, order[i]));
    const double name_width = std::min(small.horizontalAdvance(name) + 1, std::max(20.0, label_width - number_width));
    const double name_left = from + 24;
    Mark& label = drawing.text({name_left, places[i] - row / 2, name_width, row}, name, theme.text, look.smallFont());
    label.elide = Qt::ElideMiddle;
    label.place = buffer_place(index, order[i]);
    label.tip = name + number;
    drawing.text({name_left + name_width, places[i] - row / 2, number_width, row}, number, theme.text,
                 look.smallFont());
  }
  // Statements below.
  for (std::size_t c = 0; c < timeline.columns.size(); ++c) {
    const int column = static_cast<int>(c);
    drawing.line({x(column), area.top()}, {x(column), area.bottom()}, theme.line, 0.4);
    const bool fits = column_width >= small.height();
    const int every = fits ? 1 : static_cast<int>(std::ceil(small.height() / column_width));
    if (column % every != 0) continue;
    const double wide = std::min(column_width * every, 24.0);
    Mark& label = drawing.text({x(column) + (column_width * every - wide) / 2, area.bottom() + 4, wide, column_text},
                               column_label(plan, index, timeline.columns[c]), theme.text, look.smallFont(),
                               Qt::AlignRight | Qt::AlignVCenter);
    label.upward = true;
    label.elide = Qt::ElideMiddle;
    label.place = statement_place(index, timeline.columns[c]);
    label.tip = qt(statement_text(*step, timeline.columns[c]));
  }
  const double bottom = area.bottom() + 4 + column_text;
  const QString below = axis.to_scale()
                            ? QStringLiteral("program order →")
                            : QStringLiteral("program order →   (addresses not to scale: small buffers drawn larger)");
  const double below_width = small.horizontalAdvance(below) + 2;
  const double below_left =
      std::clamp(area.center().x() - below_width / 2, 4.0, std::max(4.0, width - below_width - 4));
  drawing.text({below_left, bottom, below_width, row}, below, theme.muted, look.smallFont());
  drawing.size = QSizeF(width, bottom + row + 4);
  return drawing;
}

Drawing ldm_peaks(const LoadedPlan& plan, const Look& look, QSizeF room) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const Target& target = plan.program().target;
  const std::int64_t least_room = ldm_for_buffers(plan.program());
  const QFontMetricsF small(look.smallFont());
  const double width = std::max(room.width(), 360.0);
  const double y = add_title(drawing, look, width, QStringLiteral("LDM peak of every group"),
                             format("highest {} of {}; click a group to see its buffers",
                                    size_text(plan.totals.ldm_peak_bytes, look.units()).toStdString(),
                                    size_text(least_room, look.units()).toStdString()));
  const double left = margin + size_room(target.ldm_bytes, look) + 8;
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
    bar.tip = format("{}\npeak {} of {}", step.step->group.name,
                     size_text(step.plan->nest.ldm_bytes, look.units()).toStdString(),
                     size_text(ldm_for_buffers(step.plan->nest, target), look.units()).toStdString());
  }
  const double capacity = frame.y(static_cast<double>(least_room));
  drawing.line({frame.area.left(), capacity}, {frame.area.right(), capacity}, theme.error, 2);
  drawing.text({frame.area.right() - 200, capacity - small.height() - 2, 196, small.height()},
               format("capacity {}", size_text(least_room, look.units()).toStdString()), theme.error, look.smallFont(),
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
  double y = add_title(
      drawing, look, width, QStringLiteral("Main memory: activations"),
      format("{} for activations, {} for parameters", size_text(memory.activation_bytes, look.units()).toStdString(),
             size_text(memory.parameter_bytes, look.units()).toStdString()));
  std::vector<LegendEntry> entries = {{QStringLiteral("network input"), theme.category(5)},
                                      {QStringLiteral("between groups"), theme.category(0)},
                                      {QStringLiteral("network output"), theme.category(1)},
                                      {QStringLiteral("read or written by the chosen group"), theme.category(3)}};
  QColor band = theme.accent;
  band.setAlphaF(0.15F);
  const StepFacts* const of_place = plan.step(chosen.step);
  if (of_place != nullptr) entries.push_back({QStringLiteral("the chosen group's step"), band});
  y += add_legend(drawing, {margin, y}, width - margin, entries, theme.text, theme.line, look.smallFont()) + 6;
  const double left = margin + size_room(memory.activation_bytes, look) + 8;
  const QRectF area(left, y + 4, width - left - margin, std::max(room.height() - y - 2 * row - 14, 120.0));
  // A few tensors are all to be seen, of many those that are large.
  std::vector<AddressAxis::Piece> pieces;
  for (const MemoryPlace& place : memory.places) {
    if (place.area != MemoryPlace::Area::activations || place.shares_with || place.bytes == 0) continue;
    pieces.push_back({place.offset, place.offset + place.bytes});
  }
  constexpr std::size_t few = 12;
  const double least = pieces.size() <= few ? row : 0;
  const AddressAxis axis(std::max<std::int64_t>(1, memory.activation_bytes), pieces, area.top(), area.bottom(), least);
  drawing.rect(area, theme.base, theme.line);
  add_addresses(drawing, area, axis, look, 2);
  const auto steps = static_cast<double>(plan.steps.size());
  const double step_width = area.width() / (steps + 2);  // one column before and one behind for what lives there
  const auto x = [&](int step) { return area.left() + step_width * (step + 1); };
  const std::vector<TensorId> used =
      of_place != nullptr ? storages_of(of_place->step->group, memory) : std::vector<TensorId>();
  if (of_place != nullptr) drawing.rect({x(chosen.step), area.top(), step_width, area.height()}, band);
  for (const MemoryPlace& place : memory.places) {
    if (place.area != MemoryPlace::Area::activations || place.shares_with || place.bytes == 0) continue;
    const GraphTensor& tensor = graph.tensor(place.tensor);
    const bool of_chosen = std::find(used.begin(), used.end(), place.tensor) != used.end();
    const double top = axis.y(static_cast<double>(place.offset + place.bytes));
    const double bottom = axis.y(static_cast<double>(place.offset));
    const QRectF block(x(place.first_step), std::min(top, bottom - 2), x(place.last_step + 1) - x(place.first_step),
                       std::max(bottom - top, 2.0));
    const QColor fill = of_chosen          ? theme.category(3)
                        : tensor.is_input  ? theme.category(5)
                        : tensor.is_output ? theme.category(1)
                                           : theme.category(0);
    Mark& mark = drawing.rect(block, fill, theme.base);
    if (tensor.producer) {
      const auto op = static_cast<int>(tensor.producer->index());
      mark.place = op_place(plan.step_of_operator[static_cast<std::size_t>(op)], op);
    }
    mark.tip = format("{} {}{}\n{} at offset {}\nfrom step {} to step {}", tensor.name, name_of(tensor.type),
                      to_text(tensor.shape), size_text(place.bytes, look.units()).toStdString(), place.offset,
                      place.first_step, place.last_step);
    // A name where it says something: along the block, upright where that is the longer side.
    const QString name = qt(tensor.name);
    const bool upright = block.width() < block.height() && small.horizontalAdvance(name) > block.width();
    const double along = upright ? block.height() : block.width();
    const double across = upright ? block.width() : block.height();
    if (across < small.height() - 1 || along < std::min(small.horizontalAdvance(name), 60.0) + 6) continue;
    const double middle = upright ? std::min(block.width(), row) : 0;
    const QRectF label = upright ? QRectF(block.center().x() - middle / 2, block.top() + 3, middle, block.height() - 6)
                                 : block.adjusted(4, 0, -2, 0);
    Mark& text = drawing.text(label, name, theme.on(fill), look.smallFont(),
                              upright ? Qt::AlignHCenter | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    text.upward = upright;
    text.elide = Qt::ElideMiddle;
  }
  // Steps below, as many as have room, by number; those of a short network by name too.
  const auto column = [&](int step, const QString& text) {
    drawing.line({x(step), area.top()}, {x(step), area.bottom() + 3}, theme.line, 0.5);
    Mark& label = drawing.text({x(step) + 1, area.bottom() + 3, step_width - 2, row}, text, theme.muted,
                               look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter);
    label.elide = Qt::ElideMiddle;
    label.tip = text;
  };
  const int count = static_cast<int>(plan.steps.size());
  const double number_width = small.horizontalAdvance(QString::number(count)) + 8;
  if (step_width > small.horizontalAdvance(QStringLiteral("before")) + 8) {
    column(-1, QStringLiteral("before"));
    column(count, QStringLiteral("after"));
    for (int step = 0; step < count; ++step) {
      column(step, format("{} {}", step, plan.steps[static_cast<std::size_t>(step)].step->group.name));
    }
  } else {
    const int every = std::max(1, static_cast<int>(std::ceil(number_width / step_width)));
    for (int step = 0; step < count; step += every) {
      drawing.line({x(step), area.bottom()}, {x(step), area.bottom() + 3}, theme.muted, 0.8);
      const double middle = x(step) + step_width / 2;
      const QRectF label(middle - number_width / 2, area.bottom() + 3, number_width, row);
      if (label.right() > area.right() + 1) continue;
      drawing.text(label, QString::number(step), theme.muted, look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter);
    }
  }
  drawing.text(
      {area.left(), area.bottom() + row + 3, area.width(), row},
      axis.to_scale()
          ? QStringLiteral("steps in order of execution, from first to last use of each tensor →")
          : QStringLiteral("steps in order of execution →   (addresses not to scale: small tensors drawn larger)"),
      theme.muted, look.smallFont(), Qt::AlignHCenter | Qt::AlignVCenter);
  drawing.size = QSizeF(width, area.bottom() + 2 * row + 8);
  return drawing;
}

}  // namespace stowage::inspector
