// SPDX-License-Identifier: Apache-2.0
#include "driver/report/nest_outline.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

namespace {

void collect(const Block& block, std::optional<StatementId> parent, int depth,
             IdVector<StatementId, StatementPosition>& positions) {
  for (const StmtPtr& entry : block) {
    if (!positions.contains(entry->id)) positions.resize(entry->id.index() + 1);
    positions[entry->id] = {entry.get(), parent, depth, entry->id};
    if (const Block* body = body_of(*entry)) {
      collect(*body, entry->id, depth + 1, positions);
      positions[entry->id].last_inside = StatementId(positions.size() - 1);  // ids are in program order
    }
  }
}

}  // namespace

IdVector<StatementId, StatementPosition> nest_outline(const LoopNest& nest) {
  IdVector<StatementId, StatementPosition> positions;
  collect(nest.body, std::nullopt, 0, positions);
  return positions;
}

std::string statement_line(const SpannedText& nest, StatementId statement) {
  for (const TextSpan& span : nest.spans) {
    if (span.statement != statement) continue;
    const std::string text = nest.text.substr(span.begin, span.end - span.begin);
    std::string line = text.substr(0, text.find('\n'));
    if (line.ends_with(" {")) line.resize(line.size() - 2);
    return line;
  }
  return {};
}

std::optional<BufferId> awaited_buffer(const LoopNest& nest, const Wait& wait) {
  if (wait.slot) return wait.slot->buffer;
  const Stmt* const awaited = find_statement(nest, *wait.dma);
  const auto* dma = awaited != nullptr ? std::get_if<Dma>(&awaited->node) : nullptr;
  return dma != nullptr ? std::optional<BufferId>(dma->buffer) : std::nullopt;
}

std::string statement_words(const LoopNest& nest, const Stmt& statement) {
  if (const auto* dma = std::get_if<Dma>(&statement.node)) {
    return fmt::format("{} {}", dma->direction == DmaDirection::get ? "get" : "put",
                       tensor_of_buffer(nest, dma->buffer));
  }
  if (const auto* broadcast = std::get_if<Broadcast>(&statement.node)) {
    return "broadcast " + tensor_of_buffer(nest, broadcast->buffer);
  }
  if (const auto* wait = std::get_if<Wait>(&statement.node)) {
    const auto buffer = awaited_buffer(nest, *wait);
    return buffer ? "wait for " + tensor_of_buffer(nest, *buffer) : "wait";
  }
  if (const auto* loop = std::get_if<Loop>(&statement.node)) {
    return "for " + nest.variables[loop->variable.index()].name;
  }
  if (const auto* work = std::get_if<Compute>(&statement.node)) {
    return (work->part == Compute::Part::finish ? "finish " : "compute ") + nest.stages.stages[work->stage].name;
  }
  if (const auto* fill = std::get_if<Fill>(&statement.node)) {
    return (fill->around ? "pad " : "fill ") + nest.buffers[fill->buffer].name;
  }
  return {};
}

std::vector<BufferId> buffers_of(const Stmt& statement, const LoopNest& nest) {
  if (const auto* dma = std::get_if<Dma>(&statement.node)) return {dma->buffer};
  if (const auto* broadcast = std::get_if<Broadcast>(&statement.node)) return {broadcast->buffer, broadcast->source};
  if (const auto* fill = std::get_if<Fill>(&statement.node)) return {fill->buffer};
  if (const auto* wait = std::get_if<Wait>(&statement.node)) {
    if (wait->slot) return {wait->slot->buffer};
    const Stmt* awaited = find_statement(nest, *wait->dma);
    return awaited != nullptr ? buffers_of(*awaited, nest) : std::vector<BufferId>();
  }
  if (const auto* work = std::get_if<Compute>(&statement.node)) {
    std::set<BufferId> used = {work->output_buffer};
    for (const auto& read : work->read_buffers) {
      if (read) used.insert(*read);
    }
    return {used.begin(), used.end()};
  }
  return {};
}

const std::string& tensor_of_buffer(const LoopNest& nest, BufferId buffer) {
  const Buffer& found = nest.buffers.at(buffer);
  return nest.stages.tensors.at(found.tensor).name;
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
  return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, " × "));
}

}  // namespace stowage
