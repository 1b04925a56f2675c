// SPDX-License-Identifier: Apache-2.0
// When a fused operator computes so much again that a search for its best plan is not worth its time: a convolution of
// several rows behind another one, whose tiles must recompute what their neighbours compute, takes thousands of times
// what its stages take one after the other, and no sizes and no order change that.
#pragma once

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/nest/group_work.h"

namespace stowage {

/// What the stages of a fused operator take at least one after the other, each a kernel of its own that stores its
/// result for the next one to load.
class CyclesApart {
 public:
  CyclesApart(const GroupModel& model, const Target& target);

  /// On so many cores of the target. Nothing for launches.
  [[nodiscard]] double on(std::int64_t cores) const { return moving_ + computing_ / static_cast<double>(cores); }

 private:
  double moving_ = 0;
  double computing_ = 0;  ///< on one core
};

/// Of a plan of so many cycles, without its launch, and so much work: it computes more than three times what is needed
/// and takes more than four times as long as the stages apart would, on so many cores. Then other sizes or another
/// order hardly ever make it as cheap as these.
bool computes_too_much_again(const GroupWork& work, std::int64_t cycles, const CyclesApart& apart, std::int64_t cores);

}  // namespace stowage
