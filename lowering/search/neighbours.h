// SPDX-License-Identifier: Apache-2.0
// Schedules next to one: what a climb from it plans.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// A schedule that a search has reached.
struct Reached {
  const Schedule& fixed;     ///< by a person and by the search; the algorithms have filled the rest
  const Schedule& complete;  ///< the same with the rest
};

/// The schedules next to one, of a group on a target; what a person has fixed stays. All three must outlive this.
class Neighbours {
 public:
  Neighbours(const GroupModel& model, const Schedule& person, const Target& target)
      : model_(model), person_(person), target_(target) {}

  /// One iterator's buffers longer or shorter: half, double, whole, one tile more or fewer.
  [[nodiscard]] std::vector<Schedule> single_sizes(const Reached& at) const;
  /// One longer in exchange for another's shorter: by one of these steps, or by as much as makes them fit.
  [[nodiscard]] std::vector<Schedule> paired_sizes(const Reached& at) const;
  /// With these sizes, two loops next to each other in exchange.
  [[nodiscard]] std::vector<Schedule> loop_orders(const Reached& at) const;
  /// A tensor with one slot less, or two instead of one where both fit, with the sizes that it has, or with one
  /// iterator's half; with one slot less also with one iterator's longer.
  [[nodiscard]] std::vector<Schedule> slot_numbers(const Reached& at) const;
  /// A tensor of several slots with one more, where they fit, with the sizes that it has, or with one iterator's half.
  [[nodiscard]] std::vector<Schedule> deeper_slots(const Reached& at) const;

  /// Where every tensor has one slot so far: two for all that may have them, with one iterator's buffers cut into 2, 4
  /// or 8. A second slot for one tensor alone gains nothing there.
  [[nodiscard]] std::vector<Schedule> slots_for_all(const Reached& at) const;
  /// Else, where what is stored has one slot: two for that, with one iterator's buffers cut into 2 or 3, so that one
  /// part is stored while the next one is computed. A cut alone, and a slot alone, gain nothing there.
  [[nodiscard]] std::vector<Schedule> stored_while_computed(const Reached& at) const;

  /// An input loaded by each core for itself instead of together, or together as widely as can be.
  [[nodiscard]] std::vector<Schedule> sharings(const Reached& at) const;

  /// An input that stays in the LDM along all loops that move it, along those of sums or of others only, or no longer;
  /// where it does not fit, with one iterator's half.
  [[nodiscard]] std::vector<Schedule> residents(const Reached& at) const;

  /// What is fixed over a split, and with it all that a core has of one iterator.
  [[nodiscard]] std::vector<Schedule> whole_iterators(const Schedule& fixed) const;

  /// Tensors that may have two slots, as far as a person has not fixed how many.
  [[nodiscard]] std::vector<std::string> tensors_with_slots() const;

 private:
  [[nodiscard]] IteratorSizes sizes_of(const Schedule& complete) const;
  /// The longest of one iterator's tiles of one length that fit beside the others' sizes; 0 if none does.
  [[nodiscard]] std::int64_t longest_fitting(const Reached& at, IteratorSizes sizes, IteratorId i) const;
  /// Those next to its size, and the longest that fit.
  [[nodiscard]] std::set<std::int64_t> shorter_sizes(const Reached& at, const IteratorSizes& sizes, IteratorId i) const;
  [[nodiscard]] std::vector<std::int64_t> sizes_next_to(IteratorId i, std::int64_t size, std::int64_t range) const;
  void fix_sizes(Schedule& schedule, const IteratorSizes& sizes) const;
  [[nodiscard]] bool fits(const IteratorSizes& sizes, const Schedule& fixed) const;
  [[nodiscard]] std::vector<std::set<std::string>> stays_of(const Reached& at, BufferId b) const;
  /// As it is, else with one iterator's half.
  void add_or_halve(const Reached& at, std::vector<Schedule>& found) const;
  /// With one iterator's double, or as long as it fits.
  void add_lengthened(const Reached& at, std::vector<Schedule>& found) const;
  void add_if_fitting(const Reached& at, const IteratorSizes& sizes, std::vector<Schedule>& found) const;

  const GroupModel& model_;
  const Schedule& person_;
  const Target& target_;
};

}  // namespace stowage
