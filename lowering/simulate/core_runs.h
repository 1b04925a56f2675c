// SPDX-License-Identifier: Apache-2.0
// Cores on their way through their sequences of requests. Cores with the same sequence stay in step, as they start
// together and share the engine equally; they are one run. Where the cores of a row or of a column wait for each other,
// only those are whose rows or columns are made up of cores in step.
//
// A core depends on others only where it waits: it goes on by itself, ahead of the engine, up to its next wait for a
// transfer that has not ended.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/simulate/request_sequences.h"
#include "lowering/simulate/sequence_cursor.h"
#include "lowering/simulate/shared_dma.h"
#include "lowering/simulate/timeline.h"

namespace stowage {

/// What the course of events adds up, of a run by itself or of all; sums, so that what repeats is multiplied.
struct RunTotals {
  IdVector<AskerId, std::int64_t> waited;     ///< cycles of all cores
  IdVector<AskerId, std::int64_t> under_way;  ///< of transfers, of all cores
  std::int64_t steps = 0;
};

/// A transfer of every core of a run.
struct PendingTransfer {
  const Request* request = nullptr;
  std::size_t number = 0;  ///< in the DMA engine
  std::int64_t begun = 0;  ///< cycle of its start
  bool is_awaited = false;
};

enum class RunState : std::uint8_t { runs, waits, at_barrier, ended };

struct CoreRun {
  CoreRun(const RequestSequences& all, SequenceId sequence, Computations computations)
      : cursor(all, sequence, computations) {}

  std::vector<int> cores;  ///< numbers
  int rows = 0;            ///< rows of the mesh that are alike, which they are of; these have one number
  int columns = 0;         ///< the same of columns
  SequenceCursor cursor;
  RunState state = RunState::runs;
  std::int64_t now = 0;                  ///< cycle that it has come to
  std::vector<PendingTransfer> pending;  ///< in the order of their starts
  int awaited = 0;                       ///< of these
  std::int64_t waiting_for_gets = 0;     ///< of each of its cores
  std::int64_t waiting_for_puts = 0;
  std::int64_t waiting_at_barriers = 0;
  // Of a wait: the transfer by which it is longest so far, and its end. At a barrier: that.
  std::int64_t last_end = 0;
  const Request* last = nullptr;
};

/// All runs of a nest with their engine. `all` must outlive it.
class CoreRuns {
 public:
  /// Cores begin in cycle `start`; those that do the same are one run if they are to be together. `timeline`, if there
  /// is one, is written: together with repeats only.
  CoreRuns(const RequestSequences& all, std::int64_t start, bool together, DmaOrder order, Timeline* timeline);

  /// Goes on until a run waits, or comes to its end.
  void go_on(std::size_t run);
  /// Tells a run that one of its transfers has ended now; true if it can go on.
  bool end_transfer(std::size_t number);
  [[nodiscard]] std::size_t owner_of(std::size_t number) const { return owner_[number]; }
  /// The runs that can go on from where the last one came: those of a team all of which stand at a barrier of it.
  std::vector<std::size_t> open_barriers();

  [[nodiscard]] const std::vector<CoreRun>& runs() const { return runs_; }
  [[nodiscard]] SharedDma& engine() { return engine_; }
  [[nodiscard]] const SharedDma& engine() const { return engine_; }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  /// For what carries on a steady state.
  [[nodiscard]] std::vector<CoreRun>& runs() { return runs_; }
  [[nodiscard]] RunTotals& totals() { return totals_; }
  /// Where what happens is written; null where it is not.
  [[nodiscard]] Timeline* timeline() const { return timeline_; }

 private:
  void start(CoreRun& run, std::size_t index, const Request& request);
  void open_barrier(const std::vector<std::size_t>& team);
  /// Which cores are in step, and the numbers of their rows and columns among those that are not alike; 0 where these
  /// do not meet.
  struct InStep {
    std::size_t alike = 0;
    int row = 0;
    int column = 0;
  };
  [[nodiscard]] std::vector<InStep> cores_in_step(bool together) const;
  void record(const CoreRun& run, Timeline::Slice::Kind kind, const Request& request, std::int64_t from);
  /// A transfer that has ended.
  void record(const CoreRun& run, const PendingTransfer& ended);
  /// Whether something that the request waits for is under way.
  static bool must_wait(CoreRun& run, const Request& request);

  const RequestSequences* all_;
  std::vector<CoreRun> runs_;
  SharedDma engine_;
  std::vector<std::size_t> owner_;  ///< run, by number of the transfer
  RunTotals totals_;
  Timeline* timeline_ = nullptr;
  std::vector<std::vector<std::size_t>> awaited_;  ///< transfers of the timeline that a run's present wait is for
};

}  // namespace stowage
