// SPDX-License-Identifier: Apache-2.0
// Inputs that stay in the LDM: a buffer that is resident along an iterator holds all that its core needs along it, and
// not only a tile's. The iterator's loop then does not move it, so that its transfer may stand outside of that loop:
// weights that stay while pictures pass by, which libraries of matrix products call stationary. swTVM knows sizes by
// iterator only, the same for all tensors.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// What is resident of a group's buffers under one split over the cores.
class Residents {
 public:
  /// Nothing is.
  Residents() = default;
  /// `ranges`: of every iterator on one core. Names that the group does not have are passed over.
  Residents(const GroupModel& model, const ResidentInputs& of_tensors, IteratorSizes ranges);

  [[nodiscard]] bool is_along(BufferId buffer, IteratorId iterator) const;
  /// The iterators whose loops move a buffer.
  [[nodiscard]] std::set<IteratorId> moving(const GroupModel& model, BufferId buffer) const;
  /// The sizes by iterator that a buffer's box follows from: a core's range where it is resident, else the tile's.
  [[nodiscard]] IteratorSizes sizes_of(BufferId buffer, const IteratorSizes& tile) const;

 private:
  IdVector<BufferId, std::set<IteratorId>> along_;
  IteratorSizes ranges_;
};

/// Why a buffer cannot be resident along an iterator, as the end of a sentence that begins with its name; empty if it
/// can.
std::string why_not_resident(const GroupModel& model, BufferId buffer, IteratorId iterator);

/// Allocated elements per dimension of a buffer, for tile sizes by iterator.
std::vector<std::int64_t> buffer_extents(const GroupModel& model, BufferId buffer, const IteratorSizes& tile,
                                         const Residents& residents);

/// Bytes of every buffer, each of its slots rounded up to `alignment`; 0 for one that shares another's place. `slots`
/// by buffer, none given: one each.
IdVector<BufferId, std::int64_t> buffer_bytes(const GroupModel& model, const IteratorSizes& tile, int alignment,
                                              const IdVector<BufferId, int>& slots, const Residents& residents);

}  // namespace stowage
