// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/ldm_contents.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stowage {
namespace {

/// Whether element i of the one lies where element i of the other does.
bool match(const Buffer& a, const Buffer& b) {
  return a.offset == b.offset && a.extents == b.extents && a.slots == b.slots && byte_size(a.type) == byte_size(b.type);
}

}  // namespace

Execution execution_of(const LoopNest& nest, const Moment& moment, int core) {
  std::set<std::size_t> around;  // variables of loops
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* loop = std::get_if<Loop>(&s.node);
    if (loop == nullptr) return;
    visit_statements(loop->body, [&](const Stmt& inside) {
      if (inside.id == moment.statement) around.insert(loop->variable.index());
    });
  });
  Execution made{moment.statement, core, {}};
  for (const std::size_t v : around) made.iteration.emplace_back(nest.variables[v].name, moment.values[v]);
  return made;
}

bool share_bytes(const LoopNest& nest, const SlotOfBuffer& a, const SlotOfBuffer& b) {
  const auto begin = [&](const SlotOfBuffer& of) {
    return nest.buffers[of.buffer].offset + of.slot * nest.buffers[of.buffer].slot_bytes();
  };
  return begin(a) < begin(b) + nest.buffers[b.buffer].box_bytes() &&
         begin(b) < begin(a) + nest.buffers[a.buffer].box_bytes();
}

bool match(const LoopNest& nest, const SlotOfBuffer& a, const SlotOfBuffer& b) {
  return a.slot == b.slot && match(nest.buffers[a.buffer], nest.buffers[b.buffer]);
}

LdmContents::LdmContents(const LoopNest& nest)
    : nest_(nest), pieces_(nest.buffers.size()), beside_(nest.buffers.size()) {
  for (const BufferId b : nest.buffers.ids()) {
    pieces_[b].resize(static_cast<std::size_t>(std::max(1, nest.buffers[b].slots)));
    for (const BufferId other : nest.buffers.ids()) {
      if (other != b && share_bytes(nest.buffers[b], nest.buffers[other])) beside_[b].push_back(other);
    }
  }
}

const TransferUnderWay* LdmContents::in_the_way(const SlotOfBuffer& cell, const ElementBox& box, bool reads) const {
  for (const TransferUnderWay& flight : flights_) {
    if ((reads && !flight.fills) || flight.box.is_empty()) continue;
    if (flight.cell == cell && overlap(flight.box, box)) return &flight;
    const std::vector<BufferId>& beside = beside_[cell.buffer];
    if (std::find(beside.begin(), beside.end(), flight.cell.buffer) == beside.end()) continue;
    const bool matches = match(nest_.buffers[cell.buffer], nest_.buffers[flight.cell.buffer]);
    if (!matches || (flight.cell.slot == cell.slot && overlap(flight.box, box))) return &flight;
  }
  return nullptr;
}

std::optional<LdmContents::Unfit> LdmContents::unfit(const SlotOfBuffer& cell, const ElementBox& box,
                                                     const std::vector<std::int64_t>& origin) const {
  const std::vector<Piece>& held = pieces_[cell.buffer][static_cast<std::size_t>(cell.slot)];
  std::vector<const ElementBox*> there;
  for (const Piece& piece : held) {
    if (!piece.origin || *piece.origin == origin) there.push_back(&piece.box);
  }
  const std::vector<ElementBox> left = missing(box, there);
  if (left.empty()) return std::nullopt;
  for (const Piece& piece : held) {
    if (overlap(piece.box, left.front())) return Unfit{left.front(), &piece};
  }
  return Unfit{left.front(), nullptr};
}

const Piece* LdmContents::unsummed(const SlotOfBuffer& cell, const ElementBox& box, bool finishing) const {
  for (const Piece& piece : pieces_[cell.buffer][static_cast<std::size_t>(cell.slot)]) {
    if (piece.sum && overlap(piece.box, box) && what_lacks(nest_, *piece.sum, finishing)) return &piece;
  }
  return nullptr;
}

void LdmContents::write(const SlotOfBuffer& cell, Piece piece) {
  const auto take = [&](std::vector<Piece>& from) {
    std::vector<Piece> left;
    for (Piece& old : from) {
      if (piece.box.holds(old.box)) continue;
      for (ElementBox& rest : without(old.box, piece.box))
        left.push_back({std::move(rest), old.origin, old.written, old.sum});
    }
    from = std::move(left);
  };
  for (const BufferId other : beside_[cell.buffer]) {
    if (match(nest_.buffers[cell.buffer], nest_.buffers[other])) {
      take(pieces({other, cell.slot}));
    } else {
      for (std::vector<Piece>& slot : pieces_[other]) slot.clear();
    }
  }
  std::vector<Piece>& own = pieces(cell);
  take(own);
  own.push_back(std::move(piece));
}

void LdmContents::add(const SlotOfBuffer& cell, const Piece& piece, const Compute& compute, const ElementBox& points) {
  std::vector<Piece> parts;
  std::vector<const ElementBox*> held;
  for (const Piece& old : pieces(cell)) {
    const ElementBox box = common(old.box, piece.box);
    if (box.is_empty()) continue;
    held.push_back(&old.box);
    parts.push_back({box, piece.origin, piece.written, with_terms(nest_, old.sum, compute, points)});
  }
  for (ElementBox& rest : missing(piece.box, held))  // a fault of its own; from here on as if it had been begun
    parts.push_back({std::move(rest), piece.origin, piece.written, with_terms(nest_, SumTerms{}, compute, points)});
  for (Piece& part : parts) write(cell, std::move(part));
}

std::vector<TransferUnderWay> LdmContents::end_in(const SlotOfBuffer& cell) {
  std::set<Moment> started;
  for (const TransferUnderWay& flight : flights_) {
    if (flight.cell == cell) started.insert(flight.started);
  }
  return end([&](const TransferUnderWay& flight) { return started.contains(flight.started); });
}

std::vector<TransferUnderWay> LdmContents::end_most_started() {
  std::map<StatementId, std::int64_t> under_way;
  for (const TransferUnderWay& flight : flights_) ++under_way[flight.started.statement];
  const auto most = std::max_element(under_way.begin(), under_way.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return end([&](const TransferUnderWay& flight) { return flight.started.statement == most->first; });
}

}  // namespace stowage
