// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/renumber.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/overloaded.h"
#include "lowering/ir/rewrite.h"

namespace stowage {
namespace {

/// Writes the variables of expressions and statements as they are numbered now.
class VariableMap {
 public:
  /// Variable v moves to places[v]; without any places all stay.
  explicit VariableMap(std::vector<std::size_t> places) : places_(std::move(places)) {
    while (first_moved_ < places_.size() && places_[first_moved_] == first_moved_) ++first_moved_;
    if (same()) first_moved_ = std::numeric_limits<std::size_t>::max();
  }

  [[nodiscard]] bool same() const { return first_moved_ >= places_.size(); }

  /// Each returns whether anything was written.
  bool apply(VarId& variable) const {
    if (variable.index() < first_moved_) return false;
    variable = VarId(places_[variable.index()]);
    return true;
  }
  bool apply(IndexExpr& e) const {
    if (!has_moved(e)) return false;
    e = substitute(e, [&](VarId v) { return IndexExpr(VarId(places_[v.index()])); });
    return true;
  }
  bool apply(Range& range) const {
    const bool start = apply(range.start);
    return apply(range.extent) || start;
  }
  template <class Element>
  bool apply(std::vector<Element>& list) const {
    bool any = false;
    for (Element& element : list) any = apply(element) || any;
    return any;
  }
  template <class IdType, class Element>
  bool apply(IdVector<IdType, Element>& table) const {
    bool any = false;
    for (Element& element : table) any = apply(element) || any;
    return any;
  }
  bool apply(BufferUse& use) const {
    const bool slot = apply(use.slot);
    return apply(use.origin) || slot;
  }
  template <class Element>
  bool apply(std::optional<Element>& optional) const {
    return optional && apply(*optional);
  }
  bool apply(Stmt::Node& node) const {
    const auto bound = [&](VarId& variable, IndexExpr& value) {
      const bool moved = apply(variable);
      return apply(value) || moved;
    };
    return std::visit(
        Overloaded{
            [&](Loop& n) { return bound(n.variable, n.extent); }, [&](Let& n) { return bound(n.variable, n.value); },
            [&](Guard& n) { return apply(n.any_positive); },
            [&](Dma& n) { return any_of(apply(n.buffer), apply(n.region)); },
            [&](Broadcast& n) { return any_of(apply(n.sender), apply(n.source), apply(n.buffer), apply(n.region)); },
            [&](Fill& n) { return any_of(apply(n.buffer), apply(n.around), apply(n.slides_along)); },
            [&](Compute& n) { return any_of(apply(n.output_buffer), apply(n.read_buffers), apply(n.box)); },
            [&](Wait& n) { return apply(n.slot); }, [](Barrier&) { return false; }},
        node);
  }

 private:
  /// All of them are applied, whatever the first ones say.
  template <class... Changed>
  static bool any_of(Changed... changed) {
    return (changed || ...);
  }

  [[nodiscard]] bool has_moved(const IndexExpr& e) const {
    return std::any_of(e.terms().begin(), e.terms().end(), [&](const IndexTerm& term) {
      if (term.atom.kind == IndexAtom::Kind::variable) return term.atom.variable.index() >= first_moved_;
      return term.atom.args && std::any_of(term.atom.args->begin(), term.atom.args->end(),
                                           [&](const IndexExpr& arg) { return has_moved(arg); });
    });
  }

  std::vector<std::size_t> places_;
  std::size_t first_moved_ = 0;  ///< all before it are where they were
};

/// New ids of statements, by old id.
class IdMap {
 public:
  explicit IdMap(const Block& block) {
    StatementId next;
    visit_statements(block, [&](const Stmt& s) {
      same_ = same_ && s.id == next;
      ids_.emplace_back(s.id, next++);
    });
    std::sort(ids_.begin(), ids_.end());
  }

  [[nodiscard]] bool same() const { return same_; }
  [[nodiscard]] StatementId of(StatementId id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), std::pair(id, StatementId()));
    check(found != ids_.end() && found->first == id, "a statement waits for none");
    return found->second;
  }

 private:
  std::vector<std::pair<StatementId, StatementId>> ids_;  ///< sorted
  bool same_ = true;
};

Block renumbered(const Block& block, const VariableMap& variables) {
  const IdMap ids(block);
  if (ids.same() && variables.same()) return block;
  return rewritten(block, [&](const Stmt& s) -> Replacement {
    Stmt::Node node = s.node;
    bool changed = variables.apply(node);
    if (auto* wait = std::get_if<Wait>(&node); wait != nullptr && !wait->slot) {
      const StatementId dma = ids.of(*wait->dma);
      changed = changed || dma != wait->dma;
      wait->dma = dma;
    }
    const StatementId id = ids.of(s.id);
    if (!changed && id == s.id) return std::nullopt;
    return Block{std::make_shared<const Stmt>(Stmt{id, std::move(node), s.note})};
  });
}

}  // namespace

Block renumbered(const Block& block) { return renumbered(block, VariableMap({})); }

LoopNest renumbered(LoopNest nest, const std::vector<std::size_t>& places) {
  const VariableMap map(places);
  std::vector<NestVariable> variables(nest.variables.size());
  for (std::size_t v = 0; v < places.size(); ++v) variables[places[v]] = std::move(nest.variables[v]);
  nest.variables = std::move(variables);
  for (CoreAxis& axis : nest.core_grid) map.apply(axis.variable);
  for (Buffer& buffer : nest.buffers) map.apply(buffer.origin);
  nest.body = renumbered(nest.body, map);
  return nest;
}

}  // namespace stowage
