// SPDX-License-Identifier: Apache-2.0
// Broadcasts from LDM to LDM as the cores of an SW26010 make them: register by register along the buses of their rows
// and columns, as the matrix products of swDNN and swGEMM exchange their panels. There is no engine for it: one core
// loads and sends, the others take and store, and none of them does anything else meanwhile. So a broadcast is under
// way while its cores wait for it, and in no other statement.
#pragma once

#include <map>
#include <string>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// By Stmt::id, the broadcasts of a nest that the cores of a target cannot make so, and why, in words that end a
/// sentence about them: "…, and they are no whole registers of 32 bytes". What they move begins at a whole register and
/// lies in one piece in both LDMs; behind them in their block come the waits for them, with nothing between that is no
/// broadcast or wait for one (a wait for a get may be a barrier, behind which the LDM is free); and all cores of the
/// machine's row or column take part.
std::map<StatementId, std::string> broadcasts_not_by_registers(const LoopNest& nest, const Target& target);

/// Bytes that a broadcast moves at most.
std::int64_t broadcast_bytes(const LoopNest& nest, const Broadcast& broadcast);

}  // namespace stowage
