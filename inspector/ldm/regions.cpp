// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/regions.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stowage::inspector {

namespace {

/// Values of a nest's variables while its program is walked through at one position.
class Walk {
 public:
  Walk(const LoopNest& nest, const LoopPosition& position)
      : nest_(nest), position_(position), values_(nest.variables.size()), found_(nest.buffers.size()) {
    for (const CoreAxis& axis : nest.core_grid) {
      values_[axis.variable.index()] = (position.core / axis.stride) % axis.parts;
    }
    for (const BufferId b : nest.buffers.ids()) {
      const Buffer& buffer = nest.buffers[b];
      found_[b] = {b, nest.stages.tensors[buffer.tensor].shape, {}};
    }
    run(nest.body);
  }
  [[nodiscard]] IdVector<BufferId, BufferRegion> result() && { return std::move(found_); }

 private:
  [[nodiscard]] std::int64_t value(const IndexExpr& e) const {
    return evaluate(
        e,
        [&](VarId variable) {
          const auto& known = values_[variable.index()];
          if (!known) throw std::domain_error("unbound");
          return *known;
        },
        [](ReadId) -> std::int64_t { throw std::domain_error("a value that only data gives"); });
  }

  /// What a statement touches, unless an earlier one said more exactly.
  template <class Make>
  void note(BufferId buffer, bool exact, const Make& make) {
    if (known_.empty()) known_.assign(found_.size(), Known::nothing);
    const Known now = passed_over_ ? Known::passed_over : exact ? Known::exactly : Known::roughly;
    if (known_[buffer] >= now) return;
    try {
      found_[buffer].extents = make();
      if (passed_over_ && !found_[buffer].extents->empty()) found_[buffer].extents->front().size = 0;
      known_[buffer] = now;
    } catch (const std::domain_error&) {  // depends on data
    }
  }

  void note_box(BufferId buffer) {
    note(buffer, false, [&] {
      const Buffer& held = nest_.buffers[buffer];
      const std::vector<std::int64_t>& shape = found_[buffer].shape;
      std::vector<Extent> extents;
      for (std::size_t d = 0; d < held.extents.size(); ++d) {
        const std::int64_t first = value(held.origin[d]);
        const std::int64_t from = std::max<std::int64_t>(first, 0);
        const std::int64_t to = std::min(first + held.extents[d], d < shape.size() ? shape[d] : 1);
        extents.push_back({from, std::max<std::int64_t>(to - from, 0)});
      }
      return extents;
    });
  }

  void run(const Block& block) {
    for (const StmtPtr& statement : block) visit(*statement);
  }

  void visit(const Stmt& statement) {
    if (const auto* loop = std::get_if<Loop>(&statement.node)) {
      const auto wanted = position_.trips.find(statement.id);
      std::int64_t trips = 1;
      try {
        trips = value(loop->extent);
      } catch (const std::domain_error&) {
      }
      const std::int64_t trip = wanted != position_.trips.end() ? wanted->second : 0;
      values_[loop->variable.index()] = std::clamp<std::int64_t>(trip, 0, std::max<std::int64_t>(trips - 1, 0));
      run(loop->body);
    } else if (const auto* let = std::get_if<Let>(&statement.node)) {
      try {
        values_[let->variable.index()] = value(let->value);
      } catch (const std::domain_error&) {
        values_[let->variable.index()].reset();
      }
    } else if (const auto* guard = std::get_if<Guard>(&statement.node)) {
      const bool before = passed_over_;
      try {
        passed_over_ = passed_over_ || std::none_of(guard->any_positive.begin(), guard->any_positive.end(),
                                                    [&](const IndexExpr& e) { return value(e) > 0; });
      } catch (const std::domain_error&) {
      }
      run(guard->body);
      passed_over_ = before;
    } else if (const auto* dma = std::get_if<Dma>(&statement.node)) {
      note(dma->buffer, true, [&] {
        std::vector<Extent> extents;
        for (const Range& range : dma->region) {
          extents.push_back({value(range.start), std::max<std::int64_t>(value(range.extent), 0)});
        }
        return extents;
      });
    } else if (const auto* fill = std::get_if<Fill>(&statement.node)) {
      note_box(fill->buffer);
    } else if (const auto* work = std::get_if<Compute>(&statement.node)) {
      note_box(work->output_buffer);
      for (const auto& read : work->read_buffers) {
        if (read) note_box(*read);
      }
    }
  }

  enum class Known : std::uint8_t { nothing, passed_over, roughly, exactly };
  const LoopNest& nest_;
  const LoopPosition& position_;
  std::vector<std::optional<std::int64_t>> values_;
  IdVector<BufferId, BufferRegion> found_;
  IdVector<BufferId, Known> known_;
  bool passed_over_ = false;  ///< inside a guard that does not hold here
};

constexpr double regions_margin = 14;
constexpr int max_cores = 256;  ///< more outlines would be a grey area

std::string interval_text(const Extent& extent) {
  if (extent.size <= 0) return "nothing";
  if (extent.size == 1) return fmt::format("{}", extent.first);
  return fmt::format("{} to {}", extent.first, extent.first + extent.size - 1);
}

QString title_of(const LoopNest& nest, const BufferRegion& region, BufferId buffer) {
  return format("{} {}", tensor_of_buffer(nest, buffer), to_text(region.shape));
}

QString held_text(std::int64_t held, std::int64_t all, const std::string& percent, const Buffer& buffer,
                  const Look& look) {
  return format("{} of {} elements ({} %), {}", count_text(held).toStdString(), count_text(all).toStdString(), percent,
                size_text(buffer.bytes(), look.units()).toStdString());
}

QString dimension_text(std::size_t dimension, const Extent& held, std::int64_t extent) {
  return format("dim {}: {} of {}", dimension, interval_text(held), extent);
}

/// Of the texts beside a card's bars, wherever the loops are.
double widest_label(const BufferRegion& region, const Look& look) {
  const QFontMetricsF small(look.smallFont());
  double width = 0;
  for (std::size_t d = 0; d + 2 < region.shape.size(); ++d) {
    const std::int64_t extent = std::max<std::int64_t>(region.shape[d], 1);
    width = std::max(width, small.horizontalAdvance(dimension_text(d, {extent - 1, 2}, extent)) + 2);
  }
  return width;
}

/// Of all texts of a card, wherever the loops are, so that cards stay where they are while sliders move.
double widest_text(const QString& title, const BufferRegion& region, const Buffer& buffer, const Look& look) {
  const std::int64_t all = element_count(region.shape);
  const std::int64_t most = std::min(all, element_count(buffer.extents));
  const QString held = held_text(most, all, "5.55e-05", buffer, look);
  constexpr double shortest_bar = 80;
  const double label = widest_label(region, look);
  return std::max({QFontMetricsF(look.textFont()).horizontalAdvance(title) + 2,
                   QFontMetricsF(look.smallFont()).horizontalAdvance(held) + 2,
                   label > 0 ? label + shortest_bar : 0.0});
}

}  // namespace

std::int64_t BufferRegion::elements() const {
  if (!extents) return 0;
  std::int64_t count = 1;
  for (const Extent& extent : *extents) count *= extent.size;
  return count;
}

std::vector<LoopRange> loops_of(const StepFacts& step) {
  std::vector<LoopRange> loops;
  for (const StatementFacts& facts : step.statements) {
    if (facts.statement == nullptr) continue;
    const auto* loop = std::get_if<Loop>(&facts.statement->node);
    if (loop == nullptr) continue;
    const NestVariable& variable = step.plan->nest.variables[loop->variable.index()];
    loops.push_back({facts.statement->id, variable.name, std::max<std::int64_t>(variable.range.high + 1, 1)});
  }
  return loops;
}

IdVector<BufferId, BufferRegion> regions_at(const StepFacts& step, const LoopPosition& position) {
  return Walk(step.plan->nest, position).result();
}

namespace {

/// A card for every buffer: what one core holds of its tensor, and the other cores' parts as outlines.
class RegionPicture {
 public:
  RegionPicture(const StepFacts& step, std::optional<StepId> index, const LoopPosition& position, const Look& look,
                double room)
      : step_(step), index_(index), position_(position), look_(look), own_(regions_at(step, position)) {
    for (const BufferId b : own_.ids()) {
      widest_ = std::max(widest_, widest_text(title_of(nest(), own_[b], b), own_[b], nest().buffers[b], look));
    }
    width_ = std::max({room, 420.0, widest_ + 2 * regions_margin});
    for (int core = 0; core < std::min(nest().cores_used(), max_cores); ++core) {
      if (core != position.core) others_.push_back(regions_at(step, {core, position.trips}));
    }
  }

  Drawing run() {
    double y = heading();
    // Cards side by side, as many as there is room for.
    const int columns = std::clamp(static_cast<int>((width_ - regions_margin) / (widest_ + regions_margin)), 1,
                                   std::max(1, static_cast<int>(own_.size())));
    card_width_ = (width_ - regions_margin * (columns + 1)) / columns;
    double line_height = 0;
    for (const BufferId b : own_.ids()) {
      const int column = static_cast<int>(b.index()) % columns;
      if (column == 0 && b.index() > 0) {
        y += line_height + 14;
        line_height = 0;
      }
      left_ = regions_margin + column * (card_width_ + regions_margin);
      at_ = y;
      card(b);
      line_height = std::max(line_height, at_ - y);
    }
    drawing_.size = QSizeF(width_, y + line_height + 12);
    return std::move(drawing_);
  }

 private:
  [[nodiscard]] const LoopNest& nest() const { return step_.plan->nest; }
  [[nodiscard]] const Theme& theme() const { return look_.theme(); }
  [[nodiscard]] double row() const { return QFontMetricsF(look_.smallFont()).height() + 4; }

  /// Where it ends.
  double heading() {
    const int cores = nest().cores_used();
    const double title = QFontMetricsF(look_.titleFont()).height();
    drawing_.text({regions_margin, 8, width_ - 2 * regions_margin, title + 2},
                  QStringLiteral("What the buffers hold of their tensors"), theme().text, look_.titleFont());
    std::string where = cores > 1 ? fmt::format("core {} of {}", position_.core, cores) : std::string("the one core");
    for (const LoopRange& loop : loops_of(step_)) {
      const auto trip = position_.trips.find(loop.statement);
      where += fmt::format(", {} = {}", loop.name, trip != position_.trips.end() ? trip->second : 0);
    }
    double y = 10 + title;
    drawing_.text({regions_margin, y, width_ - 2 * regions_margin, row()}, qt(where), theme().muted, look_.textFont());
    y += row() + 4;
    std::vector<LegendEntry> legend = {{QStringLiteral("in this core's LDM"), theme().state(BufferState::in_use)}};
    if (cores > 1) legend.push_back({QStringLiteral("in the other cores' (outlined)"), theme().base});
    legend.push_back({QStringLiteral("tensor"), theme().raised});
    return y + 8 +
           add_legend(drawing_, {regions_margin, y}, width_ - regions_margin, legend, theme().text, theme().line,
                      look_.smallFont());
  }

  void card(BufferId b) {
    const BufferRegion& region = own_[b];
    const Buffer& buffer = nest().buffers[b];
    const std::int64_t all = std::max<std::int64_t>(element_count(region.shape), 1);
    line(b, title_of(nest(), region, b), theme().text, look_.textFont());
    if (!region.extents) {
      line(b, QStringLiteral("which part depends on data"), theme().muted, look_.smallFont());
      return;
    }
    const double share = 100.0 * static_cast<double>(region.elements()) / static_cast<double>(all);
    line(b, held_text(region.elements(), all, fmt::format("{:.3g}", share), buffer, look_), theme().muted,
         look_.smallFont());
    const std::size_t dimensions = std::min(region.extents->size(), region.shape.size());
    for (std::size_t d = 0; d + 2 < dimensions; ++d) bar(b, d);
    if (dimensions == 0) {
      line(b, QStringLiteral("one number"), theme().muted, look_.smallFont());
    } else {
      plane(b, dimensions);
    }
  }

  void line(BufferId b, const QString& text, const QColor& color, const QFont& font) {
    Mark& mark = drawing_.text({left_, at_, card_width_, row()}, text, color, font);
    mark.subject = subject_of(b);
    mark.tip = text;
    at_ += row();
  }

  [[nodiscard]] Subject subject_of(BufferId b) const { return buffer_subject(index_, b); }

  /// A dimension above the last two: the held interval filled.
  void bar(BufferId b, std::size_t d) {
    const BufferRegion& region = own_[b];
    const std::int64_t extent = std::max<std::int64_t>(region.shape[d], 1);
    if (extent == 1) return;
    const Extent& part = (*region.extents)[d];
    const double label = std::max(card_width_ * 0.45, widest_label(region, look_));
    const QRectF whole(left_, at_ + 3, card_width_ - label - 6, row() - 6);
    const double scale = whole.width() / static_cast<double>(extent);
    const auto box = [&](const Extent& held, double least) {
      return QRectF(whole.left() + scale * static_cast<double>(held.first), whole.top(),
                    std::max(scale * static_cast<double>(held.size), least), whole.height());
    };
    drawing_.rect(whole, theme().raised, theme().line);
    for (const auto& core : others_) {
      if (!core[b].extents || core[b].elements() == 0) continue;
      drawing_.rect(box((*core[b].extents)[d], 1), QColor(), theme().muted).width = 0.6;
    }
    Mark& held = drawing_.rect(box(part, 2), theme().state(BufferState::in_use), theme().text);
    held.subject = subject_of(b);
    held.tip = format("dimension {}: {} of {}", d, interval_text(part), extent);
    drawing_.text({whole.right() + 6, at_, label, row()}, dimension_text(d, part, extent), theme().muted,
                  look_.smallFont());
    at_ += row();
  }

  /// Whether another core holds something of the same slice: all dimensions but the last two meet.
  [[nodiscard]] static bool same_slice(const BufferRegion& own, const BufferRegion& other, std::size_t dimensions) {
    if (!other.extents || other.elements() == 0) return false;
    for (std::size_t d = 0; d + 2 < dimensions; ++d) {
      const Extent& a = (*own.extents)[d];
      const Extent& c = (*other.extents)[d];
      if (a.first + a.size <= c.first || c.first + c.size <= a.first) return false;
    }
    return true;
  }

  /// The last two dimensions as a rectangle, at most three times as wide or high as it is the other way.
  void plane(BufferId b, std::size_t dimensions) {
    const BufferRegion& region = own_[b];
    const auto down_of = [&](const BufferRegion& of) {
      return dimensions > 1 ? (*of.extents)[dimensions - 2] : Extent{0, 1};
    };
    const std::int64_t rows = dimensions > 1 ? std::max<std::int64_t>(region.shape[dimensions - 2], 1) : 1;
    const std::int64_t across = std::max<std::int64_t>(region.shape[dimensions - 1], 1);
    const Extent down = down_of(region);
    const Extent over = (*region.extents)[dimensions - 1];
    const double ratio = std::clamp(static_cast<double>(rows) / static_cast<double>(across), 0.08, 1.0);
    const QRectF area(left_, at_ + 4, card_width_, std::min(std::max(card_width_ * ratio, 14.0), 240.0));
    const double dx = area.width() / static_cast<double>(across);
    const double dy = area.height() / static_cast<double>(rows);
    const auto box = [&](const Extent& y_part, const Extent& x_part) {
      return QRectF(
          area.left() + dx * static_cast<double>(x_part.first), area.top() + dy * static_cast<double>(y_part.first),
          std::max(dx * static_cast<double>(x_part.size), 2.0), std::max(dy * static_cast<double>(y_part.size), 2.0));
    };
    drawing_.rect(area, theme().raised, theme().line);
    for (const auto& core : others_) {
      if (!same_slice(region, core[b], dimensions)) continue;
      drawing_.rect(box(down_of(core[b]), (*core[b].extents)[dimensions - 1]), QColor(), theme().muted).width = 0.6;
    }
    if (region.elements() > 0) {
      Mark& held = drawing_.rect(box(down, over), theme().state(BufferState::in_use), theme().text);
      held.pattern = theme().pattern(BufferState::in_use);
      held.subject = subject_of(b);
      held.tip = format("{}: rows {} of {}, columns {} of {}", tensor_of_buffer(nest(), b), interval_text(down), rows,
                        interval_text(over), across);
    }
    at_ = area.bottom() + 3;
    line(b,
         dimensions > 1 ? format("↓ {} of {}, → {} of {}", interval_text(down), rows, interval_text(over), across)
                        : format("→ {} of {}", interval_text(over), across),
         theme().muted, look_.smallFont());
  }

  const StepFacts& step_;
  std::optional<StepId> index_;
  const LoopPosition& position_;
  const Look& look_;
  IdVector<BufferId, BufferRegion> own_;                  ///< by buffer
  std::vector<IdVector<BufferId, BufferRegion>> others_;  ///< of each other core, by buffer
  double widest_ = 236;                                   ///< least width of a card
  double width_ = 0;
  double card_width_ = 0;
  double left_ = 0;  ///< of the card being drawn
  double at_ = 0;    ///< its next line
  Drawing drawing_;
};

}  // namespace

Drawing regions_drawing(const LoadedPlan& plan, std::optional<StepId> index, const LoopPosition& position,
                        const Look& look, QSizeF room) {
  const StepFacts* step = plan.step(index);
  if (step != nullptr && step->plan != nullptr) return RegionPicture(*step, index, position, look, room.width()).run();
  Drawing drawing;
  drawing.text({regions_margin, 8, 500, QFontMetricsF(look.textFont()).height() + 4},
               QStringLiteral("Choose a group to see what its buffers hold."), look.theme().muted, look.textFont());
  drawing.size = QSizeF(420, 40);
  return drawing;
}

}  // namespace stowage::inspector
