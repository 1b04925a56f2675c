// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/register_broadcasts.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/tensor.h"
#include "lowering/ir/multiple_of.h"

namespace stowage {
namespace {

/// Whether a region, whatever its extents are, is one piece of a box: in front of the first dimension of which it may
/// take a part it has one element of each, behind it all.
bool is_one_piece(const std::vector<Range>& region, const Buffer& buffer) {
  bool parted = false;
  for (std::size_t d = region.size(); d-- > 0;) {
    if (parted && region[d].max_extent > 1) return false;
    parted = parted || !(region[d].extent == IndexExpr(buffer.extents[d]));
  }
  return true;
}

/// Bytes of the elements of which a region takes whole numbers, of a box of which it is one piece.
std::int64_t bytes_of_step(const std::vector<Range>& region, const Buffer& buffer) {
  std::int64_t bytes = byte_size(buffer.type);
  for (std::size_t d = region.size(); d-- > 0;) {
    if (!(region[d].extent == IndexExpr(buffer.extents[d])))
      return region[d].extent.is_constant() ? bytes * region[d].extent.constant() : bytes;
    bytes *= buffer.extents[d];
  }
  return bytes;
}

class Finder {
 public:
  Finder(const LoopNest& nest, const Target& target) : nest_(nest), target_(target) { find(nest.body); }

  std::map<StatementId, std::string> found;

 private:
  void find(const Block& block) {
    for (auto here = block.begin(); here != block.end(); ++here) {
      if (const Block* const body = body_of(**here)) find(*body);
      const auto* const broadcast = std::get_if<Broadcast>(&(*here)->node);
      if (broadcast == nullptr) continue;
      auto why = why_not(*broadcast);
      if (!why && !is_awaited_at_once(here, block.end()))
        why = "it is to be awaited at once, behind nothing but broadcasts: the cores make it while they wait";
      if (why) found.emplace((*here)->id, *std::move(why));
    }
  }

  /// Behind other broadcasts, and waits for these. A wait for a get may be a barrier, behind which the LDM is free.
  bool is_awaited_at_once(Block::const_iterator here, Block::const_iterator end) const {
    for (auto next = std::next(here); next != end; ++next) {
      if (std::holds_alternative<Broadcast>((*next)->node)) continue;
      const auto* wait = std::get_if<Wait>(&(*next)->node);
      if (wait == nullptr || !wait->dma) return false;
      if (*wait->dma == (*here)->id) return true;
      const Stmt* const other = find_statement(nest_, *wait->dma);
      if (other == nullptr || !std::holds_alternative<Broadcast>(other->node)) return false;
    }
    return false;
  }

  [[nodiscard]] std::optional<std::string> why_not(const Broadcast& broadcast) const {
    if (broadcast.to == Space::mesh) return "registers go along a row or down a column, not to the mesh";
    const bool row = broadcast.to == Space::row;
    if (!(row ? sends_along_rows(target_) : sends_down_columns(target_)))
      return fmt::format("nothing is sent {} (cores.column_broadcast)", row ? "along a row" : "down a column");
    const int cores = row ? nest_.mesh->columns : nest_.mesh->rows;
    const int of_machine = row ? target_.cores.mesh_columns : target_.cores.mesh_rows;
    if (cores != of_machine)
      return fmt::format("all {} cores of a {} take part, and the nest has {}", of_machine, row ? "row" : "column",
                         cores);
    if (auto why =
            why_not_in(broadcast.source, broadcast.region, [&](const IndexExpr& e) { return of_sender(e, broadcast); }))
      return why;
    return why_not_in(broadcast.buffer, broadcast.region, [](const IndexExpr& e) { return e; });
  }

  /// What an expression is on the core that sends, where a coordinate of the grid is the index in the team.
  [[nodiscard]] IndexExpr of_sender(const IndexExpr& e, const Broadcast& broadcast) const {
    const bool row = broadcast.to == Space::row;
    const int stride = row ? 1 : nest_.mesh->columns;
    const int parts = row ? nest_.mesh->columns : nest_.mesh->rows;
    const auto index = std::find_if(nest_.core_grid.begin(), nest_.core_grid.end(),
                                    [&](const CoreAxis& axis) { return axis.stride == stride && axis.parts == parts; });
    if (index == nest_.core_grid.end()) return e;
    return substitute(e, [&](VarId v) { return v == index->variable ? broadcast.sender : IndexExpr(v); });
  }

  template <class OnCore>
  [[nodiscard]] std::optional<std::string> why_not_in(const BufferUse& use, const std::vector<Range>& region,
                                                      const OnCore& on_core) const {
    const Buffer& buffer = nest_.buffers[use.buffer];
    if (!is_one_piece(region, buffer)) return fmt::format("it is not one piece of {}", buffer.name);
    const std::vector<IndexExpr>& origin = origin_of(nest_, use);
    const std::vector<std::int64_t> strides = row_major_strides(buffer.extents);
    IndexExpr begin;
    for (std::size_t d = 0; d < region.size(); ++d)
      begin += (region[d].start - origin[d]) * (strides[d] * byte_size(buffer.type));
    if (!is_multiple(on_core(begin), bytes_of_register))
      return fmt::format("it begins in {} at no multiple of {} bytes, a register", buffer.name, bytes_of_register);
    // Of a whole box the last register may reach beyond: the LDM is divided in whole ones.
    const bool whole = std::all_of(region.begin(), region.end(), [&](const Range& range) {
      const auto d = static_cast<std::size_t>(&range - region.data());
      return range.extent == IndexExpr(buffer.extents[d]);
    });
    if (!whole && bytes_of_step(region, buffer) % bytes_of_register != 0)
      return fmt::format("it takes parts of {} bytes of {}, no whole registers of {}", bytes_of_step(region, buffer),
                         buffer.name, bytes_of_register);
    return std::nullopt;
  }

  const LoopNest& nest_;
  const Target& target_;
};

}  // namespace

std::map<StatementId, std::string> broadcasts_not_by_registers(const LoopNest& nest, const Target& target) {
  return Finder(nest, target).found;
}

std::int64_t broadcast_bytes(const LoopNest& nest, const Broadcast& broadcast) {
  std::int64_t bytes = byte_size(nest.buffers[broadcast.buffer].type);
  for (const Range& range : broadcast.region) bytes *= range.max_extent;
  return bytes;
}

}  // namespace stowage
