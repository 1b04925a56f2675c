// SPDX-License-Identifier: Apache-2.0
#include "lowering/verify/slot_walk.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lowering/ir/mesh.h"

namespace stowage {
namespace {

std::vector<Hull> hulls_of(const std::vector<Range>& ranges) {
  std::vector<Hull> hulls;
  for (const Range& range : ranges) hulls.push_back({range.start, range.start + range.extent - 1});
  return hulls;
}

}  // namespace

SlotWalk::SlotWalk(const LoopNest& nest, const Followed& followed)
    : nest_(nest), followed_(followed), roots_(nest), values_(nest.variables.size() + nest.buffers.size(), 0) {
  Prover prover(nest);
  visit_with_enclosing(nest, [&](const Stmt& s, const Enclosing& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) prover.enter(*loop, around);
    add(s, around, prover);
  });
}

SlotWalk::Use SlotWalk::use_of(const BufferUse& used, std::vector<Hull> part, const Enclosing& around) const {
  const Expression slot = around.expression(used.slot);
  Use use{used, {}, {}, std::move(part), {}};
  if (needs_variables_only(slot.expr)) use.slot = slot.compiled;
  const auto decided_by = [&](const IndexExpr& e) {
    for (const VarId v : variables_of(e)) {
      if (followed_.variables.contains(v)) use.decided_by.insert(v);
    }
  };
  for (const IndexExpr& origin : origin_of(nest_, used)) {
    use.origin.push_back(around.expanded(origin));
    decided_by(use.origin.back());
  }
  for (Hull& hull : use.part) {
    hull = {around.expanded(hull.low), around.expanded(hull.high)};
    decided_by(hull.low);
    decided_by(hull.high);
  }
  return use;
}

void SlotWalk::add(const Stmt& s, const Enclosing& around, const Prover& prover) {
  Site site{around, prover, {}, {}, {}, {}, {}};
  const auto evaluated = [&](const std::vector<IndexExpr>& expressions) {
    for (const IndexExpr& e : expressions) {
      if (!needs_variables_only(around.expanded(e))) return;
    }
    for (const IndexExpr& e : expressions) {
      site.compiled.push_back(around.expression(e).compiled);
      site.roots.merge(roots_.of(e));
    }
  };
  const auto take_effect = [&](const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
      site.conditions.push_back(around.expanded(range.extent));
      for (const VarId v : variables_of(site.conditions.back())) {
        if (followed_.variables.contains(v)) site.effect_decided_by.insert(v);
      }
    }
  };
  bool followed = false;
  visit_uses(s, [&](const BufferUse& use) { followed = followed || followed_.is_followed(use.buffer); });
  if (const auto* loop = std::get_if<Loop>(&s.node)) {
    evaluated({loop->extent});
  } else if (const auto* guard = std::get_if<Guard>(&s.node)) {
    if (followed_.guards.contains(s.id)) evaluated(guard->any_positive);
  } else if (!followed) {
    return;
  } else if (const auto* dma = std::get_if<Dma>(&s.node)) {
    take_effect(dma->region);
    site.uses.push_back(use_of(dma->buffer, hulls_of(dma->region), around));
  } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
    take_effect(broadcast->region);
    for (const IndexExpr& e : with_sender({}, nest_, *broadcast)) site.conditions.push_back(around.expanded(e));
    site.uses.push_back(use_of(broadcast->buffer, hulls_of(broadcast->region), around));
    site.uses.push_back(use_of(broadcast->source, hulls_of(broadcast->region), around));
  } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
    site.uses.push_back(use_of(fill->buffer, fill->around ? hulls_of(*fill->around) : std::vector<Hull>(), around));
  } else if (const auto* wait = std::get_if<Wait>(&s.node)) {
    site.uses.push_back(use_of(*wait->slot, {}, around));
  } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
    const Stage& stage = nest_.stages.stages[compute->stage];
    take_effect(compute->box);
    std::vector<Hull> made = hulls_of(compute->box);
    made.resize(stage.spatial);
    site.uses.push_back(use_of(compute->output_buffer, std::move(made), around));
    for (const ReadId r : stage.reads.ids()) {
      if (!compute->read_buffers[r]) continue;
      std::vector<Hull> touched;
      for (const IndexExpr& e : stage.reads[r].index) touched.push_back(hull_of(nest_, e, *compute));
      site.uses.push_back(use_of(*compute->read_buffers[r], std::move(touched), around));
    }
  }
  sites_.emplace(s.id, std::move(site));
}

void SlotWalk::set(VarId variable, std::optional<std::int64_t> value) {
  values_[variable.index()] = value.value_or(0);
  if (value) {
    known_.insert(variable);
  } else {
    known_.erase(variable);
  }
}

std::optional<std::int64_t> SlotWalk::slot(const Stmt& s, std::size_t use) const {
  const Use& found = sites_.at(s.id).uses[use];
  if (!found.slot) return std::nullopt;
  const std::int64_t slot = (*found.slot)(values_);
  if (slot < 0 || slot >= nest_.buffers[found.used.buffer].slots) return std::nullopt;
  return slot;
}

IndexExpr SlotWalk::now(const IndexExpr& e) const {
  return substitute(e, [&](VarId v) { return known_.contains(v) ? IndexExpr(values_[v.index()]) : IndexExpr(v); });
}

std::string SlotWalk::text(const IndexExpr& e) const {
  return to_text(e, [&](VarId v) { return nest_.variables[v.index()].name; });
}

int SlotWalk::box(const Stmt& s, std::size_t number) {
  const Use& use = sites_.at(s.id).uses[number];
  const auto [known, is_new] = box_of_.try_emplace({{s.id, number}, values_of(use.decided_by)}, 0);
  if (!is_new) return known->second;
  Box box;
  std::string name = fmt::format("{}", use.used.buffer.index());
  const auto add = [&](const IndexExpr& e) {
    const IndexExpr expression = now(e);
    for (const VarId v : variables_of(expression)) box.roots.insert(v);
    box.values.merge(buffers_in(expression));
    name += "," + text(expression);
    return expression;
  };
  for (const IndexExpr& e : use.origin) box.begin.push_back(add(e));
  box.origin = name;
  for (const Hull& hull : use.part) {
    IndexExpr low = add(hull.low);
    box.part.push_back({std::move(low), add(hull.high)});
  }
  const auto [entry, first] = numbers_.try_emplace(name, static_cast<int>(boxes_.size()));
  if (first) boxes_.push_back(std::move(box));
  return known->second = entry->second;
}

std::optional<Prover::Violation> SlotWalk::negative(const Site& site, const IndexExpr& distance,
                                                    const std::vector<IndexExpr>& conditions) const {
  return site.prover.find_negative(site.around, distance, conditions);
}

Broken SlotWalk::touches_what_is_there(const Stmt& s, std::size_t number, int there) {
  const int here = box(s, number);
  const Site& site = sites_.at(s.id);
  const auto seen = std::pair(std::tuple(s.id, here, there), values_of(site.effect_decided_by));
  if (inside_.contains(seen)) return std::nullopt;
  const Buffer& buffer = nest_.buffers[site.uses[number].used.buffer];
  const StageTensor& tensor = nest_.stages.tensors[buffer.tensor];
  std::vector<IndexExpr> conditions;
  for (const IndexExpr& e : site.conditions) conditions.push_back(now(e));
  std::vector<Hull> in_tensor;
  for (std::size_t d = 0; d < boxes_[index(here)].part.size(); ++d) {
    const Hull& touched = boxes_[index(here)].part[d];
    in_tensor.push_back({maximum(touched.low, 0), minimum(touched.high, tensor.shape[d] - 1)});
    conditions.push_back(in_tensor[d].high - in_tensor[d].low + 1);
  }
  for (std::size_t d = 0; d < in_tensor.size(); ++d) {
    const Hull& part = boxes_[index(there)].part[d];
    for (const IndexExpr& distance : {in_tensor[d].low - part.low, part.high - in_tensor[d].high}) {
      const auto violation = negative(site, distance, conditions);
      if (!violation) continue;
      return broken_rule(nest_, "touches-what-is-there", s,
                         fmt::format("touches {}..{} of dimension {} of {}, of which buffer {} holds {}..{}{}",
                                     text(in_tensor[d].low), text(in_tensor[d].high), d, tensor.name, buffer.name,
                                     text(part.low), text(part.high), iteration()));
    }
  }
  inside_.insert(seen);
  return std::nullopt;
}

bool SlotWalk::leaves(const Stmt& s, int there) {
  const Box kept = boxes_[index(box(s, 0))];
  const Box& box = boxes_[index(there)];
  const Site& site = sites_.at(s.id);
  for (std::size_t d = 0; d < kept.part.size(); ++d) {
    const Hull part{box.part[d].low - box.begin[d], box.part[d].high - box.begin[d]};
    for (const IndexExpr& distance : {part.low - kept.part[d].low, kept.part[d].high - part.high}) {
      if (negative(site, distance, {})) return false;
    }
  }
  return true;
}

std::optional<std::int64_t> SlotWalk::trips(const Stmt& s) const {
  const Site& site = sites_.at(s.id);
  if (site.compiled.empty()) return std::nullopt;
  if (!std::includes(known_.begin(), known_.end(), site.roots.begin(), site.roots.end())) return std::nullopt;
  return site.compiled[0](values_);
}

std::optional<bool> SlotWalk::passes(const Stmt& s) const {
  const auto& conditions = sites_.at(s.id).compiled;
  if (conditions.empty()) return std::nullopt;
  return std::any_of(conditions.begin(), conditions.end(), [&](const CompiledIndex& e) { return e(values_) > 0; });
}

std::vector<std::int64_t> SlotWalk::values_of(const std::set<VarId>& variables) const {
  std::vector<std::int64_t> values;
  for (const VarId v : variables) {
    if (known_.contains(v)) values.push_back(values_[v.index()]);
  }
  return values;
}

std::string SlotWalk::iteration() const {
  std::vector<std::string> parts;
  for (const VarId v : known_)
    parts.push_back(fmt::format("{} = {}", nest_.variables[v.index()].name, values_[v.index()]));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

std::string SlotWalk::origin_text(int box) const {
  std::vector<std::string> texts;
  for (const IndexExpr& e : boxes_[index(box)].begin) texts.push_back(text(e));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace stowage
