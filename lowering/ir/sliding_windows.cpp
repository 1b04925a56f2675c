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
#include "lowering/ir/kept_loads.h"
#include "lowering/ir/let_values.h"
#include "lowering/ir/prover.h"
#include "lowering/ir/rewrite.h"

namespace stowage {
namespace {

IndexExpr of_trip_before(const IndexExpr& e, VarId loop) {
  return substitute(e, [&](VarId v) { return v == loop ? IndexExpr(v) - 1 : IndexExpr(v); });
}

const Compute& sum_of(const RegisterChain& chain) { return std::get<Compute>(chain.sum->node); }

/// Whether statements of the body that are not of the chain do more with the buffer's bytes than read what the chain
/// has computed and fill what lies around that: then another rule has seen that the fill leaves all of it.
bool is_used_otherwise(const LoopNest& nest, const RegisterChain& chain) {
  std::set<StatementId> own = {chain.start->id, chain.sum->id};
  for (const Stmt* end : chain.ends) own.insert(end->id);
  const Compute& last = chain.ends.empty() ? sum_of(chain) : std::get<Compute>(chain.ends.back()->node);
  const Buffer& buffer = nest.buffers[last.output_buffer];
  bool otherwise = false;
  visit_statements(chain.around->body, [&](const Stmt& s) {
    if (own.contains(s.id)) return;
    const auto* compute = std::get_if<Compute>(&s.node);
    const auto* fill = std::get_if<Fill>(&s.node);
    bool writes = compute != nullptr;  // the first of its uses
    visit_uses(s, [&](const BufferUse& use) {
      if (share_bytes(nest.buffers[use.buffer], buffer)) {
        const bool is_read = compute != nullptr && !writes && use.origin.empty();
        const bool is_padded = fill != nullptr && fill->around && use.buffer == last.output_buffer.buffer;
        otherwise = otherwise || !(is_read || is_padded);
      }
      writes = false;
    });
  });
  return otherwise;
}

/// Whether an expression may be another one in the next trip although the variables in it are the same.
bool depends_on_data(const IndexExpr& e) { return !tensor_values_of(e).empty(); }

/// A window of a chain as far as its statements say; whether trips find what they do not compute is not looked at.
std::optional<SlidingWindow> window_of(const LoopNest& nest, RegisterChain chain, const LetValues& lets) {
  const Compute& sum = sum_of(chain);
  const Buffer& buffer = nest.buffers[sum.output_buffer];
  if (chain.around == nullptr || buffer.slots > 1 || is_used_otherwise(nest, chain)) return std::nullopt;
  const VarId along = chain.around->variable;
  std::vector<IndexExpr> origin;
  for (const IndexExpr& e : origin_of(nest, sum.output_buffer)) origin.push_back(lets.expanded(e));
  if (std::any_of(origin.begin(), origin.end(), depends_on_data)) return std::nullopt;
  const auto motion = motion_of(origin, along);
  if (!motion) return std::nullopt;
  const std::int64_t kept = buffer.extents[motion->dimension] - motion->step;
  if (kept <= 0) return std::nullopt;
  for (std::size_t a = 0; a < nest.stages.stages[sum.stage].spatial; ++a) {
    for (const IndexExpr& e : {lets.expanded(sum.box[a].start), lets.expanded(sum.box[a].extent)}) {
      const bool is_of_trip = mentions(e, along) && a != motion->dimension;
      if (is_of_trip || depends_on_data(e)) return std::nullopt;  // not that of the trip before
    }
  }
  return SlidingWindow{std::move(chain), along, motion->dimension, motion->step, kept};
}

std::vector<SlidingWindow> windows_of(const LoopNest& nest, std::vector<RegisterChain> chains) {
  std::vector<SlidingWindow> windows;
  if (chains.empty()) return windows;
  const LetValues lets = let_values(nest);
  for (RegisterChain& chain : chains) {
    if (auto window = window_of(nest, std::move(chain), lets)) windows.push_back(*std::move(window));
  }
  return windows;
}

/// Nothing of the box is neither kept nor computed, and nothing kept that was not there.
bool finds_what_is_kept(const SlidingWindow& window, const LoopNest& nest, const Enclosing& around,
                        const Prover& prover) {
  const Compute& sum = sum_of(window.chain);
  const Range& range = sum.box[window.dimension];
  const IndexExpr start = around.expanded(range.start);
  const IndexExpr end = start + around.expanded(range.extent);
  const IndexExpr origin = around.expanded(origin_of(nest, sum.output_buffer)[window.dimension]);
  const IndexExpr from = maximum(start, origin + window.kept);
  const IndexExpr conditions[] = {IndexExpr(window.along), end - start};
  return !prover.find_negative(around, of_trip_before(end, window.along) - minimum(from, end), conditions) &&
         !prover.find_negative(around, start - of_trip_before(start, window.along), conditions);
}

}  // namespace

std::optional<Motion> motion_of(const std::vector<IndexExpr>& index, VarId variable) {
  std::optional<Motion> motion;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const IndexExpr by = index[d] - of_trip_before(index[d], variable);
    if (by == IndexExpr(0)) continue;
    if (motion || !by.is_constant() || by.constant() < 0) return std::nullopt;
    motion = Motion{d, by.constant()};
  }
  return motion;
}

std::vector<SlidingWindow> possible_sliding_windows(const LoopNest& nest) {
  std::vector<RegisterChain> chains = possible_register_chains(nest);
  std::erase_if(chains, [](const RegisterChain& chain) { return chain.around == nullptr; });
  std::vector<SlidingWindow> windows = windows_of(nest, std::move(chains));
  if (windows.empty()) return windows;
  std::set<StatementId> found;
  Prover prover(nest);
  visit_with_enclosing(nest, [&](const Stmt& s, const Enclosing& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) prover.enter(*loop, around);
    const auto of_sum = [&](const SlidingWindow& window) { return window.chain.sum->id == s.id; };
    const auto window = std::find_if(windows.begin(), windows.end(), of_sum);
    if (window != windows.end() && finds_what_is_kept(*window, nest, around, prover)) found.insert(s.id);
  });
  std::erase_if(windows, [&](const SlidingWindow& window) { return !found.contains(window.chain.sum->id); });
  return windows;
}

std::vector<SlidingWindow> sliding_windows(const LoopNest& nest) {
  std::set<StatementId> marked;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* fill = std::get_if<Fill>(&s.node);
    if (fill != nullptr && fill->slides_along) marked.insert(s.id);
  });
  if (marked.empty()) return {};
  std::vector<RegisterChain> chains = possible_register_chains(nest);
  std::erase_if(chains, [&](const RegisterChain& chain) { return !marked.contains(chain.start->id); });
  std::vector<SlidingWindow> windows = windows_of(nest, std::move(chains));
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
      : nest_(nest), computed_(nest), loads_(shorter_loads(nest, windows)), names_(names_in(nest)) {
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
      if (const auto* dma = std::get_if<Dma>(&s.node)) return loaded(s, *dma);
      const auto found = windows_.find(s.id);
      if (found == windows_.end()) return std::nullopt;
      if (const auto* fill = std::get_if<Fill>(&s.node)) return begun(s, *fill, *found->second);
      const auto* given = std::get_if<Compute>(&s.node);
      if (given == nullptr) return std::nullopt;  // the name that was put there before
      Compute compute = *given;
      Range& range = compute.box[found->second->dimension];
      range.extent = range.start + range.extent - from_.at(found->second);
      range.start = from_.at(found->second);
      return Block{with_node(s, std::move(compute))};
    });
    return std::move(computed_);
  }

 private:
  /// What of an input is needed for what is computed.
  Replacement loaded(const Stmt& s, Dma dma) {
    const auto found = loads_.find(s.id);
    if (found == loads_.end()) return std::nullopt;
    const ShorterLoad& load = found->second;
    Range& range = dma.region[load.dimension];
    const IndexExpr end = range.start + range.extent;
    Block block;
    range.start = load.start;
    if (load.name_id) {
      const std::string& tensor = nest_.tensors[dma.nest_tensor].name;
      const VarId name = named(fmt::format("{}_{}_from", tensor, load.dimension), load.start);
      block.push_back(std::make_shared<const Stmt>(Stmt{*load.name_id, Let{name, load.start}, {}}));
      range.start = IndexExpr(name);
    }
    range.extent = end - range.start;
    block.push_back(with_node(s, std::move(dma)));
    return block;
  }

  /// A new variable of what it is to be.
  VarId named(const std::string& wanted, const IndexExpr& value) {
    const VarId name(computed_.variables.size());
    computed_.variables.push_back({names_.take(identifier_of(wanted)), NestVariable::Kind::let,
                                   bounds(value, [&](VarId v) { return computed_.variables[v.index()].range; })});
    return name;
  }

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
    const bool is_known_here = std::none_of(used.begin(), used.end(), [&](VarId v) {
      const auto let = lets_.find(v);
      return let != lets_.end() && let->second > s.id;
    });
    if (!is_known_here) {
      from_.emplace(&window, from);
      return {start};
    }
    const Stage& stage = nest_.stages.stages[sum.stage];
    const VarId name = named(fmt::format("{}_{}_from", stage.name, stage.axes[window.dimension].name), from);
    from_.emplace(&window, IndexExpr(name));
    return {std::make_shared<const Stmt>(Stmt{s.id, Let{name, from}, {}}), start};  // what is asked for by it is behind
  }

  const LoopNest& nest_;
  LoopNest computed_;
  std::map<StatementId, const SlidingWindow*> windows_;  ///< by Stmt::id of their chains' statements
  std::map<VarId, StatementId> lets_;                    ///< Stmt::id
  std::map<StatementId, ShorterLoad> loads_;
  std::map<const SlidingWindow*, IndexExpr> from_;
  UniqueNames names_;
};

}  // namespace

ComputedBoxes::ComputedBoxes(const LoopNest& nest) : given_(&nest) {
  const std::vector<SlidingWindow> windows = sliding_windows(nest);
  if (!windows.empty()) own_ = BoxWriter(nest, windows).run();
}

}  // namespace stowage
