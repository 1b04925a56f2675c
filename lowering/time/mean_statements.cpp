// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/mean_statements.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/index.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/ir/team_barriers.h"

namespace stowage {
namespace {

/// Makes a nest ready to be walked.
class Preparer {
 public:
  Preparer(const LoopNest& nest, const NestCounts& counts, const CostTable& table)
      : nest_(nest), counts_(counts), table_(table), marked_(sliding_windows(nest)) {
    for (const CostId row : table.ids()) {
      if (!table[row].statement) continue;
      const CostKind kind = kind_of(table[row].formula);
      const bool is_barrier = kind == CostKind::barrier || kind == CostKind::broadcast;
      (is_barrier ? barrier_row_ : row_)[*table[row].statement] = row;
    }
    if (!barrier_row_.empty()) barriers_ = team_barriers(nest);
    for (const SlidingWindow& window : marked_) {
      windows_.emplace(window.chain.sum->id, &window);
      for (const Stmt* end : window.chain.ends) windows_.emplace(end->id, &window);
    }
    SlotId next_slot;
    for (const Buffer& buffer : nest.buffers) {
      first_slot_.push_back(next_slot);
      next_slot = SlotId(next_slot.index() + at(buffer.slots));
    }
    find_needed(nest.body);
    visit_statements(nest.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      const auto row = row_.find(s.id);
      if (dma == nullptr || dma->direction != DmaDirection::get || row == row_.end()) return;
      const auto& cost = std::get<TransferCost>(table[row->second].formula);
      transfers_into_[dma->buffer] += static_cast<double>(cost.transfers_of_busiest);
    });
  }

  std::vector<MeanStatement> run() const { return prepared(nest_.body, 1); }

 private:
  void need(const IndexExpr& e) {
    for (const VarId v : variables_of(e)) needed_.insert(v.index());
  }

  [[nodiscard]] static bool has_transfer(const Block& block) {
    bool found = false;
    visit_statements(block, [&](const Stmt& s) { found = found || std::holds_alternative<Dma>(s.node); });
    return found;
  }

  /// Variables that slots and guards of transfers ask for; from the last statement to the first, as lets stand before
  /// what uses them.
  void find_needed(const Block& block) {
    for (auto s = block.rbegin(); s != block.rend(); ++s) {
      const Stmt& statement = **s;
      if (const Block* body = body_of(statement)) find_needed(*body);
      if (const auto* dma = std::get_if<Dma>(&statement.node)) need(dma->buffer.slot);
      if (const auto* wait = std::get_if<Wait>(&statement.node); wait != nullptr && wait->slot) need(wait->slot->slot);
      if (const auto* guard = std::get_if<Guard>(&statement.node); guard != nullptr && has_transfer(guard->body)) {
        for (const IndexExpr& e : guard->any_positive) need(e);
      }
      if (const auto* let = std::get_if<Let>(&statement.node);
          let != nullptr && needed_.contains(let->variable.index()))
        need(let->value);
    }
  }

  [[nodiscard]] CompiledIndex compiled(const IndexExpr& e) const { return CompiledIndex(e, nest_.variables.size()); }

  [[nodiscard]] double barrier_cycles_at(StatementId statement) const {
    const auto row = barrier_row_.find(statement);
    if (row == barrier_row_.end()) return 0;
    const std::int64_t executions = counts_.meetings.at(statement).times;
    return executions == 0 ? 0 : meeting_cycles(table_[row->second].formula) / static_cast<double>(executions);
  }

  [[nodiscard]] std::vector<MeanStatement> prepared(const Block& block, double executions) const {
    std::vector<MeanStatement> made;
    for (const StmtPtr& s : block) {
      MeanStatement walked = prepared(*s, executions);
      const bool does_nothing = walked.kind == MeanStatement::Kind::work && walked.cycles <= 0;
      if (does_nothing) continue;
      if (walked.kind == MeanStatement::Kind::work && !made.empty() && made.back().kind == MeanStatement::Kind::work &&
          walked.slides_along == made.back().slides_along) {
        made.back().cycles += walked.cycles;
        made.back().first += walked.first;
        continue;
      }
      made.push_back(std::move(walked));
    }
    return made;
  }

  /// Work in all trips of a loop.
  [[nodiscard]] static MeanStatement repeated(const MeanStatement& work, std::size_t variable, std::int64_t trips) {
    MeanStatement all = work;
    const auto times = static_cast<double>(trips);
    if (work.slides_along == variable) {
      all.cycles = work.first + (times - 1) * work.cycles;
      all.slides_along.reset();
      all.first = 0;
    } else {
      all.cycles *= times;
      all.first *= times;
    }
    return all;
  }

  /// Work of no cycles where there is nothing to do.
  [[nodiscard]] MeanStatement prepared(const Stmt& statement, double executions) const {
    MeanStatement walked;
    if (const auto* loop = std::get_if<Loop>(&statement.node)) {
      walked.trips = nest_.variables[loop->variable.index()].range.high + 1;
      walked.variable = loop->variable.index();
      walked.body = prepared(loop->body, executions * static_cast<double>(std::max<std::int64_t>(1, walked.trips)));
      const bool only_works =
          walked.body.empty() || (walked.body.size() == 1 && walked.body[0].kind == MeanStatement::Kind::work);
      walked.kind = only_works ? MeanStatement::Kind::work : MeanStatement::Kind::loop;
      if (only_works && !walked.body.empty()) walked = repeated(walked.body[0], walked.variable, walked.trips);
    } else if (const auto* guard = std::get_if<Guard>(&statement.node)) {
      walked.kind = MeanStatement::Kind::guard;
      walked.body = prepared(guard->body, executions);
      if (has_transfer(guard->body)) {
        for (const IndexExpr& e : guard->any_positive) walked.guarded.push_back(compiled(e));
      } else if (walked.body.empty() || (walked.body.size() == 1 && walked.body[0].kind == MeanStatement::Kind::work)) {
        // What is done in some trips only is done in all of them, by its mean.
        walked = walked.body.empty() ? MeanStatement() : MeanStatement(walked.body[0]);
      }
    } else if (const auto* let = std::get_if<Let>(&statement.node)) {
      if (!needed_.contains(let->variable.index())) return walked;
      walked.kind = MeanStatement::Kind::let;
      walked.variable = let->variable.index();
      walked.value = compiled(let->value);
    } else if (const auto* wait = std::get_if<Wait>(&statement.node)) {
      walked.cycles = barrier_cycles_at(statement.id);
      if (barriers_.awaits_broadcast(statement.id)) return walked;
      walked.kind = wait->slot ? MeanStatement::Kind::await_slot : MeanStatement::Kind::await_row;
      if (wait->slot) {
        walked.first_slot = first_slot_[wait->slot->buffer];
        walked.value = compiled(wait->slot->slot);
      } else {
        walked.row = row_.at(*wait->dma);
      }
    } else if (const auto* dma = std::get_if<Dma>(&statement.node)) {
      prepare(walked, *dma, statement.id, executions);
    } else if (const auto row = row_.find(statement.id); row != row_.end()) {
      walked.cycles = static_cast<double>(cycles_of(table_[row->second].formula)) / executions;
      slide(walked, statement.id);
    }
    return walked;
  }

  /// Of a sliding window the first trip computes the whole box, the others what is new; the mean was all that is known.
  void slide(MeanStatement& walked, StatementId statement) const {
    const auto found = windows_.find(statement);
    if (found == windows_.end()) return;
    const SlidingWindow& window = *found->second;
    const auto trips = static_cast<double>(nest_.variables[window.along.index()].range.high + 1);
    const auto later = static_cast<double>(window.step) / static_cast<double>(window.step + window.kept);
    walked.slides_along = window.along.index();
    walked.first = walked.cycles * trips / (1 + (trips - 1) * later);
    walked.cycles = walked.first * later;
  }

  void prepare(MeanStatement& walked, const Dma& dma, StatementId statement, double executions) const {
    const auto row = row_.find(statement);
    if (row == row_.end()) return;
    const auto& cost = std::get<TransferCost>(table_[row->second].formula);
    const DmaTotals& all = counts_.dma.at(statement);
    if (cost.transfers_of_busiest == 0 || all.transfers == 0) return;
    const auto transfers = static_cast<double>(cost.transfers_of_busiest);
    // Some executions may move nothing. Those for next trips are as many as trips with those of the first one.
    const double trips = dma.direction == DmaDirection::get ? transfers_into_.at(dma.buffer) : transfers;
    const double share = std::min(1.0, trips / executions);
    walked.kind = MeanStatement::Kind::transfer;
    walked.cycles = barrier_cycles_at(statement);
    walked.issue = share * issuing_cycles(cost) / transfers;
    walked.startup = share * cost.startup_cycles;
    walked.of_team = dma.to != Space::ldm;
    walked.first_slot = first_slot_[dma.buffer];
    walked.value = compiled(dma.buffer.slot);
    walked.transfer.row = row->second;
    walked.transfer.cores = static_cast<double>(all.transfers) / transfers;
    walked.transfer.parts =
        share * (moving_seconds(cost) - cost.one_core_seconds) * cost.clock_hz / static_cast<double>(all.transfers);
    walked.transfer.least = share * cost.busiest_seconds * cost.clock_hz / transfers;
  }

  const LoopNest& nest_;
  const NestCounts& counts_;
  const CostTable& table_;
  std::vector<SlidingWindow> marked_;
  std::map<StatementId, const SlidingWindow*> windows_;  ///< by the statements that compute in them
  std::map<StatementId, CostId> row_;                    ///< by statement
  std::map<StatementId, CostId> barrier_row_;
  TeamBarriers barriers_;
  IdVector<BufferId, SlotId> first_slot_;
  std::map<BufferId, double> transfers_into_;  ///< of the busiest core
  std::set<std::size_t> needed_;               ///< variables
};

}  // namespace

std::vector<MeanStatement> mean_statements(const LoopNest& nest, const NestCounts& counts, const CostTable& table) {
  return Preparer(nest, counts, table).run();
}

}  // namespace stowage
