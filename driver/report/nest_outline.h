// SPDX-License-Identifier: Apache-2.0
// The statements of a nest by their numbers, with what stands around them, and in a few words: what pictures, tables
// and panes look up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Where a statement stands in its nest.
struct StatementPosition {
  const Stmt* statement = nullptr;
  std::optional<StatementId> parent;  ///< the Loop or Guard around it; nothing at the top
  int depth = 0;                      ///< statements around it
  StatementId last_inside;            ///< the last statement of its body; itself without one
};

/// Numbers that no statement has are null. The nest must live longer.
IdVector<StatementId, StatementPosition> nest_outline(const LoopNest& nest);

/// First line of a statement as the nest's text has it, without its number; "" for none.
std::string statement_line(const SpannedText& nest, StatementId statement);
/// "get A", "wait for A", "for ko", "compute conv", "fill C_ldm"; "" for the others.
std::string statement_words(const LoopNest& nest, const Stmt& statement);
/// The buffer that a wait is for, if it is for one.
std::optional<BufferId> awaited_buffer(const LoopNest& nest, const Wait& wait);

/// The LDM buffers that a statement touches; of a wait, those of the transfer that it waits for.
std::vector<BufferId> buffers_of(const Stmt& statement, const LoopNest& nest);
/// Name of the tensor that an LDM buffer holds, as the fused operator's stages name it.
const std::string& tensor_of_buffer(const LoopNest& nest, BufferId buffer);
/// "1 × 64" of a buffer's allocated box.
std::string extents_text(const std::vector<std::int64_t>& extents);

}  // namespace stowage
