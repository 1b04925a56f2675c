// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/dma_totals.h"

#include <map>

namespace stowage {

void add(DmaTotals& sum, const DmaTotals& each, std::int64_t cores) {
  sum.transfers += each.transfers * cores;
  sum.operations += each.operations * cores;
  sum.bytes += each.bytes * cores;
  for (const auto& [block, n] : each.operations_by_block) sum.operations_by_block[block] += n * cores;
  for (const auto& [block, n] : each.bytes_by_block) sum.bytes_by_block[block] += n * cores;
}

DmaTotals difference(DmaTotals all, const DmaTotals& part) {
  all.transfers -= part.transfers;
  all.operations -= part.operations;
  all.bytes -= part.bytes;
  const auto take = [](std::map<std::int64_t, std::int64_t>& from, const std::map<std::int64_t, std::int64_t>& taken) {
    for (const auto& [block, n] : taken) {
      if ((from[block] -= n) == 0) from.erase(block);
    }
  };
  take(all.operations_by_block, part.operations_by_block);
  take(all.bytes_by_block, part.bytes_by_block);
  return all;
}

DmaTotals dma_totals(const NestCounts& counts) { return dma_totals(counts.dma); }

DmaTotals dma_totals(const std::map<StatementId, DmaTotals>& by_statement) {
  DmaTotals sum;
  for (const auto& [statement, totals] : by_statement) {
    sum.transfers += totals.transfers;
    sum.operations += totals.operations;
    sum.bytes += totals.bytes;
    for (const auto& [block, operations] : totals.operations_by_block) sum.operations_by_block[block] += operations;
    for (const auto& [block, bytes] : totals.bytes_by_block) sum.bytes_by_block[block] += bytes;
  }
  return sum;
}

}  // namespace stowage
