// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/swtvm.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "lowering/model/ldm_room.h"
#include "lowering/swtvm/classification.h"

namespace stowage {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// "63.96 KiB", "96 bytes".
std::string size_text(std::int64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  std::string text = fmt::format("{:.2f}", static_cast<double>(bytes) / 1024.0);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + " KiB";
}

std::int64_t total(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

namespace {

class LdmManagement {
 public:
  LdmManagement(const std::string& subject, const GroupModel& model, const std::vector<std::int64_t>& ranges,
                const std::vector<std::int64_t>& fixed, const Target& target, TraceSink trace)
      : subject_(subject),
        model_(model),
        ranges_(ranges),
        fixed_(fixed),
        target_(target),
        room_(ldm_for_buffers(model, target)),
        trace_(trace),
        classes_(model) {}

  std::variant<LdmSizes, Decision> run() {
    buffer_.assign(model_.iterators.size(), 1);
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      if (fixed_[i] > 0) set_fixed(i);
    }
    if (!fits()) return refusal();
    hold_whole();
    list_ = sorted_open();
    record("1:7-11", "classify", [&] { return "iterators classified: " + classes_text(); });
    initialise();
    expand();
    LdmSizes sizes;
    sizes.size = buffer_;
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      sizes.whole.push_back(!classes_.open().contains(static_cast<int>(i)));
    }
    record("1", "chosen", [&] { return fmt::format("buffer sizes chosen: {}", sizes_text()); });
    return sizes;
  }

 private:
  [[nodiscard]] std::int64_t used() const { return total(buffer_bytes(model_, buffer_, target_.ldm_alignment)); }
  [[nodiscard]] bool fits() const { return used() <= room_; }
  [[nodiscard]] const std::string& name(int i) const { return model_.iterators[static_cast<std::size_t>(i)].name; }
  [[nodiscard]] bool is_free(int i) const {
    return !model_.pinned.contains(i) && fixed_[static_cast<std::size_t>(i)] == 0;
  }

  void set_fixed(std::size_t i) {
    buffer_[i] = std::min(fixed_[i], ranges_[i]);
    if (buffer_[i] == ranges_[i] && buffer_[i] > 1) classes_.mark_whole(static_cast<int>(i));
    record("1", "fixed", [&] { return fmt::format("{} is fixed: {}", name(static_cast<int>(i)), buffer_[i]); });
  }

  /// In a group of several stages, what overlaps from tile to tile would be computed and fetched again for each: such
  /// reductions are buffered whole first, where they fit.
  void hold_whole() {
    for (const int i : model_.overlapping) {
      const auto at = static_cast<std::size_t>(i);
      if (!is_free(i) || ranges_[at] == 1) continue;
      buffer_[at] = ranges_[at];
      if (!fits()) {
        record(
            "1", "exceeds",
            [&] {
              return fmt::format("{} whole, because its tiles overlap in what is computed for them: {}: refused",
                                 name(i), overflow_text());
            },
            TraceOutcome::refused);
        buffer_[at] = 1;
        continue;
      }
      classes_.mark_whole(i);
      record("1", "whole", [&] {
        return fmt::format("{} is held whole, because its tiles overlap in what is computed for them: {}", name(i),
                           sizes_text());
      });
    }
  }

  Decision refusal() const {
    const auto bytes = buffer_bytes(model_, buffer_, target_.ldm_alignment);
    const auto largest = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
    const ModelBuffer& binding = model_.buffers[static_cast<std::size_t>(largest)];
    const bool any_fixed = std::any_of(fixed_.begin(), fixed_.end(), [](std::int64_t f) { return f > 0; });
    const std::string reason = fmt::format(
        "{} needs {} of LDM, the target has {} ({} - {} {}); the binding buffer is {} with {} ([{}] elements)",
        any_fixed ? "one element of every other iterator beside the fixed sizes" : "even one element of every iterator",
        size_text(used()), size_text(room_), size_text(target_.ldm_bytes), size_text(target_.ldm_bytes - room_),
        room_ < target_.ldm_available() ? "for parameters" : "reserved", binding.name,
        size_text(bytes[static_cast<std::size_t>(largest)]),
        fmt::join(buffer_extents(model_, binding, buffer_), " x "));
    trace_.add({"alg1", subject_, "ldm-capacity", TraceOutcome::refused, reason, {}});
    return Decision::refuse("ldm-capacity", reason, fmt::format("{} of LDM more", size_text(used() - room_)));
  }

  /// size iterators by buffer size, then comp iterators by the number of tensors they affect; pinned and fixed ones
  /// take no part.
  [[nodiscard]] std::vector<int> sorted_open() const {
    std::vector<int> sizes;
    std::vector<int> comps;
    for (const int i : classes_.open()) {
      if (!is_free(i)) continue;
      const IteratorClass c = classes_.class_of(i);
      if (c == IteratorClass::size) sizes.push_back(i);
      if (c == IteratorClass::comp) comps.push_back(i);
    }
    std::stable_sort(sizes.begin(), sizes.end(), [&](int a, int b) {
      return buffer_[static_cast<std::size_t>(a)] < buffer_[static_cast<std::size_t>(b)];
    });
    std::stable_sort(comps.begin(), comps.end(),
                     [&](int a, int b) { return classes_.affected_tensors(a) < classes_.affected_tensors(b); });
    sizes.insert(sizes.end(), comps.begin(), comps.end());
    return sizes;
  }

  void initialise() {
    std::set<int> initialised;
    while (true) {
      bool any = false;
      const std::vector<int> pass = list_;
      for (const int i : pass) {
        if (!initialised.insert(i).second) continue;
        any = true;
        initialise(i, good_elements(i));
      }
      list_ = sorted_open();
      if (!any) return;
      record("1:29-33", "classify", [&] { return "iterators classified again: " + classes_text(); });
    }
  }

  /// Elements of the smallest access with good bandwidth, for every tensor that the iterator is an index of: the
  /// paper's 64, of which each has 4 bytes.
  [[nodiscard]] std::int64_t good_elements(int i) const {
    int narrowest = 0;
    for (const ModelBuffer& buffer : model_.buffers) {
      if (buffer.kind == ModelBuffer::Kind::intermediate || !buffer.all_iterators().contains(i)) continue;
      const int bytes = byte_size(model_.list->tensors[static_cast<std::size_t>(buffer.tensor)].type);
      if (narrowest == 0 || bytes < narrowest) narrowest = bytes;
    }
    return std::max<std::int64_t>(1, target_.good_block_bytes / std::max(1, narrowest));
  }

  void initialise(int i, std::int64_t good) {
    const auto at = static_cast<std::size_t>(i);
    if (ranges_[at] <= good) {
      buffer_[at] = ranges_[at];
      classes_.mark_whole(i);
    } else {
      buffer_[at] = good;
    }
    record("1:16-20", "initialise",
           [&] { return fmt::format("{} starts at min(range {}, {}): {}", name(i), ranges_[at], good, sizes_text()); });
    while (!fits()) {
      record(
          "1:21", "exceeds", [&] { return overflow_text(); }, TraceOutcome::refused);
      if (buffer_[at] == ranges_[at]) classes_.unmark_whole(i);
      // Halving ends at one element at the latest: with that everything fitted before this iterator's turn.
      buffer_[at] = std::max<std::int64_t>(1, buffer_[at] / 2);
      record("1:24", "halve", [&] { return fmt::format("{} halved: {}", name(i), sizes_text()); });
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
      const int i = list_[position];
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t before = buffer_[at];
      buffer_[at] = std::min(before * 2, ranges_[at]);
      if (!fits()) {
        record(
            "1:38-40", "refused", [&] { return fmt::format("{} expanded: {}: refused", name(i), overflow_text()); },
            TraceOutcome::refused);
        buffer_[at] = before;
        return;
      }
      record("1:37", "expand", [&] { return fmt::format("{} expanded: {}", name(i), sizes_text()); });
      next = position + 1;
      if (buffer_[at] == ranges_[at]) {
        classes_.mark_whole(i);
        list_ = sorted_open();
        next = 0;
        record("1:41-47", "classify",
               [&] { return fmt::format("{} is buffered whole; classes: {}", name(i), classes_text()); });
      }
    }
  }

  [[nodiscard]] bool can_grow(int i) const {
    return buffer_[static_cast<std::size_t>(i)] < ranges_[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] std::string sizes_text() const {
    return fmt::format("{} takes {}", names_and_sizes(), size_text(used()));
  }

  /// Of sizes that do not fit.
  [[nodiscard]] std::string overflow_text() const {
    return fmt::format("{} needs {}, only {}", names_and_sizes(), size_text(used()), size_text(room_));
  }

  [[nodiscard]] std::string names_and_sizes() const {
    std::string text;
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name(static_cast<int>(i)), buffer_[i]);
    }
    return text;
  }

  [[nodiscard]] std::string classes_text() const {
    std::string text;
    for (std::size_t i = 0; i < model_.iterators.size(); ++i) {
      const int at = static_cast<int>(i);
      const std::string_view c = classes_.open().contains(at) ? name_of(classes_.class_of(at)) : "whole";
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(at), c);
    }
    return text;
  }

  /// `message` makes the sentence, if anybody listens.
  template <class Message>
  void record(std::string place, const char* what, const Message& message,
              TraceOutcome outcome = TraceOutcome::step) const {
    if (!trace_.listening()) return;
    Values values;
    values.emplace_back("step", what);
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      const int at = static_cast<int>(i);
      values.emplace_back("buffer " + name(at), std::to_string(buffer_[i]));
      values.emplace_back("class " + name(at),
                          std::string(classes_.open().contains(at) ? name_of(classes_.class_of(at)) : "whole"));
    }
    values.emplace_back("ldm bytes", std::to_string(used()));
    trace_.add({"alg1", subject_, std::move(place), outcome, message(), std::move(values)});
  }

  const std::string& subject_;
  const GroupModel& model_;
  const std::vector<std::int64_t>& ranges_;
  const std::vector<std::int64_t>& fixed_;
  const Target& target_;
  std::int64_t room_;  ///< bytes of LDM for buffers
  TraceSink trace_;
  Classification classes_;
  std::vector<std::int64_t> buffer_;
  std::vector<int> list_;  ///< Iters of the paper: size iterators, then comp iterators
};

}  // namespace

std::variant<LdmSizes, Decision> manage_ldm(const std::string& subject, const GroupModel& model,
                                            const std::vector<std::int64_t>& ranges,
                                            const std::vector<std::int64_t>& fixed, const Target& target,
                                            TraceSink trace) {
  return LdmManagement(subject, model, ranges, fixed, target, trace).run();
}

std::vector<OuterLoop> outer_loops(const GroupModel& model, const std::vector<std::int64_t>& ranges,
                                   const LdmSizes& sizes) {
  std::vector<OuterLoop> loops;
  for (std::size_t i = 0; i < model.iterators.size(); ++i) {
    if (sizes.whole[i]) continue;
    const std::string& name = model.iterators[i].name;
    loops.push_back({static_cast<int>(i), sizes.size[i] == 1 ? name : name + "o", ceil_div(ranges[i], sizes.size[i])});
  }
  return loops;
}

std::vector<int> path_of(const GroupModel& model, const std::vector<OuterLoop>& order, const ModelBuffer& buffer) {
  std::vector<int> path;
  const bool is_result = buffer.kind != ModelBuffer::Kind::input;
  for (std::size_t l = 0; l < order.size(); ++l) {
    const ModelIterator& iterator = model.iterators[static_cast<std::size_t>(order[l].iterator)];
    // A result is complete once its stage's reduction is over, so its place is outside these loops, and so is what the
    // tail makes of it; what the main stage reads is computed per tile of it, inside its reduction loops.
    const bool of_own_stage = iterator.stage == buffer.stage && !is_result;
    const bool before_main = buffer.stage != model.main && !model.in_tail[static_cast<std::size_t>(buffer.stage)];
    const bool of_main = iterator.stage == model.main && before_main;
    if (iterator.spatial || of_main || of_own_stage) path.push_back(static_cast<int>(l));
  }
  // Spatial loops come first, then the main stage's reduction loops, then the stage's own.
  std::stable_sort(path.begin(), path.end(), [&](int a, int b) {
    const auto rank = [&](int l) {
      const ModelIterator& iterator =
          model.iterators[static_cast<std::size_t>(order[static_cast<std::size_t>(l)].iterator)];
      return iterator.spatial ? 0 : iterator.stage == model.main ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return path;
}

namespace {

/// What a loop as the innermost one costs. A point of an intermediate that is computed again takes its whole reduction
/// again, so operations inside the group come first; of a single stage there are none.
struct InnermostCost {
  std::int64_t operations = 0;
  std::int64_t transfers = 0;
  friend auto operator<=>(const InnermostCost&, const InnermostCost&) = default;
};

std::string text_of(const InnermostCost& cost) {
  return cost.operations == 0
             ? fmt::format("{} transfers", cost.transfers)
             : fmt::format("{} operations inside the group, {} transfers", cost.operations, cost.transfers);
}

}  // namespace

std::vector<OuterLoop> reorder_loops(const std::string& subject, const GroupModel& model,
                                     const std::vector<OuterLoop>& loops, const std::vector<std::int64_t>& sizes,
                                     TraceSink trace) {
  std::vector<bool> assigned(loops.size(), false);
  std::vector<bool> placed(model.buffers.size(), false);
  // Transfers of the tensors not yet placed if `candidate` is the innermost of the loops that are left; of an
  // intermediate, which is not transferred, how often it is computed.
  const auto counts_by_buffer = [&](std::size_t candidate) {
    std::vector<std::pair<std::size_t, std::int64_t>> counts;
    for (std::size_t b = 0; b < model.buffers.size(); ++b) {
      if (placed[b]) continue;
      const ModelBuffer& buffer = model.buffers[b];
      // The main stage is computed once, and so is its tail, whatever the order.
      const bool behind_main = buffer.stage == model.main || model.in_tail[static_cast<std::size_t>(buffer.stage)];
      if (buffer.kind == ModelBuffer::Kind::intermediate && behind_main) continue;
      const auto iterators = buffer.all_iterators();
      std::int64_t count = 1;
      for (std::size_t l = 0; l < loops.size(); ++l) {
        const ModelIterator& iterator = model.iterators[static_cast<std::size_t>(loops[l].iterator)];
        if (assigned[l]) continue;
        // Loops of other stages do not stand around this one's transfers; an output is not moved inside a reduction
        // unless the reduction were outside of it, which is what makes such an order expensive.
        const bool around = iterator.spatial || iterator.stage == buffer.stage || iterator.stage == model.main;
        if (!around) continue;
        if (l == candidate && !iterators.contains(loops[l].iterator)) continue;
        count *= loops[l].trips;
      }
      counts.emplace_back(b, count);
    }
    return counts;
  };
  std::vector<OuterLoop> inner_to_outer;
  while (inner_to_outer.size() < loops.size()) {
    bool reduction_left = false;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      reduction_left =
          reduction_left || (!assigned[l] && !model.iterators[static_cast<std::size_t>(loops[l].iterator)].spatial);
    }
    std::optional<std::size_t> chosen;
    InnermostCost chosen_cost;
    std::optional<std::size_t> refused;
    InnermostCost refused_cost;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (assigned[l]) continue;
      InnermostCost cost;
      Values values;
      if (trace.listening()) values.emplace_back("candidate", loops[l].name);
      std::vector<std::string> shares;
      for (const auto& [b, count] : counts_by_buffer(l)) {
        const ModelBuffer& buffer = model.buffers[b];
        if (buffer.kind == ModelBuffer::Kind::intermediate) {
          cost.operations += count * stage_operations(model, buffer.stage, sizes);
          if (trace.listening()) values.emplace_back("computations " + buffer.name, std::to_string(count));
        } else {
          cost.transfers += count;
          if (trace.listening()) values.emplace_back("transfers " + buffer.name, std::to_string(count));
        }
        if (trace.listening()) shares.push_back(fmt::format("{} {}", buffer.name, count));
      }
      if (trace.listening()) {
        values.emplace_back("transfers", std::to_string(cost.transfers));
        trace.add({"alg2", subject, "2:5-10", TraceOutcome::step,
                   fmt::format("{} as the innermost of the loops left: {}{}", loops[l].name, text_of(cost),
                               shares.empty() ? "" : fmt::format(" ({})", fmt::join(shares, ", "))),
                   std::move(values)});
      }
      const bool spatial = model.iterators[static_cast<std::size_t>(loops[l].iterator)].spatial;
      if (spatial && reduction_left) {
        // Constraint 2 of version 2: the output's iterators stay outside of the reductions.
        if (!refused || cost < refused_cost) {
          refused = l;
          refused_cost = cost;
        }
      } else if (!chosen || cost <= chosen_cost) {  // <= keeps the original order among equals
        chosen = l;
        chosen_cost = cost;
      }
    }
    check(chosen.has_value(), "no loop left to choose");
    if (refused && refused_cost < chosen_cost && trace.listening()) {
      trace.add({"alg2",
                 subject,
                 "constraint-2",
                 TraceOutcome::refused,
                 fmt::format("{} would need only {}, but iterators of the output must stay outside of the reductions",
                             loops[*refused].name, text_of(refused_cost)),
                 {}});
    }
    assigned[*chosen] = true;
    for (std::size_t b = 0; b < placed.size(); ++b) {
      placed[b] = placed[b] || model.buffers[b].all_iterators().contains(loops[*chosen].iterator);
    }
    if (trace.listening()) {
      trace.add({"alg2",
                 subject,
                 "2:18-20",
                 TraceOutcome::accepted,
                 fmt::format("{} is chosen with {}", loops[*chosen].name, text_of(chosen_cost)),
                 {{"chosen", loops[*chosen].name}}});
    }
    inner_to_outer.push_back(loops[*chosen]);
  }
  std::reverse(inner_to_outer.begin(), inner_to_outer.end());
  if (trace.listening()) {
    std::vector<std::string> names;
    for (const OuterLoop& loop : inner_to_outer) names.push_back(loop.name);
    trace.add(
        {"alg2", subject, "2:23", TraceOutcome::accepted, fmt::format("loop order: {}", fmt::join(names, ", ")), {}});
  }
  return inner_to_outer;
}

std::vector<int> insert_dma(const std::string& subject, const GroupModel& model, const std::vector<OuterLoop>& order,
                            TraceSink trace) {
  std::set<int> tiled;
  for (const OuterLoop& loop : order) tiled.insert(loop.iterator);
  std::vector<int> depth;
  for (const ModelBuffer& buffer : model.buffers) {
    // Iterators still undetermined: those of the tensor that have an outer loop on its path.
    const std::vector<int> path = path_of(model, order, buffer);
    std::set<int> undetermined;
    for (const int i : buffer.all_iterators()) {
      const bool on_path = std::any_of(path.begin(), path.end(),
                                       [&](int l) { return order[static_cast<std::size_t>(l)].iterator == i; });
      if (on_path) undetermined.insert(i);
    }
    int place = 0;
    for (std::size_t p = 0; p < path.size() && !undetermined.empty(); ++p) {
      // The update comes before the check: inside this loop its iterator is determined.
      undetermined.erase(order[static_cast<std::size_t>(path[p])].iterator);
      place = static_cast<int>(p) + 1;
    }
    depth.push_back(place);
    if (!trace.listening()) continue;
    const std::string where =
        place == 0 ? "before the first loop"
                   : "inside " + order[static_cast<std::size_t>(path[static_cast<std::size_t>(place - 1)])].name;
    std::string message;
    if (buffer.kind != ModelBuffer::Kind::output) {
      const char* const what = buffer.kind == ModelBuffer::Kind::input ? "load" : "computation";
      message = fmt::format("{} of {} goes {}", what, buffer.name, where);
    } else if (model.list->stages[static_cast<std::size_t>(buffer.stage)].reduction == Reduction::none) {
      message = fmt::format("store of {} goes {}", buffer.name, place == 0 ? "after the last loop" : where);
    } else if (place == 0) {
      message = fmt::format("initialisation of {} goes before the first loop, its store after the last", buffer.name);
    } else {
      message = fmt::format("initialisation and store of {} go {}", buffer.name, where);
    }
    trace.add({"alg3",
               subject,
               "3:8-11",
               TraceOutcome::accepted,
               std::move(message),
               {{"tensor", buffer.name},
                {"place",
                 place == 0 ? "" : order[static_cast<std::size_t>(path[static_cast<std::size_t>(place - 1)])].name}}});
  }
  return depth;
}

}  // namespace stowage
