// SPDX-License-Identifier: Apache-2.0
// Nests as text, of a compiled folder or a file, played through, and what is to be said of them: for `stowage check`
// and the window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/target.h"
#include "driver/backend/backend.h"
#include "lowering/check/check_nest.h"
#include "lowering/ir/loop_nest_parser.h"

namespace stowage {

struct NestText {
  std::string name;
  std::string text;
};

struct NestTexts {
  Target target;
  std::vector<NestText> nests;
};

struct CheckedNest {
  std::string name;
  LoopNest nest;
  UnknownValues unknown;
  NestCheck check;
  /// Why it is not known to be good although all that was looked at is.
  std::optional<std::string> unproved;

  [[nodiscard]] bool is_good() const { return check.faults.empty() && !unproved; }
};

/// The nests of a compiled folder as they are written there, whether or not the plan would be taken; of one fused
/// operator where `op` is not empty.
Result<NestTexts> read_nest_texts(const std::string& folder, const std::string& op, const Backends& backends,
                                  Diagnostics& diagnostics);

/// `file` is where the text is from, for diagnostics.
Result<CheckedNest> checked(const NestText& text, const Target& target, const std::string& file,
                            Diagnostics& diagnostics);
CheckedNest checked(std::string name, LoopNest nest, UnknownValues unknown, const Target& target);

/// The statement's line in the text of its nest, without its number; empty for none.
std::string line_of_statement(const CheckedNest& made, StatementId statement);
/// Several lines: what, in which executions, and what helps.
std::string fault_text(const CheckedNest& made, const Fault& fault);
/// One line, with all that was looked at.
std::string verdict_text(const CheckedNest& made);

}  // namespace stowage
