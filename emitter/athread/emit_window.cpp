// SPDX-License-Identifier: Apache-2.0
// Sliding windows (lowering/ir/sliding_windows.h): what two trips have in common moves to the front of the box.
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "emitter/athread/kernel_context.h"

namespace stowage {

void emit_window(KernelContext& k, const Stmt& stmt, const SlidingWindow& window) {
  const auto& fill = std::get<Fill>(stmt.node);
  const Buffer& buffer = k.nest.buffers[fill.buffer];
  const auto extents = buffer.extents.begin();
  const auto product = [](auto from, auto to) {
    return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
  };
  const auto at = extents + static_cast<std::ptrdiff_t>(window.dimension);
  const std::int64_t pieces = product(extents, at);
  const std::int64_t inner = product(at + 1, buffer.extents.end());
  const std::int64_t whole = *at * inner;
  const std::int64_t from = window.step * inner;
  const std::int64_t moved = window.kept * inner;
  // What moves goes to the front: nothing is written that is read later.
  const bool vectors = moves_in_vectors(buffer, window.dimension, k.target.cores.vector_lanes);
  IdentifierPool local = k.pool;
  const std::string piece = local.take("piece");
  const std::string i = local.take("i");
  k.out.open(fmt::format("if ({} > 0) {{", k.variables[window.along.index()]), stmt.id);
  std::string begin = k.box(fill.buffer);
  if (pieces > 1) {
    k.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", piece, pieces), stmt.id);
    begin = fmt::format("{} * {} + ", whole, piece);
  } else {
    begin.clear();
  }
  const auto element = [&](std::int64_t offset) {
    return fmt::format("((float *){})[{}{}{}]", k.box(fill.buffer), begin,
                       offset > 0 ? fmt::format("{} + ", offset) : "", i);
  };
  if (vectors) {
    k.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", i, moved, lanes_of_floatv4), stmt.id);
    k.out.line("floatv4 v_;");
    k.out.line(fmt::format("simd_load(v_, &{});", element(from)), stmt.id);
    k.out.line(fmt::format("simd_store(v_, &{});", element(0)), stmt.id);
    k.out.close();
  } else {
    k.out.line(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {2} = {3};", i, moved, element(0), element(from)),
               stmt.id);
  }
  if (pieces > 1) k.out.close();
  k.out.close();
}

}  // namespace stowage
