// SPDX-License-Identifier: Apache-2.0
#include "driver/report/plan_reasons.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/target.h"
#include "lowering/nest/passes.h"
#include "lowering/time/counts.h"
#include "tests/lowering/chain_nests.h"
#include "tests/lowering/parsed_nest.h"

namespace stowage::test {

TEST_CASE("what is not loaded again for a sliding window is told") {
  Diagnostics diagnostics;
  const auto loaded = load_target("sw26010", {}, diagnostics);
  REQUIRE(loaded);
  const Target& target = *loaded;
  const LoopNest whole = parsed(ChainNest{}.text());
  const auto told = [&](const LoopNest& nest) {
    Plan plan;
    plan.nest = nest;
    plan.counts = predict_counts(nest);
    std::vector<std::string> tensors;
    for (const TransferReason& reason : reasons_of(plan, target, {}).transfers) {
      if (reason.why.find("kept from the trip before is not loaded again") != std::string::npos)
        tensors.push_back(reason.tensor);
    }
    return tensors;
  };
  CHECK(told(whole).empty());
  CHECK(told(slide_windows(keep_in_registers(whole, target), target)) == std::vector<std::string>{"X"});
}

}  // namespace stowage::test
