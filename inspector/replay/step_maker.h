// SPDX-License-Identifier: Apache-2.0
// Makes the steps of a replay: everything as it stands, the loop nest and the LDM drawn from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "inspector/replay/nest_so_far.h"
#include "inspector/replay/replay.h"

namespace stowage::inspector {

class StepMaker {
 public:
  StepMaker(const LoadedPlan& plan, const StepFacts& facts, Replay& replay);

  NestState state;  ///< that the next step shows

  [[nodiscard]] const GroupModel& model() const { return model_; }
  [[nodiscard]] const Plan& plan() const { return *facts_.plan; }
  [[nodiscard]] const StepFacts& facts() const { return facts_; }
  [[nodiscard]] const Target& target() const { return plan_.program().target; }
  [[nodiscard]] const Replay& replay() const { return replay_; }

  /// The step stays where it is until the next one is added.
  ReplayStep& add(std::string algorithm, std::string mark, TraceOutcome outcome, std::string message);
  /// Changed if the last step of the same algorithm showed another value.
  void add_variable(ReplayStep& step, const std::string& name, const std::string& value);
  /// Steps from this one on show them.
  void compare_loops_from(std::size_t step, const std::vector<LoopRound>& rounds);
  /// Steps so far, from before there was a state, show the same nest.
  void draw_earlier_steps();

  /// Before anything is buffered the loops are the iterators.
  void loop_over_iterators();
  /// The loops of buffers of these sizes, none of which has a place yet.
  void loop_over_tiles(const LdmState& buffers);
  /// The loops in the order of the finished plan.
  void arrange_finally();
  /// A tensor's transfer inside a loop; before the first for any other name.
  void place(const std::string& tensor, const std::string& loop);
  [[nodiscard]] std::int64_t ldm_bytes() const;
  /// With all slots that they have in the plan.
  [[nodiscard]] IdVector<BufferId, std::int64_t> bytes_of_buffers() const;

 private:
  void draw_buffers(ReplayStep& step);

  const LoadedPlan& plan_;
  const StepFacts& facts_;
  Replay& replay_;
  GroupModel model_;
  IdVector<BufferId, std::string> extents_before_;
  std::map<std::string, std::string> values_before_;
};

}  // namespace stowage::inspector
