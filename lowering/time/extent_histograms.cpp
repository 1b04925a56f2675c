// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/extent_histograms.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stowage {

void Histogram::add(std::span<const std::int64_t> of_dimensions, std::int64_t times) {
  std::size_t low = 0;
  for (std::size_t high = entries(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    const std::span<const std::int64_t> own = extents_of(middle);
    const auto order =
        std::lexicographical_compare_three_way(own.begin(), own.end(), of_dimensions.begin(), of_dimensions.end());
    if (order == 0) {
      executions[middle] += times;
      return;
    }
    order < 0 ? low = middle + 1 : high = middle;
  }
  const auto at = static_cast<std::ptrdiff_t>(low);
  extents.insert(extents.begin() + at * static_cast<std::ptrdiff_t>(dimensions.size()), of_dimensions.begin(),
                 of_dimensions.end());
  executions.insert(executions.begin() + at, times);
}

ExtentCounter::ExtentCounter(const Enclosing& enclosing, std::span<const Range> box, const VarSet& core_variables)
    : enclosing_(enclosing), values_(enclosing.slots(), 0), known_(enclosing.slots(), false) {
  for (const Range& range : box) extents_.push_back(enclosing.expression(range.extent));
  for (const std::size_t v : core_variables) known_[v] = true;
  Group all;
  all.loops.resize(enclosing_.loops().size());
  std::iota(all.loops.begin(), all.loops.end(), std::size_t{0});
  all.guards.resize(enclosing_.guards().size());
  std::iota(all.guards.begin(), all.guards.end(), std::size_t{0});
  all.dimensions.resize(extents_.size());
  std::iota(all.dimensions.begin(), all.dimensions.end(), std::size_t{0});
  groups_ = separate(all);
  for (const Group& group : groups_) core_variables_of_.push_back(variables_of_group(group, core_variables));
  memo_.resize(groups_.size());
}

bool ExtentCounter::uses(std::size_t core_variable) const {
  return std::any_of(core_variables_of_.begin(), core_variables_of_.end(), [&](const auto& used) {
    return std::find(used.begin(), used.end(), core_variable) != used.end();
  });
}

std::vector<const Histogram*> ExtentCounter::histograms(std::span<const std::int64_t> core_values) {
  std::copy(core_values.begin(), core_values.end(), values_.begin());
  // Where a guard lets the core do nothing, nothing else is asked for: a table may have no entry for it.
  const auto stays_out = [&](const Group& group) { return group.loops.empty() && !passes(group); };
  if (std::any_of(groups_.begin(), groups_.end(), stays_out))
    return std::vector<const Histogram*>(groups_.size(), &none_);
  std::vector<const Histogram*> found;
  found.reserve(groups_.size());
  Extents key;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    key.clear();
    for (const std::size_t v : core_variables_of_[g]) key.push_back(values_[v]);
    const auto [at, is_new] = memo_[g].try_emplace(key, nullptr);
    if (is_new) at->second = &*distinct_.insert(enumerate(groups_[g])).first;
    found.push_back(at->second);
  }
  return found;
}

bool ExtentCounter::connects(const Expression& e, std::size_t variable) const {
  return !known_[variable] && e.variables.contains(variable);
}

std::vector<ExtentCounter::Group> ExtentCounter::separate(const Group& group) const {
  // Union-find over the loops; a guard or dimension joins all loops it uses.
  std::vector<std::size_t> parent(group.loops.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const auto members = [&](const Expression& e) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < group.loops.size(); ++i) {
      if (connects(e, enclosing_.loops()[group.loops[i]].variable)) used.push_back(i);
    }
    return used;
  };
  const auto join = [&](const std::vector<std::size_t>& used) {
    for (const std::size_t i : used) {
      const std::size_t a = root(i);
      const std::size_t b = root(used.front());
      parent[std::max(a, b)] = std::min(a, b);
    }
  };
  for (std::size_t i = 0; i < group.loops.size(); ++i) {
    std::vector<std::size_t> used = members(enclosing_.loops()[group.loops[i]].trips);
    used.push_back(i);
    join(used);
  }
  std::vector<std::vector<std::size_t>> of_guard;
  for (const std::size_t g : group.guards) {
    std::vector<std::size_t> used;
    for (const Expression& e : enclosing_.guards()[g]) {
      const auto more = members(e);
      used.insert(used.end(), more.begin(), more.end());
    }
    join(used);
    of_guard.push_back(std::move(used));
  }
  std::vector<std::vector<std::size_t>> of_dimension;
  for (const std::size_t d : group.dimensions) {
    of_dimension.push_back(members(extents_[d]));
    join(of_dimension.back());
  }

  std::vector<Group> groups;
  std::map<std::size_t, std::size_t> group_of_root;
  const auto group_at = [&](const std::vector<std::size_t>& used) -> Group& {
    if (used.empty()) return groups.emplace_back();  // depends on nothing that is still open
    const auto [at, is_new] = group_of_root.try_emplace(root(used.front()), groups.size());
    if (is_new) groups.emplace_back();
    return groups[at->second];
  };
  for (std::size_t i = 0; i < group.loops.size(); ++i) group_at({i}).loops.push_back(group.loops[i]);
  for (std::size_t i = 0; i < group.guards.size(); ++i) group_at(of_guard[i]).guards.push_back(group.guards[i]);
  for (std::size_t i = 0; i < group.dimensions.size(); ++i) {
    group_at(of_dimension[i]).dimensions.push_back(group.dimensions[i]);
  }
  return groups;
}

bool ExtentCounter::passes(const EnclosingGuard& guard) const {
  return std::any_of(guard.begin(), guard.end(), [&](const Expression& e) { return e.compiled(values_) > 0; });
}

bool ExtentCounter::passes(const Group& group) const {
  return std::all_of(group.guards.begin(), group.guards.end(),
                     [&](std::size_t g) { return passes(enclosing_.guards()[g]); });
}

std::optional<std::int64_t> ExtentCounter::trips_of_bare_loop(const Group& group) const {
  if (group.loops.size() != 1 || !group.guards.empty() || !group.dimensions.empty()) return std::nullopt;
  return std::max<std::int64_t>(0, enclosing_.loops()[group.loops.front()].trips.compiled(values_));
}

Histogram ExtentCounter::enumerate(const Group& group) {
  Histogram histogram;
  histogram.dimensions = group.dimensions;
  if (group.loops.empty() || trips_of_bare_loop(group)) {
    add_product({group}, histogram);
    return histogram;
  }
  const EnclosingLoop& loop = enclosing_.loops()[group.loops.front()];
  const std::int64_t trips = loop.trips.compiled(values_);
  Group inner = group;
  inner.loops.erase(inner.loops.begin());
  known_[loop.variable] = true;
  const std::vector<Group> parts = separate(inner);
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    values_[loop.variable] = trip;
    add_product(parts, histogram);
  }
  known_[loop.variable] = false;
  return histogram;
}

void ExtentCounter::add_product(const std::vector<Group>& parts, Histogram& histogram) {
  const std::vector<std::size_t>& dimensions = histogram.dimensions;
  const auto position = [&](std::size_t dimension) {
    return static_cast<std::size_t>(std::find(dimensions.begin(), dimensions.end(), dimension) - dimensions.begin());
  };
  Extents fixed(dimensions.size(), 0);  // of what depends on no loop that is still open
  std::int64_t times = 1;
  std::vector<Histogram> enumerated;
  // Guards first: what they let pass may be all that a table has an entry for.
  if (!std::all_of(parts.begin(), parts.end(), [&](const Group& part) { return !part.loops.empty() || passes(part); }))
    return;
  for (const Group& part : parts) {
    if (part.loops.empty()) {
      for (const std::size_t d : part.dimensions) fixed[position(d)] = extents_[d].compiled(values_);
    } else if (const auto trips = trips_of_bare_loop(part)) {
      times *= *trips;
    } else {
      enumerated.push_back(enumerate(part));
      if (enumerated.back().entries() == 0) return;
    }
    if (times == 0) return;
  }
  if (enumerated.empty()) {
    histogram.add(fixed, times);
    return;
  }
  std::vector<const Histogram*> factors;
  for (Histogram& factor : enumerated) {
    for (std::size_t& d : factor.dimensions) d = position(d);
    factors.push_back(&factor);
  }
  for_each_box(factors, fixed.size(), [&](const Extents& open, std::int64_t executions) {
    for (const Histogram& factor : enumerated) {
      for (const std::size_t d : factor.dimensions) fixed[d] = open[d];
    }
    histogram.add(fixed, executions * times);
  });
}

std::vector<std::size_t> ExtentCounter::variables_of_group(const Group& group, const VarSet& among) const {
  VarSet used;
  const auto add = [&](const Expression& e) {
    std::set_intersection(e.variables.begin(), e.variables.end(), among.begin(), among.end(),
                          std::inserter(used, used.end()));
  };
  for (const std::size_t l : group.loops) add(enclosing_.loops()[l].trips);
  for (const std::size_t g : group.guards)
    std::for_each(enclosing_.guards()[g].begin(), enclosing_.guards()[g].end(), add);
  for (const std::size_t d : group.dimensions) add(extents_[d]);
  return {used.begin(), used.end()};
}

std::int64_t points_of(std::span<const Histogram* const> factors) {
  std::int64_t product = 1;
  for (const Histogram* factor : factors) {
    std::int64_t sum = 0;
    for (std::size_t entry = 0; entry < factor->entries(); ++entry) {
      const std::span<const std::int64_t> extents = factor->extents_of(entry);
      sum += std::accumulate(extents.begin(), extents.end(), factor->executions[entry],
                             [](std::int64_t n, std::int64_t e) { return n * std::max<std::int64_t>(0, e); });
    }
    product *= sum;
  }
  return product;
}

}  // namespace stowage
