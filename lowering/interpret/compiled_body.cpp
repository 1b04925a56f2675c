// SPDX-License-Identifier: Apache-2.0
#include "lowering/interpret/compiled_body.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stowage {
namespace {

class BodyCompiler {
 public:
  explicit BodyCompiler(const LoopNest& nest) : nest_(nest) {
    visit_statements(nest.body, [&](const Stmt& statement) {
      if (!team_of(statement)) return;
      team_statements_.insert(statement.id);
      visit_uses(statement, [&](const BufferUse& use) { team_buffers_.insert(use.buffer); });
    });
  }

  [[nodiscard]] std::vector<CompiledStatement> compiled(const Block& block) const {
    std::vector<CompiledStatement> all;
    for (const StmtPtr& statement : block) {
      CompiledStatement made;
      made.statement = statement.get();
      if (const auto* loop = std::get_if<Loop>(&statement->node)) made.first.push_back(compiled(loop->extent));
      if (const auto* let = std::get_if<Let>(&statement->node)) made.first.push_back(compiled(let->value));
      if (const auto* guard = std::get_if<Guard>(&statement->node)) made.first = compiled(guard->any_positive);
      if (const auto* dma = std::get_if<Dma>(&statement->node)) {
        add_box(made, dma->region);
        add_use(made, dma->buffer);
      }
      if (const auto* broadcast = std::get_if<Broadcast>(&statement->node)) {
        add_box(made, broadcast->region);
        add_use(made, broadcast->buffer);
        made.sender = compiled(broadcast->sender);
        made.source_slot = compiled(broadcast->source.slot);
        made.source_origin = compiled(origin_of(nest_, broadcast->source));
      }
      if (const auto* wait = std::get_if<Wait>(&statement->node)) {
        made.together = wait->slot ? team_buffers_.contains(wait->slot->buffer) : team_statements_.contains(*wait->dma);
        if (wait->slot) made.slot = compiled(wait->slot->slot);
      }
      if (const auto* fill = std::get_if<Fill>(&statement->node)) {
        made.slot = compiled(fill->buffer.slot);
        if (fill->around) add_box(made, *fill->around);
      }
      if (std::holds_alternative<Compute>(statement->node)) {
        made.runner = std::make_unique<ComputeRunner>(nest_, *statement);
      }
      if (const Block* body = body_of(*statement)) made.body = compiled(*body);
      made.together = made.together || team_statements_.contains(statement->id) ||
                      std::any_of(made.body.begin(), made.body.end(),
                                  [](const CompiledStatement& inside) { return inside.together; });
      all.push_back(std::move(made));
    }
    return all;
  }

 private:
  [[nodiscard]] CompiledIndex compiled(const IndexExpr& e) const { return CompiledIndex(e, nest_.variables.size()); }

  [[nodiscard]] std::vector<CompiledIndex> compiled(const std::vector<IndexExpr>& expressions) const {
    std::vector<CompiledIndex> result;
    for (const IndexExpr& e : expressions) result.push_back(compiled(e));
    return result;
  }

  void add_box(CompiledStatement& made, const std::vector<Range>& box) const {
    for (const Range& range : box) {
      made.first.push_back(compiled(range.start));
      made.second.push_back(compiled(range.extent));
    }
  }

  void add_use(CompiledStatement& made, const BufferUse& use) const {
    made.slot = compiled(use.slot);
    made.origin = compiled(origin_of(nest_, use));
  }

  const LoopNest& nest_;
  std::set<StatementId> team_statements_;
  std::set<BufferId> team_buffers_;  ///< that transfers of teams use
};

}  // namespace

std::vector<CompiledStatement> compiled_body(const LoopNest& nest) { return BodyCompiler(nest).compiled(nest.body); }

}  // namespace stowage
