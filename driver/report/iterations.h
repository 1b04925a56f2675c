// SPDX-License-Identifier: Apache-2.0
// How often a statement of a planned group runs, and inside which loops it stands.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lowering/nest/plan.h"

namespace stowage {

struct Iterations {
  /// Around it, outermost first, with their largest trip count.
  std::vector<std::pair<std::string, std::int64_t>> loops;
  std::int64_t on_a_core = 1;  ///< product of those trip counts
  bool even = true;            ///< every core runs it that often
  int cores = 1;
  std::int64_t in_all = 0;  ///< of a transfer: counted over all cores
};
Iterations iterations_of(const Plan& plan, StatementId statement);
/// "once", "128 times", "4 times on each of 63 cores = 252", "200 times on 63 cores, at most 4 on one".
std::string times_text(const Iterations& iterations);
/// The same with the loops where there are several: "x 1 × yo 8 × ko 16 = 128 times".
std::string product_text(const Iterations& iterations);
/// "inside ko", "before the first loop", "after the last loop"; "at the start", "at the end" without any loop.
std::string place_text(const Plan& plan, StatementId statement);
/// "once", "1 024 times".
std::string times_text(std::int64_t count);

/// Calls `visit` with every statement and the loops around it, outermost first.
void visit_in_loops(const LoopNest& nest,
                    const std::function<void(const Stmt&, const std::vector<const Loop*>&)>& visit);
/// Where its trip count varies, the largest.
std::int64_t trip_count(const LoopNest& nest, const Loop& loop);
const std::string& name_of(const LoopNest& nest, const Loop& loop);

}  // namespace stowage
