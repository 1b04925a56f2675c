// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/mesh.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {
namespace {

/// Digits of the core's number, the lowest first; those of one part say nothing.
std::optional<std::vector<CoreAxis>> digits_of(const LoopNest& nest) {
  std::vector<CoreAxis> digits;
  for (const CoreAxis& axis : nest.core_grid) {
    if (axis.parts > 1) digits.push_back(axis);
  }
  std::sort(digits.begin(), digits.end(), [](const CoreAxis& a, const CoreAxis& b) { return a.stride < b.stride; });
  std::int64_t below = 1;
  for (const CoreAxis& axis : digits) {
    if (axis.stride != below) return std::nullopt;
    below *= axis.parts;
  }
  return digits;
}

}  // namespace

std::optional<IndexExpr> core_number(const LoopNest& nest) {
  const auto digits = digits_of(nest);
  if (!digits) return std::nullopt;
  IndexExpr number;
  for (const CoreAxis& axis : *digits) number += IndexExpr(axis.variable) * axis.stride;
  return number;
}

bool has_teams(const LoopNest& nest, Space space) {
  return space == Space::mesh || (nest.mesh && nest.cores_used() % nest.mesh->columns == 0);
}

Teams::Teams(const LoopNest& nest, Space space)
    : nest_(nest),
      space_(space),
      cores_(nest.cores_used()),
      columns_(nest.mesh ? nest.mesh->columns : cores_),
      size_(space == Space::mesh  ? cores_
            : space == Space::row ? columns_
                                  : cores_ / columns_) {
  check(has_teams(nest, space), "teams of a nest whose mesh is not full");
}

int Teams::team_of(int core) const {
  if (space_ == Space::mesh) return 0;
  return space_ == Space::row ? core / columns_ : core % columns_;
}

int Teams::index_in_team(int core) const {
  if (space_ == Space::mesh) return core;
  return space_ == Space::row ? core % columns_ : core / columns_;
}

int Teams::core_at(int team, int index) const {
  if (space_ == Space::mesh) return index;
  return space_ == Space::row ? team * columns_ + index : index * columns_ + team;
}

std::optional<IndexExpr> Teams::index_in_team() const {
  const auto number = core_number(nest_);
  if (!number || space_ == Space::mesh) return number;
  // A digit counts columns only, or rows only, in nearly all grids; then no division is left.
  IndexExpr column, row;
  const std::vector<CoreAxis> digits = *digits_of(nest_);
  for (const CoreAxis& axis : digits) {
    if (axis.stride % columns_ == 0) {
      row += IndexExpr(axis.variable) * (axis.stride / columns_);
    } else if (columns_ % (static_cast<std::int64_t>(axis.stride) * axis.parts) == 0) {
      column += IndexExpr(axis.variable) * axis.stride;
    } else {
      return space_ == Space::row ? remainder(*number, columns_) : floor_div(*number, columns_);
    }
  }
  return space_ == Space::row ? column : row;
}

bool is_first_of(const LoopNest& nest, Space team, int core) {
  if (team == Space::mesh) return core == 0;
  if (!nest.mesh) return false;
  return team == Space::row ? core % nest.mesh->columns == 0 : core < nest.mesh->columns;
}

std::vector<IndexExpr> with_sender(std::vector<IndexExpr> conditions, const LoopNest& nest,
                                   const Broadcast& broadcast) {
  const auto index = Teams(nest, broadcast.to).index_in_team();
  check(index.has_value(), "a broadcast in a nest whose coordinates do not count its cores");
  conditions.push_back(*index - broadcast.sender + 1);
  conditions.push_back(broadcast.sender - *index + 1);
  return conditions;
}

bool leaves_rows(const LoopNest& nest, const Target& target) {
  return nest.mesh && nest.mesh->rows < target.cores.mesh_rows;
}

std::string core_text(const LoopNest& nest, int core) {
  if (!nest.mesh) return fmt::format("core {}", core);
  return fmt::format("core {} (row {}, column {})", core, core / nest.mesh->columns, core % nest.mesh->columns);
}

}  // namespace stowage
