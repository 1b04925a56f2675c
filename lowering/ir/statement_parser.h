// SPDX-License-Identifier: Apache-2.0
// Reads the body of a loop nest: its statements, as docs/ir.md has them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowering/ir/expression_parser.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/ir/stage_list_parser.h"

namespace stowage {

/// What the lines before a statement have defined. The nest's variables get their kinds and ranges where they are
/// bound.
struct KnownParts {
  LoopNest& nest;
  const ExpressionNames& names;
  const std::map<std::string, NestTensorId>& tensors;  ///< in main memory
  const std::map<std::string, BufferId>& buffers;
};

/// Every function throws SyntaxError behind the diagnostic that it has added.
class StatementParser {
 public:
  /// All of them must outlive the parser.
  StatementParser(TextCursor& cursor, NameReader& reader, StageListParser& stage_list, KnownParts known)
      : cursor_(cursor), reader_(reader), stage_list_(stage_list), known_(known) {}

  /// A variable at the place that gives it its values.
  VarId bind(NestVariable::Kind kind);
  /// Statements between braces.
  Block block();

 private:
  StmtPtr statement();
  std::string note_of_head();
  Stmt::Node simple_statement(const Token& keyword);
  BufferUse slot();
  BufferUse use();
  Interval bounds_of(const Token& where, const IndexExpr& e);
  std::optional<Interval> declared_range();
  Loop loop_head();
  Let let();
  Range range();
  StatementId statement_id();
  int unit();
  void region(Dma& dma);
  Space team();
  Broadcast broadcast();
  std::vector<Range> box();
  Compute compute();

  TextCursor& cursor_;
  NameReader& reader_;
  StageListParser& stage_list_;
  KnownParts known_;
  std::set<VarId> bound_;
  std::set<StatementId> ids_;
  StatementId next_id_;
};

}  // namespace stowage
