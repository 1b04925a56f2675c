// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/ldm_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/drawing/address_axis.h"
#include "driver/drawing/buffer_states.h"
#include "driver/drawing/timeline_rows.h"
#include "driver/report/nest_outline.h"
#include "lowering/model/ldm_room.h"

namespace stowage::drawing {

namespace {

/// Labels of one height at wanted middles without overlap, within [top, bottom]; from the bottom upwards.
std::vector<double> spread(const std::vector<double>& wanted, double height, double top, double bottom) {
  std::vector<double> middles = wanted;
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const double lowest = i == 0 ? bottom - height / 2 : middles[i - 1] - height;
    middles[i] = std::min(middles[i], lowest);
  }
  double highest = top + height / 2;
  for (std::size_t i = middles.size(); i-- > 0;) {
    middles[i] = std::max(middles[i], highest);
    highest = middles[i] + height;
  }
  return middles;
}

/// The map of one fused operator, part by part.
class LdmPicture {
 public:
  LdmPicture(const Program& program, StepId step, const Sheet& sheet, const LdmMoment* moment, const SpannedText& text)
      : program_(program),
        step_(step),
        sheet_(sheet),
        moment_(moment),
        nest_(program.steps[step].plan()->nest),
        timeline_(buffer_timeline(nest_)),
        text_(text),
        available_(ldm_for_buffers(nest_, program.target)) {
    for (const StatementId id : timeline_.columns) columns_.push_back(column_words(id));
    const auto ids = nest_.buffers.ids();
    order_.assign(ids.begin(), ids.end());
    std::stable_sort(order_.begin(), order_.end(),
                     [&](BufferId a, BufferId b) { return buffer(a).offset < buffer(b).offset; });
  }

  Scene run() && {
    scene_.title = "LDM of one core: " + program_.steps[step_].group.name;
    scene_.width = std::max(sheet_.width, 420.0);
    double y = 8;
    y += add_title(
        scene_, sheet_, y,
        fmt::format("peak {} of {} ({:.0f} %), free {}", sheet_.size(nest_.ldm_bytes), sheet_.size(available_),
                    100.0 * static_cast<double>(nest_.ldm_bytes) / static_cast<double>(available_),
                    sheet_.size(available_ - nest_.ldm_bytes)));
    y += add_legend(scene_, sheet_, y, legend()) + 6;
    set_area(y);
    const AddressAxis axis = address_axis();
    scene_.box(area_, Ink::base, Ink::line);
    add_addresses(scene_, sheet_, area_, axis);
    add_reserve(axis);
    add_brackets(y);
    for (const BufferSpan& span : timeline_.spans) add_span(axis, span);
    add_limits(axis);
    if (moment_ != nullptr) add_moment(axis);
    add_names(axis);
    add_columns();
    add_caption(axis);
    return std::move(scene_);
  }

 private:
  [[nodiscard]] const Buffer& buffer(BufferId b) const { return nest_.buffers[b]; }
  [[nodiscard]] const Target& target() const { return program_.target; }
  [[nodiscard]] double small() const { return sheet_.fonts.height(Font::small); }
  [[nodiscard]] double row() const { return small() + 4; }
  [[nodiscard]] double column_width() const {
    return area_.width / std::max<double>(1, static_cast<double>(timeline_.columns.size()));
  }
  [[nodiscard]] double x(std::size_t column) const { return area_.x + column_width() * static_cast<double>(column); }

  /// "get A", "wait A", "fill C", "compute".
  [[nodiscard]] std::string column_words(StatementId statement) const {
    const Stmt& found = *find_statement(nest_, statement);
    const auto* const wait = std::get_if<Wait>(&found.node);
    const auto buffer = wait != nullptr ? awaited_buffer(nest_, *wait) : std::nullopt;
    return buffer ? "wait " + tensor_of_buffer(nest_, *buffer) : statement_words(nest_, found);
  }

  [[nodiscard]] std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    for (const BufferState state :
         {BufferState::filling, BufferState::in_use, BufferState::draining, BufferState::idle}) {
      entries.push_back({std::string(name_of(state)), ink_of(state), pattern_of(state)});
    }
    entries.push_back({"free", Ink::base});
    if (available_ < target().ldm.bytes) {
      entries.push_back({"reserved (stack, replies)", Ink::raised, Hatch::crossed});
    }
    return entries;
  }

  /// " · 4.00 KiB · 2 slots".
  [[nodiscard]] std::string numbers_of(BufferId b) const {
    std::string numbers = " · " + sheet_.size(buffer(b).bytes());
    if (buffer(b).slots > 1) numbers += fmt::format(" · {} slots", buffer(b).slots);
    return numbers;
  }

  [[nodiscard]] std::string cycle_words() const { return fmt::format("cycle {}", grouped_digits(moment_->cycle)); }

  void set_area(double y) {
    for (const BufferId b : order_) {
      label_width_ = std::max(label_width_, sheet_.text_width(tensor_of_buffer(nest_, b) + numbers_of(b)));
    }
    label_width_ = std::min(label_width_ + 4, scene_.width * 0.32);
    for (const std::string& words : columns_) column_text_ = std::max(column_text_, sheet_.text_width(words));
    column_text_ = std::min(column_text_ + 8, 320.0);  // longer names are told by their tips
    int depth = 0;
    for (const Bracket& bracket : timeline_.brackets) depth = std::max(depth, bracket.depth + 1);
    const double left = margin + address_width(sheet_, target().ldm.bytes) + 8;
    const double top = y + depth * row() + 4;
    const double least = std::max(row() * static_cast<double>(order_.size()) + 8, 110.0);
    const double height = sheet_.height - top - row() - margin;  // for the map and the names below it
    // Names give way in their middle before they run out of a room that is too low for all of them.
    constexpr double least_text = 72;
    if (sheet_.height > 0) column_text_ = std::min(column_text_, std::max(least_text, height - least));
    if (moment_ != nullptr) {
      moment_width_ = std::max(sheet_.text_width("[0] draining"), sheet_.text_width(cycle_words())) + 16;
    }
    area_ = {left, top, scene_.width - left - margin - label_width_ - moment_width_ - 24,
             std::max(height - column_text_, least)};
  }

  [[nodiscard]] AddressAxis address_axis() const {
    std::vector<AddressAxis::Piece> pieces;
    for (const Buffer& held : nest_.buffers) pieces.push_back({held.offset, held.offset + held.bytes()});
    pieces.push_back({available_, target().ldm.bytes, true});
    return {target().ldm.bytes, pieces, area_.y, area_.bottom(), row()};
  }

  void add_reserve(const AddressAxis& axis) {
    if (available_ >= target().ldm.bytes) return;
    const double edge = axis.y(static_cast<double>(available_));
    Shape& reserve = scene_.box({area_.x, area_.y, area_.width, edge - area_.y}, Ink::raised, Ink::line);
    reserve.pattern = Hatch::crossed;
    reserve.tip = fmt::format("{} bytes for parameters, reply words and the stack; buffers may use {}",
                              target().ldm.bytes - available_, sheet_.size(available_));
  }

  /// A loop or condition in as many words as fit: "for ko < 16 of k", "for ko", "ko".
  [[nodiscard]] std::string bracket_text(StatementId statement, double width) const {
    const std::string full = statement_line(text_, statement);
    const Stmt& found = *find_statement(nest_, statement);
    const std::string words = statement_words(nest_, found);
    for (const std::string& text : {full, words.empty() ? full : words}) {
      if (sheet_.text_width(text) <= width) return text;
    }
    const auto* const loop = std::get_if<Loop>(&found.node);
    return loop != nullptr ? nest_.variables[loop->variable.index()].name : full;
  }

  void add_brackets(double y) {
    for (const Bracket& bracket : timeline_.brackets) {
      const Box bar{x(bracket.first) + 1, y + bracket.depth * row(), x(bracket.last + 1) - x(bracket.first) - 2,
                    row() - 3};
      Shape& shape = scene_.box(bar, Ink::raised, Ink::line);
      shape.subject = Subject{.step = step_, .statement = bracket.statement};
      shape.radius = 3;
      shape.tip = statement_line(text_, bracket.statement);
      const double inner = bar.width - 6;
      scene_.text({bar.x + 4, bar.y, inner, bar.height}, bracket_text(bracket.statement, inner), Ink::text,
                  Font::small);
    }
  }

  void add_span(const AddressAxis& axis, const BufferSpan& span) {
    const Buffer& held = buffer(span.buffer);
    const double top = axis.y(static_cast<double>(held.offset + held.bytes()));
    const double bottom = axis.y(static_cast<double>(held.offset));
    Shape& shape =
        scene_.box({x(span.first), top, x(span.last + 1) - x(span.first), bottom - top}, ink_of(span.state), Ink::line);
    shape.pattern = pattern_of(span.state);
    shape.subject = Subject{.step = step_, .buffer = span.buffer};
    shape.tip = fmt::format("{}: {} of {}\n{} at address {} to {}\n{} from statement {} to {}", held.name,
                            extents_text(held.extents), tensor_of_buffer(nest_, span.buffer), sheet_.size(held.bytes()),
                            held.offset, held.offset + held.bytes(), name_of(span.state),
                            timeline_.columns[span.first].index(), timeline_.columns[span.last].index());
  }

  /// Peak and capacity, with their names where there is room.
  void add_limits(const AddressAxis& axis) {
    const double peak = axis.y(static_cast<double>(nest_.ldm_bytes));
    scene_.line({area_.x, peak}, {area_.right(), peak}, Ink::text).dash = Dash::dots;
    const double capacity = axis.y(static_cast<double>(available_));
    scene_.line({area_.x, capacity}, {area_.right(), capacity}, Ink::error, 2);
    if (peak - capacity <= row()) return;
    const std::string text = "capacity " + sheet_.size(available_);
    const double width = sheet_.text_width(text) + 6;
    scene_.text({area_.right() - width, capacity + 1, width - 4, row() - 2}, text, Ink::error, Font::small,
                Align::right);
    if (peak - capacity <= 2 * row()) return;
    scene_.text({area_.x + 4, peak - row() + 1, 160, row() - 2}, "peak " + sheet_.size(nest_.ldm_bytes), Ink::muted,
                Font::small);
  }

  /// What every slot is doing in the cycle, at its addresses beside the map, and where the core is in the program.
  void add_moment(const AddressAxis& axis) {
    const CoreTracks& core = moment_->tracks->groups[moment_->tracks->group_of(moment_->core)];
    const double left = area_.right() + 4;
    const double width = moment_width_ - 6;
    scene_.text({left, area_.y - row(), width, row()}, cycle_words(), Ink::text, Font::small, Align::middle);
    for (const SlotId number : core.slots.ids()) {
      const auto [id, slot] = moment_->tracks->slots[number];
      const Buffer& held = buffer(id);
      const double bytes = static_cast<double>(held.bytes()) / held.slots;
      const double begin = static_cast<double>(held.offset) + bytes * slot;
      const double top = axis.y(begin + bytes);
      const auto now = core.slots[number].at(moment_->cycle);
      const TrackLook look = now ? look_of(now->state) : TrackLook{Ink::base};
      const std::string state(now ? name_of(now->state) : "idle");
      const std::string which = held.slots > 1 ? fmt::format("[{}] ", slot) : "";
      Shape& shape = scene_.box({left, top, width, axis.y(begin) - top}, look.ink, Ink::line);
      shape.pattern = look.pattern;
      shape.subject = Subject{.step = step_, .buffer = id};
      shape.tip =
          fmt::format("{}{}: {} in cycle {} of core {}", held.name, held.slots > 1 ? fmt::format("[{}]", slot) : "",
                      state, grouped_digits(moment_->cycle), moment_->core);
      if (axis.y(begin) - top < row() - 2) continue;
      const Box label{left + 3, (top + axis.y(begin) - row()) / 2,
                      std::min(width - 6, sheet_.text_width(which + state) + 6), row()};
      scene_.box(label, Ink::base).radius = 3;
      scene_.text({label.x + 3, label.y, label.width - 4, label.height}, which + state, Ink::text, Font::small);
    }
    const auto column = std::find(timeline_.columns.begin(), timeline_.columns.end(), moment_->statement);
    if (column == timeline_.columns.end()) return;
    const double at = x(static_cast<std::size_t>(column - timeline_.columns.begin()));
    scene_.box({at, area_.y, column_width(), area_.height}, Ink::band, Ink::text).tip =
        fmt::format("core {} is here in cycle {}", moment_->core, grouped_digits(moment_->cycle));
  }

  /// At the right, each tied to its buffer.
  void add_names(const AddressAxis& axis) {
    std::vector<double> middles;
    for (const BufferId b : order_) {
      middles.push_back(axis.y(static_cast<double>(buffer(b).offset) + static_cast<double>(buffer(b).bytes()) / 2));
    }
    const std::vector<double> places = spread(middles, row(), area_.y, area_.bottom());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const double from = area_.right() + moment_width_;
      scene_.polyline({{from, middles[i]}, {from + 8, middles[i]}, {from + 18, places[i]}, {from + 22, places[i]}},
                      Ink::line);
      // The number is never cut; a long name gives way in its middle.
      const std::string numbers = numbers_of(order_[i]);
      const std::string& name = tensor_of_buffer(nest_, order_[i]);
      const double numbers_width = sheet_.text_width(numbers) + 1;
      const double name_width = std::min(sheet_.text_width(name) + 1, std::max(20.0, label_width_ - numbers_width));
      const double left = from + 24;
      Shape& label = scene_.text({left, places[i] - row() / 2, name_width, row()}, name, Ink::text, Font::small);
      label.cut = Cut::middle;
      label.subject = Subject{.step = step_, .buffer = order_[i]};
      label.tip = name + numbers;
      scene_.text({left + name_width, places[i] - row() / 2, numbers_width, row()}, numbers, Ink::text, Font::small);
    }
  }

  /// The statements below, as many as have room.
  void add_columns() {
    const double width = column_width();
    const double every = width >= small() ? 1 : std::ceil(small() / width);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      scene_.line({x(column), area_.y}, {x(column), area_.bottom()}, Ink::line, 0.4);
      if (column % static_cast<std::size_t>(every) != 0) continue;
      const StatementId statement = timeline_.columns[column];
      const double wide = std::min(width * every, 24.0);
      Shape& label = scene_.text({x(column) + (width * every - wide) / 2, area_.bottom() + 4, wide, column_text_},
                                 columns_[column], Ink::text, Font::small, Align::right);
      label.upward = true;
      label.cut = Cut::middle;
      label.subject = Subject{.step = step_, .statement = statement};
      label.tip = statement_line(text_, statement);
    }
  }

  void add_caption(const AddressAxis& axis) {
    const double bottom = area_.bottom() + 4 + column_text_;
    const std::string caption =
        axis.to_scale() ? "program order →" : "program order →   (addresses not to scale: small buffers drawn larger)";
    const double width = sheet_.text_width(caption) + 2;
    const double left = std::clamp(area_.middle().x - width / 2, 4.0, std::max(4.0, scene_.width - width - 4));
    scene_.text({left, bottom, width, row()}, caption, Ink::muted, Font::small);
    scene_.height = bottom + row() + 4;
  }

  const Program& program_;
  StepId step_;
  const Sheet& sheet_;
  const LdmMoment* moment_;
  const LoopNest& nest_;
  BufferTimeline timeline_;
  const SpannedText& text_;
  std::int64_t available_;
  std::vector<std::string> columns_;  ///< what stands below each
  std::vector<BufferId> order_;       ///< buffers by address
  double label_width_ = 0;            ///< of the names at the right
  double moment_width_ = 0;           ///< of the slots' states at the right
  double column_text_ = 0;            ///< of the names below, upright
  Box area_;                          ///< of the map itself
  Scene scene_;
};

}  // namespace

Scene ldm_map(const Program& program, StepId step, const Sheet& sheet, const LdmMoment* moment,
              const SpannedText* text) {
  if (text != nullptr) return LdmPicture(program, step, sheet, moment, *text).run();
  const SpannedText made = to_spanned_text(program.steps[step].plan()->nest);
  return LdmPicture(program, step, sheet, moment, made).run();
}

Scene ldm_peaks(const Program& program, const Sheet& sheet) {
  const Scratchpad all = scratchpad_of(program);
  const std::int64_t room = all.room_bytes;
  // Of Athread's LDM with what is reserved; other families say no more than the room.
  const std::int64_t bytes = std::max(program.target.ldm.bytes, room);
  const double small = sheet.fonts.height(Font::small);
  Scene scene;
  scene.title = fmt::format("{} peak of every group", all.name);
  scene.width = std::max(sheet.width, 360.0);
  const double y =
      8 + add_title(scene, sheet, 8, fmt::format("highest {} of {}", sheet.size(all.peak_bytes), sheet.size(room)));
  const double left = margin + address_width(sheet, bytes) + 8;
  const double top = y + small + 6;  // the capacity's name stands above its line
  const Box area{left, top, scene.width - left - margin, std::max(sheet.height - top - small - 12, 120.0)};
  const AddressAxis axis(bytes, {}, area.y, area.bottom(), 0);
  scene.box(area, Ink::base, Ink::line);
  add_addresses(scene, sheet, area, axis);
  const double width = area.width / std::max<double>(1, static_cast<double>(program.steps.size()));
  for (const StepId i : program.steps.ids()) {
    const FusedOperator& group = program.steps[i].group;
    if (!program.steps[i].kind().is_kernel) continue;
    const Scratchpad held = program.steps[i].step_plan()->scratchpad(program.target);
    const double height = area.bottom() - axis.y(static_cast<double>(held.peak_bytes));
    Shape& bar = scene.box(
        {area.x + width * (static_cast<double>(i.index()) + 0.1), area.bottom() - height, width * 0.8, height},
        Ink::compute);
    bar.subject = Subject{.step = i};
    bar.tip = fmt::format("{}\npeak {} of {}", group.name, sheet.size(held.peak_bytes), sheet.size(held.room_bytes));
  }
  const double capacity = axis.y(static_cast<double>(room));
  scene.line({area.x, capacity}, {area.right(), capacity}, Ink::error, 2);
  scene.text({area.right() - 200, capacity - small - 2, 196, small}, "capacity " + sheet.size(room), Ink::error,
             Font::small, Align::right);
  scene.text({area.x, area.bottom() + 4, area.width, small}, "groups in order of execution →", Ink::muted, Font::small,
             Align::middle);
  scene.height = area.bottom() + small + 12;
  return scene;
}

}  // namespace stowage::drawing
