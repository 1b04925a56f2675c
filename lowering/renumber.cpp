// SPDX-License-Identifier: Apache-2.0
#include "lowering/renumber.h"

#include <map>

namespace stowage {
namespace {

Block with_numbers(const Block& block, const std::map<int, int>& number) {
  Block result;
  for (const StmtPtr& s : block) {
    auto copy = std::make_shared<Stmt>(*s);
    copy->id = number.at(s->id);
    if (auto* loop = std::get_if<Loop>(&copy->node)) loop->body = with_numbers(loop->body, number);
    if (auto* guard = std::get_if<Guard>(&copy->node)) guard->body = with_numbers(guard->body, number);
    if (auto* wait = std::get_if<Wait>(&copy->node)) wait->dma = number.at(wait->dma);
    result.push_back(std::move(copy));
  }
  return result;
}

}  // namespace

Block renumbered(const Block& block) {
  std::map<int, int> number;
  visit_statements(block, [&](const Stmt& s) { number.emplace(s.id, static_cast<int>(number.size())); });
  return with_numbers(block, number);
}

}  // namespace stowage
