// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/count_errors.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace stowage {

std::vector<CountError> compare_counts(const Program& program, const EmulationResult& emulation) {
  std::map<std::pair<StepId, StatementId>, DmaTotals> emulated;
  for (const StatementCount& count : emulation.counts) {
    DmaTotals& totals = emulated[{count.step, count.statement}];
    totals.transfers += count.transfers;
    totals.operations += count.operations;
    totals.bytes += count.bytes;
  }
  std::map<std::pair<StepId, std::optional<StatementId>>, TeamMeetings> met;
  for (const StatementMeetings& at : emulation.meetings) met[{at.step, at.statement}] = at.meetings;
  std::vector<CountError> errors;
  for (const StepId s : program.steps.ids()) {
    const ProgramStep& step = program.steps[s];
    if (!step.kind().is_kernel) continue;
    const auto expect = [&](std::optional<StatementId> statement, const std::string& what, std::int64_t predicted,
                            std::int64_t counted) {
      if (predicted != counted) errors.push_back({step.group.name, statement, what, predicted, counted});
    };
    for (const auto& [statement, predicted] : step.step_plan()->transfers()) {
      const DmaTotals counted = emulated[{s, statement}];
      expect(statement, "transfers", predicted.transfers, counted.transfers);
      expect(statement, "operations", predicted.operations, counted.operations);
      expect(statement, "bytes", predicted.bytes, counted.bytes);
      emulated.erase({s, statement});
    }
    for (const auto& [statement, predicted] : step.step_plan()->meetings()) {
      const TeamMeetings counted = met[{s, statement}];
      const bool is_sent = predicted.registers > 0 || counted.registers > 0;
      expect(statement, is_sent ? "broadcasts" : "barriers", predicted.times, counted.times);
      expect(statement, "registers sent", predicted.registers, counted.registers);
      met.erase({s, statement});
    }
    const Scratchpad scratchpad = step.step_plan()->scratchpad(program.target);
    expect(std::nullopt, fmt::format("{} peak", scratchpad.name), scratchpad.peak_bytes,
           emulation.ldm_peak_bytes.at(s));
  }
  for (const auto& [key, counted] : emulated) {  // counted but never predicted
    const std::string& name = program.steps.at(key.first).group.name;
    errors.push_back({name, key.second, "operations", 0, counted.operations});
  }
  for (const auto& [key, counted] : met) {
    errors.push_back({program.steps.at(key.first).group.name, key.second, "barriers", 0, counted.times});
  }
  return errors;
}

}  // namespace stowage
