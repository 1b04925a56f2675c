// SPDX-License-Identifier: Apache-2.0
// The page's own drawings: roofline, scratchpad, main memory. Plain SVG whose colours come from the page's style.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "lowering/model/ldm_room.h"

namespace stowage {

namespace {

std::string text_at(double x, double y, const std::string& text, const std::string& attributes = "") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}"{}{}>{}</text>)", x, y, attributes.empty() ? "" : " ", attributes,
                     escaped(text));
}

std::string line_at(double x1, double y1, double x2, double y2, const std::string& css_class) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", x1, y1, x2, y2,
                     css_class);
}

std::string open_chart(double width, double height, const std::string& title) {
  return fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)", width, height,
                     escaped(title));
}

// Roofline.

/// "1.5 Gflop/s".
std::string rate_text(double flops_per_second) {
  constexpr std::array units = {"flop/s", "kflop/s", "Mflop/s", "Gflop/s", "Tflop/s"};
  std::size_t unit = 0;
  while (flops_per_second >= 1000 && unit + 1 < units.size()) {
    flops_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", flops_per_second, units[unit]);
}

struct RooflinePoint {
  std::size_t step = 0;
  double intensity = 0;  ///< flop per byte of DMA
  double rate = 0;       ///< flop per second
  std::int64_t cycles = 0;
};

std::vector<RooflinePoint> roofline_points(const PageScope& scope) {
  const Program& program = scope.program();
  std::vector<RooflinePoint> points;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& plan = program.steps[i].plan;
    if (!plan || !scope.has(i)) continue;
    const auto work = static_cast<double>(flops(plan->nest.stages));
    const auto bytes = static_cast<double>(dma_totals(plan->counts).bytes);
    if (work <= 0 || bytes <= 0 || plan->time.seconds <= 0) continue;
    points.push_back({i, work / bytes, work / plan->time.seconds, plan->time.cycles});
  }
  return points;
}

/// Maps values to a range of pixels by their logarithm.
struct LogScale {
  double low;  ///< powers of ten
  double high;
  double from;
  double to;
  [[nodiscard]] double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

LogScale log_scale(const std::vector<double>& values, double from, double to) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double first = std::floor(std::log10(*low));
  return {first, std::max(std::ceil(std::log10(*high)), first + 1), from, to};
}

std::string power_text(int power) {
  return power >= 0 && power <= 3 ? fmt::format("{}", static_cast<int>(std::pow(10, power)))
                                  : fmt::format("{:g}", std::pow(10, power));
}

}  // namespace

std::string roofline(const PageScope& scope) {
  const Program& program = scope.program();
  const Target& target = program.target;
  const std::vector<RooflinePoint> points = roofline_points(scope);
  if (points.empty() || target.dma_bandwidth.empty()) return "<p>No fused operator computes and moves data.</p>\n";
  const double vector_roof = target.cores * target.vector_flops_per_cycle * target.clock_hz;
  const double scalar_roof = target.cores * target.scalar_flops_per_cycle * target.clock_hz;
  double bandwidth = 0;
  for (const BandwidthPoint& point : target.dma_bandwidth) bandwidth = std::max(bandwidth, point.bytes_per_second);

  constexpr double width = 900;
  constexpr double height = 420;
  std::vector<double> intensities = {vector_roof / bandwidth * 2};
  std::vector<double> rates = {vector_roof};
  std::int64_t max_cycles = 1;
  for (const RooflinePoint& point : points) {
    intensities.push_back(point.intensity);
    rates.push_back(point.rate);
    max_cycles = std::max(max_cycles, point.cycles);
  }
  const LogScale x = log_scale(intensities, 70, width - 15);
  LogScale y = log_scale(rates, height - 45, 15);
  std::string svg = open_chart(width, height, "roofline: operations per second against operations per DMA byte");
  for (int power = static_cast<int>(x.low); power <= static_cast<int>(x.high); ++power) {
    const double at = x.at(std::pow(10, power));
    svg += line_at(at, y.from, at, y.to, "grid");
    svg += text_at(at, y.from + 15, power_text(power), R"(text-anchor="middle" class="soft")");
  }
  for (int power = static_cast<int>(y.low); power <= static_cast<int>(y.high); ++power) {
    const double at = y.at(std::pow(10, power));
    svg += line_at(x.from, at, x.to, at, "grid");
    svg += text_at(x.from - 6, at + 4, rate_text(std::pow(10, power)), R"(text-anchor="end" class="soft")");
  }
  svg += text_at((x.from + x.to) / 2, height - 8, "operations per byte of DMA", R"(text-anchor="middle")");

  // A roof: up with the bandwidth as far as the peak, then level.
  const auto roof = [&](double peak, const std::string& css_class, const std::string& name) {
    const double from = std::max(std::pow(10, x.low), std::pow(10, y.low) / bandwidth);
    const double ridge = std::max(peak / bandwidth, from);
    svg += fmt::format(R"(<polyline points="{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}" class="{}"/>)", x.at(from),
                       y.at(std::min(from * bandwidth, peak)), x.at(ridge), y.at(peak), x.to, y.at(peak), css_class);
    svg += text_at(x.to - 4, y.at(peak) - 5, name, R"(text-anchor="end")");
  };
  roof(scalar_roof, "roof second", "scalar loops: " + rate_text(scalar_roof));
  roof(vector_roof, "roof", "vector loops: " + rate_text(vector_roof));
  // Along the slope, at its middle.
  const double slope_from = std::max(std::pow(10, x.low), std::pow(10, y.low) / bandwidth);
  const double middle = std::sqrt(slope_from * vector_roof / bandwidth);
  const double angle = std::atan2(y.at(10 * bandwidth) - y.at(bandwidth), x.at(10) - x.at(1)) * 180 / 3.14159265;
  svg += fmt::format(
      R"svg(<text transform="translate({:.1f} {:.1f}) rotate({:.1f})" text-anchor="middle">DMA at best: {:.3g} GB/s</text>)svg",
      x.at(middle) - 4, y.at(middle * bandwidth) - 5, angle, bandwidth / 1e9);

  for (const RooflinePoint& point : points) {
    const FusedOperator& group = program.steps[point.step].group;
    const double radius = 3 + 9 * std::sqrt(static_cast<double>(point.cycles) / static_cast<double>(max_cycles));
    const double reachable = std::min(vector_roof, point.intensity * bandwidth);
    svg += fmt::format(
        R"(<a href="#{}"><circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" class="dot"><title>{}</title></circle></a>)",
        anchor_of(point.step), x.at(point.intensity), y.at(point.rate), radius,
        escaped(fmt::format("{}: {:.3g} operations per byte, {}, {:.1f} % of what the roof allows", group.name,
                            point.intensity, rate_text(point.rate), 100 * point.rate / reachable)));
  }
  // Names of those that take most time, each where no other name is yet.
  std::vector<RooflinePoint> by_time = points;
  std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  std::vector<std::pair<double, double>> taken;
  constexpr std::size_t max_names = 6;
  for (const RooflinePoint& point : by_time) {
    if (taken.size() == max_names) break;
    const bool to_the_left = x.at(point.intensity) > (x.from + x.to) * 0.7;
    const double at_x = x.at(point.intensity) + (to_the_left ? -14 : 14);
    const double at_y = y.at(point.rate) + 4;
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
      return std::abs(other.first - at_x) < 170 && std::abs(other.second - at_y) < 13;
    });
    if (!free) continue;
    taken.emplace_back(at_x, at_y);
    svg += text_at(at_x, at_y, shortened(program.steps[point.step].group.name, 26),
                   to_the_left ? R"(text-anchor="end")" : "");
  }
  return svg + "</svg>\n";
}

std::string ldm_bar(const LoopNest& nest, const Target& target) {
  constexpr double width = 1000;
  constexpr double left = 2;
  constexpr double lane_height = 34;
  constexpr double top = 16;
  const double scale = (width - 2 * left) / static_cast<double>(std::max<std::int64_t>(1, target.ldm_bytes));
  const auto x = [&](std::int64_t address) { return left + scale * static_cast<double>(address); };
  const std::int64_t room = ldm_for_buffers(nest, target);

  // Buffers that lie over others have a lane below.
  std::vector<std::int64_t> lane_ends;
  std::vector<std::size_t> lanes;
  std::vector<std::size_t> by_offset(nest.buffers.size());
  for (std::size_t i = 0; i < by_offset.size(); ++i) by_offset[i] = i;
  std::stable_sort(by_offset.begin(), by_offset.end(),
                   [&](std::size_t a, std::size_t b) { return nest.buffers[a].offset < nest.buffers[b].offset; });
  lanes.resize(nest.buffers.size());
  for (const std::size_t i : by_offset) {
    const Buffer& buffer = nest.buffers[i];
    std::size_t lane = 0;
    while (lane < lane_ends.size() && lane_ends[lane] > buffer.offset) ++lane;
    if (lane == lane_ends.size()) lane_ends.push_back(0);
    lane_ends[lane] = buffer.offset + buffer.bytes() * buffer.slots;
    lanes[i] = lane;
  }
  const double bottom = top + lane_height * static_cast<double>(std::max<std::size_t>(1, lane_ends.size()));

  static constexpr std::array<std::string_view, 4> roles = {"input", "constant", "intermediate", "output"};
  std::string svg = open_chart(width, bottom + 18, "the scratchpad of one core");
  svg += fmt::format(R"(<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" class="reserved"><title>{}</title></rect>)",
                     x(room), top, x(target.ldm_bytes) - x(room), bottom - top,
                     fmt::format("{} bytes for parameters, reply words and stack", target.ldm_bytes - room));
  for (std::size_t i = 0; i < nest.buffers.size(); ++i) {
    const Buffer& buffer = nest.buffers[i];
    const StageTensor& tensor = nest.stages.tensors[static_cast<std::size_t>(buffer.tensor)];
    const double y = top + lane_height * static_cast<double>(lanes[i]) + 2;
    for (int slot = 0; slot < buffer.slots; ++slot) {
      const std::int64_t from = buffer.offset + slot * buffer.bytes();
      const double pixels = std::max(1.0, scale * static_cast<double>(buffer.bytes()));
      svg += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" class="box {}"><title>{}</title></rect>)", x(from),
          y, pixels, lane_height - 4, roles[static_cast<std::size_t>(tensor.role)],
          escaped(fmt::format("{}: {} of {}, {} bytes from address {}", buffer.name, fmt::join(buffer.extents, " x "),
                              tensor.name, buffer.bytes(), from)));
      // A name where it fits, at some 6 units a character.
      if (pixels > 12 + 6.2 * static_cast<double>(buffer.name.size())) {
        svg += text_at(x(from) + 5, y + 19, buffer.name, R"(class="dark")");
      }
    }
  }
  svg += fmt::format(R"(<rect x="{}" y="{}" width="{:.1f}" height="{:.1f}" class="frame"/>)", left, top,
                     width - 2 * left, bottom - top);
  const double limit = x(room);
  svg += line_at(limit, top - 4, limit, bottom + 4, "capacity");
  svg += text_at(limit - 4, top - 5, fmt::format("buffers end at {}", bytes_text(room)), R"(text-anchor="end")");
  svg += text_at(left, bottom + 14, "0", R"(class="soft")");
  svg += text_at(width - left, bottom + 14, bytes_text(target.ldm_bytes), R"(text-anchor="end" class="soft")");
  const double used = x(nest.ldm_bytes);
  svg += text_at(std::clamp(used, 90.0, width - 150), bottom + 14, fmt::format("used: {}", bytes_text(nest.ldm_bytes)),
                 R"(text-anchor="middle")");
  return svg + "</svg>\n";
}

std::string memory_chart(const PageScope& scope) {
  const Program& program = scope.program();
  const MemoryMap& memory = program.memory;
  if (memory.activation_bytes == 0) return "<p>No activation is in main memory.</p>\n";
  constexpr double width = 1000;
  constexpr double height = 360;
  constexpr double left = 80;
  constexpr double top = 10;
  constexpr double bottom = height - 40;
  const auto steps = static_cast<double>(program.steps.size());
  // Columns: before the first step, every step, after the last.
  const double column = (width - left - 10) / (steps + 2);
  const auto x = [&](int step) { return left + column * (step + 1); };
  const auto y = [&](std::int64_t address) {
    return bottom - (bottom - top) * static_cast<double>(address) / static_cast<double>(memory.activation_bytes);
  };
  std::string svg = open_chart(width, height, "activations in main memory: address against step");
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const std::int64_t address = memory.activation_bytes * quarter / 4;
    svg += line_at(left, y(address), width - 10, y(address), "grid");
    svg += text_at(left - 6, y(address) + 4, bytes_text(address), R"(text-anchor="end" class="soft")");
  }
  for (const MemoryPlace& place : memory.places) {
    if (place.area != MemoryPlace::Area::activations || !scope.has(place.tensor)) continue;
    const GraphTensor& tensor = program.fused.graph.tensor(place.tensor);
    const double pixels = column * (place.last_step - place.first_step + 1);
    const double tall = std::max(1.0, y(place.offset) - y(place.offset + place.bytes));
    const std::string_view role = tensor.is_input ? "input" : tensor.is_output ? "output" : "intermediate";
    svg += fmt::format(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="box {}"><title>{}</title></rect>)",
        x(place.first_step), y(place.offset + place.bytes), pixels, tall, role,
        escaped(fmt::format(
            "{}: {} from address {}, steps {} to {}{}", tensor.name, bytes_text(place.bytes), place.offset,
            place.first_step, place.last_step,
            place.shares_with ? ", a view of " + program.fused.graph.tensor(*place.shares_with).name : "")));
    if (tall > 13 && pixels > 12 + 6.2 * static_cast<double>(std::min<std::size_t>(tensor.name.size(), 24))) {
      svg += text_at(x(place.first_step) + 4, y(place.offset + place.bytes) + 11, shortened(tensor.name, 24),
                     R"(class="dark")");
    }
  }
  const int every = std::max(1, static_cast<int>(steps / 20));
  for (int step = 0; step < static_cast<int>(steps); step += every) {
    svg += text_at(x(step) + column / 2, bottom + 14, std::to_string(step), R"(text-anchor="middle" class="soft")");
  }
  svg += text_at(x(-1) + column / 2, bottom + 28, "before", R"(text-anchor="middle" class="soft")");
  svg += text_at(x(static_cast<int>(steps)) + column / 2, bottom + 28, "after", R"(text-anchor="middle" class="soft")");
  svg += text_at(left + (width - left) / 2, height - 8, "step", R"(text-anchor="middle")");
  return svg + "</svg>\n";
}

}  // namespace stowage
