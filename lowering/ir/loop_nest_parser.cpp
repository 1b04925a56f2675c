// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/loop_nest_parser.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lowering/ir/stage_list_parser.h"

namespace stowage {
namespace {

constexpr std::int64_t max_cores = 1 << 20;
constexpr std::int64_t max_buffer_elements = std::int64_t{1} << 40;

class NestParser {
 public:
  NestParser(std::string_view text, const std::string& file, const std::map<std::string, Tensor>& constants,
             Diagnostics& diagnostics)
      : cursor_(text, file, diagnostics), reader_(cursor_), stage_list_(cursor_, reader_, constants) {}

  Result<LoopNest> run() {
    try {
      cursor_.expect("nest");
      nest_.name = cursor_.expect_name("the nest");
      cursor_.expect("{");
      while (!cursor_.at("body") && !cursor_.at_end()) header_line();
      if (cursor_.failed()) return Failed{};
      nest_.stages = stage_list_.take();
      resolve_sharing();
      cursor_.expect("body");
      nest_.body = block();
      cursor_.expect("}");
      if (!cursor_.at_end()) cursor_.fail(cursor_.peek(), "unexpected-token", "the nest has ended before");
    } catch (const SyntaxError&) {
      return Failed{};
    }
    if (cursor_.failed()) return Failed{};
    return std::move(nest_);
  }

  [[nodiscard]] const UnknownValues& unknown() const { return stage_list_.unknown(); }

 private:
  // Header.

  /// Mistakes in the header are collected; what a broken line would have defined is not missed again.
  void header_line() {
    try {
      if (stage_list_.read_line()) {
        names_.tables = stage_list_.tables();
        return;
      }
      if (cursor_.accept("variables")) {
        do {
          variable();
        } while (cursor_.accept(","));
      } else if (cursor_.accept("core")) {
        core_axis();
      } else if (cursor_.accept("memory")) {
        memory();
      } else if (cursor_.accept("ldm")) {
        nest_.ldm_bytes = reader_.number("a number of bytes", 0, max_index_number);
        cursor_.expect("bytes");
      } else if (cursor_.accept("buffer")) {
        buffer();
      } else {
        cursor_.fail(cursor_.peek(), "unexpected-token",
                     "a line here begins with input, constant, intermediate, output, table, stage, variables, core, "
                     "memory, ldm, buffer or body");
      }
    } catch (const SyntaxError&) {
      reader_.add_missing(cursor_.skip_line());
      stage_list_.recover();
    }
  }

  void variable() {
    NestVariable variable;
    variable.name = reader_.new_name("a variable", names_.variables);
    names_.variables.emplace(variable.name, VarId(nest_.variables.size()));
    nest_.variables.push_back(std::move(variable));
  }

  void core_axis() {
    CoreAxis axis;
    axis.variable = bind(NestVariable::Kind::core);
    cursor_.expect("<");
    const Token where = cursor_.peek();
    axis.parts = static_cast<int>(reader_.number("a number of parts", 1, max_cores));
    cores_ *= axis.parts;
    if (cores_ > max_cores) cursor_.fail(where, "number-out-of-range", "the grid has too many cores");
    cursor_.expect("of");
    axis.iterator = cursor_.expect_name("an iterator");
    cursor_.expect("stride");
    axis.stride = static_cast<int>(reader_.number("a stride", 1, max_cores));
    nest_.variables[axis.variable.index()].range = {0, axis.parts - 1};
    nest_.core_grid.push_back(std::move(axis));
  }

  /// A variable at the place that gives it its values.
  VarId bind(NestVariable::Kind kind) {
    const Token where = cursor_.peek();
    const VarId v = reader_.known_name("a variable", names_.variables);
    if (!bound_.insert(v).second) {
      cursor_.fail(where, "bound-twice", fmt::format("variable '{}' has its values already", where.text));
    }
    nest_.variables[v.index()].kind = kind;
    return v;
  }

  void memory() {
    NestTensor tensor;
    tensor.name = reader_.new_name("a memory tensor", tensors_);
    cursor_.expect("=");
    tensor.tensor = reader_.known_name("a tensor", stage_list_.tensors());
    cursor_.expect("strides");
    tensor.strides = reader_.number_list();
    tensor.written = cursor_.accept("written");
    tensors_.emplace(tensor.name, static_cast<int>(nest_.tensors.size()));
    nest_.tensors.push_back(std::move(tensor));
  }

  void buffer() {
    Buffer buffer;
    buffer.name = reader_.new_name("a buffer", buffers_);
    buffer.type = cursor_.expect_type();
    const Token where = cursor_.peek();
    buffer.extents = cursor_.expect_shape();
    if (element_count(buffer.extents) > max_buffer_elements) {
      cursor_.fail(where, "bad-shape", "no local memory is that large");
    }
    cursor_.expect("at");
    buffer.offset = reader_.number("an offset", 0, max_index_number);
    cursor_.expect(",");
    const Token bytes_at = cursor_.peek();
    const std::int64_t bytes = cursor_.expect_integer("a number of bytes");
    cursor_.expect("bytes");
    cursor_.expect("=");
    buffer.tensor = reader_.known_name("a tensor", stage_list_.tensors());
    buffer.origin = reader_.index_list("[", "]", names_);
    if (cursor_.accept("slots")) buffer.slots = static_cast<int>(reader_.number("a number of slots", 1, 1024));
    if (bytes != buffer.bytes()) {
      cursor_.fail(bytes_at, "other-size", fmt::format("the buffer has {} bytes", buffer.bytes()));
    }
    if (cursor_.accept("sharing")) {
      sharing_.emplace_back(nest_.buffers.size(), cursor_.position());
      cursor_.expect_name("a buffer");
    }
    buffers_.emplace(buffer.name, static_cast<int>(nest_.buffers.size()));
    nest_.buffers.push_back(std::move(buffer));
  }

  /// A buffer may share with one that is listed later.
  void resolve_sharing() {
    const std::size_t here = cursor_.position();
    for (const auto& [index, position] : sharing_) {
      cursor_.seek(position);
      nest_.buffers[index].shares_with = reader_.known_name("a buffer", buffers_);
    }
    cursor_.seek(here);
  }

  // Body.

  Block block() {
    const TextCursor::Depth depth(cursor_);
    Block statements;
    cursor_.expect("{");
    while (!cursor_.accept("}")) {
      if (cursor_.at_end()) cursor_.expect("}");
      statements.push_back(statement());
    }
    return statements;
  }

  StmtPtr statement() {
    Stmt made;
    const Token where = cursor_.peek();
    made.id = next_id_;
    if (where.kind == Token::Kind::integer)
      made.id = static_cast<int>(reader_.number("a statement's number", 0, 1 << 30));
    if (!ids_.insert(made.id).second) {
      cursor_.fail(where, "duplicate-name", fmt::format("there is a statement {} already", made.id));
    }
    next_id_ = std::max(next_id_, made.id + 1);
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
      guard.any_positive = reader_.index_list("(", ")", names_);
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
  std::string note_of_head() {
    const std::size_t here = cursor_.position();
    cursor_.expect("{");
    std::string note = cursor_.take_note();
    cursor_.seek(here);
    return note;
  }

  Stmt::Node simple_statement(const Token& keyword) {
    if (cursor_.accept("let")) return let();
    if (cursor_.accept("get")) {
      Dma dma;
      dma.direction = DmaDirection::get;
      region(dma);
      cursor_.expect("->");
      dma.buffer = use();
      dma.unit_bytes = unit();
      return dma;
    }
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
        return Wait{-1, slot()};
      return Wait{static_cast<int>(reader_.number("a statement's number", 0, 1 << 30))};
    }
    if (cursor_.accept("fill")) {
      Fill fill;
      fill.buffer = slot();
      if (cursor_.accept("around")) fill.around = box();
      cursor_.expect("with");
      fill.value = cursor_.expect_number("a value");
      return fill;
    }
    if (cursor_.accept("compute")) return compute();
    if (cursor_.accept("barrier")) return Barrier{};
    cursor_.fail(keyword, "unexpected-token",
                 "a statement begins with for, let, if, get, put, wait, fill, compute or barrier");
  }

  /// A buffer and one of its slots.
  BufferUse slot() {
    BufferUse use(reader_.known_name("a buffer", buffers_));
    if (!cursor_.accept("[")) return use;
    const Token where = cursor_.peek();
    use.slot = parse_slot(cursor_, names_);
    bounds_of(where, use.slot);
    cursor_.expect("]");
    return use;
  }

  /// A slot, and where the box in it begins if not at the buffer's origin.
  BufferUse use() {
    BufferUse use = slot();
    if (!cursor_.accept("from")) return use;
    const Token where = cursor_.peek();
    use.origin = reader_.index_list("[", "]", names_);
    for (const IndexExpr& origin : use.origin) bounds_of(where, origin);
    return use;
  }

  Interval bounds_of(const Token& where, const IndexExpr& e) {
    return parse_bounds(cursor_, where, e, [&](VarId v) { return nest_.variables[v.index()].range; });
  }

  std::optional<Interval> declared_range() {
    if (!cursor_.accept("in")) return std::nullopt;
    Interval range;
    range.low = reader_.number("a bound", -max_index_number, max_index_number);
    cursor_.expect("..");
    range.high = reader_.number("a bound", -max_index_number, max_index_number);
    return range;
  }

  Loop loop_head() {
    Loop loop;
    const Token where = cursor_.peek();
    loop.variable = bind(NestVariable::Kind::loop);
    cursor_.expect("<");
    loop.extent = parse_index(cursor_, names_);
    const Interval derived{0, std::max<std::int64_t>(0, bounds_of(where, loop.extent).high - 1)};
    nest_.variables[loop.variable.index()].range = declared_range().value_or(derived);
    cursor_.expect("of");
    loop.iterator = cursor_.expect_name("an iterator");
    return loop;
  }

  Let let() {
    Let let;
    const Token where = cursor_.peek();
    let.variable = bind(NestVariable::Kind::let);
    cursor_.expect("=");
    let.value = parse_index(cursor_, names_);
    const Interval derived = bounds_of(where, let.value);
    nest_.variables[let.variable.index()].range = declared_range().value_or(derived);
    return let;
  }

  /// start:end, and "<= n" for an extent that varies.
  Range range() {
    Range range;
    const Token where = cursor_.peek();
    range.start = parse_index(cursor_, names_);
    cursor_.expect(":");
    range.extent = parse_index(cursor_, names_) - range.start;
    range.max_extent = std::max<std::int64_t>(0, bounds_of(where, range.extent).high);
    if (range.extent.is_constant()) range.max_extent = range.extent.constant();
    if (cursor_.accept("<=")) range.max_extent = reader_.number("an extent", 0, max_index_number);
    return range;
  }

  int unit() {
    if (!cursor_.accept("by")) return 1;
    const auto bytes = static_cast<int>(reader_.number("a number of bytes", 2, 4096));
    cursor_.expect("bytes");
    return bytes;
  }

  void region(Dma& dma) {
    dma.nest_tensor = reader_.known_name("a memory tensor", tensors_);
    dma.region = box();
  }

  std::vector<Range> box() {
    std::vector<Range> ranges;
    cursor_.expect("[");
    while (!cursor_.at("]")) {
      if (!ranges.empty()) cursor_.expect(",");
      ranges.push_back(range());
    }
    cursor_.expect("]");
    return ranges;
  }

  Compute compute() {
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
        compute.read_buffers.emplace_back();
      } else {
        compute.read_buffers.emplace_back(use());
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
      if (cursor_.accept("lane")) compute.lane_axis = static_cast<int>(reader_.known_name("an axis", axes).index());
      if (cursor_.accept("block")) compute.block_axis = static_cast<int>(reader_.known_name("an axis", axes).index());
    }
    return compute;
  }

  TextCursor cursor_;
  NameReader reader_;
  StageListParser stage_list_;
  LoopNest nest_;
  ExpressionNames names_;  ///< variables and tables of the nest
  std::map<std::string, int> tensors_, buffers_;
  std::vector<std::pair<std::size_t, std::size_t>> sharing_;  ///< buffer, and where in the text it names the other
  std::set<VarId> bound_;
  std::set<int> ids_;
  std::int64_t cores_ = 1;
  int next_id_ = 0;
};

}  // namespace

Result<LoopNest> parse_loop_nest(std::string_view text, Diagnostics& diagnostics,
                                 const std::map<std::string, Tensor>& constants, const std::string& file,
                                 UnknownValues* unknown) {
  NestParser parser(text, file, constants, diagnostics);
  auto nest = parser.run();
  if (unknown != nullptr) *unknown = parser.unknown();
  return nest;
}

}  // namespace stowage
