// SPDX-License-Identifier: Apache-2.0
#include "core/storage_box.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

StorageBox box_of(const Graph& graph, TensorId tensor) {
  const GraphTensor& t = graph.tensor(tensor);
  return t.inside ? *t.inside : StorageBox{tensor, 0, row_major_strides(t.shape)};
}

std::optional<std::string> broken_box(const GraphTensor& tensor, const GraphTensor& storage) {
  const StorageBox& box = *tensor.inside;
  if (storage.inside) return fmt::format("{} lies in {}, which has no memory of its own", tensor.name, storage.name);
  if (box.strides.size() != tensor.shape.size() || tensor.constant || tensor.type != storage.type) {
    return fmt::format("{} cannot lie in {} like that", tensor.name, storage.name);
  }
  if (!addresses_once(tensor.shape, box.strides))
    return fmt::format("two elements of {} lie at one place", tensor.name);
  const std::int64_t room = element_count(storage.shape) - box_reach(tensor.shape, box.strides);
  if (box.offset < 0 || box.offset > room) return fmt::format("{} does not lie inside {}", tensor.name, storage.name);
  return std::nullopt;
}

std::int64_t box_reach(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    last += (shape[d] - 1) * strides[d];
  }
  return last + 1;
}

std::vector<std::int64_t> settled_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::vector<std::int64_t> settled(strides.begin(), strides.end());
  std::int64_t next = 1;  // what row-major order makes of the dimensions inside
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) settled[d] = next;
    next = settled[d] * shape[d];
  }
  return settled;
}

bool is_dense(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  return element_count(shape) == 0 || settled_strides(shape, strides) == row_major_strides(shape);
}

bool addresses_once(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (element_count(shape) == 0) return true;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t reach = 1;
  for (const std::size_t d : order) {
    std::int64_t length = 0;
    const bool too_far =
        __builtin_mul_overflow(shape[d] - 1, strides[d], &length) || __builtin_add_overflow(reach, length, &length);
    if (strides[d] < reach || too_far) return false;
    reach = length;
  }
  return true;
}

bool same_box(std::span<const std::int64_t> shape, const StorageBox& a, const StorageBox& b) {
  if (a.storage != b.storage) return false;
  if (element_count(shape) == 0) return true;
  return a.offset == b.offset && settled_strides(shape, a.strides) == settled_strides(shape, b.strides);
}

Tensor gathered(ElementType type, const Shape& shape, std::span<const std::int64_t> strides,
                std::span<const std::byte> bytes) {
  const auto size = static_cast<std::size_t>(byte_size(type));
  check(bytes.size() >= static_cast<std::size_t>(box_reach(shape, strides)) * size, "a box without all of its bytes");
  std::vector<std::byte> dense(static_cast<std::size_t>(element_count(shape)) * size);
  const std::size_t rank = shape.size();
  const std::int64_t row = rank == 0 ? 1 : shape[rank - 1];
  const std::int64_t step = rank == 0 ? 1 : strides[rank - 1];
  std::vector<std::int64_t> index(rank, 0);
  std::byte* to = dense.data();
  for (const std::byte* const end = dense.data() + dense.size(); to != end;) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d + 1 < rank; ++d) from += index[d] * strides[d];
    for (std::int64_t i = 0; i < row; ++i, to += size) {
      std::memcpy(to, bytes.data() + static_cast<std::size_t>(from + i * step) * size, size);
    }
    for (std::size_t d = rank; d-- > 1 && ++index[d - 1] == shape[d - 1];) index[d - 1] = 0;
  }
  return {type, shape, std::move(dense)};
}

std::string to_text(const Graph& graph, const StorageBox& box) { return to_text(graph.tensor(box.storage).name, box); }

std::string to_text(const std::string& storage, const StorageBox& box) {
  return fmt::format("in {} from element {} with strides [{}]", storage, box.offset, fmt::join(box.strides, ", "));
}

Graph with_boxes(const Graph& graph, const std::map<TensorId, StorageBox>& boxes) {
  GraphBuilder builder(graph);
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const auto found = boxes.find(TensorId(t));
    builder.place(TensorId(t), found == boxes.end() ? std::nullopt : std::optional(found->second));
  }
  return std::move(builder).build();
}

}  // namespace stowage
