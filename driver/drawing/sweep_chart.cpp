// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/sweep_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace stowage::drawing {

namespace {

constexpr std::array inks = {Ink::get, Ink::put, Ink::compute, Ink::launch};
constexpr std::array dashes = {Dash::none, Dash::dashes, Dash::dots};

constexpr double least_height = 90;  ///< of the lines, however small the sheet

double largest(const SweepLine& line) {
  double amount = 0;
  for (const SweepPoint& point : line.points) amount = std::max(amount, point.amount);
  return amount;
}

class SweepPicture {
 public:
  SweepPicture(const std::string& key, const std::vector<SweepLine>& lines, const SweepNotes& notes, const Sheet& sheet)
      : key_(key), lines_(lines), notes_(notes), sheet_(sheet) {
    scene_.title = notes.title;
    scene_.width = std::max(sheet.width, 360.0);
    for (const SweepLine& line : lines) largest_ = std::max(largest_, largest(line));
    for (const SweepMark& cross : notes.crosses) values_.push_back(cross.value);
    for (const SweepMark& mark : notes.upright) values_.push_back(mark.value);
    for (const SweepLine& line : lines) {
      for (const SweepPoint& point : line.points) values_.push_back(point.value);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }

  Scene run() && {
    double y = 8;
    y += add_title(scene_, sheet_, y, "");
    y += add_note(scene_, sheet_, margin, y, notes_.note);
    if (!notes_.upright.empty()) y += row() + 2;  // their labels
    set_axes(y + 6);
    add_grid();
    add_names();
    add_upright();
    for (std::size_t i = 0; i < lines_.size(); ++i) add_line(i);
    add_crosses();
    scene_.text({area_.x, area_.bottom() + row() + 5, area_.width, row()}, key_ + " →", Ink::muted, Font::small,
                Align::middle);
    scene_.height = area_.bottom() + 2 * row() + 12;
    return std::move(scene_);
  }

 private:
  /// What a line's amounts are parts of.
  [[nodiscard]] double whole(const SweepLine& line) const {
    const double amount = notes_.together ? largest_ : largest(line);
    return amount > 0 ? amount : 1;
  }
  [[nodiscard]] double row() const { return sheet_.fonts.height(Font::small); }

  /// Values that span more than a power of ten stand by their logarithm.
  [[nodiscard]] double along(double value) const {
    const double low = values_.front();
    const double high = values_.back();
    if (!(high > low)) return 0.5;
    const bool logarithmic = low > 0 && high / low >= 4;
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  [[nodiscard]] double x_at(double value) const { return area_.x + 12 + along(value) * (area_.width - 24); }
  [[nodiscard]] double y_at(double share) const {
    return area_.bottom() - (share - low_) / ((1 - low_) * 1.05) * area_.height;
  }

  void set_axes(double top) {
    double names = 0;
    for (const SweepLine& line : lines_) names = std::max(names, sheet_.text_width(line.name));
    names = std::min(names + 40, scene_.width * 0.4);
    for (const SweepLine& line : lines_) {
      for (const SweepPoint& point : line.points) {
        low_ = std::min(low_, point.amount / whole(line));
      }
    }
    // Where all lines are flat the axis begins below them, as its labels say.
    low_ = low_ < 0.5 ? 0 : std::max(0.0, std::floor(low_ * 20 - 0.5) / 20);
    const double left = margin + sheet_.text_width("100 %") + 8;
    area_ = {left, top, scene_.width - left - names - margin,
             std::max(least_height, sheet_.height - top - 2 * row() - 12)};
    scene_.box(area_, Ink::base, Ink::line);
  }

  void add_grid() {
    const int low = static_cast<int>(std::lround(100 * low_));
    const int step = low == 0 ? 25 : low < 75 ? 10 : 5;
    for (int percent = 100; percent >= low; percent -= step) {
      const double y = y_at(percent / 100.0);
      scene_.line({area_.x, y}, {area_.right(), y}, Ink::line, 0.6);
      scene_.text({margin, y - row() / 2, area_.x - margin - 6, row()}, fmt::format("{} %", percent), Ink::muted,
                  Font::small, Align::right);
    }
    double free_from = 0;
    constexpr double least_gap = 2;  // nearer ones would be one grey area
    double last = -least_gap;
    for (const double value : values_) {
      const double x = x_at(value);
      if (x - last < least_gap) continue;
      last = x;
      scene_.line({x, area_.y}, {x, area_.bottom()}, Ink::line, 0.6);
      const std::string text = fmt::format("{:.10g}", value);
      const double wide = sheet_.text_width(text) + 2;
      if (x - wide / 2 < free_from) continue;
      free_from = x + wide / 2 + 6;
      scene_.text({x - wide / 2, area_.bottom() + 3, wide, row()}, text, Ink::muted, Font::small, Align::middle);
    }
  }

  [[nodiscard]] static Ink ink_of(std::size_t line) { return inks[line % inks.size()]; }
  [[nodiscard]] static Dash dash_of(std::size_t line) { return dashes[line / inks.size() % dashes.size()]; }

  /// What the lines are called, at the right, each behind a piece of its line.
  void add_names() {
    const double x = area_.right() + 8;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const double y = area_.y + static_cast<double>(i) * (row() + 3);
      scene_.line({x, y + row() / 2}, {x + 22, y + row() / 2}, ink_of(i), 2).dash = dash_of(i);
      scene_.text({x + 28, y, scene_.width - margin - x - 28, row()}, lines_[i].name, Ink::text, Font::small);
    }
  }

  void add_upright() {
    double free_from = 0;
    for (const SweepMark& mark : notes_.upright) {
      const double x = x_at(mark.value);
      Shape& line = scene_.line({x, area_.y}, {x, area_.bottom()}, Ink::muted, 1.2);
      line.dash = Dash::dashes;
      line.tip = mark.tip;
      const double wide = sheet_.text_width(mark.label) + 2;
      if (mark.label.empty() || x - wide / 2 < free_from) continue;
      free_from = x + wide / 2 + 4;
      scene_.text({x - wide / 2, area_.y - row() - 2, wide, row()}, mark.label, Ink::text, Font::small, Align::middle)
          .tip = mark.tip;
    }
  }

  void add_crosses() {
    constexpr double radius = 4;
    for (const SweepMark& cross : notes_.crosses) {
      const Point at{x_at(cross.value), area_.bottom() - 2 * radius - 2};
      for (const double up : {-radius, radius}) {
        Shape& line = scene_.line({at.x - radius, at.y + up}, {at.x + radius, at.y - up}, Ink::error, 2);
        line.tip = cross.tip;
      }
    }
  }

  void add_line(std::size_t number) {
    const SweepLine& line = lines_[number];
    const double all = whole(line);
    std::vector<Point> path;
    for (const SweepPoint& point : line.points) {
      path.push_back({x_at(point.value), y_at(point.amount / all)});
    }
    if (path.size() > 1) scene_.polyline(path, ink_of(number), 2).dash = dash_of(number);
    const std::vector<std::size_t> rings = line.rings ? *line.rings : std::vector<std::size_t>{knee_of(line)};
    for (std::size_t i = 0; i < path.size(); ++i) {
      const bool has_ring = std::find(rings.begin(), rings.end(), i) != rings.end();
      if (path.size() > max_marked_points && i > 0 && i + 1 < path.size() && !has_ring) continue;
      constexpr double radius = 3;
      const Box dot{path[i].x - radius, path[i].y - radius, 2 * radius, 2 * radius};
      Shape& shown = scene_.ellipse(dot, ink_of(number));
      shown.tip = line.points[i].tip;
      shown.item = line.points[i].item;
      if (!has_ring) continue;
      constexpr double ring = 6;
      Shape& mark = scene_.ellipse({path[i].x - ring, path[i].y - ring, 2 * ring, 2 * ring}, Ink::none, Ink::text);
      mark.width = 1.5;
      mark.tip = line.points[i].tip;
      mark.item = line.points[i].item;
    }
  }

  const std::string& key_;
  const std::vector<SweepLine>& lines_;
  const SweepNotes& notes_;
  const Sheet& sheet_;
  std::vector<double> values_;  ///< ascending
  double largest_ = 0;
  double low_ = 1;  ///< share at the bottom
  Box area_;
  Scene scene_;
};

}  // namespace

std::size_t knee_of(const SweepLine& line) {
  double best_behind = line.points.back().amount;
  std::size_t knee = line.points.size() - 1;
  for (std::size_t i = line.points.size() - 1; i-- > 0;) {
    if (best_behind < line.points[i].amount * (1 - least_gain)) break;
    knee = i;
    best_behind = std::min(best_behind, line.points[i].amount);
  }
  return knee;
}

Scene sweep_chart(const std::string& key, const std::vector<SweepLine>& lines, const Sheet& sheet) {
  const SweepNotes notes{
      "Time against " + key,
      "Each line is a part of its own longest time. A ring marks the value from which on more gains less than 1 %.",
      {},
      {}};
  return sweep_chart(key, lines, notes, sheet);
}

Scene sweep_chart(const std::string& key, const std::vector<SweepLine>& lines, const SweepNotes& notes,
                  const Sheet& sheet) {
  return SweepPicture(key, lines, notes, sheet).run();
}

}  // namespace stowage::drawing
