// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/nearest_fit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/number_text.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/smallest_ldm.h"
#include "lowering/swtvm/planner_swtvm.h"

namespace stowage {
namespace {

class NearestSearch {
 public:
  NearestSearch(const StageList& stages, const Schedule& fixed, const Target& target)
      : stages_(stages), fixed_(fixed), target_(target) {}

  std::vector<NearestFit> run() && {
    for (const auto& [iterator, size] : fixed_.buffer) {
      if (const auto smaller = smaller_buffer(iterator, size)) {
        Schedule other = fixed_;
        other.buffer[iterator] = *smaller;
        found_.push_back(
            {fmt::format("a buffer of {} of {}", *smaller, iterator), std::move(other), target_.ldm.bytes});
      }
    }
    if (std::any_of(fixed_.slots.begin(), fixed_.slots.end(), [](const auto& entry) { return entry.second > 1; })) {
      Schedule other = fixed_;
      for (auto& [tensor, slots] : other.slots) slots = 1;
      add("one slot of each tensor", std::move(other));
    }
    for (const auto& [tensor, along] : fixed_.resident) {
      Schedule other = fixed_;
      other.resident.erase(tensor);
      if (!along.empty()) add(fmt::format("{} loaded tile by tile", tensor), std::move(other));
    }
    if (const auto bytes = smallest_ldm(target_, [&](const Target& larger) { return is_planned(fixed_, larger); })) {
      found_.push_back({fmt::format("{} of LDM more", ldm_bytes_text(*bytes - target_.ldm.bytes)), fixed_, *bytes});
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_planned(const Schedule& schedule, const Target& target) const {
    return std::holds_alternative<Plan>(plan_chosen("", stages_, schedule, SwtvmPlanner(), target, {}));
  }

  void add(std::string text, Schedule schedule) {
    if (is_planned(schedule, target_)) found_.push_back({std::move(text), std::move(schedule), target_.ldm.bytes});
  }

  [[nodiscard]] std::optional<std::int64_t> smaller_buffer(const std::string& iterator, std::int64_t size) const {
    Schedule other = fixed_;
    const auto fits = [&](std::int64_t tried) {
      other.buffer[iterator] = tried;
      return is_planned(other, target_);
    };
    std::int64_t low = 0;
    for (std::int64_t high = size - 1; low < high;) {
      const std::int64_t tried = high - (high - low) / 2;
      if (fits(tried)) {
        low = tried;
      } else {
        high = tried - 1;
      }
    }
    if (low > 0) return low;
    // Of what fits something may still not be aligned, or have a slot too many: then one of the halves.
    for (std::int64_t half = size / 2; half > 0; half /= 2) {
      if (fits(half)) return half;
    }
    return std::nullopt;
  }

  const StageList& stages_;
  const Schedule& fixed_;
  const Target& target_;
  std::vector<NearestFit> found_;
};

}  // namespace

std::vector<NearestFit> nearest_that_fit(const StageList& stages, const Schedule& fixed, const Target& target) {
  return NearestSearch(stages, fixed, target).run();
}

}  // namespace stowage
