// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/finished_nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/overloaded.h"
#include "driver/report/iterations.h"
#include "driver/report/model_buffers.h"
#include "inspector/replay/nest_so_far.h"

namespace stowage::inspector {

namespace {

using Kind = ReplayLine::Kind;

class Writer {
 public:
  Writer(const Plan& plan, const GroupModel& model, std::optional<StatementId> lit)
      : plan_(plan), nest_(plan.nest), model_(model), lit_(lit) {}

  std::vector<ReplayLine> run() {
    if (const std::string cores = cores_line(plan_.schedule.parallel.value_or(std::vector<ParallelSplit>{}));
        !cores.empty()) {
      lines_.push_back({Kind::plain, 0, cores, {}, false});
    }
    block(nest_.body, 0);
    return std::move(lines_);
  }

 private:
  void add(const Stmt& statement, Kind kind, int depth, std::string text, std::string note = {}) {
    lines_.push_back({kind, depth, std::move(text), std::move(note), statement.id == lit_});
  }

  void block(const Block& statements, int depth) {
    for (const StmtPtr& entry : statements) {
      const Stmt& statement = *entry;
      std::visit(
          Overloaded{[&](const Loop& loop) { add_loop(statement, loop, depth); },
                     [&](const Guard& guard) { add_guard(statement, guard, depth); },
                     [&](const Dma& dma) { add_transfer(statement, dma, depth); },
                     [&](const Broadcast& broadcast) {
                       add(statement, Kind::get, depth, "broadcast " + buffer_text(broadcast.buffer));
                     },
                     [&](const Fill& fill) { add_fill(statement, fill, depth); },
                     [&](const Compute& compute) { add_compute(statement, compute, depth); },
                     [&](const Barrier&) { add(statement, Kind::plain, depth, "all cores wait for each other"); },
                     [](const Let&) {}, [](const Wait&) {}},
          statement.node);
      if (const Block* const body = body_of(statement)) block(*body, depth + 1);
    }
  }

  /// Padding is filled where there is some, the last trip loads nothing ahead, and what all cores of a row have summed
  /// is stored by one of them. Nobody asks when something is awaited.
  void add_guard(const Stmt& statement, const Guard& guard, int depth) {
    for (const StmtPtr& inside : guard.body) {
      const auto* const dma = std::get_if<Dma>(&inside->node);
      if (dma == nullptr && !std::holds_alternative<Fill>(inside->node)) continue;
      const bool gets = dma != nullptr && dma->direction == DmaDirection::get;
      add(statement, Kind::plain, depth,
          dma == nullptr ? "where that lies outside:"
          : gets         ? "but in the last trip:"
                         : "on the first core of a row:");
      return;
    }
  }

  void add_loop(const Stmt& statement, const Loop& loop, int depth) {
    const NestVariable& variable = nest_.variables[loop.variable.index()];
    std::string text = fmt::format("for {} < {}{}", variable.name, loop.extent.is_constant() ? "" : "at most ",
                                   variable.range.high + 1);
    const auto size = plan_.schedule.buffer.find(loop.iterator);
    if (size != plan_.schedule.buffer.end() && size->second > 1) {
      text += fmt::format("  ({} elements of {} an iteration)", size->second, loop.iterator);
    }
    const auto iterator = model_.iterator_named(loop.iterator);
    const bool sum = iterator && !model_.iterators[*iterator].spatial;
    add(statement, Kind::loop, depth, std::move(text), sum ? "sum" : "");
  }

  [[nodiscard]] std::string buffer_text(BufferId buffer) const {
    return fmt::format("{} [{}]", name_of_buffer(nest_, model_, buffer), extents_text(nest_.buffers[buffer].extents));
  }

  void add_transfer(const Stmt& statement, const Dma& dma, int depth) {
    const bool get = dma.direction == DmaDirection::get;
    add(statement, get ? Kind::get : Kind::put, depth,
        fmt::format("DMA {} {}", get ? "get" : "put", buffer_text(dma.buffer)),
        times_text(iterations_of(plan_, statement.id)));
  }

  void add_fill(const Stmt& statement, const Fill& fill, int depth) {
    const bool padding = fill.around.has_value();
    add(statement, Kind::init, depth,
        fmt::format("{} {} {} {:g}", padding ? "pad" : "init", buffer_text(fill.buffer), padding ? "with" : "to",
                    fill.value),
        times_text(iterations_of(plan_, statement.id)));
  }

  void add_compute(const Stmt& statement, const Compute& compute, int depth) {
    const Stage& stage = nest_.stages.stages[compute.stage];
    std::vector<std::string> tile;
    for (std::size_t a = 0; a < compute.box.size(); ++a) {
      if (compute.box[a].max_extent > 1) {
        tile.push_back(fmt::format("{} {}", stage.axes[a].name, compute.box[a].max_extent));
      }
    }
    const bool finish = compute.part == Compute::Part::finish;
    add(statement, Kind::compute, depth, fmt::format("{} {}", finish ? "finish" : "compute", stage.name),
        tile.empty() ? "one element" : fmt::format("on {}", fmt::join(tile, " × ")));
  }

  const Plan& plan_;
  const LoopNest& nest_;
  const GroupModel& model_;
  std::optional<StatementId> lit_;
  std::vector<ReplayLine> lines_;
};

}  // namespace

std::vector<ReplayLine> finished_nest(const Plan& plan, const GroupModel& model, std::optional<StatementId> lit) {
  return Writer(plan, model, lit).run();
}

}  // namespace stowage::inspector
