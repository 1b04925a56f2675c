// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/compute_hull.h"

#include <algorithm>

namespace stowage {
namespace {

Hull hull_of_atom(const LoopNest& nest, const IndexAtom& atom, const Compute& compute) {
  const auto argument = [&](std::size_t i) { return hull_of(nest, (*atom.args)[i], compute); };
  switch (atom.kind) {
    case IndexAtom::Kind::variable: {
      // A finish runs over the spatial axes only, and its reads use no others.
      const std::size_t axis = atom.variable.index();
      if (axis >= compute.box.size()) return {0, 0};
      return {compute.box[axis].start, compute.box[axis].start + compute.box[axis].extent - 1};
    }
    case IndexAtom::Kind::floor_div: {
      const Hull a = argument(0);
      return {floor_div(a.low, atom.number), floor_div(a.high, atom.number)};
    }
    case IndexAtom::Kind::remainder: {
      const Hull a = argument(0);
      if (a.low == a.high) return {remainder(a.low, atom.number), remainder(a.low, atom.number)};
      return {0, atom.number - 1};
    }
    case IndexAtom::Kind::minimum: {
      const Hull a = argument(0);
      const Hull b = argument(1);
      return {minimum(a.low, b.low), minimum(a.high, b.high)};
    }
    case IndexAtom::Kind::maximum: {
      const Hull a = argument(0);
      const Hull b = argument(1);
      return {maximum(a.low, b.low), maximum(a.high, b.high)};
    }
    case IndexAtom::Kind::table: {
      const Hull a = argument(0);
      if (a.low == a.high) return {lookup(atom.table, a.low), lookup(atom.table, a.low)};
      // Tables need not rise: running minima from the right and maxima from the left bound every window. The names
      // are those that lower() gives such tables, so that equal bounds cancel.
      std::vector<std::int64_t> low = atom.table->values;
      std::vector<std::int64_t> high = atom.table->values;
      for (std::size_t k = low.size() - 1; k-- > 0;) low[k] = std::min(low[k], low[k + 1]);
      for (std::size_t k = 1; k < high.size(); ++k) high[k] = std::max(high[k], high[k - 1]);
      const auto bounding = [&](std::vector<std::int64_t> values, const char* suffix) {
        const std::string name = values == atom.table->values ? atom.table->name : atom.table->name + suffix;
        return std::make_shared<const IndexTable>(IndexTable{name, std::move(values)});
      };
      return {lookup(bounding(low, "_low"), a.low), lookup(bounding(high, "_high"), a.high)};
    }
    case IndexAtom::Kind::tensor_value: {
      const auto& buffer = compute.read_buffers.at(atom.read());
      const Buffer* const held = buffer ? &nest.buffers[*buffer] : nullptr;
      if (held != nullptr && held->slots == 1 && element_count(held->extents) == 1) {
        return {value_in(*buffer, atom.bound), value_in(*buffer, atom.bound)};
      }
      return {0, atom.bound - 1};
    }
  }
  return {0, 0};
}

}  // namespace

Hull hull_of(const LoopNest& nest, const IndexExpr& e, const Compute& compute) {
  Hull sum{e.constant(), e.constant()};
  for (const IndexTerm& term : e.terms()) {
    const Hull value = hull_of_atom(nest, term.atom, compute);
    sum.low += (term.coefficient > 0 ? value.low : value.high) * term.coefficient;
    sum.high += (term.coefficient > 0 ? value.high : value.low) * term.coefficient;
  }
  return sum;
}

}  // namespace stowage
