// SPDX-License-Identifier: Apache-2.0
// Where results of branches are to lie: one behind the other, beside what has a place already.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "fusion/groups/horizontal_fusion.h"

namespace stowage {

/// Tensors that are to lie one behind the other along a dimension of a storage.
struct BranchStack {
  std::vector<TensorId> tensors;
  std::size_t axis = 0;
  std::optional<OpId> join;  ///< a concatenation whose result is one of them
};

using Boxes = std::map<TensorId, StorageBox>;

/// The stack of a family's results. `boxes` says how everything lies without it, `joins` by operator which
/// concatenations are views. Results that are the first or the last operands of one stay there, and the stack goes on
/// at its border. Nothing where no result can be put beside another, or all lie side by side already.
std::optional<BranchStack> stack_of_results(const Graph& graph, const BranchFamily& family, const Boxes& boxes,
                                            const std::vector<bool>& joins);

}  // namespace stowage
