// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/swtvm.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/ldm_room.h"
#include "lowering/swtvm/classification.h"

namespace stowage {
namespace {

std::int64_t total(const IdVector<BufferId, std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

class LdmManagement {
 public:
  LdmManagement(const GroupModel& model, const IteratorSizes& ranges, const IteratorSizes& fixed, const Target& target,
                const GroupTrace& trace, const IdVector<BufferId, int>& slots, const Residents& residents)
      : model_(model),
        ranges_(ranges),
        fixed_(fixed),
        target_(target),
        slots_(slots),
        residents_(residents),
        room_(ldm_for_buffers(model, target, slots)),
        trace_(trace),
        classes_(model),
        told_(model.iterators.size()) {}

  std::variant<LdmSizes, Decision> run() {
    buffer_.assign(model_.iterators.size(), 1);
    for (const IteratorId i : fixed_.ids()) {
      if (fixed_[i] > 0) set_fixed(i);
    }
    if (!fits()) return refusal();
    hold_whole();
    list_ = sorted_open();
    tell_classes(IteratorsClassified::When::first);
    initialise();
    expand();
    LdmSizes sizes;
    sizes.size = buffer_;
    for (const IteratorId i : model_.iterators.ids()) {
      sizes.whole.push_back(!classes_.open().contains(i));
    }
    if (trace_.listening()) trace_.add(SizesChosen{state()});
    return sizes;
  }

 private:
  [[nodiscard]] std::int64_t used() const {
    return total(buffer_bytes(model_, buffer_, target_.ldm.alignment, slots_, residents_));
  }
  [[nodiscard]] bool fits() const { return used() <= room_; }
  [[nodiscard]] const std::string& name(IteratorId i) const { return model_.iterators[i].name; }
  [[nodiscard]] bool is_free(IteratorId i) const { return !model_.pinned.contains(i) && fixed_[i] == 0; }

  void set_fixed(IteratorId i) {
    buffer_[i] = std::min(fixed_[i], ranges_[i]);
    if (buffer_[i] == ranges_[i] && buffer_[i] > 1) classes_.mark_whole(i);
    tell_size(SizeTried::Step::fixed, i);
  }

  /// In a group of several stages, what overlaps from tile to tile would be computed and fetched again for each: such
  /// reductions are buffered whole first, where they fit.
  void hold_whole() {
    for (const IteratorId i : model_.overlapping) {
      if (!is_free(i) || ranges_[i] == 1) continue;
      buffer_[i] = ranges_[i];
      if (!fits()) {
        tell_size(SizeTried::Step::whole, i);
        buffer_[i] = 1;
        continue;
      }
      classes_.mark_whole(i);
      tell_size(SizeTried::Step::whole, i);
    }
  }

  Decision refusal() const {
    const auto bytes = buffer_bytes(model_, buffer_, target_.ldm.alignment, slots_, residents_);
    const auto largest = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
    LdmExceeded exceeded;
    exceeded.with_fixed_sizes = std::any_of(fixed_.begin(), fixed_.end(), [](std::int64_t f) { return f > 0; });
    exceeded.beside_parameters = room_ < target_.ldm.available();
    exceeded.needed = used();
    exceeded.room = room_;
    exceeded.ldm_bytes = target_.ldm.bytes;
    exceeded.largest = BufferId(static_cast<std::size_t>(largest));
    exceeded.largest_bytes = bytes[exceeded.largest];
    exceeded.largest_extents = buffer_extents(model_, exceeded.largest, buffer_, residents_);
    const int slots = slots_.empty() ? 1 : slots_[exceeded.largest];
    std::string reason = sentence(exceeded, names_of(model_));
    if (slots > 1) reason += fmt::format(", in {} slots", slots);
    trace_.add(std::move(exceeded));
    return Decision::refuse(ldm_capacity_rule, reason, fmt::format("{} of LDM more", ldm_bytes_text(used() - room_)));
  }

  /// size iterators by buffer size, then comp iterators by the number of tensors they affect; pinned and fixed ones
  /// take no part.
  [[nodiscard]] std::vector<IteratorId> sorted_open() const {
    std::vector<IteratorId> sizes;
    std::vector<IteratorId> comps;
    for (const IteratorId i : classes_.open()) {
      if (!is_free(i)) continue;
      const IteratorClass c = classes_.class_of(i);
      if (c == IteratorClass::size) sizes.push_back(i);
      if (c == IteratorClass::comp) comps.push_back(i);
    }
    std::stable_sort(sizes.begin(), sizes.end(), [&](IteratorId a, IteratorId b) { return buffer_[a] < buffer_[b]; });
    std::stable_sort(comps.begin(), comps.end(), [&](IteratorId a, IteratorId b) {
      return classes_.affected_tensors(a) < classes_.affected_tensors(b);
    });
    sizes.insert(sizes.end(), comps.begin(), comps.end());
    return sizes;
  }

  void initialise() {
    std::set<IteratorId> initialised;
    while (true) {
      bool any = false;
      const std::vector<IteratorId> pass = list_;
      for (const IteratorId i : pass) {
        if (!initialised.insert(i).second) continue;
        any = true;
        initialise(i, good_elements(i));
      }
      list_ = sorted_open();
      if (!any) return;
      tell_classes(IteratorsClassified::When::after_start);
    }
  }

  /// Elements of the smallest access with good bandwidth, for every tensor that the iterator is an index of: the
  /// paper's 64, of which each has 4 bytes.
  [[nodiscard]] std::int64_t good_elements(IteratorId i) const {
    int narrowest = 0;
    for (const ModelBuffer& buffer : model_.buffers) {
      if (buffer.kind == ModelBuffer::Kind::intermediate || !buffer.moved_by.contains(i)) continue;
      const int bytes = byte_size(model_.list->tensors[buffer.tensor].type);
      if (narrowest == 0 || bytes < narrowest) narrowest = bytes;
    }
    return std::max<std::int64_t>(1, target_.dma.good_block_bytes / std::max(1, narrowest));
  }

  void initialise(IteratorId i, std::int64_t good) {
    if (ranges_[i] <= good) {
      buffer_[i] = ranges_[i];
      classes_.mark_whole(i);
    } else {
      buffer_[i] = good;
    }
    tell_size(SizeTried::Step::start, i);
    while (!fits()) {
      tell_size(SizeTried::Step::exceeds, i);
      if (buffer_[i] == ranges_[i]) classes_.unmark_whole(i);
      // Halving ends at one element at the latest: with that everything fitted before this iterator's turn.
      buffer_[i] = std::max<std::int64_t>(1, buffer_[i] / 2);
      tell_size(SizeTried::Step::halved, i);
    }
  }

  void expand() {
    std::size_t next = 0;
    while (true) {
      // select(Vars): the next iterator in list order that can still grow.
      std::size_t tried = 0;
      while (tried < list_.size() && !can_grow(list_[(next + tried) % list_.size()])) ++tried;
      if (tried == list_.size()) return;
      const std::size_t position = (next + tried) % list_.size();
      const IteratorId i = list_[position];
      const std::int64_t before = buffer_[i];
      buffer_[i] = std::min(before * 2, ranges_[i]);
      tell_size(SizeTried::Step::grown, i);
      if (!fits()) {
        buffer_[i] = before;
        return;
      }
      next = position + 1;
      if (buffer_[i] == ranges_[i]) {
        classes_.mark_whole(i);
        list_ = sorted_open();
        next = 0;
        tell_classes(IteratorsClassified::When::after_whole, i);
      }
    }
  }

  [[nodiscard]] bool can_grow(IteratorId i) const { return buffer_[i] < ranges_[i]; }

  [[nodiscard]] LdmState state() const {
    LdmState state{buffer_, {}, used()};
    for (const IteratorId i : buffer_.ids()) state.classes.push_back(classes_.class_of(i));
    return state;
  }

  void tell_size(SizeTried::Step step, IteratorId i) {
    if (!trace_.listening()) return;
    SizeTried tried{step, i, fits(), ranges_[i], good_elements(i), room_, state()};
    note_told(tried.state);
    trace_.add(std::move(tried));
  }

  /// What algorithm 5 finds, of iterators of which it is new.
  void tell_classes(IteratorsClassified::When when, std::optional<IteratorId> whole = std::nullopt) {
    if (!trace_.listening()) return;
    IteratorsClassified classified{when, whole, {}, state()};
    for (const IteratorId i : told_.ids()) {
      const IteratorClass found = classified.state.classes[i];
      if (told_[i] == found) continue;
      const bool is_open = found != IteratorClass::whole;
      classified.changed.push_back({i, found, is_open ? classes_.along(i) : std::vector<BufferId>(),
                                    is_open ? classes_.across(i) : std::vector<BufferId>()});
    }
    note_told(classified.state);
    trace_.add(std::move(classified));
  }

  void note_told(const LdmState& state) {
    for (const IteratorId i : told_.ids()) told_[i] = state.classes[i];
  }

  const GroupModel& model_;
  const IteratorSizes& ranges_;
  const IteratorSizes& fixed_;
  const Target& target_;
  const IdVector<BufferId, int>& slots_;
  const Residents& residents_;
  std::int64_t room_;  ///< bytes of LDM for buffers
  const GroupTrace& trace_;
  Classification classes_;
  IdVector<IteratorId, std::optional<IteratorClass>> told_;  ///< the class that the trace knows
  IteratorSizes buffer_;
  std::vector<IteratorId> list_;  ///< Iters of the paper: size iterators, then comp iterators
};

}  // namespace

std::variant<LdmSizes, Decision> manage_ldm(const GroupModel& model, const IteratorSizes& ranges,
                                            const IteratorSizes& fixed, const Target& target, const GroupTrace& trace,
                                            const IdVector<BufferId, int>& slots, const Residents& residents) {
  return LdmManagement(model, ranges, fixed, target, trace, slots, residents).run();
}

std::vector<OuterLoop> outer_loops(const GroupModel& model, const IteratorSizes& ranges, const LdmSizes& sizes) {
  std::vector<OuterLoop> loops;
  for (const IteratorId i : model.iterators.ids()) {
    const bool is_part = model.split_sum && model.split_sum->parts == i;
    if (sizes.whole[i] || is_part) continue;
    const std::string& name = model.iterators[i].name;
    loops.push_back({i, sizes.size[i] == 1 ? name : name + "o", ceil_div(ranges[i], sizes.size[i])});
  }
  return loops;
}

TracedLoop traced(const GroupModel& model, const OuterLoop& loop) {
  return {loop.iterator, loop.name != model.iterators[loop.iterator].name};
}

std::vector<std::size_t> path_of(const GroupModel& model, const std::vector<OuterLoop>& order,
                                 const ModelBuffer& buffer) {
  std::vector<std::size_t> path;
  const bool is_result = buffer.kind != ModelBuffer::Kind::input;
  for (std::size_t l = 0; l < order.size(); ++l) {
    const ModelIterator& iterator = model.iterators[order[l].iterator];
    // A result is complete once its stage's reduction is over, so its place is outside these loops, and so is what the
    // tail makes of it; what the main stage reads is computed per tile of it, inside its reduction loops. What finishes
    // a sum is read behind its loops: loaded inside of them it would be there only where they have a trip.
    const bool of_own_stage = iterator.stage == buffer.stage && !is_result && !buffer.finishes_only;
    const bool before_main = buffer.stage != model.main && !model.in_tail[buffer.stage];
    const bool of_main = iterator.stage == model.main && before_main;
    if (iterator.spatial || of_main || of_own_stage) path.push_back(l);
  }
  // Spatial loops come first, then the main stage's reduction loops, then the stage's own.
  std::stable_sort(path.begin(), path.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t l) {
      const ModelIterator& iterator = model.iterators[order[l].iterator];
      return iterator.spatial ? 0 : iterator.stage == model.main ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return path;
}

namespace {

TransferPlaced::What what_is_placed(const GroupModel& model, const ModelBuffer& buffer) {
  using What = TransferPlaced::What;
  switch (buffer.kind) {
    case ModelBuffer::Kind::input: return What::load;
    case ModelBuffer::Kind::intermediate: return What::computation;
    case ModelBuffer::Kind::output: break;
  }
  const Stage& writer = model.list->stages[buffer.stage];
  return writer.reduction == Reduction::none ? What::store : What::sum;
}

}  // namespace

IdVector<BufferId, std::size_t> insert_dma(const GroupModel& model, const std::vector<OuterLoop>& order,
                                           const GroupTrace& trace, const Residents& residents) {
  IdVector<BufferId, std::size_t> depth;
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    // Iterators still undetermined: those of the tensor that have an outer loop on its path.
    const std::vector<std::size_t> path = path_of(model, order, buffer);
    const std::set<IteratorId> own = residents.moving(model, b);
    TransferPlaced placed{what_is_placed(model, buffer), BufferId(b), {}, std::nullopt};
    std::size_t place = 0;
    for (std::size_t p = 0; p < path.size(); ++p) {
      const OuterLoop& loop = order[path[p]];
      // The update comes before the check: inside this loop its iterator is determined.
      if (!own.contains(loop.iterator)) continue;
      place = p + 1;
      if (!trace.listening()) continue;
      placed.inside = traced(model, loop);
      placed.moves_with.push_back(*placed.inside);
    }
    depth.push_back(place);
    if (!buffer.is_received) trace.add(std::move(placed));
  }
  return depth;
}

std::optional<BufferId> moved_resident(const GroupModel& model, const std::vector<OuterLoop>& order,
                                       const IdVector<BufferId, std::size_t>& depth, const Residents& residents) {
  for (const BufferId b : model.buffers.ids()) {
    const std::vector<std::size_t> path = path_of(model, order, model.buffers[b]);
    for (std::size_t p = 0; p < depth[b]; ++p) {
      const OuterLoop& loop = order[path[p]];
      if (loop.trips > 1 && residents.is_along(b, loop.iterator)) return b;
    }
  }
  return std::nullopt;
}

}  // namespace stowage
