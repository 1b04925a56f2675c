// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/statement_parser.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/index.h"

namespace stowage {

VarId StatementParser::bind(NestVariable::Kind kind) {
  const Token where = cursor_.peek();
  const VarId v = reader_.known_name("a variable", known_.names.variables);
  if (!bound_.insert(v).second) {
    cursor_.fail(where, "bound-twice", fmt::format("variable '{}' has its values already", where.text));
  }
  known_.nest.variables[v.index()].kind = kind;
  return v;
}

Block StatementParser::block() {
  const TextCursor::Depth depth(cursor_);
  Block statements;
  cursor_.expect("{");
  while (!cursor_.accept("}")) {
    if (cursor_.at_end()) cursor_.expect("}");
    statements.push_back(statement());
  }
  return statements;
}

StmtPtr StatementParser::statement() {
  Stmt made;
  const Token where = cursor_.peek();
  made.id = next_id_;
  if (where.kind == Token::Kind::integer) made.id = statement_id();
  if (!ids_.insert(made.id).second) {
    cursor_.fail(where, "duplicate-name", fmt::format("there is a statement {} already", made.id.index()));
  }
  next_id_ = std::max(next_id_, StatementId(made.id.index() + 1));
  const Token keyword = cursor_.peek();
  if (cursor_.accept("for")) {
    Loop loop = loop_head();
    made.note = note_of_head();
    loop.body = block();
    made.node = std::move(loop);
    return std::make_shared<const Stmt>(std::move(made));
  }
  if (cursor_.accept("if")) {
    Guard guard;
    cursor_.expect("any");
    guard.any_positive = reader_.index_list("(", ")", known_.names);
    cursor_.expect(">");
    reader_.number("zero", 0, 0);
    made.note = note_of_head();
    guard.body = block();
    made.node = std::move(guard);
    return std::make_shared<const Stmt>(std::move(made));
  }
  made.node = simple_statement(keyword);
  made.note = cursor_.take_note();
  return std::make_shared<const Stmt>(std::move(made));
}

/// The note stands behind the brace that opens the block.
std::string StatementParser::note_of_head() {
  const std::size_t here = cursor_.position();
  cursor_.expect("{");
  std::string note = cursor_.take_note();
  cursor_.seek(here);
  return note;
}

Stmt::Node StatementParser::simple_statement(const Token& keyword) {
  if (cursor_.accept("let")) return let();
  if (cursor_.accept("get")) {
    Dma dma;
    dma.direction = DmaDirection::get;
    region(dma);
    cursor_.expect("->");
    dma.buffer = use();
    if (cursor_.accept("of")) dma.to = team();
    dma.unit_bytes = unit();
    return dma;
  }
  if (cursor_.accept("broadcast")) return broadcast();
  if (cursor_.accept("put")) {
    Dma dma;
    dma.direction = DmaDirection::put;
    dma.buffer = use();
    cursor_.expect("->");
    region(dma);
    dma.unit_bytes = unit();
    return dma;
  }
  if (cursor_.accept("wait")) {
    if (cursor_.peek().kind == Token::Kind::name || cursor_.peek().kind == Token::Kind::string)
      return Wait{std::nullopt, slot()};
    return Wait{statement_id()};
  }
  if (cursor_.accept("fill")) {
    Fill fill;
    fill.buffer = slot();
    if (cursor_.accept("around")) fill.around = box();
    cursor_.expect("with");
    fill.value = cursor_.expect_number("a value");
    if (cursor_.accept("in")) {
      cursor_.expect("registers");
      fill.in_registers = true;
    }
    if (cursor_.accept("sliding")) {
      cursor_.expect("along");
      fill.slides_along = reader_.known_name("a variable", known_.names.variables);
    }
    return fill;
  }
  if (cursor_.accept("compute")) return compute();
  if (cursor_.accept("barrier")) return Barrier{};
  cursor_.fail(keyword, "unexpected-token",
               "a statement begins with for, let, if, get, put, broadcast, wait, fill, compute or barrier");
}

/// A buffer and one of its slots.
BufferUse StatementParser::slot() {
  BufferUse use(reader_.known_name("a buffer", known_.buffers));
  if (!cursor_.accept("[")) return use;
  const Token where = cursor_.peek();
  use.slot = parse_slot(cursor_, known_.names);
  bounds_of(where, use.slot);
  cursor_.expect("]");
  return use;
}

/// A slot, and where the box in it begins if not at the buffer's origin.
BufferUse StatementParser::use() {
  BufferUse use = slot();
  if (!cursor_.accept("from")) return use;
  const Token where = cursor_.peek();
  use.origin = reader_.index_list("[", "]", known_.names);
  for (const IndexExpr& origin : use.origin) bounds_of(where, origin);
  return use;
}

Interval StatementParser::bounds_of(const Token& where, const IndexExpr& e) {
  return parse_bounds(cursor_, where, e, [&](VarId v) { return known_.nest.variables[v.index()].range; });
}

std::optional<Interval> StatementParser::declared_range() {
  if (!cursor_.accept("in")) return std::nullopt;
  Interval range;
  range.low = reader_.number("a bound", -max_index_number, max_index_number);
  cursor_.expect("..");
  range.high = reader_.number("a bound", -max_index_number, max_index_number);
  return range;
}

Loop StatementParser::loop_head() {
  Loop loop;
  const Token where = cursor_.peek();
  loop.variable = bind(NestVariable::Kind::loop);
  cursor_.expect("<");
  loop.extent = parse_index(cursor_, known_.names);
  const Interval derived{0, std::max<std::int64_t>(0, bounds_of(where, loop.extent).high - 1)};
  known_.nest.variables[loop.variable.index()].range = declared_range().value_or(derived);
  cursor_.expect("of");
  loop.iterator = cursor_.expect_name("an iterator");
  return loop;
}

Let StatementParser::let() {
  Let let;
  const Token where = cursor_.peek();
  let.variable = bind(NestVariable::Kind::let);
  cursor_.expect("=");
  let.value = parse_index(cursor_, known_.names);
  const Interval derived = bounds_of(where, let.value);
  known_.nest.variables[let.variable.index()].range = declared_range().value_or(derived);
  return let;
}

/// start:end, and "<= n" for an extent that varies.
Range StatementParser::range() {
  Range range;
  const Token where = cursor_.peek();
  range.start = parse_index(cursor_, known_.names);
  cursor_.expect(":");
  range.extent = parse_index(cursor_, known_.names) - range.start;
  range.max_extent = std::max<std::int64_t>(0, bounds_of(where, range.extent).high);
  if (range.extent.is_constant()) range.max_extent = range.extent.constant();
  if (cursor_.accept("<=")) range.max_extent = reader_.number("an extent", 0, max_index_number);
  return range;
}

StatementId StatementParser::statement_id() {
  return StatementId(at(reader_.number("a statement's number", 0, 1 << 30)));
}

int StatementParser::unit() {
  if (!cursor_.accept("by")) return 1;
  const auto bytes = static_cast<int>(reader_.number("a number of bytes", 2, 4096));
  cursor_.expect("bytes");
  return bytes;
}

void StatementParser::region(Dma& dma) {
  dma.nest_tensor = reader_.known_name("a memory tensor", known_.tensors);
  dma.region = box();
}

Space StatementParser::team() {
  static const std::map<std::string, Space> teams = {
      {"row", Space::row}, {"column", Space::column}, {"mesh", Space::mesh}};
  return reader_.known_name("a team of cores", teams);
}

/// The word for the sender's place says which team it is one of.
Broadcast StatementParser::broadcast() {
  static const std::map<std::string, Space> places = {
      {"column", Space::row}, {"row", Space::column}, {"core", Space::mesh}};
  Broadcast broadcast;
  broadcast.source = use();
  cursor_.expect("of");
  const Token where = cursor_.peek();
  broadcast.to = reader_.known_name("a place in a team", places);
  broadcast.sender = parse_slot(cursor_, known_.names);
  bounds_of(where, broadcast.sender);
  cursor_.expect("->");
  broadcast.buffer = use();
  cursor_.expect("of");
  const Token to = cursor_.peek();
  if (team() != broadcast.to) {
    cursor_.fail(to, "other-team",
                 fmt::format("who sends is named by its {}, which is one in a {}", where.text, name_of(broadcast.to)));
  }
  cursor_.expect("over");
  broadcast.region = box();
  return broadcast;
}

std::vector<Range> StatementParser::box() {
  std::vector<Range> ranges;
  cursor_.expect("[");
  while (!cursor_.at("]")) {
    if (!ranges.empty()) cursor_.expect(",");
    ranges.push_back(range());
  }
  cursor_.expect("]");
  return ranges;
}

Compute StatementParser::compute() {
  static const std::map<std::string, Compute::Part> parts = {
      {"map", Compute::Part::map}, {"update", Compute::Part::update}, {"finish", Compute::Part::finish}};
  static const std::map<std::string, ComputeForm> forms = {{"scalar", ComputeForm::scalar},
                                                           {"vector", ComputeForm::vector},
                                                           {"register_block", ComputeForm::register_block}};
  Compute compute;
  compute.part = reader_.known_name("a part", parts);
  compute.output_buffer = use();
  cursor_.expect("=");
  compute.stage = reader_.known_name("a stage", stage_list_.stages());
  const auto& axes = stage_list_.axes_of(compute.stage);
  cursor_.expect("(");
  while (!cursor_.at(")")) {
    if (!compute.read_buffers.empty()) cursor_.expect(",");
    if (cursor_.accept("_")) {
      compute.read_buffers.push_back(std::nullopt);
    } else {
      compute.read_buffers.push_back(use());
    }
  }
  cursor_.expect(")");
  cursor_.expect("over");
  if (cursor_.accept("(")) {
    cursor_.expect(")");
  } else {
    do {
      const Token where = cursor_.peek();
      if (reader_.known_name("an axis", axes).index() != compute.box.size()) {
        cursor_.fail(where, "axis-out-of-order", "the axes come in the stage's order");
      }
      cursor_.expect("=");
      compute.box.push_back(range());
    } while (cursor_.accept(","));
  }
  if (cursor_.accept("as")) {
    compute.form = reader_.known_name("a form", forms);
    if (cursor_.accept("lane")) compute.lane_axis = reader_.known_name("an axis", axes);
    if (cursor_.accept("block")) compute.block_axis = reader_.known_name("an axis", axes);
  }
  return compute;
}

}  // namespace stowage
