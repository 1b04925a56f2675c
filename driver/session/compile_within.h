// SPDX-License-Identifier: Apache-2.0
// compile() with a limit of time for the search.
#pragma once

#include <stop_token>
#include <string>

#include "driver/session/session.h"

namespace stowage {

struct SearchTime {
  /// After these no further group is planned; the strategy chooses among those that were, and a planner that looks for
  /// more than their costs are of (Planner::for_costs) takes what it has found.
  double seconds = 0;
  std::string command_line;  ///< of the request, where the limit decides what is found
};

/// Compiles a request. `has_decided` says whether the limit did: then another run may find a better plan, and where not
/// every operator was planned there is none (code out-of-time). A search that ends before finds what compile() does.
Result<Compilation> compile_within(const SearchTime& time, const CompileRequest& request, bool& has_decided,
                                   Diagnostics& diagnostics, const std::stop_token& stop = {},
                                   const ProgressSink& progress = {});

}  // namespace stowage
