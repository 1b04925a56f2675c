// SPDX-License-Identifier: Apache-2.0
// What records about a fused operator's plan speak of: iterators and buffers of the operator's model by number, and the
// outer loops and splits over the cores that are made of iterators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"

namespace stowage {

/// Names of a fused operator's iterators and buffers, shared by all records about it.
struct GroupNames {
  IdVector<IteratorId, std::string> iterators;
  IdVector<BufferId, std::string> buffers;
  friend bool operator==(const GroupNames&, const GroupNames&) = default;
};

/// An outer loop: "y" where its iterator is buffered by one element, "yo" otherwise.
struct TracedLoop {
  IteratorId iterator;
  bool tiled = false;
  friend bool operator==(const TracedLoop&, const TracedLoop&) = default;
};
std::string name_of(const TracedLoop& loop, const GroupNames& names);

/// An iterator of the output cut into so many parts, one a core.
struct TracedSplit {
  IteratorId iterator;
  std::int64_t parts = 1;
  friend bool operator==(const TracedSplit&, const TracedSplit&) = default;
};

}  // namespace stowage
