// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/known_nests.h"

#include <cstddef>
#include <set>
#include <utility>
#include <variant>

namespace stowage {
namespace {

std::vector<std::string> stage_names(const LoopNest& nest) {
  std::vector<std::string> names;
  for (const Stage& stage : nest.stages.stages) names.push_back(stage.name);
  return names;
}

bool are_different(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

}  // namespace

NestFindings findings_of(const LoopNest& nest, const Target& target) {
  NestFindings findings;
  findings.counts = predict_counts(nest);
  findings.time = estimate_time(nest, findings.counts, target);
  findings.stages = stage_names(nest);
  return findings;
}

std::optional<TimeEstimate> time_of(const NestFindings& findings, const LoopNest& nest) {
  const std::vector<std::string> names = stage_names(nest);
  if (!are_different(names) || !are_different(findings.stages)) return std::nullopt;
  std::map<std::string, std::string> here;
  for (std::size_t s = 0; s < names.size(); ++s) here[findings.stages[s]] = names[s];
  TimeEstimate time = findings.time;
  for (TimeTerm& term : time.terms) {
    if (auto* const compute = std::get_if<ComputeCost>(&term.cost)) compute->stage = here.at(compute->stage);
  }
  return time;
}

std::shared_ptr<const NestFindings> KnownNests::find(NestKey key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = findings_.find(key);
  return found == findings_.end() ? nullptr : found->second;
}

void KnownNests::add(NestKey key, NestFindings findings) {
  const std::scoped_lock lock(mutex_);
  findings_.try_emplace(key, std::make_shared<const NestFindings>(std::move(findings)));
}

}  // namespace stowage
