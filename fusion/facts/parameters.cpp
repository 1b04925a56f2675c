// SPDX-License-Identifier: Apache-2.0
#include "fusion/facts/parameters.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/parallel.h"
#include "core/transpose.h"

namespace stowage {
namespace {

/// Channel values of a constant operand that is broadcast against `shape`; nothing if it varies along other dimensions.
std::optional<std::vector<double>> broadcast_channels(const Tensor& constant, const Shape& shape, std::size_t axis) {
  if (constant.shape().size() > shape.size()) return std::nullopt;
  const std::size_t missing = shape.size() - constant.shape().size();
  for (std::size_t d = 0; d < constant.shape().size(); ++d) {
    if (constant.shape()[d] != 1 && d + missing != axis) return std::nullopt;
  }
  return channel_values(constant, shape[axis]);
}

std::variant<ChannelAffine, std::string> batch_normalization(const Graph& graph, const Operator& op, const Shape& shape,
                                                             std::size_t channel_axis) {
  if (channel_axis != 1) {
    return fmt::format("it normalises along dimension 1, the weights' outputs lie along dimension {}", channel_axis);
  }
  std::vector<std::vector<double>> parameters;
  for (std::size_t slot = 1; slot < 5; ++slot) {
    const GraphTensor& parameter = graph.tensor(*op.inputs[slot]);
    if (!parameter.constant) return fmt::format("its parameter {} is not constant", parameter.name);
    auto values = channel_values(*parameter.constant, shape[1]);
    check(values.has_value(), "batch normalisation has one parameter a channel");
    parameters.push_back(std::move(*values));
  }
  const double epsilon = float_attribute(op.attributes, "epsilon", 1e-5);
  ChannelAffine affine = ChannelAffine::identity(shape[1]);
  for (std::size_t c = 0; c < affine.scale.size(); ++c) {
    affine.scale[c] = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
    affine.shift[c] = parameters[1][c] - parameters[2][c] * affine.scale[c];
  }
  return affine;
}

/// Weights seen as blocks of channels of `inner` elements each, block b belonging to the channels from
/// first_channel[b].
struct WeightLayout {
  std::size_t channels = 1;
  std::size_t inner = 1;
  std::vector<std::size_t> first_channel;
};

WeightLayout layout_of(const Operator& op, const Shape& shape) {
  const auto count = [&](std::size_t from, std::size_t to) {
    return static_cast<std::size_t>(element_count(std::span(shape).subspan(from, to - from)));
  };
  const std::size_t rank = shape.size();
  if (op.kind == "Conv") return {count(0, 1), count(1, rank), {0}};  // [M, C/group, kernel…]
  if (op.kind == "ConvTranspose") {                                  // [C, M/group, kernel…]
    WeightLayout layout{count(1, 2), count(2, rank), {}};
    const std::size_t inputs_of_group =
        count(0, 1) / static_cast<std::size_t>(int_attribute(op.attributes, "group", 1));
    for (std::size_t c = 0; c < count(0, 1); ++c) layout.first_channel.push_back(c / inputs_of_group * layout.channels);
    return layout;
  }
  return {count(rank - 1, rank), 1, std::vector<std::size_t>(count(0, rank - 1), 0)};  // […, K, N]
}

template <class T>
Tensor scaled_as(const Tensor& weights, const std::vector<double>& scale, const WeightLayout& layout) {
  const auto from = weights.as<T>();
  check(layout.first_channel.size() * layout.channels * layout.inner == from.size(), "every weight is scaled");
  return Tensor::filled(weights.type(), weights.shape(), [&](std::span<std::byte> bytes) {
    T* const to = reinterpret_cast<T*>(bytes.data());
    const std::size_t rows = layout.first_channel.size() * layout.channels;
    parallel_ranges(rows, layout.inner * sizeof(T), [&](std::size_t row, std::size_t end) {
      for (; row < end; ++row) {
        const double factor = scale[layout.first_channel[row / layout.channels] + row % layout.channels];
        for (std::size_t i = row * layout.inner; i < (row + 1) * layout.inner; ++i) {
          to[i] = static_cast<T>(static_cast<double>(from[i]) * factor);
        }
      }
    });
  });
}

}  // namespace

ChannelAffine ChannelAffine::identity(std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  return {std::vector<double>(count, 1.0), std::vector<double>(count, 0.0)};
}

ChannelAffine ChannelAffine::then(const ChannelAffine& next) const {
  ChannelAffine both = *this;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    both.scale[c] = next.scale[c] * scale[c];
    both.shift[c] = next.scale[c] * shift[c] + next.shift[c];
  }
  return both;
}

bool ChannelAffine::scales() const {
  return std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
}

bool ChannelAffine::shifts() const {
  return std::any_of(shift.begin(), shift.end(), [](double s) { return s != 0; });
}

bool ChannelAffine::is_finite() const {
  const auto finite = [](double value) { return std::isfinite(value); };
  return std::all_of(scale.begin(), scale.end(), finite) && std::all_of(shift.begin(), shift.end(), finite);
}

std::variant<ChannelAffine, std::string> channel_affine(const Graph& graph, const Operator& op, TensorId x,
                                                        const Shape& shape, std::size_t channel_axis) {
  if (op.kind == "BatchNormalization") return batch_normalization(graph, op, shape, channel_axis);
  const bool x_is_left = op.inputs[0] == x;
  const GraphTensor& other = graph.tensor(*op.inputs[x_is_left ? 1 : 0]);
  if (!other.constant) return fmt::format("its other operand {} is not constant", other.name);
  if (graph.tensor(op.first_output()).shape != shape) {
    return fmt::format("it makes shape {} of {}", to_text(graph.tensor(op.first_output()).shape), to_text(shape));
  }
  const auto values = broadcast_channels(*other.constant, shape, channel_axis);
  if (!values) {
    return fmt::format("{} of shape {} is not one value for each of {} channels", other.name, to_text(other.shape),
                       shape[channel_axis]);
  }
  ChannelAffine affine = ChannelAffine::identity(shape[channel_axis]);
  for (std::size_t c = 0; c < values->size(); ++c) {
    const double value = (*values)[c];
    if (op.kind == "Add") {
      affine.shift[c] = value;
    } else if (op.kind == "Mul") {
      affine.scale[c] = value;
    } else if (op.kind == "Sub") {
      affine.scale[c] = x_is_left ? 1 : -1;
      affine.shift[c] = x_is_left ? -value : value;
    } else {
      check(op.kind == "Div", "only Add, Sub, Mul and Div are affine");
      if (!x_is_left) return "it divides a constant by the result";
      affine.scale[c] = 1 / value;
    }
  }
  return affine;
}

Tensor scaled_weights(const Operator& op, const Tensor& weights, const std::vector<double>& scale) {
  const WeightLayout layout = layout_of(op, weights.shape());
  return weights.type() == ElementType::f64 ? scaled_as<double>(weights, scale, layout)
                                            : scaled_as<float>(weights, scale, layout);
}

std::optional<std::vector<double>> channel_values(const Tensor& tensor, std::int64_t channels) {
  if (tensor.size() != 1 && tensor.size() != channels) return std::nullopt;
  std::vector<double> values;
  for (std::int64_t c = 0; c < channels; ++c) values.push_back(tensor.as_double(tensor.size() == 1 ? 0 : c));
  return values;
}

Tensor tensor_of_doubles(ElementType type, Shape shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(byte_size(type)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(type, values[i], bytes.data() + i * static_cast<std::size_t>(byte_size(type)));
  }
  return Tensor(type, std::move(shape), std::move(bytes));
}

Tensor transposed(const Tensor& matrix) {
  check(matrix.shape().size() == 2, "only a matrix is transposed");
  return Tensor::filled(matrix.type(), {matrix.shape()[1], matrix.shape()[0]}, [&](std::span<std::byte> to) {
    transpose_each(matrix.bytes(), to, byte_size(matrix.type()), static_cast<std::size_t>(matrix.shape()[0]),
                   static_cast<std::size_t>(matrix.shape()[1]));
  });
}

}  // namespace stowage
