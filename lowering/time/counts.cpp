// SPDX-License-Identifier: Apache-2.0
// How often which extents occur, without walking the nest. Counts cannot depend on data: where the value of a tensor is
// still in an expression, it counts as 0.
//
// The extents of a statement's box are functions of the core's coordinates and of the loops around it. For one core,
// loops that no extent, trip count or guard connects are independent: each group of connected loops is enumerated by
// itself into a histogram (extents of the dimensions it decides -> executions), and the histograms multiply. A loop
// that nothing depends on is a histogram with one entry, its trips. Inside a group, fixing the outermost loop may
// separate the rest again, so the same step is repeated there. Cores with equal histograms share one result.
#include "lowering/time/counts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/check.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/time/dma_totals.h"
#include "lowering/time/lookahead.h"

namespace stowage {
namespace {

using Extents = std::vector<std::int64_t>;
using VarSet = std::set<std::size_t>;

/// Executions by the extents of some dimensions (in the order of `dimensions`).
struct Histogram {
  std::vector<std::size_t> dimensions;
  std::map<Extents, std::int64_t> executions;
  friend auto operator<=>(const Histogram&, const Histogram&) = default;
};

/// A group of loops, dimensions and guards that depend on each other. `known` variables have their values already.
struct Group {
  std::vector<std::size_t> loops;       ///< positions in Enclosing::loops, ascending
  std::vector<std::size_t> guards;      ///< positions in Enclosing::guards
  std::vector<std::size_t> dimensions;  ///< of the statement's box, ascending
};

class Counter {
 public:
  Counter(const Enclosing& enclosing, std::span<const Range> box, const VarSet& core_variables)
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

  /// Whether any histogram depends on a core variable.
  [[nodiscard]] bool uses(std::size_t core_variable) const {
    return std::any_of(core_variables_of_.begin(), core_variables_of_.end(), [&](const auto& used) {
      return std::find(used.begin(), used.end(), core_variable) != used.end();
    });
  }

  /// One histogram per independent group; pointers stay valid and equal histograms of a group have equal pointers.
  std::vector<const Histogram*> histograms(std::span<const std::int64_t> core_values) {
    std::copy(core_values.begin(), core_values.end(), values_.begin());
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

 private:
  bool connects(const Expression& e, std::size_t variable) const {
    return !known_[variable] && e.variables.contains(variable);
  }

  /// Splits a group into independent ones, in order of their first loop, guard or dimension.
  std::vector<Group> separate(const Group& group) const {
    // Union-find over the loops; a guard or dimension joins all loops it uses.
    std::vector<std::size_t> parent(group.loops.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const std::function<std::size_t(std::size_t)> root = [&](std::size_t i) {
      return parent[i] == i ? i : parent[i] = root(parent[i]);
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

  bool passes(const EnclosingGuard& guard) const {
    return std::any_of(guard.begin(), guard.end(), [&](const Expression& e) { return e.compiled(values_) > 0; });
  }

  Histogram enumerate(const Group& group) {
    Histogram histogram;
    histogram.dimensions = group.dimensions;
    if (group.loops.empty()) {
      for (const std::size_t g : group.guards) {
        if (!passes(enclosing_.guards()[g])) return histogram;
      }
      Extents extents;
      for (const std::size_t d : group.dimensions) extents.push_back(extents_[d].compiled(values_));
      histogram.executions[std::move(extents)] = 1;
      return histogram;
    }
    const EnclosingLoop& loop = enclosing_.loops()[group.loops.front()];
    const std::int64_t trips = std::max<std::int64_t>(0, loop.trips.compiled(values_));
    if (group.loops.size() == 1 && group.guards.empty() && group.dimensions.empty()) {
      if (trips > 0) histogram.executions[{}] = trips;
      return histogram;
    }
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

  /// Adds the executions of independent groups, every combination of their extents, to a histogram of all of them.
  void add_product(const std::vector<Group>& parts, Histogram& histogram) {
    std::vector<Histogram> factors;
    for (const Group& part : parts) {
      factors.push_back(enumerate(part));
      if (factors.back().executions.empty()) return;
    }
    std::vector<std::size_t> position(extents_.size(), 0);
    for (std::size_t i = 0; i < histogram.dimensions.size(); ++i) position[histogram.dimensions[i]] = i;
    Extents extents(histogram.dimensions.size(), 0);
    const std::function<void(std::size_t, std::int64_t)> combine = [&](std::size_t f, std::int64_t executions) {
      if (f == factors.size()) {
        histogram.executions[extents] += executions;
        return;
      }
      for (const auto& [values, count] : factors[f].executions) {
        for (std::size_t i = 0; i < values.size(); ++i) extents[position[factors[f].dimensions[i]]] = values[i];
        combine(f + 1, executions * count);
      }
    };
    combine(0, 1);
  }

  std::vector<std::size_t> variables_of_group(const Group& group, const VarSet& among) const {
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

  const Enclosing& enclosing_;
  std::vector<Expression> extents_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::size_t>> core_variables_of_;  ///< by group: what its histogram depends on
  std::vector<std::map<Extents, const Histogram*>> memo_;    ///< by group and values of those
  std::set<Histogram> distinct_;
  std::vector<std::int64_t> values_;
  std::vector<bool> known_;
};

/// Calls visit(extents, executions) for every combination of extents that one core executes.
void for_each_box(std::span<const Histogram* const> factors, std::size_t rank,
                  const std::function<void(const Extents&, std::int64_t)>& visit) {
  Extents extents(rank, 0);
  const std::function<void(std::size_t, std::int64_t)> combine = [&](std::size_t f, std::int64_t executions) {
    if (f == factors.size()) {
      visit(extents, executions);
      return;
    }
    for (const auto& [values, count] : factors[f]->executions) {
      for (std::size_t i = 0; i < values.size(); ++i) extents[factors[f]->dimensions[i]] = values[i];
      combine(f + 1, executions * count);
    }
  };
  combine(0, 1);
}

std::int64_t points_of(std::span<const Histogram* const> factors) {
  std::int64_t product = 1;
  for (const Histogram* factor : factors) {
    std::int64_t sum = 0;
    for (const auto& [extents, executions] : factor->executions) {
      sum += std::accumulate(extents.begin(), extents.end(), executions,
                             [](std::int64_t n, std::int64_t e) { return n * std::max<std::int64_t>(0, e); });
    }
    product *= sum;
  }
  return product;
}

DmaTotals totals_of(std::span<const Histogram* const> factors, const DmaShape& shape, int element_bytes,
                    int unit_bytes) {
  DmaTotals totals;
  for_each_box(factors, shape.full.size(), [&](const Extents& extents, std::int64_t executions) {
    const DmaCount count = count_operations(shape, extents);
    if (count.operations == 0) return;
    // Contiguous calls are all of one length.
    const bool strided = shape.strided_from < shape.block_from && takes_full_structure(shape, extents);
    const std::int64_t of_call = count.elements / count.operations * element_bytes;
    const std::int64_t moved = strided ? of_call : (of_call + unit_bytes - 1) / unit_bytes * unit_bytes;
    const std::int64_t bytes = count.operations * moved * executions;
    const std::int64_t block = count.block_elements * element_bytes;
    totals.transfers += executions;
    totals.operations += count.operations * executions;
    totals.bytes += bytes;
    totals.operations_by_block[block] += count.operations * executions;
    totals.bytes_by_block[block] += bytes;
  });
  return totals;
}

std::int64_t elements_inside(const Extents& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1},
                         [](std::int64_t n, std::int64_t extent) { return n * std::max<std::int64_t>(0, extent); });
}

class NestCounter {
 public:
  NestCounter(const LoopNest& nest, const std::map<int, int>& first_of) : nest_(nest), first_of_(first_of) {
    for (const CoreAxis& axis : nest.core_grid) core_variables_.insert(axis.variable.index());
    for (std::int64_t core = 0; core < nest.cores_used(); ++core) core_values_.push_back(values_of_core(nest, core));
    bytes_of_core_.resize(core_values_.size(), 0);
  }

  NestCounts run() {
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& enclosing) {
      if (const auto* dma = std::get_if<Dma>(&statement.node)) count(statement.id, *dma, enclosing);
      if (const auto* compute = std::get_if<Compute>(&statement.node)) count(statement.id, *compute, enclosing);
      if (const auto* fill = std::get_if<Fill>(&statement.node)) count(statement.id, *fill, enclosing);
    });
    for (const auto& [all, first] : first_of_) take_off(all, first);
    const auto busiest = static_cast<std::size_t>(
        std::distance(bytes_of_core_.begin(), std::max_element(bytes_of_core_.begin(), bytes_of_core_.end())));
    for (auto& [statement, of_core] : dma_of_core_) counts_.dma_of_busiest_core[statement] = *of_core[busiest];
    return std::move(counts_);
  }

 private:
  void count(int statement, const Dma& dma, const Enclosing& enclosing) {
    Counter counter(enclosing, dma.region, core_variables_);
    const DmaShape shape = shape_of(nest_, dma);
    const int element_bytes = byte_size(nest_.buffers[static_cast<std::size_t>(dma.buffer)].type);
    struct Result {
      std::shared_ptr<const DmaTotals> totals;
      std::int64_t cores = 0;
    };
    std::map<std::vector<const Histogram*>, Result> results;
    auto& of_core = dma_of_core_[statement];
    of_core.reserve(core_values_.size());
    const auto nothing = std::make_shared<const DmaTotals>();
    std::vector<Result*> result_of(core_values_.size(), nullptr);
    for (std::size_t core = 0; core < core_values_.size(); ++core) {
      if (!moves(dma, static_cast<int>(core))) {
        of_core.push_back(nothing);
        continue;
      }
      const std::size_t first = first_alike(counter, core);
      if (result_of[first] == nullptr) {
        auto factors = counter.histograms(core_values_[core]);
        Result& result = results[factors];
        if (!result.totals)
          result.totals = std::make_shared<const DmaTotals>(totals_of(factors, shape, element_bytes, dma.unit_bytes));
        result_of[first] = &result;
      }
      Result& result = *result_of[first];
      ++result.cores;
      bytes_of_core_[core] += result.totals->bytes;
      of_core.push_back(result.totals);
    }
    DmaTotals& total = counts_.dma[statement];
    for (const auto& [factors, result] : results) add(total, *result.totals, result.cores);
  }

  /// The first trip's transfer is another statement's.
  void take_off(int statement, int first) {
    DmaTotals& total = counts_.dma.at(statement);
    total = difference(total, counts_.dma.at(first));
    std::map<std::pair<const DmaTotals*, const DmaTotals*>, std::shared_ptr<const DmaTotals>> known;
    auto& of_core = dma_of_core_.at(statement);
    for (std::size_t core = 0; core < of_core.size(); ++core) {
      const auto& of_first = dma_of_core_.at(first)[core];
      auto& left = known[{of_core[core].get(), of_first.get()}];
      if (!left) left = std::make_shared<const DmaTotals>(difference(*of_core[core], *of_first));
      of_core[core] = left;
      bytes_of_core_[core] -= of_first->bytes;
    }
  }

  /// What a team gets leaves main memory once; its first core is the one that asks for it.
  [[nodiscard]] bool moves(const Dma& dma, int core) const {
    return dma.to == Space::ldm || Teams(nest_, dma.to).place_of(core) == 0;
  }

  void count(int statement, const Compute& compute, const Enclosing& enclosing) {
    ComputeTotals& total = counts_.compute[statement];
    for (const auto& [points, cores] : of_cores<std::int64_t>(enclosing, compute.box, points_of)) {
      total.points += points * cores;
      total.points_of_busiest = std::max(total.points_of_busiest, points);
    }
  }

  void count(int statement, const Fill& fill, const Enclosing& enclosing) {
    const Extents& extents = nest_.buffers[static_cast<std::size_t>(fill.buffer)].extents;
    const std::span<const Range> kept = fill.around ? std::span<const Range>(*fill.around) : std::span<const Range>();
    const auto filled = [&](std::span<const Histogram* const> factors) {
      FillTotals each;
      for_each_box(factors, kept.size(), [&](const Extents& box, std::int64_t executions) {
        const std::int64_t elements = element_count(extents) - (fill.around ? elements_inside(box) : 0);
        each.executions += elements > 0 ? executions : 0;
        each.elements += elements * executions;
      });
      return each;
    };
    FillTotals& total = counts_.fill[statement];
    for (const auto& [each, cores] : of_cores<FillTotals>(enclosing, kept, filled)) {
      total.executions += each.executions * cores;
      total.elements += each.elements * cores;
      total.elements_of_busiest = std::max(total.elements_of_busiest, each.elements);
    }
  }

  /// What `measure` makes of the histograms of a box, each different one once, with the number of cores that have them.
  template <class Measured, class Measure>
  [[nodiscard]] std::vector<std::pair<Measured, std::int64_t>> of_cores(const Enclosing& enclosing,
                                                                        std::span<const Range> box,
                                                                        const Measure& measure) const {
    Counter counter(enclosing, box, core_variables_);
    std::vector<std::pair<Measured, std::int64_t>> measured;
    std::map<std::vector<const Histogram*>, std::size_t> known;
    std::vector<std::optional<std::size_t>> of_core(core_values_.size());
    for (std::size_t core = 0; core < core_values_.size(); ++core) {
      const std::size_t first = first_alike(counter, core);
      if (!of_core[first]) {
        auto factors = counter.histograms(core_values_[core]);
        const auto [found, is_new] = known.try_emplace(std::move(factors), measured.size());
        if (is_new) measured.emplace_back(measure(found->first), 0);
        of_core[first] = found->second;
      }
      ++measured[*of_core[first]].second;
    }
    return measured;
  }

  /// The first core that has the same coordinates as this one, as far as a counter asks for them.
  [[nodiscard]] std::size_t first_alike(const Counter& counter, std::size_t core) const {
    std::size_t first = 0;
    for (const CoreAxis& axis : nest_.core_grid) {
      if (!counter.uses(axis.variable.index())) continue;
      const auto stride = static_cast<std::size_t>(axis.stride);
      first += core / stride % static_cast<std::size_t>(axis.parts) * stride;
    }
    return first;
  }

  const LoopNest& nest_;
  const std::map<int, int> first_of_;  ///< gets of all trips → of the first one, which is not theirs
  VarSet core_variables_;
  std::vector<std::vector<std::int64_t>> core_values_;  ///< by core, by variable
  NestCounts counts_;
  std::map<int, std::vector<std::shared_ptr<const DmaTotals>>> dma_of_core_;
  std::vector<std::int64_t> bytes_of_core_;
};

}  // namespace

DmaShape shape_of(const LoopNest& nest, const Dma& dma) {
  Extents full;
  for (const Range& range : dma.region) full.push_back(range.max_extent);
  return dma_shape(full, nest.buffers[static_cast<std::size_t>(dma.buffer)].extents,
                   nest.tensors[static_cast<std::size_t>(dma.nest_tensor)].strides);
}

NestCounts predict_counts(const LoopNest& nest) {
  const auto has_slots = [](const Buffer& buffer) { return buffer.slots > 1; };
  if (std::none_of(nest.buffers.begin(), nest.buffers.end(), has_slots)) return NestCounter(nest, {}).run();
  const WithoutLookahead counted = without_lookahead(nest);
  return NestCounter(counted.nest, counted.first_of).run();
}

}  // namespace stowage
