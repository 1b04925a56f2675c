// SPDX-License-Identifier: Apache-2.0
// The printer of loop nests. docs/ir.md has the grammar; lowering/ir/loop_nest_parser.h reads it back.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/overloaded.h"
#include "core/text_cursor.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/ir/written_names.h"

namespace stowage {
namespace {

/// Values of constants up to this size are part of the text; of larger ones only the hash.
constexpr std::int64_t max_inline_elements = 8;
/// Those that a definition itself brought along exist nowhere else.
constexpr std::int64_t max_inline_elements_of_definition = 1 << 16;

/// The lookup tables of a nest, each under a name of its own.
class Tables {
 public:
  void collect(const IndexExpr& e) {
    for (const IndexTerm& term : e.terms()) {
      if (term.atom.table) add(term.atom.table);
      if (term.atom.args) {
        for (const IndexExpr& arg : *term.atom.args) collect(arg);
      }
    }
  }

  [[nodiscard]] const std::vector<std::shared_ptr<const IndexTable>>& written() const { return written_; }

  /// The expression with the written names. Most nests have no table, and theirs are returned as they are.
  [[nodiscard]] IndexExpr renamed(const IndexExpr& e) const {
    if (!any_renamed_) return e;
    IndexExpr sum = e.constant();
    for (const IndexTerm& term : e.terms()) {
      IndexAtom atom = term.atom;
      if (atom.args) {
        std::vector<IndexExpr> args;
        for (const IndexExpr& arg : *atom.args) args.push_back(renamed(arg));
        atom.args = std::make_shared<const std::vector<IndexExpr>>(std::move(args));
      }
      if (atom.table) atom.table = written_[position(*atom.table)];
      sum += IndexExpr::of_atom(std::move(atom)) * term.coefficient;
    }
    return sum;
  }

 private:
  [[nodiscard]] std::size_t position(const IndexTable& table) const {
    for (std::size_t i = 0; i < originals_.size(); ++i) {
      if (originals_[i]->name == table.name && originals_[i]->values == table.values) return i;
    }
    return originals_.size();
  }

  void add(const std::shared_ptr<const IndexTable>& table) {
    if (position(*table) < originals_.size()) return;
    const auto taken = [&](const std::string& name) {
      return quoted_name(name) != name ||
             std::any_of(written_.begin(), written_.end(), [&](const auto& t) { return t->name == name; });
    };
    std::string name = table->name;
    for (int number = 1; taken(name); ++number) name = fmt::format("table{}", number);
    originals_.push_back(table);
    written_.push_back(name == table->name ? table
                                           : std::make_shared<const IndexTable>(IndexTable{name, table->values}));
    any_renamed_ = any_renamed_ || name != table->name;
  }

  std::vector<std::shared_ptr<const IndexTable>> originals_;
  std::vector<std::shared_ptr<const IndexTable>> written_;
  bool any_renamed_ = false;
};

class Printer {
 public:
  Printer(const LoopNest& nest, WrittenNames names, UnknownValues unknown = {})
      : nest_(nest), names_(std::move(names)), unknown_(std::move(unknown)) {
    collect_tables();
  }

  SpannedText run() {
    line(0, names_.by_position ? "nest {" : fmt::format("nest {} {{", quoted_name(nest_.name)));
    for (const StageTensorId t : nest_.stages.tensors.ids()) stage_tensor(t);
    for (const auto& table : tables_.written()) {
      line(1, fmt::format("table {} = [{}]", table->name, fmt::join(table->values, ", ")));
    }
    for (const StageId s : nest_.stages.stages.ids()) stage(s);
    if (!names_.variables.empty()) line(1, fmt::format("variables {}", fmt::join(names_.variables, ", ")));
    for (const CoreAxis& axis : nest_.core_grid) {
      line(1, fmt::format("core {} < {} of {} stride {}", names_.variables[axis.variable.index()], axis.parts,
                          names_.iterator(axis.iterator), axis.stride));
    }
    if (nest_.mesh) line(1, fmt::format("mesh {} rows {} columns", nest_.mesh->rows, nest_.mesh->columns));
    if (nest_.launch != LaunchedBy::spawn) line(1, fmt::format("launch {}", name_of(nest_.launch)));
    for (const NestTensorId t : nest_.tensors.ids()) {
      const NestTensor& tensor = nest_.tensors[t];
      line(1, fmt::format("memory {} = {} strides [{}]{}", names_.tensors[t], stage_tensor_name(tensor.tensor),
                          fmt::join(tensor.strides, ", "), tensor.written ? " written" : ""));
    }
    line(1, fmt::format("ldm {} bytes", nest_.ldm_bytes));
    for (const BufferId b : nest_.buffers.ids()) buffer(b);
    line(1, "body {");
    block(nest_.body, 0);
    line(1, "}");
    line(0, "}");
    return std::move(result_);
  }

 private:
  void collect_tables() {
    const auto collect_scalar = [&](const ScalarExpr& e) {
      visit_nodes(e, [&](const ScalarNode& node) {
        if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) tables_.collect(index->value);
      });
    };
    for (const Stage& stage : nest_.stages.stages) {
      for (const Access& access : stage.reads) {
        for (const IndexExpr& index : access.index) tables_.collect(index);
      }
      collect_scalar(stage.body);
      if (stage.finish) collect_scalar(stage.finish);
    }
    for (const Buffer& buffer : nest_.buffers) {
      for (const IndexExpr& origin : buffer.origin) tables_.collect(origin);
    }
    const auto collect_ranges = [&](const std::vector<Range>& ranges) {
      for (const Range& range : ranges) {
        tables_.collect(range.start);
        tables_.collect(range.extent);
      }
    };
    visit_statements(nest_.body, [&](const Stmt& statement) {
      visit_uses(statement, [&](const BufferUse& use) {
        tables_.collect(use.slot);
        for (const IndexExpr& origin : use.origin) tables_.collect(origin);
      });
      std::visit(
          Overloaded{[&](const Loop& n) { tables_.collect(n.extent); }, [&](const Let& n) { tables_.collect(n.value); },
                     [&](const Guard& n) {
                       for (const IndexExpr& e : n.any_positive) tables_.collect(e);
                     },
                     [&](const Dma& n) { collect_ranges(n.region); },
                     [&](const Broadcast& n) {
                       tables_.collect(n.sender);
                       collect_ranges(n.region);
                     },
                     [&](const Fill& n) {
                       if (n.around) collect_ranges(*n.around);
                     },
                     [&](const Compute& n) { collect_ranges(n.box); }, [](const auto&) {}},
          statement.node);
    });
  }

  void line(int depth, const std::string& text) {
    result_.text.append(static_cast<std::size_t>(depth) * 2, ' ').append(text).append("\n");
  }

  [[nodiscard]] const std::string& stage_tensor_name(StageTensorId tensor) const {
    return names_.stage_tensors.at(tensor);
  }
  [[nodiscard]] const std::string& buffer_name(BufferId buffer) const { return names_.buffers.at(buffer); }

  /// The slot is left out where it is the first, the origin where it is the buffer's.
  [[nodiscard]] std::string use(const BufferUse& used) const {
    std::string written = buffer_name(used.buffer);
    if (!(used.slot == IndexExpr(0))) written += fmt::format("[{}]", slot(used.slot));
    if (!used.origin.empty()) written += fmt::format(" from [{}]", list(used.origin));
    return written;
  }

  /// A slot or a sender: "(ko + 1) % 2", without the parentheses that a remainder has inside of a sum.
  [[nodiscard]] std::string slot(const IndexExpr& e) const {
    const std::string written = text(e);
    const auto terms = e.terms();
    const bool is_remainder = terms.size() == 1 && e.constant() == 0 && terms[0].coefficient == 1 &&
                              terms[0].atom.kind == IndexAtom::Kind::remainder;
    if (!is_remainder) return written;
    const IndexExpr& inside = (*terms[0].atom.args)[0];
    const bool is_factor = inside.terms().size() == 1 && inside.constant() == 0 && inside.terms()[0].coefficient == 1;
    return fmt::format("{} % {}", is_factor ? text(inside) : "(" + text(inside) + ")", terms[0].atom.number);
  }

  [[nodiscard]] std::string text(const IndexExpr& e) const {
    return to_text(tables_.renamed(e), [&](VarId v) { return names_.variables.at(v.index()); });
  }

  /// Of expressions or of ranges.
  template <class Element>
  [[nodiscard]] std::string list(const std::vector<Element>& elements) const {
    std::vector<std::string> texts;
    for (const Element& e : elements) texts.push_back(text(e));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// "start:end", with "<= n" if the extent varies or the largest one is not what it says. Of a text that is only
  /// compared with others the extent stands as it is: to add it up takes longer than to write it.
  [[nodiscard]] std::string text(const Range& range) const {
    if (names_.by_position) return fmt::format("{}+{} <= {}", text(range.start), text(range.extent), range.max_extent);
    std::string written = fmt::format("{}:{}", text(range.start), text(range.start + range.extent));
    if (!(range.extent == IndexExpr(range.max_extent))) written += fmt::format(" <= {}", range.max_extent);
    return written;
  }

  void stage_tensor(StageTensorId index) {
    static constexpr std::string_view roles[] = {"input", "constant", "intermediate", "output"};
    const StageTensor& tensor = nest_.stages.tensors[index];
    std::string written = fmt::format("{} {} {}{}", roles[static_cast<std::size_t>(tensor.role)],
                                      names_.stage_tensors[index], name_of(tensor.type), to_text(tensor.shape));
    if (tensor.source && !names_.by_position) written += fmt::format(" source {}", tensor.source->value);
    if (tensor.packing) written += " " + to_text(*tensor.packing);
    if (tensor.exchanged) written += " exchanged";
    if (const auto hash = unknown_.find(index); hash != unknown_.end()) {
      written += fmt::format(" hash {}", quoted(hash->second));
    } else if (tensor.value && !names_.by_position) {
      written +=
          " " + value_text(*tensor.value, tensor.source ? max_inline_elements : max_inline_elements_of_definition);
    }
    line(1, written);
  }

  void stage(StageId index) {
    const Stage& stage = nest_.stages.stages[index];
    const std::vector<std::string>& axes = names_.axes[index];
    const auto index_text = [&](const IndexExpr& e) {
      return to_text(tables_.renamed(e), [&](VarId v) { return axes.at(v.index()); });
    };
    const auto scalar_text = [&](const ScalarExpr& e) {
      return to_text(
          e, [](ReadId read) { return fmt::format("#{}", read.index()); }, index_text);
    };
    const auto axis_list = [&](std::size_t from, std::size_t to) {
      std::vector<std::string> texts;
      for (std::size_t a = from; a < to; ++a) texts.push_back(fmt::format("{} < {}", axes[a], stage.axes[a].extent));
      return fmt::format("{}", fmt::join(texts, ", "));
    };
    static constexpr std::string_view reductions[] = {"", "sum", "product", "max", "min"};
    const std::size_t spatial = stage.spatial;
    std::string definition = fmt::format("{}[{}] = ", stage_tensor_name(stage.output), axis_list(0, spatial));
    if (stage.reduction != Reduction::none) {
      definition += fmt::format("{} over {}{}of ", reductions[static_cast<std::size_t>(stage.reduction)],
                                axis_list(spatial, axes.size()), spatial < axes.size() ? " " : "");
    }
    line(1, fmt::format("stage {} {{", names_.stages[index]));
    line(2, definition + scalar_text(stage.body));
    for (const ReadId r : stage.reads.ids()) {
      const Access& access = stage.reads[r];
      std::vector<std::string> indices;
      for (const IndexExpr& e : access.index) indices.push_back(index_text(e));
      line(2, fmt::format("#{} = {}[{}]{}", r.index(), stage_tensor_name(access.tensor), fmt::join(indices, ", "),
                          access.padding ? fmt::format(" else {}", *access.padding) : ""));
    }
    if (stage.finish) line(2, fmt::format("finish {}", scalar_text(stage.finish)));
    line(1, "}");
  }

  void buffer(BufferId index) {
    const Buffer& buffer = nest_.buffers[index];
    std::string written = fmt::format("buffer {} {}{} at {}, {} bytes = {}[{}]", names_.buffers[index],
                                      name_of(buffer.type), to_text(buffer.extents), buffer.offset, buffer.bytes(),
                                      stage_tensor_name(buffer.tensor), list(buffer.origin));
    if (buffer.slots != 1) written += fmt::format(" slots {}", buffer.slots);
    if (names_.by_position) written += fmt::format(" pitch {}", buffer.pitch);  // else it follows from the bytes
    if (buffer.shares_with) written += fmt::format(" sharing {}", buffer_name(*buffer.shares_with));
    line(1, written);
  }

  /// Static bounds of an expression as the variables' own ranges give them.
  [[nodiscard]] Interval range_of(const IndexExpr& e) const {
    return bounds(e, [&](VarId v) { return nest_.variables[v.index()].range; });
  }

  [[nodiscard]] std::string range_text(VarId variable, Interval derived) const {
    const Interval range = nest_.variables[variable.index()].range;
    return range == derived ? "" : fmt::format(" in {}..{}", range.low, range.high);
  }

  void block(const Block& statements, int depth) {
    for (const StmtPtr& entry : statements) {
      const Stmt& statement = *entry;
      result_.text += fmt::format("{:>5}  {:{}}", statement.id.index(), "", depth * 2);
      const std::size_t span = result_.spans.size();
      result_.spans.push_back({result_.text.size(), 0, statement.id});
      result_.text += head(statement);
      if (!names_.by_position) {
        if (const std::string note = one_line(statement.note); !note.empty()) result_.text += "  // " + note;
      }
      if (const Block* body = body_of(statement)) {
        result_.text += "\n";
        block(*body, depth + 1);
        result_.text += fmt::format("{:7}{:{}}}}", "", "", depth * 2);
      }
      result_.spans[span].end = result_.text.size();
      result_.text += "\n";
    }
  }

  /// As a reader of the text has it again: without control characters, and without spaces before and behind.
  static std::string one_line(std::string note) {
    std::replace_if(
        note.begin(), note.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    const std::size_t first = note.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return note.substr(first, note.find_last_not_of(' ') - first + 1);
  }

  [[nodiscard]] std::string head(const Stmt& statement) const {
    return std::visit(
        Overloaded{[&](const Loop& n) {
                     const Interval derived{0, std::max<std::int64_t>(0, range_of(n.extent).high - 1)};
                     return fmt::format("for {} < {}{} of {} {{", names_.variables[n.variable.index()], text(n.extent),
                                        range_text(n.variable, derived), names_.iterator(n.iterator));
                   },
                   [&](const Let& n) {
                     return fmt::format("let {} = {}{}", names_.variables[n.variable.index()], text(n.value),
                                        range_text(n.variable, range_of(n.value)));
                   },
                   [&](const Guard& n) { return fmt::format("if any({}) > 0 {{", list(n.any_positive)); },
                   [&](const Dma& n) {
                     const std::string region = fmt::format("{}[{}]", names_.tensors.at(n.nest_tensor), list(n.region));
                     const std::string unit = n.unit_bytes > 1 ? fmt::format(" by {} bytes", n.unit_bytes) : "";
                     const std::string team = n.to != Space::ldm ? fmt::format(" of {}", name_of(n.to)) : "";
                     return n.direction == DmaDirection::get
                                ? fmt::format("get {} -> {}{}{}", region, use(n.buffer), team, unit)
                                : fmt::format("put {} -> {}{}", use(n.buffer), region, unit);
                   },
                   [&](const Broadcast& n) {
                     const std::string_view place = n.to == Space::row      ? "column"
                                                    : n.to == Space::column ? "row"
                                                                            : "core";
                     return fmt::format("broadcast {} of {} {} -> {} of {} over [{}]", use(n.source), place,
                                        slot(n.sender), use(n.buffer), name_of(n.to), list(n.region));
                   },
                   [&](const Wait& n) { return "wait " + (n.slot ? use(*n.slot) : std::to_string(n.dma->index())); },
                   [&](const Fill& n) {
                     return fmt::format("fill {}{} with {}{}{}", use(n.buffer),
                                        n.around ? fmt::format(" around [{}]", list(*n.around)) : "", n.value,
                                        n.in_registers ? " in registers" : "",
                                        n.slides_along ? " sliding along " + text(IndexExpr(*n.slides_along)) : "");
                   },
                   [&](const Compute& n) { return compute(n); }, [](const Barrier&) { return std::string("barrier"); }},
        statement.node);
  }

  [[nodiscard]] std::string compute(const Compute& n) const {
    static constexpr std::string_view parts[] = {"map", "update", "finish"};
    static constexpr std::string_view forms[] = {"scalar", "vector", "register_block"};
    const std::vector<std::string>& axes = names_.axes.at(n.stage);
    std::vector<std::string> reads;
    for (const auto& read : n.read_buffers) reads.push_back(read ? use(*read) : "_");
    std::vector<std::string> box;
    for (std::size_t a = 0; a < n.box.size(); ++a) box.push_back(fmt::format("{}={}", axes.at(a), text(n.box[a])));
    std::string written =
        fmt::format("compute {} {} = {}({}) over {}", parts[static_cast<std::size_t>(n.part)], use(n.output_buffer),
                    names_.stages.at(n.stage), fmt::join(reads, ", "), fmt::join(box, ", "));
    if (n.box.empty()) written += "()";
    if (n.form != ComputeForm::scalar || n.lane_axis || n.block_axis) {
      written += fmt::format(" as {}", forms[static_cast<std::size_t>(n.form)]);
      if (n.lane_axis) written += fmt::format(" lane {}", axes.at(n.lane_axis->index()));
      if (n.block_axis) written += fmt::format(" block {}", axes.at(n.block_axis->index()));
    }
    return written;
  }

  const LoopNest& nest_;
  WrittenNames names_;
  UnknownValues unknown_;
  Tables tables_;
  SpannedText result_;
};

}  // namespace

SpannedText to_spanned_text(const LoopNest& nest) { return Printer(nest, own_names(nest)).run(); }

std::string to_text(const LoopNest& nest, const UnknownValues& unknown) {
  return Printer(nest, own_names(nest), unknown).run().text;
}

std::string to_text(const LoopNest& nest) { return to_spanned_text(nest).text; }

std::string to_text_by_position(const LoopNest& nest) { return Printer(nest, names_by_position(nest)).run().text; }

}  // namespace stowage
