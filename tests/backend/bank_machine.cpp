// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/bank_machine.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/overloaded.h"
#include "core/scalar_operation.h"

namespace stowage::test {
namespace {

Decision no_form(std::string_view what) {
  return Decision::refuse("bank-machine-form", fmt::format("no instruction for {}", what));
}

/// The box of a tensor that a tile of a stage reads or writes; it lies without gaps from the first word of a bank on.
struct Piece {
  std::int64_t bank = 0;
  IndexExpr word;          ///< of a point of the stage's axes, behind that first one
  std::int64_t words = 1;  ///< of the box
  std::string transfer;    ///< operands of load and store; none of an intermediate, which stays in the SRAM
};

/// Plans a group: stage after stage, each in tiles along its first axis that fit into the banks.
class BankPlanner {
 public:
  BankPlanner(StageList stages, std::int64_t banks, const Target& target)
      : target_(target), banks_(banks), plan_(std::move(stages)) {}

  std::variant<InstructionPlan, Decision> run() {
    for (const Stage& stage : plan_.list.stages) {
      if (!refused_) add_stage(stage);
    }
    if (refused_) return *std::move(refused_);
    const std::int64_t bytes = own_number(target_, "bank_bytes");
    plan_.used = {"SRAM", peak_ * bytes, own_number(target_, "sram_banks") * bytes};
    plan_.numbers = {{"banks", peak_}};
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::int64_t banks_for(std::int64_t words) const {
    return ceil_div(words * word_bytes, own_number(target_, "bank_bytes"));
  }

  Piece piece_of(StageTensorId id, const std::vector<IndexExpr>& index, const VariableRange& range) {
    const StageTensor& tensor = plan_.list.tensors[id];
    const std::vector<std::int64_t> strides = tensor.memory_strides();
    const auto whole = bank_of_.find(id);
    Piece piece{whole != bank_of_.end() ? whole->second : needed_, {}, 1, {}};
    std::int64_t first = 0;
    std::string extents;
    for (std::size_t d = index.size(); d-- > 0;) {
      if (!index[d].is_affine()) refused_ = no_form("such an index");
      const Interval box = whole != bank_of_.end() ? Interval{0, tensor.shape[d] - 1} : bounds(index[d], range);
      const std::int64_t extent = box.high - box.low + 1;
      piece.word += (index[d] - IndexExpr(box.low)) * piece.words;
      piece.words *= extent;
      first += box.low * strides[d];
      extents += fmt::format(" {} {}", extent, strides[d]);
    }
    if (whole != bank_of_.end()) return piece;
    piece.transfer = fmt::format("{} {} {}{}", id.index(), first, piece.bank, extents);
    needed_ += banks_for(piece.words);
    return piece;
  }

  /// What a tile takes, its result last.
  std::vector<Piece> pieces_of(const Stage& stage, const VariableRange& range) {
    std::vector<Piece> pieces;
    needed_ = kept_;
    for (const Access& read : stage.reads) {
      if (read.padding) refused_ = no_form("padding");
      pieces.push_back(piece_of(read.tensor, read.index, range));
    }
    const IdRange<VarId> axes = stage.spatial_axes();
    pieces.push_back(piece_of(stage.output, {axes.begin(), axes.end()}, range));
    return pieces;
  }

  void add_stage(const Stage& stage) {
    const StageTensor& output = plan_.list.tensors[stage.output];
    if (output.role == TensorRole::intermediate) {
      bank_of_[stage.output] = kept_;
      kept_ += banks_for(element_count(output.shape));
    }
    VarId cut;  // the first axis that has parts
    while (cut.index() + 1 < stage.spatial && stage.axes[cut.index()].extent == 1) ++cut;
    const std::int64_t extent = stage.spatial == 0 ? 1 : stage.axes[cut.index()].extent;
    const auto part = [&](std::int64_t from, std::int64_t size) -> VariableRange {
      return [&stage, cut, tile = Interval{from, std::min(from + size, extent) - 1}](VarId axis) {
        return axis == cut ? tile : Interval{0, stage.axes[axis.index()].extent - 1};
      };
    };
    std::int64_t size = extent;
    for (pieces_of(stage, part(0, size)); needed_ > banks_ && size > 1; pieces_of(stage, part(0, size))) {
      size = (size + 1) / 2;
    }
    peak_ = std::max(peak_, needed_);
    if (needed_ > banks_) {
      refused_ = Decision::refuse("sram-capacity",
                                  fmt::format("stage {} needs {} banks, has {}", stage.name, needed_, banks_));
    }
    for (std::int64_t from = 0; from < extent && !refused_; from += size) add_tile(stage, part(from, size));
  }

  void add_tile(const Stage& stage, const VariableRange& range) {
    const std::vector<Piece> pieces = pieces_of(stage, range);
    const bool reduces = stage.reduction != Reduction::none;
    for (const Piece& piece : std::span(pieces).first(pieces.size() - 1)) add_transfer("load", piece);
    add_in_loops(0, stage.spatial, range, [&] {
      if (reduces) add_number(identity_of(stage.reduction, ElementType::f32));
      add_in_loops(stage.spatial, stage.axes.size(), range, [&] {
        add_expression(stage.body, pieces);
        if (reduces) add(std::string(name_of(step_of(stage.reduction))));
      });
      add_word("pop", pieces.back());
      if (!stage.finish) return;
      add_expression(stage.finish, pieces);
      add_word("pop", pieces.back());
    });
    add_transfer("store", pieces.back());
  }

  /// Every instruction takes a cycle, a transfer as many as its bytes need.
  void add(std::string line, std::int64_t cycles = 1) {
    plan_.instructions.push_back(std::move(line));
    plan_.cycle_count += cycles * executions_;
  }

  void add_transfer(const std::string& op, const Piece& piece) {
    if (piece.transfer.empty()) return;
    const std::int64_t bytes = piece.words * word_bytes;
    plan_.moved[StatementId(plan_.instructions.size())] = {1, 1, bytes, {}, {}};
    add(op + " " + piece.transfer, ceil_div(bytes, own_number(target_, "bytes_per_cycle")));
  }

  void add_in_loops(std::size_t axis, std::size_t end, const VariableRange& range,
                    const std::function<void()>& add_inside) {
    if (axis == end) return add_inside();
    const auto [low, high] = range(VarId(axis));
    const std::int64_t outside = executions_;
    add(fmt::format("loop {} {} {}", axis, low, high + 1));
    executions_ *= high + 1 - low;
    add_in_loops(axis + 1, end, range, add_inside);
    add("end");
    executions_ = outside;
  }

  void add_number(double value) { add(fmt::format("number {}", value)); }

  void add_word(const std::string& op, const Piece& piece) {
    std::string line = fmt::format("{} {} {}", op, piece.bank, piece.word.constant());
    for (const IndexTerm& term : piece.word.terms()) {
      line += fmt::format(" {} {}", term.coefficient, term.atom.variable.index());
    }
    add(line);
  }

  void add_expression(const ScalarExpr& e, const std::vector<Piece>& pieces) {
    using Node = ScalarNode;
    const Overloaded add_node = {[&](const Node::Constant& constant) { add_number(constant.value); },
                                 [&](const Node::Read& read) { add_word("push", pieces[read.read.index()]); },
                                 [&](const Node::Accumulator&) { add_word("push", pieces.back()); },
                                 [&](const Node::Unary& unary) { add(std::string(name_of(unary.op))); },
                                 [&](const Node::Binary& binary) { add(std::string(name_of(binary.op))); },
                                 [&](const auto&) { refused_ = no_form("this arithmetic"); }};
    visit_nodes(e, [&](const Node& node) {
      if (node.type != ElementType::f32) refused_ = no_form(name_of(node.type));
      std::visit(add_node, node.value);
    });
  }

  const Target& target_;
  std::int64_t banks_;
  InstructionPlan plan_;
  std::optional<Decision> refused_;
  std::map<StageTensorId, std::int64_t> bank_of_;  ///< of intermediates, which lie whole
  std::int64_t kept_ = 0;                          ///< banks of all of them
  std::int64_t needed_ = 0;                        ///< banks, by the tile that was looked at last
  std::int64_t peak_ = 0;                          ///< of them
  std::int64_t executions_ = 1;                    ///< of what is added now
};

class BankMachine final : public StepwiseBackend {
 public:
  [[nodiscard]] std::string_view family() const override { return "bank-machine"; }
  [[nodiscard]] std::vector<std::string> planner_names() const override { return {"tiles"}; }
  [[nodiscard]] std::vector<NumberKey> schedule_keys() const override { return {{"banks", {1, 1024}}}; }
  [[nodiscard]] std::vector<NumberKey> target_keys() const override {
    return {{"sram_banks", {1, 1024}}, {"bank_bytes", {64, 1 << 20}}, {"bytes_per_cycle", {1, 1'000'000}}};
  }

 private:
  [[nodiscard]] std::variant<InstructionPlan, Decision> plan_kernel(StageList stages, const Numbers& fixed,
                                                                    const Target& target) const override {
    const std::int64_t banks = own_number(target, "sram_banks");
    return BankPlanner(std::move(stages), fixed.empty() ? banks : std::min(banks, fixed.at("banks")), target).run();
  }
  [[nodiscard]] std::string tensor_line(StageTensorId tensor, const MemoryRange& range) const override {
    const char area = range.area == MemoryAllocation::Area::parameters ? 'P' : 'A';
    return fmt::format("tensor {} {}+{}", tensor.index(), area, range.offset);
  }
  [[nodiscard]] KernelRun play(const std::string& text, const Target& target, MemoryImage& memory) const override {
    return play_banks(text, target, memory);
  }
};

}  // namespace

const char* const bank16 = R"(name = "bank16"
summary = "64 KiB of SRAM in 16 banks, invented"
family = "bank-machine"
clock_hz = 5e8
sram_banks = 16
bank_bytes = 4096
bytes_per_cycle = 16
)";

Backends all_backends() {
  static const BankMachine bank_machine;  // stateless
  Backends backends = built_in_backends();
  backends.push_back(&bank_machine);
  return backends;
}

}  // namespace stowage::test
