// SPDX-License-Identifier: Apache-2.0
// Equal nests are looked at once.
#pragma once

#include <cstddef>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "lowering/program/program.h"

namespace stowage {

/// By nest what `find` tells of the first kernel's plan that has it, on all cores of the host. Stopped, what was not
/// begun is default-constructed.
template <class Found, class Find>
std::map<NestKey, Found> of_different_nests(const Program& program, const std::stop_token& stop, const Find& find) {
  std::map<NestKey, Found> by_nest;
  std::vector<std::pair<const Plan*, Found*>> different;
  for (const ProgramStep& step : program.steps) {
    if (step.plan() == nullptr) continue;
    const auto [known, is_new] = by_nest.try_emplace(step.nest_key());
    if (is_new) different.emplace_back(step.plan(), &known->second);
  }
  parallel_for(different.size(), 0, stop, [&](std::size_t i) { *different[i].second = find(*different[i].first); });
  return by_nest;
}

}  // namespace stowage
