// SPDX-License-Identifier: Apache-2.0
// A plan folder with everything that plan files know: branches with stacks, views, epilogues, constants of stages, a
// search, operators that are planned alike.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/operators.h"
#include "driver/store/plan_file.h"
#include "lowering/program/planners.h"

namespace stowage::test {

/// With the published planner for a small LDM, in which there are loops whose order it chose and told.
inline void write_varied_plan(const std::filesystem::path& folder, const std::string& planner = default_planner()) {
  GraphBuilder builder("varied");
  Diagnostics diagnostics;
  const auto append = [&](const char* kind, const std::string& name, Attributes attributes,
                          std::vector<std::optional<TensorId>> operands) {
    const auto result = append_operator(builder, kind, name, std::move(attributes), std::move(operands), name + "_out",
                                        {}, {}, diagnostics);
    if (!result) throw std::runtime_error(name + ": " + format_diagnostics(diagnostics));
    return *result;
  };
  const auto weights = [&](const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    return builder.add_constant(name, Tensor::of_floats(shape, values));
  };
  const TensorId x = builder.add_input("x", ElementType::f32, {8, 16});
  std::vector<std::optional<TensorId>> heads;
  for (const char* name : {"query", "key", "value"}) {
    const TensorId product = append("MatMul", name, {}, {x, weights(std::string(name) + "_w", {16, 16})});
    heads.emplace_back(append("Relu", std::string(name) + "_relu", {}, {product}));
  }
  const TensorId joined = append("Concat", "join", {{"axis", std::int64_t{1}}}, heads);
  const TensorId first = append("MatMul", "mix", {}, {joined, weights("mix_w", {48, 8})});
  const TensorId biased = append("Add", "bias", {}, {first, weights("bias_b", {8})});
  builder.mark_output(append("Softmax", "softmax", {}, {biased}));
  builder.mark_output(append("Sub", "rest", {}, {*heads[0], *heads[1]}));
  builder.mark_output(append("Sub", "like_rest", {}, {*heads[1], *heads[2]}));
  CompileRequest request;
  request.command_line = "stowage compile varied.onnx";
  request.model = "varied.onnx";
  request.planner = planner;
  if (planner == "swtvm")
    request.settings = {"target.cores.count=2", "target.ldm.bytes=3072", "target.ldm.reserved=1024"};
  const auto compilation = compile_graph(std::move(builder).build(), request, diagnostics);
  if (!compilation || !write_compilation(*compilation, folder, true, diagnostics)) {
    throw std::runtime_error(format_diagnostics(diagnostics));
  }
}

}  // namespace stowage::test
