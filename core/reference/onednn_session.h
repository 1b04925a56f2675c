// SPDX-License-Identifier: Apache-2.0
// One call of a oneDNN primitive: engine, stream and the memory around it. Internal to core/reference.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>

#include "core/operators.h"
#include "core/reference/onednn.h"

namespace stowage::reference {

using Dims = dnnl::memory::dims;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// Row-major description of f32 elements.
dnnl::memory::desc plain(const Dims& dims);
/// The same elements, laid out as the primitive likes best.
dnnl::memory::desc any_layout(const Dims& dims);

class Session {
 public:
  explicit Session(const OneDnnCall& call);

  [[nodiscard]] const OneDnnCall& call() const { return call_; }
  [[nodiscard]] bool has(std::size_t slot) const {
    return slot < call_.inputs.size() && call_.inputs[slot].has_value();
  }
  [[nodiscard]] const Tensor& input(std::size_t slot) const { return *call_.inputs[slot]; }
  [[nodiscard]] const dnnl::engine& engine() const { return engine_; }

  /// A view of an operand's elements, which nobody writes to.
  [[nodiscard]] dnnl::memory memory(std::size_t slot, const dnnl::memory::desc& layout) const;
  /// An operand copied to the layout that a primitive wants.
  [[nodiscard]] dnnl::memory memory_in(const dnnl::memory::desc& wanted, std::size_t slot,
                                       const dnnl::memory::desc& layout);
  /// Runs the primitive into a destination of layout `destination`; returns its elements in the call's shape.
  Tensor run(const dnnl::primitive& primitive, Arguments arguments, const dnnl::memory::desc& destination,
             const Dims& dims);

 private:
  const OneDnnCall& call_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

// Each returns nothing where oneDNN does not do exactly the same.
std::optional<Tensor> convolve(Session& session);
std::optional<Tensor> convolve_transposed(Session& session);
std::optional<Tensor> pool(Session& session);
std::optional<Tensor> pool_globally(Session& session);

std::optional<Tensor> batch_normalize(Session& session);
std::optional<Tensor> combine(Session& session);
std::optional<Tensor> layer_normalize(Session& session);
std::optional<Tensor> map_elements(Session& session);
std::optional<Tensor> multiply_matrices(Session& session);
std::optional<Tensor> multiply_scaled_matrices(Session& session);
std::optional<Tensor> normalize_locally(Session& session);
std::optional<Tensor> parametric_relu(Session& session);
std::optional<Tensor> reduce(Session& session);
std::optional<Tensor> softmax(Session& session);

}  // namespace stowage::reference
