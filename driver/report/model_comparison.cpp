// SPDX-License-Identifier: Apache-2.0
#include "driver/report/model_comparison.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace stowage {

namespace {

using Kind = ColumnKind;

}  // namespace

std::vector<SimulatedStep::Term> sum_of_terms(const IdVector<StepId, SimulatedStep>& steps) {
  std::vector<SimulatedStep::Term> sums;
  for (const SimulatedStep& step : steps) {
    if (sums.empty()) sums.resize(step.terms.size());
    for (std::size_t t = 0; t < step.terms.size(); ++t) {
      sums[t] = {step.terms[t].name, sums[t].closed_form + step.terms[t].closed_form,
                 sums[t].simulated + step.terms[t].simulated};
    }
  }
  return sums;
}

double error_of(std::int64_t closed_form, std::int64_t simulated) {
  return simulated == 0 ? 0 : static_cast<double>(closed_form - simulated) / static_cast<double>(simulated);
}

PlanTable terms_table(const std::vector<SimulatedStep::Term>& terms) {
  PlanTable table;
  table.title = "closed form and simulation";
  table.columns = {
      keyed("term", "time spent on", Kind::text, "loads and stores as far as they are not hidden, with their calls"),
      keyed("closed_form_cycles", "closed form", Kind::cycles, "the cycles by which plans are chosen"),
      keyed("simulated_cycles", "simulated", Kind::cycles, "of the core that ends last"),
      keyed("error", "error", Kind::share_change, "of the closed form, as a share of what is simulated"),
      keyed("share_error", "of the time", Kind::share_change, "the same, as a share of all simulated cycles")};
  SimulatedStep::Term all{"all", 0, 0};
  for (const SimulatedStep::Term& term : terms) {
    all.closed_form += term.closed_form;
    all.simulated += term.simulated;
  }
  const auto add = [&](const SimulatedStep::Term& term) {
    const Cell error =
        term.simulated == 0 && term.closed_form != 0 ? Cell() : Cell(error_of(term.closed_form, term.simulated));
    const double share = all.simulated == 0 ? 0
                                            : static_cast<double>(term.closed_form - term.simulated) /
                                                  static_cast<double>(all.simulated);
    PlanRow row;
    row.name = term.name;
    row.cells = {term.name, term.closed_form, term.simulated, error, share};
    table.rows.push_back(std::move(row));
  };
  for (const SimulatedStep::Term& term : terms) add(term);
  add(all);
  return table;
}

PlanTable counts_table(const Program& program, const IdVector<StepId, SimulatedStep>& steps,
                       const EmulationResult* emulation) {
  const ProgramTotals predicted = totals_of(program);
  SimulatedStep simulated;
  for (const SimulatedStep& step : steps) {
    simulated.dma_transfers += step.dma_transfers;
    simulated.dma_operations += step.dma_operations;
    simulated.dma_bytes += step.dma_bytes;
  }
  StatementCount emulated;
  std::int64_t peak = 0;
  if (emulation != nullptr) {
    for (const StatementCount& count : emulation->counts) {
      emulated.transfers += count.transfers;
      emulated.operations += count.operations;
      emulated.bytes += count.bytes;
    }
    for (const std::int64_t bytes : emulation->ldm_peak_bytes) peak = std::max(peak, bytes);
  }
  PlanTable table;
  table.title = "counts";
  table.columns = {keyed("count", "of all cores", Kind::text, ""),
                   keyed("predicted", "predicted", Kind::count, "in closed form"),
                   keyed("simulated", "simulated", Kind::count, "event by event"),
                   keyed("emulated", "emulated", Kind::count, "counted while the emitted code ran")};
  const auto add = [&](std::string name, std::int64_t closed, const Cell& played, std::int64_t counted) {
    PlanRow row;
    row.name = name;
    row.cells = {std::move(name), closed, played, emulation != nullptr ? Cell(counted) : Cell()};
    table.rows.push_back(std::move(row));
  };
  add("DMA transfers", predicted.dma.transfers, simulated.dma_transfers, emulated.transfers);
  add("DMA operations", predicted.dma.operations, simulated.dma_operations, emulated.operations);
  add("DMA bytes", predicted.dma.bytes, simulated.dma_bytes, emulated.bytes);
  const Scratchpad scratchpad = scratchpad_of(program);
  add(fmt::format("{} peak of a core, bytes", scratchpad.name), scratchpad.peak_bytes, Cell(), peak);
  return table;
}

}  // namespace stowage
