// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/bank_machine.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/overloaded.h"
#include "core/scalar_operation.h"
#include "core/toml_reader.h"

namespace stowage::test {
namespace {

Decision no_form(std::string_view what) {
  return Decision::refuse("bank-machine-form", fmt::format("no instruction for {}", what));
}

/// One kernel: its text with what follows from it.
struct BankPlan final : StepPlan {
  StageList list;
  std::vector<std::string> lines = {};
  std::int64_t banks = 0;  ///< that it takes
  std::int64_t cycle_count = 0;
  std::map<StatementId, DmaTotals> moved = {};

  explicit BankPlan(StageList stages) : list(std::move(stages)) {}
  [[nodiscard]] const StageList& stages() const override { return list; }
  [[nodiscard]] std::int64_t cycles() const override { return cycle_count; }
  [[nodiscard]] std::map<StatementId, DmaTotals> transfers() const override { return moved; }
  [[nodiscard]] std::string text() const override { return fmt::format("{}\n", fmt::join(lines, "\n")); }
  [[nodiscard]] Scratchpad scratchpad(const Target& target) const override {
    const auto bytes = static_cast<std::int64_t>(target.own.at("bank_bytes"));
    return {"SRAM", banks * bytes, static_cast<std::int64_t>(target.own.at("sram_banks")) * bytes};
  }
};

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

  std::variant<BankPlan, Decision> run() {
    for (const Stage& stage : plan_.list.stages) {
      for (const Access& read : stage.reads) {
        const bool affine = std::all_of(read.index.begin(), read.index.end(), std::mem_fn(&IndexExpr::is_affine));
        if (!affine || read.padding) refused_ = no_form("such a read");
      }
      if (!refused_) add_stage(stage);
    }
    if (refused_) return *std::move(refused_);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::int64_t banks_for(std::int64_t words) const {
    return ceil_div(words * word_bytes, static_cast<std::int64_t>(target_.own.at("bank_bytes")));
  }

  [[nodiscard]] Piece piece_of(StageTensorId id, const std::vector<IndexExpr>& index, const VariableRange& range,
                               std::int64_t free_bank) const {
    const StageTensor& tensor = plan_.list.tensors[id];
    const std::vector<std::int64_t> strides = tensor.memory_strides();
    const bool stays = tensor.role == TensorRole::intermediate;
    Piece piece;
    piece.bank = stays ? bank_of_.at(id) : free_bank;
    std::int64_t first = 0;
    std::string extents;
    for (std::size_t d = index.size(); d-- > 0;) {
      const Interval box = stays ? Interval{0, tensor.shape[d] - 1} : bounds(index[d], range);
      const std::int64_t extent = box.high - box.low + 1;
      piece.word += (index[d] - IndexExpr(box.low)) * piece.words;
      piece.words *= extent;
      first += box.low * strides[d];
      extents += fmt::format(" {} {}", extent, strides[d]);
    }
    if (!stays) piece.transfer = fmt::format("{} {} {}{}", id.index(), first, piece.bank, extents);
    return piece;
  }

  /// What a tile takes, its result last.
  std::vector<Piece> pieces_of(const Stage& stage, const VariableRange& range) {
    std::vector<Piece> pieces;
    needed_ = kept_;
    const auto add_piece = [&](StageTensorId tensor, const std::vector<IndexExpr>& index) {
      pieces.push_back(piece_of(tensor, index, range, needed_));
      if (!pieces.back().transfer.empty()) needed_ += banks_for(pieces.back().words);
    };
    for (const Access& read : stage.reads) add_piece(read.tensor, read.index);
    std::vector<IndexExpr> own;
    for (const VarId axis : stage.spatial_axes()) own.emplace_back(axis);
    add_piece(stage.output, own);
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
    plan_.banks = std::max(plan_.banks, needed_);
    if (needed_ > banks_) {
      refused_ = Decision::refuse("sram-capacity",
                                  fmt::format("stage {} needs {} banks, has {}", stage.name, needed_, banks_));
    }
    for (std::int64_t from = 0; from < extent && !refused_; from += size) add_tile(stage, part(from, size));
  }

  void add_tile(const Stage& stage, const VariableRange& range) {
    const std::vector<Piece> pieces = pieces_of(stage, range);
    for (const Piece& piece : std::span(pieces).first(pieces.size() - 1)) add_transfer("load", piece);
    const bool reduces = stage.reduction != Reduction::none;
    add_loops(0, stage.spatial, range);
    if (reduces) add_number(identity_of(stage.reduction, ElementType::f32));
    add_loops(stage.spatial, stage.axes.size(), range);
    add_expression(stage.body, pieces);
    if (reduces) add(std::string(name_of(step_of(stage.reduction))));
    add_ends(stage.axes.size() - stage.spatial);
    if (stage.finish) {
      add("set");
      add_expression(stage.finish, pieces);
    }
    add_word("pop", pieces.back());
    add_ends(stage.spatial);
    add_transfer("store", pieces.back());
  }

  /// Every instruction takes a cycle, a transfer as many as its bytes need.
  void add(std::string line, std::int64_t cycles = 1) {
    plan_.lines.push_back(std::move(line));
    plan_.cycle_count += cycles * executions_.back();
  }

  void add_transfer(const std::string& op, const Piece& piece) {
    if (piece.transfer.empty()) return;
    const std::int64_t bytes = piece.words * word_bytes;
    plan_.moved[StatementId(plan_.lines.size())] = {1, 1, bytes, {}, {}};
    add(op + " " + piece.transfer, ceil_div(bytes, static_cast<std::int64_t>(target_.own.at("bytes_per_cycle"))));
  }

  void add_loops(std::size_t begin, std::size_t end, const VariableRange& range) {
    for (VarId axis(begin); axis.index() < end; ++axis) {
      const auto [low, high] = range(axis);
      add(fmt::format("loop {} {} {}", axis.index(), low, high + 1));
      executions_.push_back(executions_.back() * (high + 1 - low));
    }
  }

  void add_ends(std::size_t count) {
    for (; count > 0; --count) {
      add("end");
      executions_.pop_back();
    }
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
                                 [&](const Node::Accumulator&) { add("acc"); },
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
  BankPlan plan_;
  std::optional<Decision> refused_;
  std::map<StageTensorId, std::int64_t> bank_of_;  ///< of intermediates, which lie whole
  std::int64_t kept_ = 0;                          ///< banks of all of them
  std::int64_t needed_ = 0;                        ///< banks, by the tile that was looked at last
  std::vector<std::int64_t> executions_ = {1};     ///< of what is added now, loop by loop
};

const BankPlan& bank_plan_of(const StepPlan& plan) { return dynamic_cast<const BankPlan&>(plan); }

class BankMachine final : public Backend {
 public:
  [[nodiscard]] std::string_view family() const override { return "bank-machine"; }
  [[nodiscard]] std::vector<std::string> planner_names() const override { return {"tiles"}; }
  [[nodiscard]] std::vector<ScheduleKey> schedule_keys() const override { return {{"banks", {1, 1024}}}; }
  [[nodiscard]] std::map<std::string, std::int64_t> chosen(const StepPlan& plan) const override {
    return {{"banks", bank_plan_of(plan).banks}};
  }

  void read_target(TomlTable& table, Target& target) const override {
    table.read("sram_banks", target.own["sram_banks"], 1, 1024, Need::required);
    table.read("bank_bytes", target.own["bank_bytes"], 64, 1 << 20, Need::required);
    table.read("bytes_per_cycle", target.own["bytes_per_cycle"], 1, 1e6, Need::required);
    target.main_memory.line_bytes = static_cast<int>(word_bytes);  // main memory has no lines
  }

  [[nodiscard]] PlannedStep plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                       const std::string& /*planner*/, const Target& target,
                                       const CostOptions& /*options*/, TraceSink /*trace*/) const override {
    if (group.is_view) return StepWork(ViewStep{});
    auto banks = static_cast<std::int64_t>(target.own.at("sram_banks"));
    if (fixed != nullptr) banks = std::min(banks, numbers_of(*fixed).at("banks"));
    auto plan = BankPlanner(group_stages(graph, group), banks, target).run();
    if (auto* refused = std::get_if<Decision>(&plan)) return std::move(*refused);
    return StepWork(KernelLaunch{std::make_shared<const BankPlan>(std::get<BankPlan>(std::move(plan)))});
  }

  [[nodiscard]] EmittedProgram emit(const Program& program, const std::string& signature) const override {
    return emit_steps(program, "bank", "; " + signature, [&](StepId step) {
      const StepPlan& plan = *program.steps[step].step_plan();
      StepText text{{}, bank_plan_of(plan).lines};
      for (const StageTensorId tensor : plan.memory_tensors()) {
        const MemoryRange range = memory_range(program, step, tensor);
        const char area = range.area == MemoryAllocation::Area::parameters ? 'P' : 'A';
        text.heading.push_back(fmt::format("tensor {} {}+{}", tensor.index(), area, range.offset));
      }
      return text;
    });
  }

  [[nodiscard]] Result<BackendRun> run(const Program& program, const EmittedProgram& emitted,
                                       std::span<const Tensor> inputs, const RunSettings& settings,
                                       const StepObserver& on_output, const WorkContext& work) const override {
    return run_steps(program, emitted, inputs, settings, on_output, work,
                     [&](const EmittedFile& kernel, MemoryImage& memory) {
                       return play(kernel, program.target, memory, work.diagnostics);
                     });
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
