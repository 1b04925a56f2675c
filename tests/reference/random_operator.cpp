// SPDX-License-Identifier: Apache-2.0
#include "random_operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>

#include "core/operators.h"

namespace stowage::test {

std::int64_t Random::draw(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(high - low + 1));
}

Shape Random::shape(int rank, std::int64_t high) {
  Shape result;
  for (int k = 0; k < rank; ++k) result.push_back(draw(1, high));
  return result;
}

Tensor Random::tensor(Shape shape, double low, double high) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = static_cast<float>(low + (high - low) * static_cast<double>(draw(0, 4095)) / 4096);
  return Tensor::of_floats(std::move(shape), values);
}

Graph graph_of(const Case& c) {
  GraphBuilder builder("g");
  std::vector<std::optional<TensorId>> inputs;
  for (std::size_t slot = 0; slot < c.operands.size(); ++slot) {
    inputs.emplace_back();
    if (!c.operands[slot]) continue;
    inputs.back() = slot == 0 ? builder.add_input("x", c.operands[slot]->type(), c.operands[slot]->shape())
                              : builder.add_constant(fmt::format("c{}", slot), *c.operands[slot]);
  }
  Diagnostics diagnostics;
  const auto output = append_operator(builder, c.kind, "op", c.attributes, inputs, "y", {}, {}, diagnostics);
  INFO(to_text(c) << "\n" << format_diagnostics(diagnostics));
  REQUIRE(output);
  builder.mark_output(*output);
  return std::move(builder).build();
}

std::string to_text(const Case& c) {
  std::string text = c.kind;
  for (const auto& [name, value] : c.attributes) {
    std::visit([&, &name = name](const auto& v) { text += fmt::format(" {}={}", name, v); }, value);
  }
  for (const auto& operand : c.operands) text += operand ? " " + stowage::to_text(operand->shape()) : " -";
  return text;
}

}  // namespace stowage::test
