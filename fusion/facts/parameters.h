// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the parameters of convolutions and matrix products, for intrinsic fusion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/graph.h"

namespace stowage {

/// y = scale[c] * x + shift[c], channel by channel.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;

  static ChannelAffine identity(std::int64_t channels);
  /// `next` after this one.
  [[nodiscard]] ChannelAffine then(const ChannelAffine& next) const;
  [[nodiscard]] bool scales() const;
  [[nodiscard]] bool shifts() const;
  [[nodiscard]] bool is_finite() const;
};

/// What an operator does to the elements of its operand `x`, a tensor of shape `shape` whose channels lie along
/// `channel_axis`; or why that is not one constant factor and summand a channel.
std::variant<ChannelAffine, std::string> channel_affine(const Graph& graph, const Operator& op, TensorId x,
                                                        const Shape& shape, std::size_t channel_axis);

/// Weights multiplied by the scale of the output channel they belong to. `op` says how they are laid out.
Tensor scaled_weights(const Operator& op, const Tensor& weights, const std::vector<double>& scale);
/// A vector of one value a channel, from a tensor of one element or one a channel; nothing for another shape.
std::optional<std::vector<double>> channel_values(const Tensor& tensor, std::int64_t channels);
Tensor tensor_of_doubles(ElementType type, Shape shape, const std::vector<double>& values);
/// A matrix with rows and columns exchanged.
Tensor transposed(const Tensor& matrix);

}  // namespace stowage
