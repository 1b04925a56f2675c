// SPDX-License-Identifier: Apache-2.0
#include "lowering/loop_nest_parser.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "lowering/expression_parser.h"

namespace stowage {
namespace {

constexpr std::int64_t most_zero_bytes = std::int64_t{4} << 30;
constexpr std::int64_t most_cores = 1 << 20;
constexpr std::int64_t most_buffer_elements = std::int64_t{1} << 40;

class NestParser {
 public:
  NestParser(std::string_view text, const std::string& file, const std::map<std::string, Tensor>& constants,
             Diagnostics& diagnostics)
      : cursor_(text, file, diagnostics), constants_(constants) {}

  Result<LoopNest> run() {
    try {
      cursor_.expect("nest");
      nest_.name = cursor_.expect_name("the nest");
      cursor_.expect("{");
      while (!cursor_.at("body") && !cursor_.at_end()) header_line();
      if (cursor_.failed()) return Failed{};
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

 private:
  // Header.

  /// Mistakes in the header are collected; what a broken line would have defined is not missed again.
  void header_line() {
    try {
      if (cursor_.at("input") || cursor_.at("constant") || cursor_.at("intermediate") || cursor_.at("output")) {
        stage_tensor();
      } else if (cursor_.accept("table")) {
        table();
      } else if (cursor_.accept("stage")) {
        stage();
      } else if (cursor_.accept("variables")) {
        do {
          variable();
        } while (cursor_.accept(","));
      } else if (cursor_.accept("core")) {
        core_axis();
      } else if (cursor_.accept("memory")) {
        memory();
      } else if (cursor_.accept("ldm")) {
        nest_.ldm_bytes = number("a number of bytes", 0, most_index_number);
        cursor_.expect("bytes");
      } else if (cursor_.accept("buffer")) {
        buffer();
      } else {
        cursor_.fail(cursor_.peek(), "unexpected-token",
                     "a line here begins with input, constant, intermediate, output, table, stage, variables, core, "
                     "memory, ldm, buffer or body");
      }
    } catch (const SyntaxError&) {
      missing_.merge(cursor_.skip_line());
      while (in_stage_ && !cursor_.at_end() && !cursor_.accept("}")) cursor_.take();
      in_stage_ = false;
    }
  }

  std::int64_t number(std::string_view what, std::int64_t least, std::int64_t most) {
    const Token where = cursor_.peek();
    const std::int64_t value = cursor_.expect_integer(what);
    if (value < least || value > most) {
      cursor_.fail(where, "number-out-of-range", fmt::format("{} lies between {} and {}", what, least, most));
    }
    return value;
  }

  std::vector<std::int64_t> number_list() {
    std::vector<std::int64_t> numbers;
    cursor_.expect("[");
    while (!cursor_.at("]")) {
      if (!numbers.empty()) cursor_.expect(",");
      numbers.push_back(number("an entry", -most_index_number, most_index_number));
    }
    cursor_.expect("]");
    return numbers;
  }

  /// A name that must be new among its kind.
  template <class Map>
  std::string new_name(std::string_view what, const Map& known) {
    const Token where = cursor_.peek();
    std::string name = cursor_.expect_name(what);
    if (known.contains(name)) {
      cursor_.fail(where, "duplicate-name",
                   fmt::format("there is a {} '{}' already", what.substr(what.find(' ') + 1), name));
    }
    return name;
  }

  template <class Map>
  auto known_name(std::string_view what, const Map& known) {
    const Token where = cursor_.peek();
    const std::string name = cursor_.expect_name(what);
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    if (missing_.contains(name)) cursor_.abandon(where);
    std::vector<std::string> names;
    for (const auto& [other, unused] : known) names.push_back(other);
    cursor_.fail(where, "unknown-name", fmt::format("there is no {} '{}'", what.substr(what.find(' ') + 1), name),
                 suggest_name(name, names));
  }

  void stage_tensor() {
    static const std::map<std::string, TensorRole> roles = {{"input", TensorRole::input},
                                                            {"constant", TensorRole::constant},
                                                            {"intermediate", TensorRole::intermediate},
                                                            {"output", TensorRole::output}};
    StageTensor tensor;
    tensor.role = roles.at(cursor_.take().text);
    const Token where = cursor_.peek();
    tensor.name = new_name("a tensor", stage_tensors_);
    tensor.type = cursor_.expect_type();
    tensor.shape = cursor_.expect_shape();
    if (cursor_.accept("source")) {
      tensor.source = TensorId(static_cast<std::size_t>(number("a tensor's number", 0, (std::int64_t{1} << 32) - 1)));
    }
    if (cursor_.accept("=")) {
      tensor.value = cursor_.expect_elements(tensor.type, tensor.shape);
    } else if (cursor_.accept("hash")) {
      tensor.value = constant(where, tensor);
    }
    stage_tensors_.emplace(tensor.name, static_cast<int>(nest_.stages.tensors.size()));
    nest_.stages.tensors.push_back(std::move(tensor));
  }

  Tensor constant(const Token& where, const StageTensor& tensor) {
    const Token hash = cursor_.peek();
    const std::string wanted = cursor_.expect_name("a hash");
    const auto given = constants_.find(tensor.name);
    if (given != constants_.end()) {
      if (given->second.type() != tensor.type || given->second.shape() != tensor.shape ||
          hash_text(given->second) != wanted) {
        cursor_.fail(hash, "other-value", fmt::format("the value given for '{}' is not the one meant", tensor.name));
      }
      return given->second;
    }
    const std::int64_t bytes = element_count(tensor.shape) * byte_size(tensor.type);
    if (bytes > most_zero_bytes || (zero_bytes_ += bytes) > most_zero_bytes) {
      cursor_.fail(where, "too-large", "the constants of this nest are too large to be made up as zeros");
    }
    return Tensor(tensor.type, tensor.shape, std::vector<std::byte>(static_cast<std::size_t>(bytes)));
  }

  void table() {
    IndexTable table;
    const Token where = cursor_.peek();
    table.name = new_name("a table", names_.tables);
    cursor_.expect("=");
    table.values = number_list();
    if (table.values.empty()) cursor_.fail(where, "empty-table", "a table needs an entry");
    names_.tables.emplace(table.name, std::make_shared<const IndexTable>(table));
  }

  void stage() {
    const Token where = cursor_.peek();
    Stage stage;
    stage.name = new_name("a stage", stages_);
    cursor_.expect("{");
    in_stage_ = true;
    // The definition uses the reads that follow it, so its right side is read last.
    stage.output = known_name("a tensor", stage_tensors_);
    ExpressionNames names;
    names.tables = names_.tables;
    cursor_.expect("[");
    while (!cursor_.at("]")) {
      if (!stage.axes.empty()) cursor_.expect(",");
      axis(stage, names);
    }
    cursor_.expect("]");
    stage.spatial = static_cast<int>(stage.axes.size());
    cursor_.expect("=");
    reduction(stage, names);
    const std::size_t body = cursor_.position();
    cursor_.skip_rest_of_line();
    std::vector<ElementType> types;
    while (cursor_.accept("#")) read(stage, names, types);
    std::optional<std::size_t> finish;
    if (cursor_.accept("finish")) {
      finish = cursor_.position();
      cursor_.skip_rest_of_line();
    }
    cursor_.expect("}");
    const std::size_t end = cursor_.position();
    cursor_.seek(body);
    stage.body = parse_scalar(cursor_, names, types, nullptr);
    line_must_end();
    if (finish) {
      cursor_.seek(*finish);
      stage.finish = parse_scalar(cursor_, names, types, &stage.body->type);
      line_must_end();
    }
    for (const Access& access : stage.reads) {
      for (const IndexExpr& index : access.index) {
        for (const int other : tensor_values_of(index)) check_read_number(where, other, stage);
      }
    }
    cursor_.seek(end);
    in_stage_ = false;
    stages_.emplace(stage.name, static_cast<int>(nest_.stages.stages.size()));
    axes_.push_back(std::move(names.variables));
    nest_.stages.stages.push_back(std::move(stage));
  }

  void check_read_number(const Token& where, int read, const Stage& stage) {
    if (read < static_cast<int>(stage.reads.size())) return;
    cursor_.fail(where, "unknown-read", fmt::format("the stage has no read @{}", read));
  }

  void line_must_end() {
    if (!cursor_.at_line_end()) {
      cursor_.fail(cursor_.peek(), "unexpected-token", "the expression should have ended here");
    }
  }

  void axis(Stage& stage, ExpressionNames& names) {
    Axis axis;
    axis.name = new_name("an axis", names.variables);
    cursor_.expect("<");
    axis.extent = number("an extent", 0, most_index_number);
    names.variables.emplace(axis.name, VarId(stage.axes.size()));
    stage.axes.push_back(std::move(axis));
  }

  void reduction(Stage& stage, ExpressionNames& names) {
    static const std::map<std::string, Reduction> reductions = {{"sum", Reduction::sum},
                                                                {"product", Reduction::product},
                                                                {"max", Reduction::maximum},
                                                                {"min", Reduction::minimum}};
    if (!cursor_.at("over", 1)) return;
    stage.reduction = known_name("a reduction", reductions);
    cursor_.expect("over");
    while (!cursor_.accept("of")) {
      if (static_cast<int>(stage.axes.size()) > stage.spatial) cursor_.expect(",");
      axis(stage, names);
    }
  }

  void read(Stage& stage, const ExpressionNames& names, std::vector<ElementType>& types) {
    const Token where = cursor_.peek();
    if (number("a read's number", 0, 1 << 20) != static_cast<std::int64_t>(stage.reads.size())) {
      cursor_.fail(where, "read-out-of-order", fmt::format("read #{} was wanted", stage.reads.size()));
    }
    cursor_.expect("=");
    Access access;
    access.tensor = known_name("a tensor", stage_tensors_);
    access.index = index_list("[", "]", names);
    if (cursor_.accept("else")) access.padding = cursor_.expect_number("a padding value");
    types.push_back(nest_.stages.tensors[static_cast<std::size_t>(access.tensor)].type);
    stage.reads.push_back(std::move(access));
  }

  std::vector<IndexExpr> index_list(std::string_view open, std::string_view close, const ExpressionNames& names) {
    std::vector<IndexExpr> list;
    cursor_.expect(open);
    while (!cursor_.at(close)) {
      if (!list.empty()) cursor_.expect(",");
      list.push_back(parse_index(cursor_, names));
    }
    cursor_.expect(close);
    return list;
  }

  void variable() {
    NestVariable variable;
    variable.name = new_name("a variable", names_.variables);
    names_.variables.emplace(variable.name, VarId(nest_.variables.size()));
    nest_.variables.push_back(std::move(variable));
  }

  void core_axis() {
    CoreAxis axis;
    axis.variable = bind(NestVariable::Kind::core);
    cursor_.expect("<");
    const Token where = cursor_.peek();
    axis.parts = static_cast<int>(number("a number of parts", 1, most_cores));
    cores_ *= axis.parts;
    if (cores_ > most_cores) cursor_.fail(where, "number-out-of-range", "the grid has too many cores");
    cursor_.expect("of");
    axis.iterator = cursor_.expect_name("an iterator");
    cursor_.expect("stride");
    axis.stride = static_cast<int>(number("a stride", 1, most_cores));
    nest_.variables[axis.variable.index()].range = {0, axis.parts - 1};
    nest_.core_grid.push_back(std::move(axis));
  }

  /// A variable at the place that gives it its values.
  VarId bind(NestVariable::Kind kind) {
    const Token where = cursor_.peek();
    const VarId v = known_name("a variable", names_.variables);
    if (!bound_.insert(v).second) {
      cursor_.fail(where, "bound-twice", fmt::format("variable '{}' has its values already", where.text));
    }
    nest_.variables[v.index()].kind = kind;
    return v;
  }

  void memory() {
    NestTensor tensor;
    tensor.name = new_name("a memory tensor", tensors_);
    cursor_.expect("=");
    tensor.tensor = known_name("a tensor", stage_tensors_);
    cursor_.expect("strides");
    tensor.strides = number_list();
    tensor.written = cursor_.accept("written");
    tensors_.emplace(tensor.name, static_cast<int>(nest_.tensors.size()));
    nest_.tensors.push_back(std::move(tensor));
  }

  void buffer() {
    Buffer buffer;
    buffer.name = new_name("a buffer", buffers_);
    buffer.type = cursor_.expect_type();
    const Token where = cursor_.peek();
    buffer.extents = cursor_.expect_shape();
    if (element_count(buffer.extents) > most_buffer_elements) {
      cursor_.fail(where, "bad-shape", "no local memory is that large");
    }
    cursor_.expect("at");
    buffer.offset = number("an offset", 0, most_index_number);
    cursor_.expect(",");
    const Token bytes_at = cursor_.peek();
    const std::int64_t bytes = cursor_.expect_integer("a number of bytes");
    cursor_.expect("bytes");
    cursor_.expect("=");
    buffer.tensor = known_name("a tensor", stage_tensors_);
    buffer.origin = index_list("[", "]", names_);
    if (cursor_.accept("slots")) buffer.slots = static_cast<int>(number("a number of slots", 1, 1024));
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
      nest_.buffers[index].shares_with = known_name("a buffer", buffers_);
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
    if (where.kind == Token::Kind::integer) made.id = static_cast<int>(number("a statement's number", 0, 1 << 30));
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
      guard.any_positive = index_list("(", ")", names_);
      cursor_.expect(">");
      number("zero", 0, 0);
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
      dma.buffer = known_name("a buffer", buffers_);
      return dma;
    }
    if (cursor_.accept("put")) {
      Dma dma;
      dma.direction = DmaDirection::put;
      dma.buffer = known_name("a buffer", buffers_);
      cursor_.expect("->");
      region(dma);
      return dma;
    }
    if (cursor_.accept("wait")) return Wait{static_cast<int>(number("a statement's number", 0, 1 << 30))};
    if (cursor_.accept("fill")) {
      Fill fill;
      fill.buffer = known_name("a buffer", buffers_);
      cursor_.expect("with");
      fill.value = cursor_.expect_number("a value");
      return fill;
    }
    if (cursor_.accept("compute")) return compute();
    if (cursor_.accept("barrier")) return Barrier{};
    cursor_.fail(keyword, "unexpected-token",
                 "a statement begins with for, let, if, get, put, wait, fill, compute or barrier");
  }

  [[nodiscard]] Interval bounds_of(const Token& where, const IndexExpr& e) {
    return parse_bounds(cursor_, where, e, [&](VarId v) { return nest_.variables[v.index()].range; });
  }

  std::optional<Interval> declared_range() {
    if (!cursor_.accept("in")) return std::nullopt;
    Interval range;
    range.low = number("a bound", -most_index_number, most_index_number);
    cursor_.expect("..");
    range.high = number("a bound", -most_index_number, most_index_number);
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
    if (cursor_.accept("<=")) range.max_extent = number("an extent", 0, most_index_number);
    return range;
  }

  void region(Dma& dma) {
    dma.nest_tensor = known_name("a memory tensor", tensors_);
    cursor_.expect("[");
    while (!cursor_.at("]")) {
      if (!dma.region.empty()) cursor_.expect(",");
      dma.region.push_back(range());
    }
    cursor_.expect("]");
  }

  Compute compute() {
    static const std::map<std::string, Compute::Part> parts = {
        {"map", Compute::Part::map}, {"update", Compute::Part::update}, {"finish", Compute::Part::finish}};
    static const std::map<std::string, ComputeForm> forms = {{"scalar", ComputeForm::scalar},
                                                             {"vector", ComputeForm::vector},
                                                             {"register_block", ComputeForm::register_block}};
    Compute compute;
    compute.part = known_name("a part", parts);
    compute.output_buffer = known_name("a buffer", buffers_);
    cursor_.expect("=");
    compute.stage = known_name("a stage", stages_);
    const auto& axes = axes_[static_cast<std::size_t>(compute.stage)];
    cursor_.expect("(");
    while (!cursor_.at(")")) {
      if (!compute.read_buffers.empty()) cursor_.expect(",");
      if (cursor_.accept("_")) {
        compute.read_buffers.emplace_back();
      } else {
        compute.read_buffers.emplace_back(known_name("a buffer", buffers_));
      }
    }
    cursor_.expect(")");
    cursor_.expect("over");
    if (cursor_.accept("(")) {
      cursor_.expect(")");
    } else {
      do {
        const Token where = cursor_.peek();
        if (known_name("an axis", axes).index() != compute.box.size()) {
          cursor_.fail(where, "axis-out-of-order", "the axes come in the stage's order");
        }
        cursor_.expect("=");
        compute.box.push_back(range());
      } while (cursor_.accept(","));
    }
    if (cursor_.accept("as")) {
      compute.form = known_name("a form", forms);
      if (cursor_.accept("lane")) compute.lane_axis = static_cast<int>(known_name("an axis", axes).index());
      if (cursor_.accept("block")) compute.block_axis = static_cast<int>(known_name("an axis", axes).index());
    }
    return compute;
  }

  TextCursor cursor_;
  const std::map<std::string, Tensor>& constants_;
  LoopNest nest_;
  ExpressionNames names_;  ///< variables and tables of the nest
  std::map<std::string, int> stage_tensors_, stages_, tensors_, buffers_;
  std::vector<std::map<std::string, VarId>> axes_;            ///< by stage
  std::vector<std::pair<std::size_t, std::size_t>> sharing_;  ///< buffer, and where in the text it names the other
  std::set<VarId> bound_;
  std::set<int> ids_;
  std::set<std::string> missing_;
  std::int64_t zero_bytes_ = 0;
  std::int64_t cores_ = 1;
  int next_id_ = 0;
  bool in_stage_ = false;
};

}  // namespace

Result<LoopNest> parse_loop_nest(std::string_view text, Diagnostics& diagnostics,
                                 const std::map<std::string, Tensor>& constants, const std::string& file) {
  return NestParser(text, file, constants, diagnostics).run();
}

}  // namespace stowage
