// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/loop_nest.h"

namespace stowage {

std::int64_t Buffer::box_bytes() const { return element_count(extents) * byte_size(type); }
std::int64_t Buffer::slot_bytes() const { return pitch > 0 ? pitch : box_bytes(); }
std::int64_t Buffer::bytes() const { return slot_bytes() * slots; }

bool share_bytes(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes();
}

int LoopNest::cores_used() const {
  int cores = 1;
  for (const CoreAxis& axis : core_grid) cores *= axis.parts;
  return cores;
}

IndexExpr value_in(BufferId buffer, std::int64_t bound) { return tensor_value(ReadId(buffer.index()), bound); }

std::set<BufferId> buffers_in(const IndexExpr& e) {
  std::set<BufferId> buffers;
  for (const ReadId number : tensor_values_of(e)) buffers.insert(BufferId(number.index()));
  return buffers;
}

const std::vector<IndexExpr>& origin_of(const LoopNest& nest, const BufferUse& use) {
  return use.origin.empty() ? nest.buffers[use.buffer].origin : use.origin;
}

void visit_uses(const Stmt& statement, const std::function<void(const BufferUse&)>& visit) {
  if (const auto* dma = std::get_if<Dma>(&statement.node)) visit(dma->buffer);
  if (const auto* broadcast = std::get_if<Broadcast>(&statement.node)) {
    visit(broadcast->buffer);
    visit(broadcast->source);
  }
  if (const auto* wait = std::get_if<Wait>(&statement.node); wait != nullptr && wait->slot) visit(*wait->slot);
  if (const auto* fill = std::get_if<Fill>(&statement.node)) visit(fill->buffer);
  if (const auto* compute = std::get_if<Compute>(&statement.node)) {
    visit(compute->output_buffer);
    for (const auto& read : compute->read_buffers) {
      if (read) visit(*read);
    }
  }
}

const Block* body_of(const Stmt& statement) {
  if (const auto* loop = std::get_if<Loop>(&statement.node)) return &loop->body;
  if (const auto* guard = std::get_if<Guard>(&statement.node)) return &guard->body;
  return nullptr;
}

void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const StmtPtr& statement : block) {
    visit(*statement);
    if (const Block* body = body_of(*statement)) visit_statements(*body, visit);
  }
}

const Stmt* find_statement(const LoopNest& nest, StatementId id) {
  const Stmt* found = nullptr;
  visit_statements(nest.body, [&](const Stmt& statement) {
    if (statement.id == id) found = &statement;
  });
  return found;
}

const Stmt* first_use_of_slots(const LoopNest& nest) {
  const Stmt* first = nullptr;
  visit_statements(nest.body, [&](const Stmt& statement) {
    if (first != nullptr) return;
    visit_uses(statement, [&](const BufferUse& use) {
      if (std::holds_alternative<Wait>(statement.node) || !use.is_plain()) first = &statement;
    });
  });
  return first;
}

std::string_view name_of(Space space) {
  static constexpr std::string_view names[] = {"main memory", "LDM", "row", "column", "mesh"};
  return names[static_cast<std::size_t>(space)];
}

std::optional<Route> route_of(const Stmt& statement) {
  if (const auto* dma = std::get_if<Dma>(&statement.node)) {
    if (dma->direction == DmaDirection::put) return Route{Space::ldm, Space::main_memory};
    return Route{Space::main_memory, dma->to};
  }
  if (const auto* broadcast = std::get_if<Broadcast>(&statement.node)) return Route{Space::ldm, broadcast->to};
  return std::nullopt;
}

std::optional<Space> team_of(const Stmt& statement) {
  const auto route = route_of(statement);
  if (!route || route->to == Space::main_memory || route->to == Space::ldm) return std::nullopt;
  return route->to;
}

const Stmt* first_of_team(const LoopNest& nest) {
  const Stmt* first = nullptr;
  visit_statements(nest.body, [&](const Stmt& statement) {
    if (first == nullptr && team_of(statement)) first = &statement;
  });
  return first;
}

}  // namespace stowage
