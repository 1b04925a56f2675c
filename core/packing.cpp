// SPDX-License-Identifier: Apache-2.0
#include "core/packing.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {
namespace {

/// Calls visit(number of an element before, number of it packed) for every element, in the packed order.
template <class Visit>
void for_each_element(const Packing& packing, const Visit& visit) {
  std::int64_t to = 0;
  for (std::int64_t first = 0; first < packing.extent; first += packing.block) {
    for (std::int64_t o = 0; o < packing.outer; ++o) {
      for (std::int64_t i = 0; i < packing.inner; ++i) {
        for (std::int64_t lane = 0; lane < packing.block; ++lane) {
          visit((o * packing.extent + first + lane) * packing.inner + i, to++);
        }
      }
    }
  }
}

void check_fits(const Tensor& value, const Packing& packing) {
  check(packing.block > 0 && packing.extent % packing.block == 0 &&
            packing.outer * packing.extent * packing.inner == value.size(),
        "a tensor is packed as one of another form");
}

}  // namespace

std::string to_text(const Packing& packing) {
  return fmt::format("packed [{}, {}, {}] by {}", packing.outer, packing.extent, packing.inner, packing.block);
}

Packing packing_along(const Shape& shape, std::size_t dimension, std::int64_t block) {
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dimension);
  return {element_count({shape.begin(), at}), *at, element_count({at + 1, shape.end()}), block};
}

Tensor packed(const Tensor& value, const Packing& packing, Shape shape) {
  check_fits(value, packing);
  const auto size = static_cast<std::int64_t>(byte_size(value.type()));
  std::vector<std::byte> bytes(value.bytes().size());
  for_each_element(packing,
                   [&, from = value.bytes().data(), to = bytes.data()](std::int64_t before, std::int64_t after) {
                     std::memcpy(to + after * size, from + before * size, static_cast<std::size_t>(size));
                   });
  return Tensor(value.type(), std::move(shape), std::move(bytes));
}

Tensor unpacked(const Tensor& value, const Packing& packing, Shape shape) {
  check_fits(value, packing);
  const auto size = static_cast<std::int64_t>(byte_size(value.type()));
  std::vector<std::byte> bytes(value.bytes().size());
  for_each_element(packing,
                   [&, from = value.bytes().data(), to = bytes.data()](std::int64_t before, std::int64_t after) {
                     std::memcpy(to + before * size, from + after * size, static_cast<std::size_t>(size));
                   });
  return Tensor(value.type(), std::move(shape), std::move(bytes));
}

}  // namespace stowage
