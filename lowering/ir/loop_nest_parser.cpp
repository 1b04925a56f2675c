// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/loop_nest_parser.h"

#include <utility>

#include <fmt/format.h>

#include "lowering/ir/stage_list_parser.h"
#include "lowering/ir/statement_parser.h"

namespace stowage {
namespace {

constexpr std::int64_t max_cores = 1 << 20;
constexpr std::int64_t max_buffer_elements = std::int64_t{1} << 40;

class NestParser {
 public:
  NestParser(std::string_view text, const std::string& file, const std::map<std::string, Tensor>& constants,
             std::int64_t max_zero_bytes, Diagnostics& diagnostics)
      : cursor_(text, file, diagnostics), reader_(cursor_), stage_list_(cursor_, reader_, constants, max_zero_bytes) {}

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
      nest_.body = statements_.block();
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
      } else if (cursor_.accept("mesh")) {
        mesh();
      } else if (cursor_.accept("launch")) {
        cursor_.expect("barrier");
        nest_.launch = LaunchedBy::barrier;
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
                     "mesh, launch, memory, ldm, buffer or body");
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
    axis.variable = statements_.bind(NestVariable::Kind::core);
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

  void mesh() {
    const Token where = cursor_.peek();
    if (nest_.mesh) cursor_.fail(where, "duplicate-name", "the nest has a mesh already");
    nest_.mesh.emplace();
    nest_.mesh->rows = static_cast<int>(reader_.number("a number of rows", 1, max_cores));
    cursor_.expect("rows");
    nest_.mesh->columns = static_cast<int>(reader_.number("a number of columns", 1, max_cores));
    cursor_.expect("columns");
  }

  void memory() {
    NestTensor tensor;
    tensor.name = reader_.new_name("a memory tensor", tensors_);
    cursor_.expect("=");
    tensor.tensor = reader_.known_name("a tensor", stage_list_.tensors());
    cursor_.expect("strides");
    tensor.strides = reader_.number_list();
    tensor.written = cursor_.accept("written");
    tensors_.emplace(tensor.name, nest_.tensors.next_id());
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
    // What slots take beyond their boxes lies between them.
    if (buffer.slots > 1 && bytes > buffer.bytes() && bytes % buffer.slots == 0) buffer.pitch = bytes / buffer.slots;
    if (bytes != buffer.bytes()) {
      cursor_.fail(bytes_at, "other-size", fmt::format("the buffer has {} bytes", buffer.bytes()));
    }
    if (cursor_.accept("sharing")) {
      sharing_.emplace_back(nest_.buffers.next_id(), cursor_.position());
      cursor_.expect_name("a buffer");
    }
    buffers_.emplace(buffer.name, nest_.buffers.next_id());
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

  TextCursor cursor_;
  NameReader reader_;
  StageListParser stage_list_;
  LoopNest nest_;
  ExpressionNames names_;  ///< variables and tables of the nest
  std::map<std::string, NestTensorId> tensors_;
  std::map<std::string, BufferId> buffers_;
  std::vector<std::pair<BufferId, std::size_t>> sharing_;  ///< buffer, and where in the text it names the other
  StatementParser statements_{cursor_, reader_, stage_list_, {nest_, names_, tensors_, buffers_}};
  std::int64_t cores_ = 1;
};

}  // namespace

Result<LoopNest> parse_loop_nest(std::string_view text, Diagnostics& diagnostics,
                                 const std::map<std::string, Tensor>& constants, const std::string& file,
                                 UnknownValues* unknown, std::int64_t max_zero_bytes) {
  NestParser parser(text, file, constants, max_zero_bytes, diagnostics);
  auto nest = parser.run();
  if (unknown != nullptr) *unknown = parser.unknown();
  return nest;
}

}  // namespace stowage
