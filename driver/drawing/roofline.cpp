// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/roofline.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/quoting.h"
#include "driver/session/session.h"
#include "lowering/time/rates.h"

namespace stowage::drawing {

namespace {

/// Maps values to pixels by their logarithm.
struct LogAxis {
  double low = 0;  ///< powers of ten
  double high = 1;
  double from = 0;  ///< pixels
  double to = 1;
  [[nodiscard]] double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
  /// Every so many powers have a label, so that labels of that size do not touch.
  [[nodiscard]] int every(double label) const {
    return std::max(1, static_cast<int>(std::ceil(label * (high - low) / std::abs(to - from))));
  }
};

std::string power_text(double power) {
  return power >= 0 && power <= 3 ? fmt::format("{:.0f}", std::pow(10, power))
                                  : fmt::format("{:g}", std::pow(10, power));
}

class RooflinePicture {
 public:
  RooflinePicture(const Program& program, const std::vector<RooflinePoint>& points, const Sheet& sheet)
      : program_(program), points_(points), sheet_(sheet) {
    scene_.title = "Roofline of all groups";
    scene_.width = std::max(sheet.width, 360.0);
    for (const RooflinePoint& point : points) max_cycles_ = std::max(max_cycles_, point.cycles);
    // Small dots last: they lie on the large ones.
    std::stable_sort(points_.begin(), points_.end(), [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  }

  Scene run() && {
    double y = 8;
    y += add_title(scene_, sheet_, y, "");
    y += add_note(
        scene_, sheet_, margin, y,
        "A dot for each, the larger the more of the time; one far below the roof is slowed by something else.");
    y += add_legend(scene_, sheet_, y,
                    {{"left of the ridge: DMA is the limit at best", Ink::get},
                     {"right of it: computing is the limit at best", Ink::compute}});
    set_axes(y + 6);
    add_grid();
    const double scalar = scalar_rate(program_.target);
    add_roof(scalar, Dash::dashes, 1.5);
    add_roof(peak_, Dash::none, 2).tip = roof_tip();
    add_slope_name();
    keep_slope_free();
    for (const RooflinePoint& point : points_) add_dot(point);
    add_roof_name(peak_, "vector loops");
    add_roof_name(scalar, "scalar loops");
    add_names();
    scene_.text({area_.x, area_.bottom() + row() + 5, area_.width, row()}, "operations per byte of DMA →", Ink::muted,
                Font::small, Align::middle);
    scene_.height = area_.bottom() + 2 * row() + 12;
    return std::move(scene_);
  }

 private:
  [[nodiscard]] double row() const { return sheet_.fonts.height(Font::small); }
  [[nodiscard]] Point at(double intensity, double rate) const { return {x_.at(intensity), y_.at(rate)}; }
  /// Where the roof leaves the lower left corner.
  [[nodiscard]] double foot() const { return std::max(std::pow(10, x_.low), std::pow(10, y_.low) / bandwidth_); }

  void set_axes(double top) {
    double low_x = 0.1;
    double high_x = std::max(100.0, peak_ / bandwidth_ * 2);
    double low_y = peak_ / 100;
    for (const RooflinePoint& point : points_) {
      low_x = std::min(low_x, point.intensity);
      high_x = std::max(high_x, point.intensity);
      low_y = std::min(low_y, point.rate);
    }
    const double left = margin + sheet_.text_width("100 Gflop/s") + 10;
    area_ = {left, top, scene_.width - left - margin, std::max(110.0, sheet_.height - top - 2 * row() - 12)};
    x_ = {std::floor(std::log10(low_x)), std::ceil(std::log10(high_x)), area_.x, area_.right()};
    y_ = {std::floor(std::log10(low_y)), std::ceil(std::log10(peak_ * 1.1)), area_.bottom(), area_.y};
    scene_.box(area_, Ink::base, Ink::line);
  }

  void add_grid() {
    const int every_x = x_.every(sheet_.text_width("0.0001") + 8);
    for (int i = 0; x_.low + i <= x_.high; ++i) {
      const double x = x_.at(std::pow(10, x_.low + i));
      scene_.line({x, area_.y}, {x, area_.bottom()}, Ink::line, 0.6);
      if (i % every_x != 0) continue;
      const std::string text = power_text(x_.low + i);
      const double wide = sheet_.text_width(text) + 2;
      scene_.text({std::min(x - wide / 2, scene_.width - wide), area_.bottom() + 3, wide, row()}, text, Ink::muted,
                  Font::small, Align::middle);
    }
    const int every_y = y_.every(row());
    for (int i = 0; y_.low + i <= y_.high; ++i) {
      const double rate = std::pow(10, y_.low + i);
      const double y = y_.at(rate);
      scene_.line({area_.x, y}, {area_.right(), y}, Ink::line, 0.6);
      if (i % every_y != 0) continue;
      scene_.text({2, y - row() / 2, area_.x - 14, row()}, shown_flop_rate(rate), Ink::muted, Font::small,
                  Align::right);
    }
  }

  /// Up with the bandwidth as far as the peak, then level.
  Shape& add_roof(double peak, Dash dash, double width) {
    const double ridge = std::max(peak / bandwidth_, foot());
    const double level = y_.at(peak);
    taken_.push_back({x_.at(ridge), level - 1, area_.right() - x_.at(ridge), 2});
    Shape& roof = scene_.polyline(
        {at(foot(), std::min(foot() * bandwidth_, peak)), at(ridge, peak), {area_.right(), y_.at(peak)}}, Ink::text,
        width);
    roof.dash = dash;
    return roof;
  }

  /// Along the level line, as far to the right as no dot is in the way.
  void add_roof_name(double peak, const std::string& name) {
    const std::string text = name + ": " + shown_flop_rate(peak);
    const double wide = sheet_.text_width(text) + 4;
    const double above = y_.at(peak) - row() - 2;
    const double below = y_.at(peak) + 3;
    const double right = area_.right() - wide - 4;
    Box label{right, above > area_.y ? above : below, wide, row()};
    for (double x = right; x > x_.at(std::max(peak / bandwidth_, foot())); x -= row()) {
      const Box over{x, above, wide, row()};
      const Box under{x, below, wide, row()};
      if (!is_free(over) && !is_free(under)) continue;
      label = is_free(over) ? over : under;
      break;
    }
    scene_.text(label, text, Ink::text, Font::small, Align::right);
    taken_.push_back(label);
  }

  [[nodiscard]] std::string roof_tip() const {
    const Target& target = program_.target;
    return fmt::format(
        "roof = min(peak, operations per byte × bandwidth)\npeak = {} cores × {} flop/cycle × {} GHz = {}\n"
        "bandwidth of the largest blocks = {:.1f} GB/s\nridge at {:.1f} operations per byte",
        target.cores.count, target.cores.vector_flops_per_cycle.of(ElementType::f32), target.clock_hz / 1e9,
        shown_flop_rate(peak_), bandwidth_ / 1e9, peak_ / bandwidth_);
  }

  /// No name crosses the slope.
  void keep_slope_free() {
    const Point from = at(foot(), foot() * bandwidth_);
    const Point to = at(peak_ / bandwidth_, peak_);
    constexpr int pieces = 60;
    const double wide = std::max(0.0, to.x - from.x) / pieces;
    const double tall = std::max(0.0, from.y - to.y) / pieces;
    for (int i = 0; i < pieces; ++i) taken_.push_back({from.x + i * wide, from.y - (i + 1) * tall, wide, tall});
  }

  /// Left of the slope's middle: above the roof there are no dots.
  void add_slope_name() {
    const std::string slope = fmt::format("DMA at best: {:.1f} GB/s", bandwidth_ / 1e9);
    const double middle = std::sqrt(foot() * peak_ / bandwidth_);
    const Point on_slope = at(middle, middle * bandwidth_);
    const double wide = sheet_.text_width(slope) + 2;
    const Box label{std::max(area_.x + 4, on_slope.x - wide - 10), on_slope.y - row() - 8, wide, row()};
    scene_.text(label, slope, Ink::text, Font::small);
    taken_.push_back(label);
  }

  [[nodiscard]] Box dot_box(const RooflinePoint& point) const {
    const double share = static_cast<double>(point.cycles) / static_cast<double>(max_cycles_);
    const double radius = 3 + 6 * std::sqrt(share);
    const Point middle = at(point.intensity, point.rate);
    return {middle.x - radius, middle.y - radius, 2 * radius, 2 * radius};
  }

  [[nodiscard]] const std::string& name_of_step(const RooflinePoint& point) const {
    return program_.steps[point.step].group.name;
  }

  void add_dot(const RooflinePoint& point) {
    const bool by_dma = point.intensity < peak_ / bandwidth_;
    Shape& dot = scene_.ellipse(dot_box(point), by_dma ? Ink::get : Ink::compute, Ink::text);
    dot.subject = Subject{.step = point.step};
    const double reach = std::min(peak_, point.intensity * bandwidth_);
    dot.tip = fmt::format(
        "{}\n{:.3g} operations per byte = flop / DMA bytes\n{} = flop / predicted time\n{:.1f} % of the roof above it",
        name_of_step(point), point.intensity, shown_flop_rate(point.rate), 100 * point.rate / reach);
    taken_.push_back(dot.box);
  }

  /// Names of those that take most time, each beside its dot where nothing else is.
  void add_names() {
    constexpr std::size_t max_names = 6;
    constexpr std::size_t max_tried = 20;
    std::size_t names = 0;
    for (std::size_t i = 0; i < std::min(points_.size(), max_tried) && names < max_names; ++i) {
      const std::string text = shortened(name_of_step(points_[i]), 26);
      const Box dot = dot_box(points_[i]);
      const double wide = sheet_.text_width(text) + 2;
      const double level = dot.middle().y - row() / 2;
      const double centred = dot.middle().x - wide / 2;
      for (const Box& label :
           {Box{dot.right() + 3, level, wide, row()}, Box{dot.x - 3 - wide, level, wide, row()},
            Box{centred, dot.bottom() + 1, wide, row()}, Box{centred, dot.y - 1 - row(), wide, row()}}) {
        if (!is_free(label)) continue;
        scene_.text(label, text, Ink::text, Font::small).subject = Subject{.step = points_[i].step};
        taken_.push_back(label);
        ++names;
        break;
      }
    }
  }

  [[nodiscard]] bool is_free(const Box& label) const {
    return label.x >= area_.x && label.right() <= area_.right() && label.y >= area_.y &&
           label.bottom() <= area_.bottom() &&
           std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) { return other.overlaps(label); });
  }

  const Program& program_;
  std::vector<RooflinePoint> points_;  ///< those that take most time first
  const Sheet& sheet_;
  double peak_ = peak_rate(program_.target);
  double bandwidth_ = peak_dma_bandwidth(program_.target);
  std::int64_t max_cycles_ = 1;
  Box area_;
  LogAxis x_;
  LogAxis y_;
  std::vector<Box> taken_;  ///< where dots and names are
  Scene scene_;
};

/// Of a family that has no cores and no DMA as Athread's machines have.
Scene no_roofline(const Sheet& sheet) {
  Scene scene;
  scene.title = "Roofline of all groups";
  scene.width = std::max(sheet.width, 360.0);
  double y = 8;
  y += add_title(scene, sheet, y, "");
  y += add_note(scene, sheet, margin, y, "Its target says no rates of cores and DMA, of which roofs could be drawn.");
  scene.height = y + 8;
  return scene;
}

}  // namespace

double peak_rate(const Target& target) {
  return target.cores.count * target.cores.vector_flops_per_cycle.of(ElementType::f32) * target.clock_hz;
}

double scalar_rate(const Target& target) {
  return target.cores.count * target.cores.scalar_flops_per_cycle.of(ElementType::f32) * target.clock_hz;
}

std::vector<RooflinePoint> roofline_points(const Program& program) {
  std::vector<RooflinePoint> points;
  for (const StepId i : program.steps.ids()) {
    const Plan* const plan = program.steps[i].plan();
    if (plan == nullptr) continue;
    const auto work = static_cast<double>(flops(plan->nest.stages));
    const auto bytes = static_cast<double>(dma_totals(plan->counts).bytes);
    if (work <= 0 || bytes <= 0 || plan->time.seconds <= 0) continue;
    points.push_back({i, work / bytes, work / plan->time.seconds, plan->time.cycles});
  }
  return points;
}

Scene roofline(const Program& program, const std::vector<RooflinePoint>& points, const Sheet& sheet) {
  if (peak_rate(program.target) <= 0) return no_roofline(sheet);
  return RooflinePicture(program, points, sheet).run();
}

}  // namespace stowage::drawing
