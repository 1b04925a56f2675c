// SPDX-License-Identifier: Apache-2.0
// What each scalar operation means: the one table that plain evaluation and the interpreter compute by. Each function
// calls `use` with the operation as a function of elements held as in core/element_arithmetic.h, so that a loop over
// elements has the operation inlined. Results are neither rounded nor wrapped yet. Emitted C says the same with
// expressions of C and the helpers of sw_rt.h; a test holds the three to one meaning.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/check.h"
#include "core/element_arithmetic.h"
#include "core/stage.h"

namespace stowage {

/// Operations whose result is a boolean whatever the operands are.
constexpr bool is_comparison(BinaryOp op) {
  return op == BinaryOp::less || op == BinaryOp::less_equal || op == BinaryOp::equal;
}

/// What a reduction does with what it has and one term more.
constexpr BinaryOp step_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return BinaryOp::add;
    case Reduction::product: return BinaryOp::multiply;
    case Reduction::maximum: return BinaryOp::maximum;
    case Reduction::minimum: return BinaryOp::minimum;
    case Reduction::none: break;
  }
  fail_check("no reduction to take a step of");
}

/// double(double)
template <class Use>
void with_float_operation(UnaryOp op, Use&& use) {
  switch (op) {
    case UnaryOp::negate: return use([](double x) { return -x; });
    case UnaryOp::exp: return use([](double x) { return std::exp(x); });
    case UnaryOp::log: return use([](double x) { return std::log(x); });
    case UnaryOp::sqrt: return use([](double x) { return std::sqrt(x); });
    case UnaryOp::erf: return use([](double x) { return std::erf(x); });
    case UnaryOp::tanh: return use([](double x) { return std::tanh(x); });
    case UnaryOp::floor: return use([](double x) { return std::floor(x); });
    case UnaryOp::ceil: return use([](double x) { return std::ceil(x); });
    case UnaryOp::abs: return use([](double x) { return std::fabs(x); });
    case UnaryOp::sin: return use([](double x) { return std::sin(x); });
    case UnaryOp::cos: return use([](double x) { return std::cos(x); });
    case UnaryOp::round: return use([](double x) { return std::nearbyint(x); });
    case UnaryOp::logical_not: break;
  }
  fail_check("operation that floats do not have");
}

/// double(double, double)
template <class Use>
void with_float_operation(BinaryOp op, Use&& use) {
  switch (op) {
    case BinaryOp::add: return use([](double x, double y) { return x + y; });
    case BinaryOp::subtract: return use([](double x, double y) { return x - y; });
    case BinaryOp::multiply: return use([](double x, double y) { return x * y; });
    case BinaryOp::divide: return use([](double x, double y) { return x / y; });
    case BinaryOp::minimum: return use([](double x, double y) { return minimum_of(x, y); });
    case BinaryOp::maximum: return use([](double x, double y) { return maximum_of(x, y); });
    case BinaryOp::power: return use([](double x, double y) { return std::pow(x, y); });
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: break;
  }
  fail_check("operation that does not give a float");
}

/// bool(double, double)
template <class Use>
void with_float_comparison(BinaryOp op, Use&& use) {
  switch (op) {
    case BinaryOp::less: return use([](double x, double y) { return x < y; });
    case BinaryOp::less_equal: return use([](double x, double y) { return x <= y; });
    case BinaryOp::equal: return use([](double x, double y) { return x == y; });
    default: break;
  }
  fail_check("operation that does not compare");
}

/// int64(int64), on elements of `type`.
template <class Use>
void with_integer_operation(UnaryOp op, ElementType type, Use&& use) {
  using I = std::int64_t;
  const auto negative = [](I x) { return static_cast<I>(0 - static_cast<std::uint64_t>(x)); };
  switch (op) {
    case UnaryOp::negate: return use(negative);
    case UnaryOp::abs:
      if (!is_signed(type)) return use([](I x) { return x; });
      return use([negative](I x) { return x < 0 ? negative(x) : x; });
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round: return use([](I x) { return x; });
    case UnaryOp::logical_not: return use([](I x) -> I { return x == 0 ? 1 : 0; });
    default: break;
  }
  fail_check("operation that integers do not have");
}

/// int64(int64, int64), on elements of `type`; comparisons and logical operations give 0 or 1.
template <class Use>
void with_integer_operation(BinaryOp op, ElementType type, Use&& use) {
  using I = std::int64_t;
  using Bits = std::uint64_t;
  const auto less = [is_unsigned = type == ElementType::u64](I x, I y) {
    return is_unsigned ? static_cast<Bits>(x) < static_cast<Bits>(y) : x < y;
  };
  switch (op) {
    case BinaryOp::add:
      return use([](I x, I y) { return static_cast<I>(static_cast<Bits>(x) + static_cast<Bits>(y)); });
    case BinaryOp::subtract:
      return use([](I x, I y) { return static_cast<I>(static_cast<Bits>(x) - static_cast<Bits>(y)); });
    case BinaryOp::multiply:
      return use([](I x, I y) { return static_cast<I>(static_cast<Bits>(x) * static_cast<Bits>(y)); });
    case BinaryOp::divide: return use([type](I x, I y) { return integer_quotient(type, x, y); });
    case BinaryOp::minimum: return use([less](I x, I y) { return less(y, x) ? y : x; });
    case BinaryOp::maximum: return use([less](I x, I y) { return less(x, y) ? y : x; });
    case BinaryOp::power: return use([type](I x, I y) { return integer_power(type, x, y); });
    case BinaryOp::less: return use([less](I x, I y) -> I { return less(x, y) ? 1 : 0; });
    case BinaryOp::less_equal: return use([less](I x, I y) -> I { return less(y, x) ? 0 : 1; });
    case BinaryOp::equal: return use([](I x, I y) -> I { return x == y ? 1 : 0; });
    case BinaryOp::logical_and: return use([](I x, I y) -> I { return x != 0 && y != 0 ? 1 : 0; });
    case BinaryOp::logical_or: return use([](I x, I y) -> I { return x != 0 || y != 0 ? 1 : 0; });
  }
  fail_check("unknown operation");
}

}  // namespace stowage
