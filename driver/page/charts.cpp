// SPDX-License-Identifier: Apache-2.0
// The page's own drawings: roofline, scratchpad, main memory. Plain SVG whose colours come from the page's style.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/drawing/cost_bars.h"
#include "driver/drawing/roofline.h"
#include "driver/page/page_parts.h"
#include "driver/page/scene_svg.h"
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

constexpr double chart_width = 1000;

/// To the sections of the fused operators that are told in full.
LinkOf links_of(const PageScope& scope) {
  return [&scope](const drawing::Subject& subject) {
    const auto step = static_cast<std::size_t>(subject.step);
    return subject.step >= 0 && scope.has(step) ? "#" + anchor_of(step) : "";
  };
}

}  // namespace

std::string roofline_chart(const PageScope& scope) {
  const Program& program = scope.program();
  std::vector<drawing::RooflinePoint> points = drawing::roofline_points(program);
  std::erase_if(points, [&](const auto& point) { return !scope.has(static_cast<std::size_t>(point.step)); });
  if (points.empty() || program.target.dma_bandwidth.empty()) {
    return "<p>No fused operator computes and moves data.</p>\n";
  }
  return to_svg(drawing::roofline(program, points, page_sheet(chart_width, 440)), links_of(scope));
}

std::string cost_chart(const Program& program, std::size_t step) {
  return to_svg(drawing::cost_bars(program, static_cast<int>(step), std::nullopt, page_sheet(chart_width, 0)));
}

std::string cost_chart(const Program& program, const std::string& network) {
  return to_svg(drawing::cost_bars(program, network, nullptr, page_sheet(chart_width, 0)));
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
