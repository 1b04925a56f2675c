// SPDX-License-Identifier: Apache-2.0
// Where the cores of a nest are in its mesh, and which of them make up the team of a space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// The number of the core that runs, over the variables of the core grid. Nothing where the coordinates do not count
/// it: where they are not the digits of the number, each with the stride of all the ones below it.
std::optional<IndexExpr> core_number(const LoopNest& nest);

/// Whether the nest's cores make up teams of a space: all cores are the mesh's, rows and columns want a mesh whose rows
/// are full.
bool has_teams(const LoopNest& nest, Space space);

/// The teams of a space, of which has_teams() says that there are any.
class Teams {
 public:
  Teams(const LoopNest& nest, Space space);

  /// Cores in each.
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int count() const { return cores_ / size_; }
  /// The team of a core, from 0 on.
  [[nodiscard]] int team_of(int core) const;
  /// A core's position in its team, counted from 0.
  [[nodiscard]] int index_in_team(int core) const;
  /// The core of that index in a team.
  [[nodiscard]] int core_at(int team, int index) const;
  /// index_in_team(the core that runs), over the variables of the core grid.
  [[nodiscard]] std::optional<IndexExpr> index_in_team() const;

 private:
  const LoopNest& nest_;
  Space space_;
  int cores_, columns_, size_;
};

/// Whether a core is the one of its team that moves what the team gets: the first. Rows and columns are of a nest with
/// a mesh.
bool is_first_of(const LoopNest& nest, Space team, int core);

/// `conditions`, and those that are > 0 on the sender of a broadcast alone, in a nest whose coordinates count its
/// cores.
std::vector<IndexExpr> with_sender(std::vector<IndexExpr> conditions, const LoopNest& nest, const Broadcast& broadcast);

/// Whether a nest leaves rows of a target's mesh without work. A barrier of all cores that it uses is one of each
/// column's, and then one of each row.
bool leaves_rows(const LoopNest& nest, const Target& target);

/// "core 5 (row 1, column 1)", or "core 5" in a nest without a mesh.
std::string core_text(const LoopNest& nest, int core);

}  // namespace stowage
