// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/memory_chart.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/operators.h"
#include "driver/drawing/address_axis.h"

namespace stowage::drawing {

namespace {

/// The tensors in whose memory a group reads and writes: what it uses, or what that lies inside of.
std::vector<TensorId> storages_of(const FusedOperator& group, const MemoryMap& memory) {
  std::vector<TensorId> storages = results_of(group);
  storages.insert(storages.end(), group.inputs.begin(), group.inputs.end());
  for (TensorId& tensor : storages) {
    const MemoryAllocation* place = memory.find(tensor);
    if (place != nullptr && place->shares_with) tensor = *place->shares_with;
  }
  return storages;
}

class MemoryPicture {
 public:
  MemoryPicture(const Program& program, std::optional<StepId> chosen, const Sheet& sheet,
                const std::function<bool(TensorId tensor)>& wanted)
      : program_(program), chosen_(chosen), sheet_(sheet) {
    step_of_.assign(program.fused.graph.operators().size(), StepId());
    for (const StepId i : program.steps.ids()) {
      for (const OpId op : program.steps[i].group.operators) step_of_[op] = i;
    }
    for (const MemoryAllocation& place : program.memory.allocations) {
      if (place.area != MemoryAllocation::Area::activations || place.shares_with || place.bytes == 0) continue;
      if (!wanted || wanted(place.tensor)) places_.push_back(&place);
    }
    if (chosen_) used_ = storages_of(program.steps[*chosen_].group, program.memory);
  }

  Scene run() && {
    const MemoryMap& memory = program_.memory;
    scene_.title = "Main memory: activations";
    scene_.width = std::max(sheet_.width, 420.0);
    double y = 8;
    y += add_title(scene_, sheet_, y,
                   fmt::format("{} for activations, {} for parameters", sheet_.size(memory.activation_bytes),
                               sheet_.size(memory.parameter_bytes)));
    y += add_legend(scene_, sheet_, y, legend()) + 6;
    const double left = margin + address_width(sheet_, memory.activation_bytes) + 8;
    area_ = {left, y + 4, scene_.width - left - margin, std::max(sheet_.height - y - 2 * row() - 14, 120.0)};
    const AddressAxis axis = address_axis();
    scene_.box(area_, Ink::base, Ink::line);
    add_addresses(scene_, sheet_, area_, axis);
    if (chosen_) scene_.box({x(static_cast<int>(chosen_->index())), area_.y, column_width(), area_.height}, Ink::band);
    for (const MemoryAllocation* place : places_) add_tensor(axis, *place);
    add_steps();
    scene_.text({area_.x, area_.bottom() + row() + 3, area_.width, row()},
                axis.to_scale()
                    ? "steps in order of execution, from first to last use of each tensor →"
                    : "steps in order of execution →   (addresses not to scale: small tensors drawn larger)",
                Ink::muted, Font::small, Align::middle);
    scene_.height = area_.bottom() + 2 * row() + 8;
    return std::move(scene_);
  }

 private:
  [[nodiscard]] double small() const { return sheet_.fonts.height(Font::small); }
  [[nodiscard]] double row() const { return small() + 4; }
  [[nodiscard]] int steps() const { return static_cast<int>(program_.steps.size()); }
  /// One column before the first step and one behind the last for what lives there.
  [[nodiscard]] double column_width() const { return area_.width / (steps() + 2); }
  [[nodiscard]] double x(int step) const { return area_.x + column_width() * (step + 1); }

  [[nodiscard]] std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries = {
        {"network input", Ink::input}, {"between groups", Ink::between}, {"network output", Ink::output}};
    if (chosen_) {
      entries.push_back({"read or written by the chosen group", Ink::chosen});
      entries.push_back({"the chosen group's step", Ink::band});
    }
    return entries;
  }

  /// A few tensors are all to be seen, of many those that are large.
  [[nodiscard]] AddressAxis address_axis() const {
    std::vector<AddressAxis::Piece> pieces;
    for (const MemoryAllocation* place : places_) pieces.push_back({place->offset, place->offset + place->bytes});
    constexpr std::size_t few = 12;
    const double least = pieces.size() <= few ? row() : 0;
    return {std::max<std::int64_t>(1, program_.memory.activation_bytes), pieces, area_.y, area_.bottom(), least};
  }

  void add_tensor(const AddressAxis& axis, const MemoryAllocation& place) {
    const GraphTensor& tensor = program_.fused.graph.tensor(place.tensor);
    const bool of_chosen = std::find(used_.begin(), used_.end(), place.tensor) != used_.end();
    const double top = axis.y(static_cast<double>(place.offset + place.bytes));
    const double bottom = axis.y(static_cast<double>(place.offset));
    const Box block{x(place.first_step), std::min(top, bottom - 2), x(place.last_step + 1) - x(place.first_step),
                    std::max(bottom - top, 2.0)};
    const Ink ink = of_chosen          ? Ink::chosen
                    : tensor.is_input  ? Ink::input
                    : tensor.is_output ? Ink::output
                                       : Ink::between;
    Shape& shape = scene_.box(block, ink, Ink::base);
    if (tensor.producer) {
      shape.subject = Subject{.step = step_of_[*tensor.producer], .op = tensor.producer};
    }
    shape.tip = fmt::format("{} {}{}\n{} at offset {}\nfrom step {} to step {}", tensor.name, name_of(tensor.type),
                            stowage::to_text(tensor.shape), sheet_.size(place.bytes), place.offset, place.first_step,
                            place.last_step);
    add_name(block, tensor.name, ink);
  }

  /// A name where it says something: along the block, upright where that is the longer side.
  void add_name(const Box& block, const std::string& name, Ink on) {
    const double width = sheet_.text_width(name);
    const bool upright = block.width < block.height && width > block.width;
    const double along = upright ? block.height : block.width;
    const double across = upright ? block.width : block.height;
    if (across < small() - 1 || along < std::min(width, 60.0) + 6) return;
    const double wide = std::min(block.width, row());
    const Box label = upright ? Box{block.middle().x - wide / 2, block.y + 3, wide, block.height - 6}
                              : Box{block.x + 4, block.y, block.width - 6, block.height};
    Shape& text = scene_.text(label, name, Ink::none, Font::small, upright ? Align::middle : Align::left);
    text.fill = on;
    text.upward = upright;
    text.cut = Cut::middle;
  }

  /// Steps below, as many as have room, by number; those of a short network by name too.
  void add_steps() {
    const double number_width = sheet_.text_width(std::to_string(steps())) + 8;
    if (column_width() > sheet_.text_width("before") + 8) {
      add_step(-1, "before");
      add_step(steps(), "after");
      int now = 0;
      for (const ProgramStep& step : program_.steps) {
        add_step(now, fmt::format("{} {}", now, step.group.name));
        ++now;
      }
      return;
    }
    const int every = std::max(1, static_cast<int>(std::ceil(number_width / column_width())));
    for (int step = 0; step < steps(); step += every) {
      scene_.line({x(step), area_.bottom()}, {x(step), area_.bottom() + 3}, Ink::muted, 0.8);
      const double middle = x(step) + column_width() / 2;
      const Box label{middle - number_width / 2, area_.bottom() + 3, number_width, row()};
      if (label.right() > area_.right() + 1) continue;
      scene_.text(label, std::to_string(step), Ink::muted, Font::small, Align::middle);
    }
  }

  void add_step(int step, const std::string& text) {
    scene_.line({x(step), area_.y}, {x(step), area_.bottom() + 3}, Ink::line, 0.5);
    Shape& label = scene_.text({x(step) + 1, area_.bottom() + 3, column_width() - 2, row()}, text, Ink::muted,
                               Font::small, Align::middle);
    label.cut = Cut::middle;
    label.tip = text;
  }

  const Program& program_;
  std::optional<StepId> chosen_;
  const Sheet& sheet_;
  IdVector<OpId, StepId> step_of_;
  std::vector<const MemoryAllocation*> places_;
  std::vector<TensorId> used_;
  Box area_;
  Scene scene_;
};

}  // namespace

Scene memory_chart(const Program& program, std::optional<StepId> chosen, const Sheet& sheet,
                   const std::function<bool(TensorId tensor)>& wanted) {
  return MemoryPicture(program, chosen, sheet, wanted).run();
}

}  // namespace stowage::drawing
