// SPDX-License-Identifier: Apache-2.0
#include "tests/emitter/scalar_draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/element_dispatch.h"

namespace stowage::fixtures {
namespace {

/// Zeros of both signs, ones, halves, NaN, infinities, denormal numbers, the limits of the type and of the integers it
/// may be converted to, and a few values between.
template <class T>
std::vector<T> special_values(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0, 1, 2, 3, Limits::max(), Limits::lowest()};
  if constexpr (std::is_floating_point_v<T>) {
    for (const double value : {-0.0, 0.5, 2.5, 127.5, 255.9, 256.0, 2147483648.0, 4294967296.0, 9223372036854775808.0,
                               18446744073709551616.0, 16777217.0, 1e10}) {
      values.push_back(static_cast<T>(value));
      values.push_back(static_cast<T>(-value));
    }
    for (const T value : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
                          -Limits::denorm_min(), Limits::min(), T{-1}}) {
      values.push_back(value);
    }
  } else {
    // The last one rounds twice on the way to f32 by way of f64.
    for (const T value : {static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(Limits::max() - 1),
                          static_cast<T>(Limits::max() / 2 + 1), static_cast<T>(-128), static_cast<T>(16777217),
                          static_cast<T>(9007199791611905)}) {
      values.push_back(value);
    }
  }
  while (values.size() < 34) {
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(static_cast<T>(
          std::ldexp(static_cast<double>(random() % 20001) - 10000, static_cast<int>(random() % 40) - 20)));
    } else {
      values.push_back(static_cast<T>(random()));
    }
  }
  return values;
}

}  // namespace

std::vector<Tensor> special_inputs(std::mt19937_64& random) {
  std::vector<Tensor> inputs;
  for (const ElementType type : drawn_types) {
    with_type(type, [&](auto sample) {
      using T = decltype(sample);
      std::vector<T> values = special_values<T>(random);
      if (type == ElementType::boolean) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 2);
      }
      std::vector<T> first;
      std::vector<T> second;
      for (std::size_t p = 0; p < drawn_points; ++p) {
        first.push_back(values[p / special_count]);
        second.push_back(values[p % special_count]);
      }
      const Shape shape = {static_cast<std::int64_t>(drawn_points)};
      inputs.push_back(Tensor::from<T>(type, shape, first));
      inputs.push_back(Tensor::from<T>(type, shape, second));
    });
  }
  return inputs;
}

ReadId read_of(ElementType type, bool second) {
  const auto at = std::find(drawn_types.begin(), drawn_types.end(), type) - drawn_types.begin();
  return ReadId(2 * static_cast<std::size_t>(at) + (second ? 1 : 0));
}

ScalarExpr ScalarDraw::draw() {
  const ElementType type = drawn_types[below(drawn_types.size())];
  if (type == ElementType::f32 && below(2) == 0) {
    const std::array rounding = {BinaryOp::add, BinaryOp::subtract, BinaryOp::multiply, BinaryOp::divide};
    switch (below(6)) {
      case 0: return scalar_unary(UnaryOp::sqrt, exact(type, 3));
      case 1: return scalar_unary(library_functions[below(library_functions.size())], exact(type, 3));
      case 2: return scalar_binary(BinaryOp::power, exact(type, 3), scalar_read(type, read_of(type, below(2) == 0)));
      default: return scalar_binary(rounding[below(rounding.size())], exact(type, 3), exact(type, 3));
    }
  }
  return exact(type, 4);
}

ScalarExpr ScalarDraw::leaf(ElementType type) {
  if (below(4) != 0) return scalar_read(type, read_of(type, below(2) == 0));
  return with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const std::vector<T> values = special_values<T>(random_);
    const T value = values[below(values.size())];
    if constexpr (std::is_floating_point_v<T>) return scalar_constant(type, static_cast<double>(value));
    if (type == ElementType::boolean) return scalar_integer(type, static_cast<std::int64_t>(value) % 2);
    return scalar_integer(type, static_cast<std::int64_t>(value));
  });
}

ScalarExpr ScalarDraw::unary(ElementType type, int depth) {
  std::vector<UnaryOp> ops = {UnaryOp::negate, UnaryOp::abs, UnaryOp::floor, UnaryOp::ceil, UnaryOp::round};
  if (type == ElementType::f64) {
    ops.push_back(UnaryOp::sqrt);
    ops.insert(ops.end(), library_functions.begin(), library_functions.end());
  }
  if (type == ElementType::boolean) ops = {UnaryOp::logical_not};
  return scalar_unary(ops[below(ops.size())], exact(type, depth - 1));
}

ScalarExpr ScalarDraw::binary(ElementType type, int depth) {
  if (type == ElementType::boolean && below(3) != 0) {
    const ElementType operands = drawn_types[below(drawn_types.size())];
    const std::array comparisons = {BinaryOp::less, BinaryOp::less_equal, BinaryOp::equal};
    return scalar_binary(comparisons[below(3)], exact(operands, depth - 1), exact(operands, depth - 1));
  }
  std::vector<BinaryOp> ops = {BinaryOp::minimum, BinaryOp::maximum};
  if (type == ElementType::boolean) {
    ops = {BinaryOp::logical_and, BinaryOp::logical_or};
  } else if (type != ElementType::f32) {
    ops.insert(ops.end(), {BinaryOp::add, BinaryOp::subtract, BinaryOp::multiply, BinaryOp::divide, BinaryOp::power});
  }
  const BinaryOp op = ops[below(ops.size())];
  ScalarExpr a = exact(type, depth - 1);
  // A compiler may know the power of a constant exponent better than the library does.
  ScalarExpr b = op == BinaryOp::power ? scalar_read(type, read_of(type, below(2) == 0)) : exact(type, depth - 1);
  return scalar_binary(op, std::move(a), std::move(b));
}

ScalarExpr ScalarDraw::exact(ElementType type, int depth) {
  if (depth == 0) return leaf(type);
  switch (below(6)) {
    case 0: return leaf(type);
    case 1: return unary(type, depth);
    case 2:
      return scalar_select(exact(ElementType::boolean, depth - 1), exact(type, depth - 1), exact(type, depth - 1));
    case 3: return scalar_cast(type, exact(drawn_types[below(drawn_types.size())], depth - 1));
    default: return binary(type, depth);
  }
}

}  // namespace stowage::fixtures
