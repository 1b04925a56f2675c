// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/trip_work.h"

#include <algorithm>
#include <vector>

#include "lowering/time/instructions.h"

namespace stowage {

double TripWork::cycles() const {
  const double issued = std::max({arithmetic, memory, (arithmetic + memory + either) / 2});
  return std::max(issued, recurrence) + alone;
}

/// What is computed in one trip over so many lanes, loads and stores left out.
TripWork body_of(const Stage& stage, Compute::Part part, const Pipelines& pipelines, std::int64_t lanes) {
  const Operations operations = operations_in(part == Compute::Part::finish ? stage.finish : stage.body);
  TripWork trip;
  trip.arithmetic = operations.instructions;
  if (part == Compute::Part::update) trip.arithmetic += combining_instructions(stage.reduction, stage.body);
  trip.alone = operations.divisions * pipelines.divide_cycles +
               operations.functions * static_cast<double>(lanes) * pipelines.function_cycles;
  trip.memory = 1;  // the branch
  trip.either = 1;  // the counter
  return trip;
}

/// A trip of the scalar form: what is summed stays in a register.
TripWork scalar_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                     std::span<const LoopOperand> operands) {
  TripWork trip = body_of(stage, part, pipelines, 1);
  for (const LoopOperand& operand : operands) {
    if (!operand.inner) continue;
    trip.memory += 1;
    trip.either += 1;
  }
  if (part == Compute::Part::update) {
    trip.recurrence = pipelines.arithmetic_latency * std::max(1.0, combining_instructions(stage.reduction, stage.body));
  } else {
    trip.memory += part == Compute::Part::finish ? 2 : 1;
  }
  return trip;
}

/// A trip of the vector form over so many lanes: what is summed stays in the LDM.
TripWork vector_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                     std::span<const LoopOperand> operands, std::int64_t lanes) {
  TripWork trip = body_of(stage, part, pipelines, lanes);
  for (const LoopOperand& operand : operands) {
    if (operand.lane == LaneUse::none) continue;
    trip.memory += 1;
    trip.either += 1;
  }
  trip.memory += part == Compute::Part::map ? 1 : 2;  // the result, and what it was before
  trip.either += 1;
  return trip;
}

/// A trip of the vector form over a vector of so many lanes, of which some reads are gathered.
TripWork gathered_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                       std::span<const LoopOperand> operands, std::int64_t lanes, bool output_aligned) {
  TripWork trip = body_of(stage, part, pipelines, lanes);
  const auto contiguous = [&](bool aligned) {
    trip.memory += aligned ? 1 : unaligned_loads;
    trip.arithmetic += aligned ? 0 : unaligned_arithmetic;
    trip.either += 1;
  };
  for (const LoopOperand& operand : operands) {
    if (operand.lane == LaneUse::contiguous) contiguous(operand.aligned);
    if (operand.lane != LaneUse::strided) continue;
    trip.memory += static_cast<double>(lanes);  // element by element
    trip.arithmetic += static_cast<double>(lanes - 1);
    trip.either += 1;
  }
  contiguous(output_aligned);
  if (part == Compute::Part::finish) contiguous(output_aligned);  // what it was before
  return trip;
}

/// A trip of the loop around lanes that are unrolled to so many vectors: what does not move along it is loaded before.
TripWork unrolled_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                       std::span<const LoopOperand> operands, std::int64_t lanes, std::int64_t vectors,
                       bool output_aligned) {
  std::vector<LoopOperand> moving;
  for (const LoopOperand& operand : operands) {
    if (operand.by_row) moving.push_back(operand);
  }
  TripWork trip = gathered_trip(stage, part, pipelines, moving, lanes, output_aligned);
  const auto times = static_cast<double>(vectors);
  trip.arithmetic *= times;
  trip.memory = (trip.memory - 1) * times + 1;  // one branch
  trip.either = (trip.either - 1) * times + 1;
  trip.alone *= times;
  for (const LoopOperand& operand : moving) trip.memory += operand.lane == LaneUse::none ? 1 : 0;
  return trip;
}

/// A trip of a register block of so many rows and vectors of `lanes`; no vectors: of single lanes.
TripWork block_trip(const Stage& stage, const Pipelines& pipelines, std::span<const LoopOperand> operands,
                    std::int64_t rows, std::int64_t vectors, std::int64_t lanes) {
  const auto columns = static_cast<double>(std::max<std::int64_t>(1, vectors));
  const auto height = static_cast<double>(rows);
  TripWork trip;
  const AccumulatorWork combination = combination_in_registers(stage.reduction);
  trip.arithmetic = height * columns * combination.instructions;
  trip.memory = 1;
  trip.either = 1;
  trip.recurrence = pipelines.arithmetic_latency * combination.in_turn;
  for (const LoopOperand& operand : operands) {
    const double times = (operand.by_block ? height : 1) * (operand.lane == LaneUse::none ? 1 : columns);
    trip.either += 1;
    if (vectors == 0 || operand.lane == LaneUse::none) {
      trip.memory += times;
    } else if (operand.lane != LaneUse::contiguous) {  // element by element
      trip.memory += times * static_cast<double>(lanes);
      trip.arithmetic += times * static_cast<double>(lanes - 1);
    } else {
      trip.memory += times * (operand.aligned ? 1 : unaligned_loads);
      trip.arithmetic += times * (operand.aligned ? 0 : unaligned_arithmetic);
    }
  }
  return trip;
}

/// Of what is computed in the accumulators of a block of so many rows and vectors, which its sum stores; constants are
/// in registers. The results of one vector wait for each other, beside those of the others.
TripWork end_of_block(const Stage& stage, const Pipelines& pipelines, std::span<const LoopOperand> operands,
                      std::int64_t rows, std::int64_t vectors, std::int64_t lanes) {
  const auto columns = static_cast<double>(std::max<std::int64_t>(1, vectors));
  const auto height = static_cast<double>(rows);
  TripWork end = body_of(stage, Compute::Part::map, pipelines, vectors == 0 ? 1 : lanes);
  end.recurrence = pipelines.arithmetic_latency * end.arithmetic;
  end.arithmetic *= height * columns;
  end.alone *= height * columns;
  end.memory = 0;
  end.either = 0;
  for (const LoopOperand& operand : operands) {
    if (operand.in_registers) continue;
    const double times = (operand.by_block ? height : 1) * (operand.lane == LaneUse::none ? 1 : columns);
    const bool whole = vectors == 0 || operand.lane == LaneUse::none || operand.aligned;
    end.memory += times * (whole ? 1 : unaligned_loads);
    end.arithmetic += times * (whole ? 0 : unaligned_arithmetic);
    end.either += 1;
  }
  return end;
}

}  // namespace stowage
