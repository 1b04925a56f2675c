// SPDX-License-Identifier: Apache-2.0
#include "driver/store/stored_graph.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/packing.h"
#include "driver/json/damage.h"

namespace stowage {

namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 62;  ///< of an area of memory

std::vector<std::byte> bytes_of_hexadecimal(const std::string& text) {
  if (text.size() % 2 != 0) throw std::invalid_argument("half a byte is missing: " + text);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) throw std::invalid_argument("not hexadecimal: " + text);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

/// Constants by name, as the text of a graph declares them.
using Declarations = std::map<std::string, std::pair<ElementType, Shape>>;

Declarations declared_constants(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  // Without weights: their types and shapes stand in the text. They are made up as zeros, so that this graph goes
  // before the weights are read.
  const auto graph = parse_graph(text, diagnostics, {}, file);
  if (!graph) throw Damage("its graph cannot be read");
  Declarations constants;
  for (const GraphTensor& tensor : graph->tensors()) {
    if (tensor.constant) constants.emplace(tensor.name, std::pair(tensor.type, tensor.shape));
  }
  return constants;
}

/// The parameters of branches, out of their stacks.
void add_stacked_values(const StoredStep& step, const Declarations& constants, std::map<std::string, Tensor>& values) {
  for (const StoredStep::Stack& stack : step.stacks) {
    const auto whole = values.find(stack.whole);
    if (whole == values.end()) continue;  // results
    const std::size_t axis = stack.axis;
    std::int64_t first = 0;
    for (const std::string& name : stack.parts) {
      const auto part = constants.find(name);
      if (part == constants.end() || part->second.second.size() <= axis || whole->second.shape().size() <= axis ||
          first + part->second.second[axis] > whole->second.shape()[axis]) {
        throw Damage(fmt::format("{} is no part of '{}'", Json(name).dump(), whole->first));
      }
      const std::int64_t extent = part->second.second[axis];
      values.insert_or_assign(name, part_of(whole->second, axis, first, extent));
      first += extent;
    }
  }
}

/// Of a constant of this shape, as its place in the plan says.
Packing packing_of(const Json& place, const Tensor& value) {
  const Json& numbers = place.at("packing");
  if (numbers.size() != 4) throw Damage("a packing has four numbers");
  const auto number = [&](std::size_t i) { return whole_number(numbers.at(i), 1, max_bytes); };
  const Packing packing{number(0), number(1), number(2), number(3)};
  const std::vector<std::int64_t> factors = {packing.outer, packing.extent, packing.inner};
  if (packing.extent % packing.block != 0 || checked_element_count(factors) != value.size()) {
    throw Damage(fmt::format("a value of shape {} cannot be packed by {}", to_text(value.shape()), packing.block));
  }
  return packing;
}

}  // namespace

Graph read_graph(const Json& plan, const IdVector<StepId, StoredStep>& steps, const OpenFile& parameters,
                 const std::string& parameters_file, Diagnostics& diagnostics) {
  const std::string text = joined(plan.at("graph"));
  const std::string file = "graph of the plan";
  const Declarations constants = declared_constants(text, file, diagnostics);
  std::map<std::string, Tensor> values;
  const auto add = [&](const std::string& name, std::size_t size, const auto& bytes) {
    const auto found = constants.find(name);
    if (found == constants.end()) throw Damage(fmt::format("'{}' is no constant of its graph", name));
    const auto& [type, shape] = found->second;
    if (static_cast<std::int64_t>(size) != element_count(shape) * byte_size(type)) {
      throw Damage(fmt::format("the value of '{}' does not fit its shape {}", name, to_text(shape)));
    }
    values[name] = Tensor(type, shape, bytes());
  };
  const auto add_stored = [&](const std::string& name, const Json& place) {
    const auto offset = static_cast<std::size_t>(whole_number(place.at("offset"), 0, max_bytes));
    const auto size = static_cast<std::size_t>(whole_number(place.at("bytes"), 0, max_bytes));
    if (offset > parameters.size() || size > parameters.size() - offset) {
      throw Damage(
          fmt::format("{} has {} bytes, too few for the plan's parameters", parameters_file, parameters.size()));
    }
    add(name, size, [&] { return parameters.read(offset, size); });
  };
  for (const Json& place : plan.at("memory").at("places")) {
    const auto name = place.at("tensor").get<std::string>();
    // Views of a constant share its place and are computed, not read.
    if (place.at("area") == "parameters" && constants.contains(name)) add_stored(name, place);
  }
  for (const Json& place : plan.at("memory").at("stage_constants")) {
    if (!place.contains("packs")) continue;
    const auto name = place.at("packs").get<std::string>();
    add_stored(name, place);
    Tensor& value = values.at(name);
    value = unpacked(value, packing_of(place, value), value.shape());
  }
  for (const auto& [name, value] : plan.at("memory").at("values").items()) {
    std::vector<std::byte> bytes = bytes_of_hexadecimal(value.get<std::string>());
    add(name, bytes.size(), [&] { return std::move(bytes); });
  }
  for (const StoredStep& step : steps) add_stacked_values(step, constants, values);
  const auto graph = parse_graph(text, diagnostics, values, file);
  if (!graph) throw Damage(fmt::format("the weights in {} are not those of the plan", parameters_file));
  return *graph;
}

}  // namespace stowage
