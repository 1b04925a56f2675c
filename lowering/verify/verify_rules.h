// SPDX-License-Identifier: Apache-2.0
// The rules of verify(LoopNest), in the order in which they are checked; each may rely on the ones before it. A rule
// returns the first thing that breaks it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/verify/verify.h"

namespace stowage {

using Broken = std::optional<BrokenPromise>;

// Names of rules that others ask for.

/// The nest is too large to be shown sound: it may be.
inline constexpr std::string_view unchecked_rule = "unchecked";
inline constexpr std::string_view core_grid_rule = "core-grid";
inline constexpr std::string_view mesh_rule = "mesh";
inline constexpr std::string_view ldm_alignment_rule = "ldm-alignment";
inline constexpr std::string_view dma_unit_rule = "dma-unit";
inline constexpr std::string_view transfer_in_tensor_rule = "transfer-in-tensor";
inline constexpr std::string_view padding_is_there_rule = "padding-is-there";

/// References, ranks, ids, names; each variable bound once and used in its scope only.
Broken verify_structure(const LoopNest& nest);
/// Small with its let variables expanded, statements numbered without large gaps: the rules below rely on both.
Broken verify_size(const LoopNest& nest);
/// Buffers inside the LDM and aligned, core grid on the target's cores, mesh on its rows.
Broken verify_memory(const LoopNest& nest, const Target& target);
/// Expressions with lets put in have numbers that can be counted with. Comes before all that puts them in.
Broken verify_expansion(const LoopNest& nest);
/// Tables are looked up where they have an entry.
Broken verify_lookups(const LoopNest& nest);
/// All cores of a team come to its transfers and waits in step, with the same box and sender; all cores to a barrier.
Broken verify_teams(const LoopNest& nest);
/// Ranges of variables, transfers inside tensors and buffers, computations inside stages and buffers.
Broken verify_bounds(const LoopNest& nest);
/// What emitted code counts fits its `int`. Ranges of variables were shown to hold.
Broken verify_int(const LoopNest& nest);
/// Transfers move single bytes, or the target's units where they are narrower than these and aligned.
Broken verify_units(const LoopNest& nest, const Target& target);
/// Every transfer awaited exactly once on every path, buffers untouched in flight, nothing read before it is there.
Broken verify_flow(const LoopNest& nest);
/// What is read outside of a tensor was filled with the value that is to be there, and not overwritten since.
Broken verify_padding(const LoopNest& nest);
/// What is marked as carried in the registers of a sum may be (lowering/ir/register_chains.h).
Broken verify_registers(const LoopNest& nest, const Target& target);
/// So may what is marked as kept from trip to trip (lowering/ir/sliding_windows.h).
Broken verify_windows(const LoopNest& nest);
/// Every element of a written tensor written exactly once, so that no two cores write the same one.
Broken verify_writes(const LoopNest& nest);

/// Every expression of a statement itself (not of a body), and where the boxes begin that it uses.
void visit_expressions(const LoopNest& nest, const Stmt& s, const std::function<void(const IndexExpr&)>& visit);

/// About the nest as a whole.
BrokenPromise of_nest(std::string_view rule, std::string reason);
/// Of a statement, for which its number and the first line of its text stand.
BrokenPromise broken_rule(const LoopNest& nest, std::string_view rule, const Stmt& statement, std::string_view message);

}  // namespace stowage
