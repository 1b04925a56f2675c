// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/bank_machine.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/index.h"
#include "core/toml_reader.h"
#include "driver/json/json.h"

namespace stowage::test {
namespace {

StepWork launch_of(BankPlan plan) { return KernelLaunch{std::make_shared<const BankPlan>(std::move(plan))}; }

const BankPlan& bank_plan_of(const StepPlan& plan) {
  const auto* const found = dynamic_cast<const BankPlan*>(&plan);
  check(found != nullptr, "a kernel of another family");
  return *found;
}

/// This family's schedule: the banks that a fused operator may take.
struct FixedBanks final : FixedSchedule {
  explicit FixedBanks(std::int64_t banks) : at_most(banks) {}
  std::int64_t at_most = 0;
};

Target with_banks(Target target, std::int64_t banks) {
  double& all = target.own.at("sram_banks");
  all = std::min(all, static_cast<double>(banks));
  return target;
}

Target target_for(const FixedSchedule* fixed, const Target& target) {
  if (fixed == nullptr) return target;
  const auto* const banks = dynamic_cast<const FixedBanks*>(fixed);
  check(banks != nullptr, "a schedule of another family");
  return with_banks(target, banks->at_most);
}

/// Of a group that was planned before.
StepWork planned(const Graph& graph, const FusedOperator& group, const Target& target, std::int64_t banks) {
  auto plan = plan_banks(group_stages(graph, group), with_banks(target, banks));
  if (const auto* refused = std::get_if<Decision>(&plan)) throw std::invalid_argument(refused->reason);
  return launch_of(std::get<BankPlan>(std::move(plan)));
}

std::vector<std::byte>& area_of(MemoryAllocation::Area area, std::vector<std::byte>& parameters,
                                std::vector<std::byte>& activations) {
  return area == MemoryAllocation::Area::parameters ? parameters : activations;
}

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

void BankMachine::read_target(TomlTable& table, Target& target) const {
  table.read("sram_banks", target.own["sram_banks"], 1, 1024, Need::required);
  table.read("bank_bytes", target.own["bank_bytes"], 64, 1 << 20, Need::required);
  table.read("bytes_per_cycle", target.own["bytes_per_cycle"], 1e-3, 1e6, Need::required);
  target.main_memory.line_bytes = static_cast<int>(word_bytes);  // main memory has no lines
}

void BankMachine::read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const {
  std::int64_t banks = 0;
  if (table.read("banks", banks, {1, 1024}, Need::required)) {
    fixed.schedules[name] = std::make_shared<const FixedBanks>(banks);
  }
  table.finish();
}

PlannedStep BankMachine::plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                    const std::string& /*planner*/, const Target& target,
                                    const CostOptions& /*options*/, TraceSink /*trace*/) const {
  if (group.is_view) return StepWork(ViewStep{});
  auto plan = plan_banks(group_stages(graph, group), target_for(fixed, target));
  if (auto* refused = std::get_if<Decision>(&plan)) return std::move(*refused);
  return launch_of(std::get<BankPlan>(std::move(plan)));
}

StepWork BankMachine::moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                            const Target& target) const {
  if (std::holds_alternative<ViewStep>(work)) return work;
  return planned(graph, group, target, bank_plan_of(*std::get<KernelLaunch>(work).plan).banks());
}

Json BankMachine::stored(const StepPlan& plan) const {
  return {{"schedule", {{"banks", bank_plan_of(plan).banks()}}}, {"nest", lines_of(plan.text())}};
}

StepWork BankMachine::restored(const Json& entries, const std::string& text, const Graph& graph,
                               const FusedOperator& group, const Target& target) const {
  const Json& schedule = entries.at("schedule");
  StepWork work = planned(graph, group, target, schedule.at("banks").get<std::int64_t>());
  const BankPlan& plan = bank_plan_of(*std::get<KernelLaunch>(work).plan);
  if (plan.text() != text || schedule.at("banks") != plan.banks()) {
    throw std::invalid_argument(fmt::format("'{}' is not what this version plans", group.name));
  }
  return work;
}

EmittedProgram BankMachine::emit(const Program& program, const std::string& signature) const {
  EmittedProgram emitted;
  EmittedFile file{"program.bank", {}, {}};
  int line = 0;
  const auto add = [&](const std::string& text) {
    file.text += text + "\n";
    ++line;
  };
  if (!signature.empty()) add("; " + signature);
  for (const StepId s : program.steps.ids()) {
    const StepPlan* const planned = program.steps[s].step_plan();
    emitted.kernel_of_step.push_back(planned == nullptr ? "" : fmt::format("kernel {}", s.index()));
    if (planned == nullptr) continue;
    add(emitted.kernel_of_step.back());
    const auto address = [&](StageTensorId tensor, std::int64_t word) {
      const auto& source = planned->stages().tensors[tensor].source;
      const MemoryAllocation* const place = source ? program.memory.find(*source) : nullptr;
      const bool parameter = place == nullptr || place->area == MemoryAllocation::Area::parameters;
      const std::int64_t offset =
          place != nullptr ? place->offset : program.memory.find_stage_constant(s, tensor)->offset;
      return fmt::format("{}+{}", parameter ? 'P' : 'A', offset + word * word_bytes);
    };
    StatementId statement;
    for (const Instruction& instruction : bank_plan_of(*planned).instructions()) {
      add(to_text(instruction, address));
      file.origins.push_back({line, s, statement++});
    }
  }
  emitted.files = {std::move(file)};
  return emitted;
}

Result<BackendRun> BankMachine::run(const Program& program, const EmittedProgram& emitted,
                                    std::span<const Tensor> inputs, const RunSettings& settings,
                                    const StepObserver& on_output, const WorkContext& work) const {
  const Graph& graph = program.fused.graph;
  std::vector<std::byte> parameters = parameter_bytes(program);
  std::vector<std::byte> activations(static_cast<std::size_t>(program.memory.activation_bytes));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto bytes = inputs[i].bytes();
    std::copy(bytes.begin(), bytes.end(), activations.begin() + program.memory.find(graph.inputs()[i])->offset);
  }
  const auto value_of = [&](TensorId tensor) {
    const MemoryAllocation& place = *program.memory.find(tensor);
    const auto first = area_of(place.area, parameters, activations).begin() + place.offset;
    return Tensor(graph.tensor(tensor).type, graph.tensor(tensor).shape, {first, first + place.bytes});
  };
  const auto values_of = [&](const std::vector<TensorId>& tensors) {
    std::vector<Tensor> values;
    for (const TensorId tensor : tensors) values.push_back(value_of(tensor));
    return values;
  };
  StepId next;  // step whose output is told next
  const auto tell_until = [&](StepId end) {
    for (; next < end; ++next) {
      if (settings.keep_outputs_of_steps && on_output) on_output(next, values_of(stored_by(program.steps[next].group)));
    }
  };
  std::vector<StepId> step_of;  // by kernel
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].step_plan() != nullptr) step_of.push_back(s);
  }
  const auto after = [&](int kernel) {
    tell_until(at(kernel) + 1 < step_of.size() ? step_of[at(kernel) + 1] : program.steps.next_id());
  };
  auto ran = test::simulate(emitted.files.front(), program.target, parameters, activations, after, work.diagnostics);
  if (!ran) return Failed{};

  BackendRun result;
  for (const TensorId output : graph.outputs()) result.emulation.outputs.push_back(value_of(output));
  result.emulation.ldm_peak_bytes.assign(program.steps.size(), 0);
  for (std::size_t k = 0; k < step_of.size(); ++k) {
    const ProgramStep& step = program.steps[step_of[k]];
    const BankPlan& plan = bank_plan_of(*step.step_plan());
    const auto bank_bytes = static_cast<std::int64_t>(program.target.own.at("bank_bytes"));
    result.emulation.ldm_peak_bytes[step_of[k]] = ran->peak_banks[k] * bank_bytes;
    const auto expect = [&](std::optional<StatementId> statement, const char* what, std::int64_t predicted,
                            std::int64_t emulated) {
      if (predicted != emulated) result.counts.push_back({step.group.name, statement, what, predicted, emulated});
    };
    expect(std::nullopt, "SRAM peak", plan.banks() * bank_bytes, ran->peak_banks[k] * bank_bytes);
    for (std::size_t i = 0; i < plan.instructions().size(); ++i) {
      const Instruction& instruction = plan.instructions()[i];
      if (instruction.op != Instruction::Op::load && instruction.op != Instruction::Op::store) continue;
      StatementCount count = ran->counts[k].at(i);
      count.statement = StatementId(i);
      expect(count.statement, "transfers", 1, count.transfers);
      expect(count.statement, "bytes", words_of(instruction) * word_bytes, count.bytes);
      count.step = step_of[k];
      result.emulation.counts.push_back(count);
    }
  }
  return result;
}

}  // namespace stowage::test
