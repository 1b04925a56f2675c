// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel in plan.json (docs/plan-format.md) and its way back.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/target.h"
#include "driver/json/json.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/nest/plan.h"

namespace stowage {

Json to_json(const Plan& plan);

/// What was found out about sound nests of one target, by canonical text (lowering/program/canonical_nest.h). Threads
/// may share it.
class KnownNests {
 public:
  struct Findings {
    NestCounts counts;
    TimeEstimate time;
  };

  /// Null of a nest that is not known to be sound.
  [[nodiscard]] std::shared_ptr<const Findings> find(const std::string& canonical_text) const;
  void add(const std::string& canonical_text, Findings findings);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Findings>> findings_;
};

/// The plan of a sound group from the entries of its step and its nest as text (driver/athread/stored_nest.h). Throws
/// Damage, or what the JSON library does.
Plan read_plan(const Json& entries, const std::string& text, const Graph& graph, const FusedOperator& group,
               const Target& target, KnownNests& known);

}  // namespace stowage
