// SPDX-License-Identifier: Apache-2.0
// What was found out about nests of one target that are sound, so that equal ones are verified, counted and timed once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/program/canonical_nest.h"
#include "lowering/time/counts.h"
#include "lowering/time/time_model.h"

namespace stowage {

struct NestFindings {
  NestCounts counts;
  TimeEstimate time;
  std::vector<std::string> stages;  ///< their names, by which terms of the time call them
};
NestFindings findings_of(const LoopNest& nest, const Target& target);

/// The time of a nest that equals the one of the findings, with its own names; nothing where names do not tell its
/// stages apart, or theirs.
std::optional<TimeEstimate> time_of(const NestFindings& findings, const LoopNest& nest);

/// Threads may share it.
class KnownNests {
 public:
  /// Null of a nest that is not known to be sound.
  [[nodiscard]] std::shared_ptr<const NestFindings> find(NestKey key) const;
  void add(NestKey key, NestFindings findings);

 private:
  mutable std::mutex mutex_;
  std::map<NestKey, std::shared_ptr<const NestFindings>> findings_;
};

}  // namespace stowage
