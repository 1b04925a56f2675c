// SPDX-License-Identifier: Apache-2.0
// The two examples by which the swTVM papers explain their algorithms.
#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

void build_matmul(NetworkBuilder& builder) {
  constexpr std::int64_t size = 1024;
  const Value a = builder.input("A", {builder.batch(), size});
  const Value b = builder.input("B", {size, size});
  builder.output(builder.node("MatMul", "matmul", {a, b}, {builder.batch(), size}, {}, "C"));
}

void build_vector(NetworkBuilder& builder) {
  const Shape shape = {builder.batch() * 1024};
  const Value first = builder.input("v1", shape);
  const Value second = builder.input("v2", shape);
  builder.output(builder.node("Mul", "vector", {first, second}, shape, {}, "v"));
}

}  // namespace stowage
