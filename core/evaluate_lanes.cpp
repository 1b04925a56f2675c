// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate_lanes.h"

#include <algorithm>
#include <cstring>

#include "core/element_arithmetic.h"
#include "core/element_dispatch.h"
#include "core/scalar_operation.h"

namespace stowage {

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
    with_float_operation(op, [&](auto&& f) {
      for (std::size_t p = 0; p < points; ++p) target.floats[p] = f(a.floats[p]);
    });
    return;
  }
  with_integer_operation(op, type, [&](auto&& f) {
    for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.integers[p]);
  });
  wrap(type, target.integers, points);
}

void apply(BinaryOp op, ElementType type, const Lane& a, const Lane& b, Lane& target, std::size_t points) {
  if (is_float(type) && is_comparison(op)) {
    with_float_comparison(op, [&](auto&& f) {
      for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.floats[p], b.floats[p]) ? 1 : 0;
    });
    return;
  }
  if (is_float(type)) {
    with_float_operation(op, [&](auto&& f) {
      for (std::size_t p = 0; p < points; ++p) target.floats[p] = f(a.floats[p], b.floats[p]);
    });
    return;
  }
  with_integer_operation(op, type, [&](auto&& f) {
    for (std::size_t p = 0; p < points; ++p) target.integers[p] = f(a.integers[p], b.integers[p]);
  });
  wrap(type, target.integers, points);
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
  apply(step_of(reduction), type, accumulator, value, accumulator, points);
}

}  // namespace stowage
