// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/edit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/toml_reader.h"
#include "lowering/model/group_model.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage::inspector {

namespace {

std::int64_t trips_of(std::int64_t range, std::int64_t size) { return (range + size - 1) / size; }

std::vector<std::string> names_of(const std::vector<LoopControl>& loops) {
  std::vector<std::string> names;
  for (const LoopControl& loop : loops) names.push_back(loop.name);
  return names;
}

/// The loop with so many loops around what it holds; "" is outside of all.
std::string loop_at(const GroupControls& controls, int depth) {
  return depth > 0 ? controls.loops[static_cast<std::size_t>(depth - 1)].name : std::string();
}

const IteratorControl* find(const GroupControls& controls, const std::string& iterator) {
  const auto found = std::find_if(controls.iterators.begin(), controls.iterators.end(),
                                  [&](const IteratorControl& control) { return control.name == iterator; });
  return found != controls.iterators.end() ? &*found : nullptr;
}

/// Where a loop that appears belongs: spatial ones before the reductions, reductions last.
void insert_loop(std::vector<std::string>& order, const GroupControls& controls, const IteratorControl& iterator,
                 const std::string& loop) {
  auto at = order.end();
  if (iterator.spatial) {
    at = std::find_if(order.begin(), order.end(), [&](const std::string& name) {
      return std::any_of(controls.iterators.begin(), controls.iterators.end(), [&](const IteratorControl& other) {
        return !other.spatial && (other.name == name || other.loop == name);
      });
    });
  }
  order.insert(at, loop);
}

}  // namespace

GroupControls group_controls(const StageList& given, const StageList& formed, const Schedule& complete,
                             const Schedule& fixed, const Target& target) {
  const GroupModel model = build_group_model(formed, target);
  const IteratorSizes ranges = core_ranges(model, complete.parallel.value_or(std::vector<ParallelSplit>()));
  GroupControls controls;
  std::vector<OuterLoop> order;
  for (const IteratorId i : model.iterators.ids()) {
    const ModelIterator& iterator = model.iterators[i];
    IteratorControl control{iterator.name, iterator.extent, ranges[i], iterator.spatial, 1, 1, ""};
    if (const auto size = complete.buffer.find(iterator.name); size != complete.buffer.end())
      control.buffer = size->second;
    for (const ParallelSplit& split : complete.parallel.value_or(std::vector<ParallelSplit>())) {
      if (split.iterator == iterator.name) control.parts = split.parts;
    }
    controls.iterators.push_back(std::move(control));
  }
  for (const std::string& name : complete.order.value_or(std::vector<std::string>())) {
    for (const IteratorId i : model.iterators.ids()) {
      IteratorControl& control = controls.iterators[i.index()];
      if (name != (control.buffer == 1 ? control.name : control.name + "o")) continue;
      control.loop = name;
      controls.loops.push_back({name, trips_of(control.range, control.buffer)});
      order.push_back({i, name, controls.loops.back().trips});
      break;
    }
  }
  // Algorithm 3 gives the outermost places; from there a transfer can only go inwards.
  const Residents residents(model, complete.resident,
                            core_ranges(model, complete.parallel.value_or(std::vector<ParallelSplit>())));
  const IdVector<BufferId, std::size_t> outermost = insert_dma(model, order, {}, residents);
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    const auto place = complete.dma.find(buffer.name);
    if (buffer.kind == ModelBuffer::Kind::intermediate || place == complete.dma.end()) continue;
    PlaceControl control{buffer.name, buffer.kind == ModelBuffer::Kind::output, {""}, place->second};
    for (const std::size_t loop : path_of(model, order, buffer)) {
      control.loops.push_back(order[loop].name);
    }
    control.loops.erase(control.loops.begin(), control.loops.begin() + static_cast<std::ptrdiff_t>(outermost[b]));
    controls.places.push_back(std::move(control));
  }
  controls.choices = schedule_choices(given, formed, complete, fixed, target);
  return controls;
}

std::vector<ScheduleRow> schedule_rows(const GroupControls& controls) {
  std::vector<ScheduleRow> rows;
  const auto add_transfers = [&](const std::string& loop, bool written, int depth) {
    for (const PlaceControl& place : controls.places) {
      if (place.loop == loop && place.written == written) rows.push_back({false, place.tensor, depth});
    }
  };
  add_transfers("", false, 0);
  int depth = 0;
  for (const LoopControl& loop : controls.loops) {
    rows.push_back({true, loop.name, depth++});
    add_transfers(loop.name, false, depth);
  }
  // What is written leaves when the loops inside are done.
  for (auto loop = controls.loops.rbegin(); loop != controls.loops.rend(); ++loop) {
    add_transfers(loop->name, true, depth--);
  }
  add_transfers("", true, 0);
  return rows;
}

Schedule with_buffer(Schedule fixed, const GroupControls& controls, const std::string& iterator, std::int64_t size) {
  fixed.buffer[iterator] = size;
  const IteratorControl* control = find(controls, iterator);
  if (control == nullptr) return fixed;
  const std::string& before = control->loop;
  const std::string after = size >= control->range ? "" : size == 1 ? iterator : iterator + "o";
  if (fixed.order) {
    // An order names the loops that these sizes give, so the other sizes stay.
    for (const IteratorControl& other : controls.iterators) fixed.buffer.try_emplace(other.name, other.buffer);
  }
  if (before == after) return fixed;
  if (fixed.order) {
    const auto at = std::find(fixed.order->begin(), fixed.order->end(), before);
    if (before.empty() || at == fixed.order->end()) {
      if (!after.empty()) insert_loop(*fixed.order, controls, *control, after);
    } else if (after.empty()) {
      fixed.order->erase(at);
    } else {
      *at = after;
    }
  }
  if (before.empty()) return fixed;
  for (auto place = fixed.dma.begin(); place != fixed.dma.end();) {
    const bool vanished = place->second == before && after.empty();
    if (place->second == before) place->second = after;
    place = vanished ? fixed.dma.erase(place) : std::next(place);
  }
  return fixed;
}

Schedule with_parts(Schedule fixed, const GroupControls& controls, const std::string& iterator, std::int64_t parts) {
  std::vector<ParallelSplit> grid;
  for (const IteratorControl& control : controls.iterators) {
    const std::int64_t of_this = control.name == iterator ? parts : control.parts;
    if (control.spatial && of_this > 1) grid.push_back({control.name, of_this});
  }
  fixed.parallel = std::move(grid);
  return fixed;
}

Schedule with_row_moved(Schedule fixed, const GroupControls& controls, std::size_t from, std::size_t to) {
  std::vector<ScheduleRow> rows = schedule_rows(controls);
  if (from >= rows.size() || to > rows.size() || to == from || to == from + 1) return fixed;
  const ScheduleRow moved = rows[from];
  if (!moved.is_loop) {
    // As far inside as the row above is.
    const int depth = to > 0 ? rows[to - 1].depth + (rows[to - 1].is_loop ? 1 : 0) : 0;
    fixed.dma[moved.name] = loop_at(controls, depth);
    return fixed;
  }
  rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(to), moved);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(to < from ? from + 1 : from));
  std::vector<std::string> order;
  for (const ScheduleRow& row : rows) {
    if (row.is_loop) order.push_back(row.name);
  }
  if (order != names_of(controls.loops)) fixed.order = std::move(order);
  return fixed;
}

Schedule with_row_stepped(Schedule fixed, const GroupControls& controls, std::size_t row, int direction) {
  const std::vector<ScheduleRow> rows = schedule_rows(controls);
  if (row >= rows.size()) return fixed;
  if (!rows[row].is_loop) {
    // Gets stand above what is inside, so upwards is outwards for them; puts stand below.
    const bool written = std::any_of(controls.places.begin(), controls.places.end(), [&](const PlaceControl& place) {
      return place.tensor == rows[row].name && place.written;
    });
    const int depth = rows[row].depth + (written ? -direction : direction);
    if (depth >= 0 && depth <= static_cast<int>(controls.loops.size())) {
      fixed.dma[rows[row].name] = loop_at(controls, depth);
    }
    return fixed;
  }
  if (direction < 0) {
    for (std::size_t above = row; above-- > 0;) {
      if (rows[above].is_loop) return with_row_moved(std::move(fixed), controls, row, above);
    }
    return fixed;
  }
  for (std::size_t below = row + 1; below < rows.size(); ++below) {
    if (rows[below].is_loop) return with_row_moved(std::move(fixed), controls, row, below + 1);
  }
  return fixed;
}

Result<Target> edited_target(const Compilation& plan, const PlanEdit& edit, Diagnostics& diagnostics) {
  const Target& target = plan.program.target;
  if (edit.target.empty()) return target;
  std::vector<std::string> settings;
  for (const auto& [key, value] : edit.target) settings.push_back(fmt::format("{}={}", key, value));
  Diagnostics own;
  auto edited =
      parse_target(to_toml(target), "the plan's target", settings, own, families_of(Backends{&backend_of(plan)}));
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return edited;
}

std::string scaled_bandwidth(const Target& target, double factor) {
  if (target.dma.lines) {
    const LineRates& lines = *target.dma.lines;
    return fmt::format(
        "{{ bytes_per_second = {:.1f}, block_seconds = {}, partial_line_seconds = {}, page_bytes = {} }}",
        lines.bytes_per_second * factor, lines.block_seconds / factor, lines.partial_line_seconds / factor,
        lines.page_bytes);
  }
  std::vector<std::string> points;
  for (const BandwidthPoint& point : target.dma.bandwidth) {
    points.push_back(fmt::format("{{ block_bytes = {}, bytes_per_second = {:.1f} }}", point.block_bytes,
                                 point.bytes_per_second * factor));
  }
  return fmt::format("[{}]", fmt::join(points, ", "));
}

}  // namespace stowage::inspector
