// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/tensor_writers.h"

#include <algorithm>

#include "core/tensor.h"

namespace stowage {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 26;

}  // namespace

TensorWriters::TensorWriters(const LoopNest& nest) : nest_(nest) {
  for (const NestTensorId t : nest.tensors.ids()) {
    if (!nest.tensors[t].written) continue;
    std::vector<Writer>& writers = written_[t];
    const auto elements = checked_element_count(shape_of(t));
    if (elements && *elements <= most_elements) {
      writers.resize(static_cast<std::size_t>(*elements));
    } else {
      complete_ = false;
    }
  }
}

const Shape& TensorWriters::shape_of(NestTensorId nest_tensor) const {
  return nest_.stages.tensors[nest_.tensors[nest_tensor].tensor].shape;
}

/// Calls `visit` with every element of a box of the tensor and its coordinates.
template <class Visit>
void TensorWriters::each(NestTensorId nest_tensor, const ElementBox& box, const Visit& visit) {
  const auto found = written_.find(nest_tensor);
  if (found == written_.end() || found->second.empty() || box.is_empty()) return;
  const Shape& shape = shape_of(nest_tensor);
  std::vector<std::int64_t> at = box.low;
  for (;;) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number = number * shape[d] + at[d];
    visit(found->second[static_cast<std::size_t>(number)], at);
    ++visited_;
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == box.end[d - 1]) {
      at[d - 1] = box.low[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

std::optional<TensorWriters::Element> TensorWriters::put(NestTensorId nest_tensor, const ElementBox& box, int core,
                                                         StatementId statement) {
  std::optional<Element> other;
  each(nest_tensor, box, [&](Writer& writer, const std::vector<std::int64_t>& at) {
    if (!other && writer.is_another(core)) other = Element{at, writer.core, writer.statement};
    writer = {core, statement};
  });
  return other;
}

std::optional<TensorWriters::Element> TensorWriters::of_another(NestTensorId nest_tensor, const ElementBox& box,
                                                                int core) {
  std::optional<Element> other;
  each(nest_tensor, box, [&](const Writer& writer, const std::vector<std::int64_t>& at) {
    if (!other && writer.is_another(core)) other = Element{at, writer.core, writer.statement};
  });
  return other;
}

std::vector<TensorWriters::Missing> TensorWriters::missing() const {
  std::vector<Missing> found;
  for (const auto& [tensor, writers] : written_) {
    const auto nobody = [](const Writer& writer) { return writer.core == Writer::nobody; };
    const auto first = std::find_if(writers.begin(), writers.end(), nobody);
    if (first == writers.end()) continue;
    Missing missing{tensor, std::count_if(first, writers.end(), nobody), static_cast<std::int64_t>(writers.size()), {}};
    std::int64_t number = first - writers.begin();
    const Shape& shape = shape_of(tensor);
    for (std::size_t d = shape.size(); d-- > 0; number /= shape[d])
      missing.first.insert(missing.first.begin(), number % shape[d]);
    found.push_back(std::move(missing));
  }
  return found;
}

}  // namespace stowage
