// SPDX-License-Identifier: Apache-2.0
// A tensor's value: element type, shape, and its elements in row-major order. Immutable and cheap to copy:
// copies share the elements, so constants are never duplicated by a rewrite of the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/element_type.h"

namespace stowage {

using Shape = std::vector<std::int64_t>;  ///< extents, highest dimension first; empty for a scalar

/// Number of elements; nothing where it overflows 64 bits.
std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape);
/// Number of elements of a shape known to be small enough.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// Row-major strides, in elements.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape);
std::string to_text(const Shape& shape);  ///< "[1,3,224,224]"

class Tensor {
 public:
  Tensor() = default;
  /// Takes row-major bytes; their number must be element_count(shape) * byte_size(type).
  Tensor(ElementType type, Shape shape, std::vector<std::byte> bytes);
  /// The same of bytes that were read as a string, as protobuf does.
  Tensor(ElementType type, Shape shape, std::string bytes);

  template <class T>
  static Tensor from(ElementType type, Shape shape, std::span<const T> values);
  /// Elements that `fill` writes, every one of them: memory of large tensors is not cleared before.
  static Tensor filled(ElementType type, Shape shape, const std::function<void(std::span<std::byte>)>& fill);
  static Tensor of_floats(Shape shape, std::span<const float> values);
  static Tensor of_int64s(Shape shape, std::span<const std::int64_t> values);
  static Tensor scalar(ElementType type, double value);

  [[nodiscard]] ElementType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t size() const { return element_count(shape_); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), data_ ? byte_count_ : 0}; }
  /// The elements as T; T must have the size of the element type.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    check(sizeof(T) == static_cast<std::size_t>(byte_size(type_)), "tensor read as another type");
    return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  /// Element i converted to double (exact for all but large 64-bit integers) or to a 64-bit integer.
  [[nodiscard]] double as_double(std::int64_t i) const;
  [[nodiscard]] std::int64_t as_int64(std::int64_t i) const;
  [[nodiscard]] std::vector<std::int64_t> to_int64s() const;
  /// The same elements under another shape of equal size.
  [[nodiscard]] Tensor reshaped(Shape shape) const;

 private:
  ElementType type_ = ElementType::f32;
  Shape shape_ = {0};
  template <class Bytes>
  void own(Bytes bytes);

  std::shared_ptr<const std::byte> data_;  ///< into whatever holds the elements
  std::size_t byte_count_ = 0;
};

template <class T>
Tensor Tensor::from(ElementType type, Shape shape, std::span<const T> values) {
  check(sizeof(T) == static_cast<std::size_t>(byte_size(type)), "tensor built from another type");
  const auto raw = std::as_bytes(values);
  return Tensor(type, std::move(shape), std::vector<std::byte>(raw.begin(), raw.end()));
}

/// Tensors of one type whose shapes differ along `axis` alone, one behind the other along it.
Tensor concatenated(std::span<const Tensor> parts, std::size_t axis);
/// Elements first … first + extent - 1 along `axis`.
Tensor part_of(const Tensor& whole, std::size_t axis, std::int64_t first, std::int64_t extent);

/// Writes `value` as one element of `type` at `to`; numbers beyond the type's range as core/element_arithmetic.h says.
void store_element(ElementType type, double value, std::byte* to);
void store_element(ElementType type, std::int64_t value, std::byte* to);

}  // namespace stowage
