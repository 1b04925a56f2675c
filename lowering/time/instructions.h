// SPDX-License-Identifier: Apache-2.0
// Instructions that an expression is emitted as, for inner_loop.h.
#pragma once

#include "core/scalar_expr.h"
#include "core/stage.h"

namespace stowage {

/// Arithmetic instructions of an expression, and how many divisions and functions are among its operations.
struct Operations {
  double instructions = 0;
  double divisions = 0;
  double functions = 0;
};

Operations operations_in(const ScalarExpr& e);

/// What combining a value with an accumulator in a register takes: a product is fused into its sum.
struct AccumulatorWork {
  double instructions = 1;
  double in_turn = 1;  ///< those of them that wait for the accumulator and for each other
};
AccumulatorWork combination_in_registers(Reduction reduction);

/// What combining a value with the accumulator takes in other loops.
double combining_instructions(Reduction reduction, const ScalarExpr& body);

}  // namespace stowage
