// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate_lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/element_arithmetic.h"
#include "core/element_dispatch.h"

namespace stowage {
namespace {

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t value_of(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

bool integer_less(ElementType type, std::int64_t a, std::int64_t b) {
  return type == ElementType::u64 ? bits(a) < bits(b) : a < b;
}

template <class F>
void map_floats(const Lane& a, Lane& target, std::size_t points, F&& f) {
  for (std::size_t p = 0; p < points; ++p) target.floats[p] = f(a.floats[p]);
}

template <class F>
void map_floats(const Lane& a, const Lane& b, Lane& target, std::size_t points, F&& f) {
  for (std::size_t p = 0; p < points; ++p) target.floats[p] = f(a.floats[p], b.floats[p]);
}

template <class F>
void map_integers(const Lane& a, Lane& target, std::size_t points, F&& f) {
  for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.integers[p]);
}

template <class F>
void map_integers(const Lane& a, const Lane& b, Lane& target, std::size_t points, F&& f) {
  for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.integers[p], b.integers[p]);
}

template <class F>
void compare_floats(const Lane& a, const Lane& b, Lane& target, std::size_t points, F&& f) {
  for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.floats[p], b.floats[p]) ? 1 : 0;
}

void apply_float(UnaryOp op, const Lane& a, Lane& target, std::size_t n) {
  switch (op) {
    case UnaryOp::negate: map_floats(a, target, n, [](double x) { return -x; }); return;
    case UnaryOp::exp: map_floats(a, target, n, [](double x) { return std::exp(x); }); return;
    case UnaryOp::log: map_floats(a, target, n, [](double x) { return std::log(x); }); return;
    case UnaryOp::sqrt: map_floats(a, target, n, [](double x) { return std::sqrt(x); }); return;
    case UnaryOp::erf: map_floats(a, target, n, [](double x) { return std::erf(x); }); return;
    case UnaryOp::tanh: map_floats(a, target, n, [](double x) { return std::tanh(x); }); return;
    case UnaryOp::floor: map_floats(a, target, n, [](double x) { return std::floor(x); }); return;
    case UnaryOp::ceil: map_floats(a, target, n, [](double x) { return std::ceil(x); }); return;
    case UnaryOp::abs: map_floats(a, target, n, [](double x) { return std::fabs(x); }); return;
    case UnaryOp::sin: map_floats(a, target, n, [](double x) { return std::sin(x); }); return;
    case UnaryOp::cos: map_floats(a, target, n, [](double x) { return std::cos(x); }); return;
    case UnaryOp::round: map_floats(a, target, n, [](double x) { return std::nearbyint(x); }); return;
    case UnaryOp::logical_not: break;
  }
  fail_check("operation that floats do not have");
}

void apply_integer(UnaryOp op, ElementType type, const Lane& a, Lane& target, std::size_t n) {
  switch (op) {
    case UnaryOp::negate: map_integers(a, target, n, [](std::int64_t x) { return value_of(0 - bits(x)); }); break;
    case UnaryOp::abs:
      map_integers(a, target, n, [&](std::int64_t x) { return is_signed(type) && x < 0 ? value_of(0 - bits(x)) : x; });
      break;
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round: map_integers(a, target, n, [](std::int64_t x) { return x; }); break;
    case UnaryOp::logical_not: map_integers(a, target, n, [](std::int64_t x) { return x == 0 ? 1 : 0; }); break;
    default: fail_check("operation that integers do not have");
  }
  wrap(type, target.integers, n);
}

void apply_float(BinaryOp op, const Lane& a, const Lane& b, Lane& target, std::size_t n) {
  switch (op) {
    case BinaryOp::add: map_floats(a, b, target, n, [](double x, double y) { return x + y; }); return;
    case BinaryOp::subtract: map_floats(a, b, target, n, [](double x, double y) { return x - y; }); return;
    case BinaryOp::multiply: map_floats(a, b, target, n, [](double x, double y) { return x * y; }); return;
    case BinaryOp::divide: map_floats(a, b, target, n, [](double x, double y) { return x / y; }); return;
    case BinaryOp::minimum: map_floats(a, b, target, n, [](double x, double y) { return minimum_of(x, y); }); return;
    case BinaryOp::maximum: map_floats(a, b, target, n, [](double x, double y) { return maximum_of(x, y); }); return;
    case BinaryOp::power: map_floats(a, b, target, n, [](double x, double y) { return std::pow(x, y); }); return;
    case BinaryOp::less: compare_floats(a, b, target, n, [](double x, double y) { return x < y; }); return;
    case BinaryOp::less_equal: compare_floats(a, b, target, n, [](double x, double y) { return x <= y; }); return;
    case BinaryOp::equal: compare_floats(a, b, target, n, [](double x, double y) { return x == y; }); return;
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: break;
  }
  fail_check("operation that floats do not have");
}

void apply_integer(BinaryOp op, ElementType type, const Lane& a, const Lane& b, Lane& target, std::size_t n) {
  using I = std::int64_t;
  switch (op) {
    case BinaryOp::add: map_integers(a, b, target, n, [](I x, I y) { return value_of(bits(x) + bits(y)); }); break;
    case BinaryOp::subtract: map_integers(a, b, target, n, [](I x, I y) { return value_of(bits(x) - bits(y)); }); break;
    case BinaryOp::multiply: map_integers(a, b, target, n, [](I x, I y) { return value_of(bits(x) * bits(y)); }); break;
    case BinaryOp::divide: map_integers(a, b, target, n, [&](I x, I y) { return integer_quotient(type, x, y); }); break;
    case BinaryOp::minimum:
      map_integers(a, b, target, n, [&](I x, I y) { return integer_less(type, y, x) ? y : x; });
      break;
    case BinaryOp::maximum:
      map_integers(a, b, target, n, [&](I x, I y) { return integer_less(type, x, y) ? y : x; });
      break;
    case BinaryOp::power: map_integers(a, b, target, n, [&](I x, I y) { return integer_power(type, x, y); }); break;
    case BinaryOp::less:
      map_integers(a, b, target, n, [&](I x, I y) { return integer_less(type, x, y) ? 1 : 0; });
      return;
    case BinaryOp::less_equal:
      map_integers(a, b, target, n, [&](I x, I y) { return integer_less(type, y, x) ? 0 : 1; });
      return;
    case BinaryOp::equal: map_integers(a, b, target, n, [](I x, I y) { return x == y ? 1 : 0; }); return;
    case BinaryOp::logical_and:
      map_integers(a, b, target, n, [](I x, I y) { return x != 0 && y != 0 ? 1 : 0; });
      return;
    case BinaryOp::logical_or: map_integers(a, b, target, n, [](I x, I y) { return x != 0 || y != 0 ? 1 : 0; }); return;
  }
  wrap(type, target.integers, n);
}

}  // namespace

void fill(ElementType type, double value, Lane& target) {
  if (is_float(type)) {
    std::fill(target.floats.begin(), target.floats.end(), rounded(type, value));
  } else {
    std::fill(target.integers.begin(), target.integers.end(), to_integer(type, value));
  }
}

void fill(ElementType type, std::int64_t value, Lane& target) {
  if (is_float(type)) {
    std::fill(target.floats.begin(), target.floats.end(), to_float(type, ElementType::i64, value));
  } else {
    std::fill(target.integers.begin(), target.integers.end(), wrapped(type, value));
  }
}

void fill_identity(Reduction reduction, ElementType type, Lane& target) {
  fill(type, identity_of(reduction, type), target);
}

void wrap(ElementType type, IntLane& lane, std::size_t points) {
  if (is_float(type) || type == ElementType::i64 || type == ElementType::u64) return;
  for (std::size_t p = 0; p < points; ++p) lane[p] = wrapped(type, lane[p]);
}

void load_elements(const Tensor& tensor, const IntLane& offset, std::int64_t shift, Lane& target, std::size_t points) {
  with_type(tensor.type(), [&](auto sample) {
    using T = decltype(sample);
    if (tensor.size() == 0) return;
    const T* data = tensor.as<T>().data() + shift;
    for (std::size_t p = 0; p < points; ++p) {
      if constexpr (std::is_floating_point_v<T>) {
        target.floats[p] = static_cast<double>(data[offset[p]]);
      } else {
        target.integers[p] = static_cast<std::int64_t>(data[offset[p]]);
      }
    }
  });
}

void store_lane(ElementType type, const Lane& lane, std::size_t points, std::byte* to) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    for (std::size_t p = 0; p < points; ++p) {
      T element;
      if constexpr (std::is_floating_point_v<T>) {
        element = static_cast<T>(lane.floats[p]);
      } else {
        element = static_cast<T>(lane.integers[p]);
      }
      std::memcpy(to + p * sizeof(T), &element, sizeof(T));
    }
  });
}

void store_where(const std::vector<std::uint8_t>& mask, ElementType type, double value, Lane& target) {
  const std::int64_t integer = is_float(type) ? 0 : to_integer(type, value);
  for (std::size_t p = 0; p < mask.size(); ++p) {
    if (mask[p] == 0) continue;
    target.floats[p] = value;
    target.integers[p] = integer;
  }
}

void convert(ElementType from, const Lane& source, ElementType to, Lane& target, std::size_t points) {
  for (std::size_t p = 0; p < points; ++p) {
    if (is_float(to)) {
      target.floats[p] = is_float(from) ? rounded(to, source.floats[p]) : to_float(to, from, source.integers[p]);
    } else {
      target.integers[p] = is_float(from) ? to_integer(to, source.floats[p]) : wrapped(to, source.integers[p]);
    }
  }
}

void convert_integers(const IntLane& source, ElementType to, Lane& target, std::size_t points) {
  for (std::size_t p = 0; p < points; ++p) {
    if (is_float(to)) {
      target.floats[p] = to_float(to, ElementType::i64, source[p]);
    } else {
      target.integers[p] = wrapped(to, source[p]);
    }
  }
}

void apply(UnaryOp op, ElementType type, const Lane& a, Lane& target, std::size_t points) {
  if (is_float(type)) {
    apply_float(op, a, target, points);
  } else {
    apply_integer(op, type, a, target, points);
  }
}

void apply(BinaryOp op, ElementType type, const Lane& a, const Lane& b, Lane& target, std::size_t points) {
  if (is_float(type)) {
    apply_float(op, a, b, target, points);
  } else {
    apply_integer(op, type, a, b, target, points);
  }
}

void select(ElementType type, const Lane& condition, const Lane& a, const Lane& b, Lane& target, std::size_t points) {
  for (std::size_t p = 0; p < points; ++p) {
    const Lane& chosen = condition.integers[p] != 0 ? a : b;
    if (is_float(type)) {
      target.floats[p] = chosen.floats[p];
    } else {
      target.integers[p] = chosen.integers[p];
    }
  }
}

void combine(Reduction reduction, ElementType type, Lane& accumulator, const Lane& value, std::size_t points) {
  if (is_float(type)) {
    const auto update = [&](auto&& f) { map_floats(accumulator, value, accumulator, points, f); };
    switch (reduction) {
      case Reduction::none: break;
      case Reduction::sum: update([](double acc, double x) { return acc + x; }); return;
      case Reduction::product: update([](double acc, double x) { return acc * x; }); return;
      case Reduction::maximum: update([](double acc, double x) { return maximum_of(acc, x); }); return;
      case Reduction::minimum: update([](double acc, double x) { return minimum_of(acc, x); }); return;
    }
    fail_check("unknown reduction");
  }
  switch (reduction) {
    case Reduction::none: break;
    case Reduction::sum: apply_integer(BinaryOp::add, type, accumulator, value, accumulator, points); return;
    case Reduction::product: apply_integer(BinaryOp::multiply, type, accumulator, value, accumulator, points); return;
    case Reduction::maximum: apply_integer(BinaryOp::maximum, type, accumulator, value, accumulator, points); return;
    case Reduction::minimum: apply_integer(BinaryOp::minimum, type, accumulator, value, accumulator, points); return;
  }
  fail_check("unknown reduction");
}

}  // namespace stowage
