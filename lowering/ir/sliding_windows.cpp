// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/sliding_windows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/identifiers.h"
#include "core/tensor.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/prover.h"
#include "lowering/ir/rewrite.h"

namespace stowage {
namespace {

IndexExpr of_trip_before(const IndexExpr& e, VarId loop) {
  return substitute(e, [&](VarId v) { return v == loop ? IndexExpr(v) - 1 : IndexExpr(v); });
}

bool overlap(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes();
}

/// The number that the box moves by from trip to trip along the one dimension that does; nothing where it is none, or
/// not the same everywhere.
struct Motion {
  std::size_t dimension = 0;
  std::int64_t step = 0;
};
std::optional<Motion> motion_of(const std::vector<IndexExpr>& origin, VarId loop) {
  std::optional<Motion> motion;
  for (std::size_t d = 0; d < origin.size(); ++d) {
    const IndexExpr by = origin[d] - of_trip_before(origin[d], loop);
    if (by == IndexExpr(0)) continue;
    if (motion || !by.is_constant() || by.constant() < 0) return std::nullopt;
    motion = Motion{d, by.constant()};
  }
  return motion;
}

class WindowFinder {
 public:
  explicit WindowFinder(const LoopNest& nest) : nest_(nest) {}

  std::vector<SlidingWindow> run() {
    for (RegisterChain& chain : possible_register_chains(nest_)) {
      const Buffer& buffer = buffer_of(chain);
      if (chain.around == nullptr || buffer.slots > 1 || is_written_otherwise(chain)) continue;
      chains_.emplace(chain.sum->id, std::move(chain));
    }
    if (chains_.empty()) return {};
    Prover prover(nest_);
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (const auto* loop = std::get_if<Loop>(&s.node)) prover.enter(*loop, around);
      const auto found = chains_.find(s.id);
      if (found != chains_.end()) look_at(std::move(found->second), around, prover);
    });
    return std::move(windows_);
  }

 private:
  [[nodiscard]] const Compute& sum_of(const RegisterChain& chain) const { return std::get<Compute>(chain.sum->node); }
  [[nodiscard]] const Buffer& buffer_of(const RegisterChain& chain) const {
    return nest_.buffers[sum_of(chain).output_buffer];
  }

  /// By a statement of the body that is not of the chain, nor a fill around what is there.
  [[nodiscard]] bool is_written_otherwise(const RegisterChain& chain) const {
    std::set<int> own = {chain.start->id, chain.sum->id};
    for (const Stmt* end : chain.ends) own.insert(end->id);
    bool written = false;
    visit_statements(chain.around->body, [&](const Stmt& s) {
      if (own.contains(s.id)) return;
      const auto writes = [&](BufferId other) { written = written || overlap(nest_.buffers[other], buffer_of(chain)); };
      if (const auto* fill = std::get_if<Fill>(&s.node); fill != nullptr && !fill->around) writes(fill->buffer);
      if (const auto* compute = std::get_if<Compute>(&s.node)) writes(compute->output_buffer);
      if (const auto* dma = std::get_if<Dma>(&s.node); dma != nullptr && dma->direction == DmaDirection::get)
        writes(dma->buffer);
      if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) writes(broadcast->buffer);
    });
    return written;
  }

  void look_at(RegisterChain chain, const Enclosing& around, const Prover& prover) {
    const Compute& sum = sum_of(chain);
    const VarId along = chain.around->variable;
    std::vector<IndexExpr> origin;
    for (const IndexExpr& e : origin_of(nest_, sum.output_buffer)) origin.push_back(around.expanded(e));
    const auto motion = motion_of(origin, along);
    if (!motion) return;
    const std::int64_t kept = buffer_of(chain).extents[motion->dimension] - motion->step;
    if (kept <= 0 || !trips_agree(sum, *motion, along, around)) return;
    const Range& range = sum.box[motion->dimension];
    const IndexExpr start = around.expanded(range.start);
    const IndexExpr end = start + around.expanded(range.extent);
    const IndexExpr from = maximum(start, origin[motion->dimension] + kept);
    const IndexExpr before = of_trip_before(end, along);
    const IndexExpr conditions[] = {IndexExpr(along), end - start};
    // Nothing that is neither kept nor computed, and nothing kept that was not there.
    if (prover.find_negative(around, before - minimum(from, end), conditions)) return;
    if (prover.find_negative(around, start - of_trip_before(start, along), conditions)) return;
    windows_.push_back({std::move(chain), along, motion->dimension, motion->step, kept});
  }

  /// All other ranges of the sum are those of the trip before.
  [[nodiscard]] bool trips_agree(const Compute& sum, const Motion& motion, VarId along, const Enclosing& around) const {
    for (std::size_t a = 0; a < nest_.stages.stages[sum.stage].spatial; ++a) {
      if (a == motion.dimension) continue;
      for (const IndexExpr& e : {around.expanded(sum.box[a].start), around.expanded(sum.box[a].extent)}) {
        if (mentions(e, along)) return false;
      }
    }
    return true;
  }

  const LoopNest& nest_;
  std::map<int, RegisterChain> chains_;  ///< by the sum's Stmt::id
  std::vector<SlidingWindow> windows_;
};

}  // namespace

std::vector<SlidingWindow> possible_sliding_windows(const LoopNest& nest) { return WindowFinder(nest).run(); }

std::vector<SlidingWindow> sliding_windows(const LoopNest& nest) {
  bool any = false;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* fill = std::get_if<Fill>(&s.node);
    any = any || (fill != nullptr && fill->slides_along);
  });
  if (!any) return {};
  std::vector<SlidingWindow> windows = possible_sliding_windows(nest);
  std::erase_if(windows, [](const SlidingWindow& window) {
    return std::get<Fill>(window.chain.start->node).slides_along != window.along;
  });
  return windows;
}

bool moves_in_vectors(const Buffer& buffer, std::size_t dimension, std::int64_t lanes) {
  const std::span<const std::int64_t> inner = std::span(buffer.extents).subspan(dimension + 1);
  return lanes > 1 && buffer.offset % (lanes * byte_size(buffer.type)) == 0 && element_count(inner) % lanes == 0;
}

namespace {

/// Statements of the nest with the boxes that are computed.
class BoxWriter {
 public:
  BoxWriter(const LoopNest& nest, const std::vector<SlidingWindow>& windows)
      : nest_(nest), computed_(nest), names_(names_in(nest)) {
    for (const SlidingWindow& window : windows) {
      windows_.emplace(window.chain.start->id, &window);
      windows_.emplace(window.chain.sum->id, &window);
      for (const Stmt* end : window.chain.ends) windows_.emplace(end->id, &window);
    }
    visit_statements(nest.body, [&](const Stmt& s) {
      if (const auto* let = std::get_if<Let>(&s.node)) lets_.emplace(let->variable, s.id);
    });
  }

  LoopNest run() {
    computed_.body = rewritten(nest_.body, [&](const Stmt& s) -> Replacement {
      const auto found = windows_.find(s.id);
      if (found == windows_.end()) return std::nullopt;
      if (const auto* fill = std::get_if<Fill>(&s.node)) return begun(s, *fill, *found->second);
      Compute compute = std::get<Compute>(s.node);
      Range& range = compute.box[found->second->dimension];
      range.extent = range.start + range.extent - from_.at(found->second);
      range.start = from_.at(found->second);
      return Block{with_node(s, std::move(compute))};
    });
    return std::move(computed_);
  }

 private:
  /// The fill around what does not move, behind a name for where the box that is computed begins.
  Block begun(const Stmt& s, Fill fill, const SlidingWindow& window) {
    const IndexExpr kept = minimum(IndexExpr(window.along), 1) * window.kept;  // none in the first trip
    const auto& sum = std::get<Compute>(window.chain.sum->node);
    const IndexExpr origin = origin_of(nest_, sum.output_buffer)[window.dimension];
    const IndexExpr from = maximum(sum.box[window.dimension].start, origin + kept);
    fill.around.emplace();
    for (const std::int64_t extent : nest_.buffers[fill.buffer].extents) fill.around->push_back({0, extent, extent});
    Range& staying = (*fill.around)[window.dimension];
    staying.extent = staying.extent - kept;
    const StmtPtr start = with_node(s, std::move(fill));
    const std::set<VarId> used = variables_of(from);
    const bool has_values = std::none_of(used.begin(), used.end(), [&](VarId v) {
      const auto let = lets_.find(v);
      return let != lets_.end() && let->second > s.id;
    });
    if (!has_values) {
      from_.emplace(&window, from);
      return {start};
    }
    const Stage& stage = nest_.stages.stages[sum.stage];
    const VarId name(computed_.variables.size());
    const std::string wanted = fmt::format("{}_{}_from", stage.name, stage.axes[window.dimension].name);
    computed_.variables.push_back({names_.take(identifier_of(wanted)), NestVariable::Kind::let,
                                   bounds(from, [&](VarId v) { return computed_.variables[v.index()].range; })});
    from_.emplace(&window, IndexExpr(name));
    return {std::make_shared<const Stmt>(Stmt{s.id, Let{name, from}, {}}), start};  // what is asked for by it is behind
  }

  const LoopNest& nest_;
  LoopNest computed_;
  std::map<int, const SlidingWindow*> windows_;  ///< by Stmt::id of their chains' statements
  std::map<VarId, int> lets_;                    ///< Stmt::id
  std::map<const SlidingWindow*, IndexExpr> from_;
  UniqueNames names_;
};

}  // namespace

ComputedBoxes::ComputedBoxes(const LoopNest& nest) : given_(&nest) {
  const std::vector<SlidingWindow> windows = sliding_windows(nest);
  if (!windows.empty()) own_ = BoxWriter(nest, windows).run();
}

}  // namespace stowage
