// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate_lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/element_dispatch.h"

namespace stowage {
namespace {

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t value_of(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

std::int64_t wrapped(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::i8: return static_cast<std::int8_t>(value);
    case ElementType::i16: return static_cast<std::int16_t>(value);
    case ElementType::i32: return static_cast<std::int32_t>(value);
    case ElementType::u8: return static_cast<std::uint8_t>(value);
    case ElementType::u16: return static_cast<std::uint16_t>(value);
    case ElementType::u32: return static_cast<std::uint32_t>(value);
    case ElementType::boolean: return value != 0 ? 1 : 0;
    default: return value;
  }
}

/// As C converts where C defines it; beyond the range of 64 bits the nearest value, NaN becomes 0.
std::int64_t integer_from(ElementType type, double value) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) return type == ElementType::boolean ? 1 : 0;
  if (type == ElementType::boolean) return value != 0 ? 1 : 0;
  if (type == ElementType::u64 && value >= limit) {
    return value >= 2 * limit ? value_of(~std::uint64_t{0}) : value_of(static_cast<std::uint64_t>(value));
  }
  if (value >= limit) return INT64_MAX;
  if (value < -limit) return INT64_MIN;
  return wrapped(type, static_cast<std::int64_t>(value));
}

double float_from(ElementType from, std::int64_t value) {
  return from == ElementType::u64 ? static_cast<double>(bits(value)) : static_cast<double>(value);
}

double rounded(ElementType type, double value) {
  return type == ElementType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

std::int64_t integer_power(ElementType type, std::int64_t base, std::int64_t exponent) {
  if (is_signed(type) && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::uint64_t result = 1;
  std::uint64_t factor = bits(base);
  for (std::uint64_t rest = bits(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return value_of(result);
}

std::int64_t integer_quotient(ElementType type, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (type == ElementType::u64) return value_of(bits(a) / bits(b));
  if (b == -1) return value_of(0 - bits(a));
  return a / b;
}

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
    case BinaryOp::minimum: map_floats(a, b, target, n, [](double x, double y) { return y < x ? y : x; }); return;
    case BinaryOp::maximum: map_floats(a, b, target, n, [](double x, double y) { return x < y ? y : x; }); return;
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
    std::fill(target.floats.begin(), target.floats.end(), value);
  } else {
    std::fill(target.integers.begin(), target.integers.end(), integer_from(type, value));
  }
}

void fill(ElementType type, std::int64_t value, Lane& target) {
  if (is_float(type)) {
    std::fill(target.floats.begin(), target.floats.end(), static_cast<double>(value));
  } else {
    std::fill(target.integers.begin(), target.integers.end(), wrapped(type, value));
  }
}

void fill_identity(Reduction reduction, ElementType type, Lane& target) {
  // The limits of 64-bit integers are no doubles: identity_of gives their nearest neighbours only.
  const bool lowest = reduction == Reduction::maximum;
  if (type == ElementType::i64 && (lowest || reduction == Reduction::minimum)) {
    fill(type, lowest ? INT64_MIN : INT64_MAX, target);
  } else if (type == ElementType::u64 && reduction == Reduction::minimum) {
    fill(type, std::int64_t{-1}, target);
  } else {
    fill(type, identity_of(reduction, type), target);
  }
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
  const std::int64_t integer = is_float(type) ? 0 : integer_from(type, value);
  for (std::size_t p = 0; p < mask.size(); ++p) {
    if (mask[p] == 0) continue;
    target.floats[p] = value;
    target.integers[p] = integer;
  }
}

void convert(ElementType from, const Lane& source, ElementType to, Lane& target, std::size_t points) {
  for (std::size_t p = 0; p < points; ++p) {
    if (is_float(to)) {
      target.floats[p] = rounded(to, is_float(from) ? source.floats[p] : float_from(from, source.integers[p]));
    } else {
      target.integers[p] = is_float(from) ? integer_from(to, source.floats[p]) : wrapped(to, source.integers[p]);
    }
  }
}

void convert_integers(const IntLane& source, ElementType to, Lane& target, std::size_t points) {
  for (std::size_t p = 0; p < points; ++p) {
    if (is_float(to)) {
      target.floats[p] = rounded(to, static_cast<double>(source[p]));
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
      case Reduction::maximum: update([](double acc, double x) { return acc < x || x != x ? x : acc; }); return;
      case Reduction::minimum: update([](double acc, double x) { return x < acc || x != x ? x : acc; }); return;
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
