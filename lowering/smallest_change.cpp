// SPDX-License-Identifier: Apache-2.0
#include "lowering/smallest_change.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"

namespace stowage {
namespace {

constexpr std::string_view ldm_key = "ldm_bytes";
constexpr std::string_view cores_key = "cores";

/// Doubles what is added until it is allowed, then halves the rest between refused and allowed.
std::optional<TargetChange> more_ldm(const Target& target, const std::function<bool(const Target&)>& allowed) {
  constexpr std::int64_t most_times = 1024;
  const std::int64_t step = target.ldm_alignment;
  const auto with_steps = [&](std::int64_t steps) {
    return TargetChange{std::string(ldm_key), target.ldm_bytes, target.ldm_bytes + steps * step};
  };
  const auto holds = [&](std::int64_t steps) { return allowed(changed(target, with_steps(steps))); };
  const std::int64_t most = most_times * target.ldm_bytes / step;
  std::int64_t refused = 0;
  std::int64_t enough = 1;
  while (enough < most && !holds(enough)) {
    refused = enough;
    enough *= 2;
  }
  if (enough >= most) return std::nullopt;
  while (enough - refused > 1) {
    const std::int64_t middle = refused + (enough - refused) / 2;
    (holds(middle) ? enough : refused) = middle;
  }
  return with_steps(enough);
}

std::optional<TargetChange> fewer_cores(const Target& target, const std::function<bool(const Target&)>& allowed) {
  constexpr std::int64_t most_tries = 128;
  const std::int64_t step = std::max<std::int64_t>(1, target.cores / most_tries);
  for (std::int64_t cores = target.cores - step; cores >= 1; cores -= step) {
    const TargetChange change{std::string(cores_key), target.cores, cores};
    if (allowed(changed(target, change))) return change;
  }
  return std::nullopt;
}

}  // namespace

Target changed(Target target, const TargetChange& change) {
  check(change.key == ldm_key || change.key == cores_key, "a change of something else");
  if (change.key == ldm_key) {
    target.ldm_bytes = change.wanted;
  } else {
    target.cores = static_cast<int>(change.wanted);
  }
  return target;
}

std::vector<TargetChange> smallest_changes(const Target& target, const std::function<bool(const Target&)>& allowed) {
  std::vector<TargetChange> changes;
  if (auto change = more_ldm(target, allowed)) changes.push_back(*std::move(change));
  if (auto change = fewer_cores(target, allowed)) changes.push_back(*std::move(change));
  return changes;
}

std::string to_text(const std::vector<TargetChange>& changes) {
  std::vector<std::string> texts;
  for (const TargetChange& change : changes) {
    texts.push_back(change.wanted > change.now
                        ? fmt::format("target.{} = {} ({} more)", change.key, change.wanted, change.wanted - change.now)
                        : fmt::format("target.{} = {} (of {})", change.key, change.wanted, change.now));
  }
  return fmt::format("{}", fmt::join(texts, ", or "));
}

}  // namespace stowage
