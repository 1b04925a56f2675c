// SPDX-License-Identifier: Apache-2.0
// One step of a program in time, as its family's simulator tells it (Backend::simulate): whichever engines and causes
// of waiting that family has, by the names that it gives them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"

namespace stowage {

struct SimulatedStep {
  /// Where the cycles of the core that ends last go; they sum up to the step's. The same parts, in the same order, for
  /// every step of a program that launches something.
  struct Part {
    std::string name;  ///< "compute", "wait for a get"
    std::int64_t cycles = 0;
    bool is_exposed_dma = false;  ///< waiting for a transfer
  };
  /// How much of an engine is used.
  struct Engine {
    std::string name;
    std::int64_t busy_cycles = 0;
    std::int64_t cycles = 0;  ///< that it has: those of the step, for each of its cores
  };
  struct Statement {
    StatementId statement;  ///< by which plan and emulation name it
    std::string what;       ///< "get A", "compute conv"
    std::int64_t executions = 0;
    std::int64_t cycles = 0;  ///< of all executions
    std::int64_t waited = 0;  ///< cycles that cores waited for it
  };

  /// What both the closed form and the simulation spend time on.
  struct Term {
    std::string name;
    std::int64_t closed_form = 0;
    std::int64_t simulated = 0;
  };

  std::int64_t cycles = 0;
  std::vector<Part> parts;
  std::vector<Term> terms;  ///< sum up to the closed form's cycles, and to these; as `parts` in their order
  std::vector<Engine> engines;
  std::vector<Statement> statements;
  std::int64_t dma_transfers = 0;
  std::int64_t dma_operations = 0;
  std::int64_t dma_bytes = 0;
  std::int64_t dma_busy_cycles = 0;  ///< in which they moved
  std::int64_t events = 0;           ///< of all cores
  std::int64_t steps = 0;            ///< that were taken to simulate them

  [[nodiscard]] std::int64_t exposed_dma_cycles() const {
    std::int64_t sum = 0;
    for (const Part& part : parts) sum += part.is_exposed_dma ? part.cycles : 0;
    return sum;
  }
};

}  // namespace stowage
