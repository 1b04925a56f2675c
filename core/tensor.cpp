// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/element_arithmetic.h"
#include "core/element_dispatch.h"

namespace stowage {

std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  const auto count = checked_element_count(shape);
  check(count.has_value(), "tensor size overflows");
  return *count;
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::string to_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

Tensor::Tensor(ElementType type, Shape shape, std::vector<std::byte> bytes) : type_(type), shape_(std::move(shape)) {
  own(std::move(bytes));
}

Tensor::Tensor(ElementType type, Shape shape, std::string bytes) : type_(type), shape_(std::move(shape)) {
  own(std::move(bytes));
}

template <class Bytes>
void Tensor::own(Bytes bytes) {
  check(static_cast<std::int64_t>(bytes.size()) == element_count(shape_) * byte_size(type_),
        "tensor bytes do not fit its shape");
  const auto owned = std::make_shared<const Bytes>(std::move(bytes));
  byte_count_ = owned->size();
  data_ = {owned, std::as_bytes(std::span(*owned)).data()};
}

Tensor Tensor::filled(ElementType type, Shape shape, const std::function<void(std::span<std::byte>)>& fill) {
  Tensor tensor;
  tensor.byte_count_ = static_cast<std::size_t>(element_count(shape) * byte_size(type));
  tensor.type_ = type;
  tensor.shape_ = std::move(shape);
  const auto bytes = std::make_shared_for_overwrite<std::byte[]>(tensor.byte_count_);
  fill({bytes.get(), tensor.byte_count_});
  tensor.data_ = {bytes, bytes.get()};
  return tensor;
}

Tensor Tensor::of_floats(Shape shape, std::span<const float> values) {
  return from<float>(ElementType::f32, std::move(shape), values);
}

Tensor Tensor::of_int64s(Shape shape, std::span<const std::int64_t> values) {
  return from<std::int64_t>(ElementType::i64, std::move(shape), values);
}

Tensor Tensor::scalar(ElementType type, double value) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_size(type)));
  store_element(type, value, bytes.data());
  return Tensor(type, {}, std::move(bytes));
}

namespace {

template <class To>
To element_as(const Tensor& tensor, std::int64_t i) {
  return with_type(tensor.type(), [&](auto sample) {
    return static_cast<To>(tensor.as<decltype(sample)>()[static_cast<std::size_t>(i)]);
  });
}

template <class Value>
void store(ElementType type, Value value, std::byte* to) {
  if (type == ElementType::boolean) {
    const std::uint8_t truth = value != Value{} ? 1 : 0;
    std::memcpy(to, &truth, 1);
    return;
  }
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    T element;
    if constexpr (std::is_floating_point_v<Value> && std::is_integral_v<T>) {
      element = to_integer<T>(value);
    } else {
      element = static_cast<T>(value);
    }
    std::memcpy(to, &element, sizeof element);
  });
}

}  // namespace

double Tensor::as_double(std::int64_t i) const { return element_as<double>(*this, i); }

std::int64_t Tensor::as_int64(std::int64_t i) const { return element_as<std::int64_t>(*this, i); }

std::vector<std::int64_t> Tensor::to_int64s() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = as_int64(static_cast<std::int64_t>(i));
  return values;
}

Tensor Tensor::reshaped(Shape shape) const {
  check(element_count(shape) == size(), "reshape changes the number of elements");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

namespace {

/// Bytes of the elements that share their indices of the dimensions before `axis`.
std::size_t run_bytes(const Tensor& tensor, std::size_t axis) {
  return static_cast<std::size_t>(element_count(std::span(tensor.shape()).subspan(axis)) * byte_size(tensor.type()));
}

std::size_t run_count(const Tensor& tensor, std::size_t axis) {
  return static_cast<std::size_t>(element_count(std::span(tensor.shape()).first(axis)));
}

}  // namespace

Tensor concatenated(std::span<const Tensor> parts, std::size_t axis) {
  check(!parts.empty(), "nothing to put together");
  Shape shape = parts[0].shape();
  shape.at(axis) = 0;
  for (const Tensor& part : parts) {
    Shape with_its_extent = shape;
    with_its_extent[axis] = part.shape().at(axis);
    check(part.type() == parts[0].type() && part.shape() == with_its_extent, "tensors that do not fit together");
    shape[axis] += part.shape()[axis];
  }
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(element_count(shape) * byte_size(parts[0].type())));
  for (std::size_t run = 0; run < run_count(parts[0], axis); ++run) {
    for (const Tensor& part : parts) {
      const auto elements = part.bytes().subspan(run * run_bytes(part, axis), run_bytes(part, axis));
      bytes.insert(bytes.end(), elements.begin(), elements.end());
    }
  }
  return {parts[0].type(), std::move(shape), std::move(bytes)};
}

Tensor part_of(const Tensor& whole, std::size_t axis, std::int64_t first, std::int64_t extent) {
  Shape shape = whole.shape();
  check(first >= 0 && extent >= 0 && first + extent <= shape.at(axis), "a part that is not inside");
  const std::size_t step = run_bytes(whole, axis + 1);
  shape[axis] = extent;
  std::vector<std::byte> bytes;
  for (std::size_t run = 0; run < run_count(whole, axis); ++run) {
    const auto elements = whole.bytes().subspan(run * run_bytes(whole, axis) + static_cast<std::size_t>(first) * step,
                                                static_cast<std::size_t>(extent) * step);
    bytes.insert(bytes.end(), elements.begin(), elements.end());
  }
  return {whole.type(), std::move(shape), std::move(bytes)};
}

void store_element(ElementType type, double value, std::byte* to) { store(type, value, to); }
void store_element(ElementType type, std::int64_t value, std::byte* to) { store(type, value, to); }

}  // namespace stowage
