// SPDX-License-Identifier: Apache-2.0
// Sums of what DMA statements move.
#pragma once

#include <cstdint>
#include <map>

#include "lowering/time/counts.h"

namespace stowage {

/// All statements together.
DmaTotals dma_totals(const std::map<StatementId, DmaTotals>& by_statement);
/// Adds what each of so many cores moves.
void add(DmaTotals& sum, const DmaTotals& each, std::int64_t cores);
/// Without a part of it.
DmaTotals difference(DmaTotals all, const DmaTotals& part);

}  // namespace stowage
