// SPDX-License-Identifier: Apache-2.0
// Scalar expressions made ready for the interpreter: every operation runs over a strip of points at a time.
//
// Floating-point values are held as double and rounded to float after every operation of type f32, which gives exactly
// what float arithmetic gives for + - * / sqrt. Integers are held as 64 bits and wrapped to their type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/scalar_expr.h"
#include "core/stage.h"
#include "lowering/ir/compiled_index.h"

namespace stowage {

/// The values of one register at the points of a strip; which of the two is in use follows from the type.
struct Strip {
  std::vector<double> real;
  std::vector<std::int64_t> whole;
};

class ScalarProgram {
 public:
  static constexpr std::size_t strip_length = 256;

  /// A register to be filled before run().
  struct IndexInput {
    std::size_t target = 0;
    ElementType type = ElementType::i64;
    CompiledIndex value;  ///< over axes, then reads from slot `axes` on
  };

  /// Registers 0 … reads-1 hold the reads, register `reads` the accumulator.
  ScalarProgram(const ScalarExpr& e, std::size_t reads, std::size_t axes);

  [[nodiscard]] std::span<const IndexInput> index_inputs() const { return index_inputs_; }
  /// Reads that the expression uses, ascending.
  [[nodiscard]] std::span<const ReadId> reads() const { return reads_; }
  [[nodiscard]] std::size_t result() const { return result_; }
  [[nodiscard]] ElementType result_type() const { return result_type_; }

  /// Storage for every register.
  [[nodiscard]] std::vector<Strip> registers() const;
  /// Evaluates the first `length` points.
  void run(std::vector<Strip>& registers, std::size_t length) const;

 private:
  struct Operation {
    enum class Kind : std::uint8_t { unary, binary, select, cast };
    Kind kind = Kind::unary;
    UnaryOp unary = UnaryOp::negate;
    BinaryOp binary = BinaryOp::add;
    ElementType type = ElementType::f32;          ///< of the result
    ElementType operand_type = ElementType::f32;  ///< of a and b
    std::size_t target = 0, a = 0, b = 0, condition = 0;
  };
  struct Constant {
    std::size_t target = 0;
    double real = 0;
    std::int64_t whole = 0;
  };
  std::size_t add(const ScalarExpr& e, std::size_t reads, std::size_t axes);
  static void run(const Operation& operation, std::vector<Strip>& registers, std::size_t length);

  std::vector<Operation> operations_;
  std::vector<Constant> constants_;
  std::vector<IndexInput> index_inputs_;
  std::vector<ReadId> reads_;
  std::size_t register_count_ = 0;
  std::size_t result_ = 0;
  ElementType result_type_ = ElementType::f32;
};

/// One step of a reduction, NaN spreading through minimum and maximum.
double combined(Reduction reduction, ElementType type, double a, double b);
std::int64_t combined(Reduction reduction, ElementType type, std::int64_t a, std::int64_t b);

}  // namespace stowage
