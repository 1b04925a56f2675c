// SPDX-License-Identifier: Apache-2.0
// An invented family of targets, to show that nothing but its backend has to know a machine. The bank machine has one
// core beside an SRAM of banks that hold whole pieces of tensors each, and runs a text of stack instructions:
//
//     load b3 P+512 16 800 500          words of the parameters (A: activations) from that byte on, into banks: 16
//                                       words 800 times, which lie 500 apart
//     loop r0 24                        24 times, register 0 counting
//     begin 0                           the accumulator
//     push b3+7 25*r0 1*r2              a word of the SRAM onto the stack; banks, words and registers
//     *                                 of the two on top
//     sum                               takes the top into the accumulator
//     end                               of the innermost loop
//     pop b9+0 1*r0                     the top into a word of the SRAM
//     store b9 A+0 24 1 0               and back to main memory
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "driver/backend/backend.h"

namespace stowage::test {

inline constexpr std::int64_t word_bytes = 4;

struct Instruction {
  enum class Op : std::uint8_t { load, store, loop, end, begin, push, pop, number, acc, sum, least, most, set, call };
  Op op = Op::end;
  std::int64_t bank = 0;      ///< load, store, push, pop
  StageTensorId tensor = {};  ///< load, store: of the kernel's stages
  std::int64_t offset = 0;    ///< words into the tensor (load, store) or from the bank's first (push, pop)
  std::int64_t count = 0;     ///< words, or times; the register of a loop is `bank`
  std::int64_t rows = 1;      ///< load, store: so often that many words
  std::int64_t apart = 0;     ///< words in main memory from row to row
  IndexExpr address = {};     ///< push, pop: more words, over registers
  double value = 0;           ///< begin, number
  std::string name = {};      ///< call: an operation of one or two operands on the stack
};

inline std::int64_t words_of(const Instruction& instruction) { return instruction.count * instruction.rows; }

/// One kernel: the instructions with what follows from them.
class BankPlan final : public StepPlan {
 public:
  BankPlan(StageList stages, std::vector<Instruction> instructions, std::int64_t banks, const Target& target);
  [[nodiscard]] const StageList& stages() const override { return stages_; }
  [[nodiscard]] std::vector<StageTensorId> memory_tensors() const override;
  [[nodiscard]] std::int64_t cycles() const override { return cycles_; }
  [[nodiscard]] DmaTotals traffic() const override;
  [[nodiscard]] Scratchpad scratchpad(const Target& target) const override;
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  [[nodiscard]] std::int64_t banks() const { return banks_; }

 private:
  StageList stages_;
  std::vector<Instruction> instructions_;
  std::int64_t banks_ = 0;  ///< that it takes
  std::int64_t cycles_ = 0;
};

/// Plans a group: stage after stage, each in tiles along its first dimension so that what it takes fits into the banks.
std::variant<BankPlan, Decision> plan_banks(const StageList& stages, const Target& target);

/// One line of assembly; `place` says where words of a tensor lie.
std::string to_text(const Instruction& instruction,
                    const std::function<std::string(StageTensorId tensor, std::int64_t word)>& place);

/// What came of a text of instructions.
struct BankRun {
  std::vector<std::vector<StatementCount>> counts;  ///< by kernel
  std::vector<std::int64_t> peak_banks;             ///< by kernel
};

/// Runs the kernels of an assembly text, one behind the other, on main memory in two areas. `after` is called behind
/// each. What cannot run is reported with its line.
Result<BankRun> simulate(const EmittedFile& file, const Target& target, std::vector<std::byte>& parameters,
                         std::vector<std::byte>& activations, const std::function<void(int kernel)>& after,
                         Diagnostics& diagnostics);

/// A target of the family, as a file.
extern const char* const bank16;

class BankMachine final : public Backend {
 public:
  [[nodiscard]] std::string_view family() const override { return "bank-machine"; }
  void read_target(TomlTable& table, Target& target) const override;
  [[nodiscard]] std::vector<std::string> planner_names() const override { return {"tiles"}; }
  void read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const override;
  [[nodiscard]] PlannedStep plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                       const std::string& planner, const Target& target, const CostOptions& options,
                                       TraceSink trace) const override;
  [[nodiscard]] StepWork moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                               const Target& target) const override;
  [[nodiscard]] Json stored(const StepPlan& plan) const override;
  [[nodiscard]] StepWork restored(const Json& entries, const std::string& text, const Graph& graph,
                                  const FusedOperator& group, const Target& target) const override;
  [[nodiscard]] EmittedProgram emit(const Program& program, const std::string& signature) const override;
  [[nodiscard]] Result<BackendRun> run(const Program& program, const EmittedProgram& emitted,
                                       std::span<const Tensor> inputs, const RunSettings& settings,
                                       const StepObserver& on_output, const WorkContext& work) const override;
};

/// The built-in families and the invented one.
Backends all_backends();

}  // namespace stowage::test
