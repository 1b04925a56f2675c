// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/index_numbers.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowage {

std::int64_t IndexNumbers::value(const IndexExpr& e) {
  if (e.is_constant()) return e.constant();
  const auto [found, is_new] = compiled_.try_emplace(&e);
  if (is_new) {
    found->second = CompiledIndex(e, nest_.variables.size());
    for (const BufferId buffer : buffers_in(e)) {
      if (!nest_.buffers.contains(buffer))
        throw LookupOutside(fmt::format("the first element of buffer {} is asked for, and there are {} buffers",
                                        buffer.index(), nest_.buffers.size()));
    }
  }
  return found->second(of_variables);
}

std::vector<std::int64_t> IndexNumbers::all(const std::vector<IndexExpr>& expressions) {
  std::vector<std::int64_t> made;
  for (const IndexExpr& e : expressions) made.push_back(value(e));
  return made;
}

ElementBox IndexNumbers::box_of(const std::vector<Range>& ranges) {
  ElementBox box;
  for (const Range& range : ranges) {
    box.low.push_back(value(range.start));
    box.end.push_back(box.low.back() + std::max<std::int64_t>(0, value(range.extent)));
  }
  return box;
}

}  // namespace stowage
