// SPDX-License-Identifier: Apache-2.0
// What the tests of the costs of groups begin with.
#pragma once

#include <vector>

#include <catch2/catch.hpp>

#include "core/check.h"
#include "core/target.h"
#include "fusion/groups/group_cost.h"
#include "fusion/strategies/candidates.h"
#include "lowering/program/planned_cost.h"
#include "tests/fusion/net.h"

namespace stowage::testing {

inline Target small_target() {
  Diagnostics diagnostics;
  auto target = load_target("sw26010", {}, diagnostics);
  check(static_cast<bool>(target), format_diagnostics(diagnostics));
  return *target;
}

/// Three equal blocks of convolution, activation and addition.
inline Graph repeated_blocks() {
  Net net("blocks");
  TensorId x = net.input("x", {1, 16, 14, 14});
  for (const std::string block : {"a", "bb", "ccc"}) {
    const TensorId c = net.op("Relu", block + "_relu", {net.conv(block + "_conv", x, 16, 3)});
    x = net.op("Add", block + "_add", {c, x});
  }
  return net.done({x});
}

inline std::vector<FusedOperator> allowed_groups(const CandidateSet& set) {
  std::vector<FusedOperator> groups;
  for (const CandidateGroup& candidate : set.candidates) {
    if (candidate.allowed() && !candidate.group.is_view) groups.push_back(candidate.group);
  }
  return groups;
}

inline std::vector<GroupCost::Answer> answers_of(const PlannedGroupCost& cost, const Graph& graph,
                                                 const std::vector<FusedOperator>& groups) {
  return cost.costs(graph, groups, {});
}

inline void check_equal(const std::vector<GroupCost::Answer>& a, const std::vector<GroupCost::Answer>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].decision == b[i].decision);
    CHECK(a[i].cycles == b[i].cycles);
  }
}

}  // namespace stowage::testing
