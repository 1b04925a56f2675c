// SPDX-License-Identifier: Apache-2.0
// A loop nest line by line with what every statement costs: what listings, tables and reports show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "lowering/nest/plan.h"

namespace stowage {

struct NestRow {
  enum class Kind : std::uint8_t { loop, get, put, wait, fill, compute, other, end } kind = Kind::other;
  std::optional<StatementId> statement;  ///< nothing for the end of a block
  std::string text;                      ///< the line of the nest's text form, indented, without number and note
  std::string note;
  std::string loop;    ///< innermost loop around it, "" outside
  std::string tensor;  ///< of a get or put, or of the one that a wait waits for, as the nest calls it
  std::string box;     ///< of a get or put: largest extents, "1 x 512"
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::int64_t smallest_block = 0;  ///< bytes, of the blocks of a get's or put's operations
  std::int64_t largest_block = 0;
  std::int64_t points = 0;      ///< of a computation, or elements of a fill, all cores
  std::int64_t cycles = 0;      ///< of a get, put, fill or computation, as the time model counts it alone
  double bytes_per_second = 0;  ///< that a get or put reaches: bytes over those cycles
};

/// The body of a nest in program order.
std::vector<NestRow> nest_rows(const Plan& plan, const Target& target);

/// What each statement costs by itself (lowering/time/cost_table.h), by its id; what costs nothing is not there.
std::map<StatementId, std::int64_t> cycles_by_statement(const Plan& plan, const Target& target);

/// "256 B", or "4 to 256 B" where blocks differ.
std::string block_text(const NestRow& row);

}  // namespace stowage
