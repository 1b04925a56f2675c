// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/shared_lines.h"

#include <algorithm>

#include "core/tensor.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {

bool cores_share_lines(const GroupModel& model, const std::vector<ParallelSplit>& parallel, int line_bytes) {
  const Stage& root = model.list->stages[model.root];
  const StageTensor& result = model.list->tensors[root.output];
  const std::vector<std::int64_t> strides = result.memory_strides();
  const IteratorSizes ranges = core_ranges(model, parallel);
  // Inside the lowest dimension that is cut a core's part is contiguous. Owners change between its parts, and from the
  // last part to the first one wherever a higher dimension goes on.
  bool cut = false;
  for (std::size_t d = result.shape.size(); d-- > 0;) {
    if (result.shape[d] <= 1) continue;
    const std::int64_t range = ranges[model.iterator_of(model.root, VarId(d)).value()];
    const bool lowest = !cut && range < result.shape[d];
    cut = cut || lowest;
    const std::int64_t step = lowest ? range * strides[d] : strides[d];
    if (cut && step * byte_size(result.type) % line_bytes != 0) return true;
  }
  return false;
}

}  // namespace stowage
