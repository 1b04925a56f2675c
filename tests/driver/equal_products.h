// SPDX-License-Identifier: Apache-2.0
// Three matrix products in a row, which are planned alike.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/operators.h"
#include "driver/session/session.h"

namespace stowage::test {

/// Products "first", "second" and "third" of 8 × 16 by 16 × 16 elements, by swtvm for two cores.
inline Compilation compile_equal_products() {
  GraphBuilder builder("equal");
  Diagnostics diagnostics;
  TensorId last = builder.add_input("x", ElementType::f32, {8, 16});
  for (const std::string name : {"first", "second", "third"}) {
    const TensorId w = builder.add_constant(name + "_w", Tensor::of_floats({16, 16}, std::vector<float>(256)));
    const auto product = append_operator(builder, "MatMul", name, {}, {last, w}, name + "_out", {}, {}, diagnostics);
    REQUIRE(product);
    last = *product;
  }
  builder.mark_output(last);
  CompileRequest request;
  request.planner = "swtvm";
  request.settings = {"target.cores.count=2", "target.ldm.bytes=1536", "target.ldm.reserved=512"};
  auto compilation = compile_graph(std::move(builder).build(), request, diagnostics);
  REQUIRE(compilation);
  return *std::move(compilation);
}

}  // namespace stowage::test
