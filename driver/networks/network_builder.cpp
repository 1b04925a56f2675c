// SPDX-License-Identifier: Apache-2.0
#include "driver/networks/network_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace stowage {

namespace {

/// Number `i` of the splitmix64 generator (Steele, Lea, Flood 2014). Its state is a counter, so any part of the
/// sequence can be had at once.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// FNV-1a: turns a tensor's name into a number to seed from.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

/// 24 bits, as many as a float's significand holds, to [-1, 1).
float signed_unit(std::uint32_t bits) {
  constexpr float step = 1.0f / (1 << 23);
  return static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * step;
}

std::int64_t window_count(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                          bool ceil_mode) {
  const std::int64_t room = extent + 2 * padding - kernel;
  check(room >= 0, "window larger than its input");
  return (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
}

std::int64_t product_of(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> twice(std::int64_t value) { return {value, value}; }

}  // namespace

NetworkBuilder::NetworkBuilder(const NetworkRow& network, const NetworkOptions& options)
    : options_(options),
      writer_(std::string(network.name), network.opset,
              fmt::format("{}; seeded random weights; written by: stowage network {} --seed {} --batch {}",
                          network.summary, network.name, options.seed, options.batch)) {}

Value NetworkBuilder::input(const std::string& name, Shape shape, ElementType type) {
  writer_.add_input(name, type, shape);
  return {name, std::move(shape)};
}

void NetworkBuilder::output(const Value& value) { writer_.add_output(value.name, ElementType::f32, value.shape); }

Value NetworkBuilder::random_constant(const std::string& name, Shape shape, double mean, double spread) {
  const auto centre = static_cast<float>(mean);
  const auto reach = static_cast<float>(spread);
  const std::uint64_t seed = splitmix64(options_.seed, 0) ^ hash_of(name);
  // Each number of the generator makes two weights; a block starts at an even one.
  writer_.add_constant(name, ElementType::f32, shape, [=](std::size_t offset, std::span<std::byte> block) {
    const std::uint64_t first = offset / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < block.size(); i += sizeof(std::uint64_t)) {
      const std::uint64_t bits = splitmix64(seed, first + i / sizeof(std::uint64_t));
      const std::array pair = {centre + reach * signed_unit(static_cast<std::uint32_t>(bits)),
                               centre + reach * signed_unit(static_cast<std::uint32_t>(bits >> 32))};
      std::memcpy(block.data() + i, pair.data(), std::min(sizeof pair, block.size() - i));
    }
  });
  size_.parameter_bytes += element_count(shape) * static_cast<std::int64_t>(sizeof(float));
  return {name, std::move(shape)};
}

Value NetworkBuilder::weights(const std::string& name, Shape shape, std::int64_t fan_in, double gain) {
  // A uniform distribution in [-b, b) has variance b^2 / 3.
  return random_constant(name, std::move(shape), 0.0, std::sqrt(3.0 * gain / static_cast<double>(fan_in)));
}

Value NetworkBuilder::bias(const std::string& name, std::int64_t size) {
  return random_constant(name, {size}, 0.0, 0.05);
}

Value NetworkBuilder::constant(const std::string& name, const Tensor& value) {
  writer_.add_constant(name, value);
  return {name, value.shape()};
}

Value NetworkBuilder::node(const std::string& op_type, const std::string& name, const std::vector<Value>& inputs,
                           Shape shape, const Attributes& attributes, const std::string& output_name) {
  std::vector<std::string> names;
  for (const Value& value : inputs) names.push_back(value.name);
  count(op_type, inputs, shape);
  const std::string& output = output_name.empty() ? name : output_name;
  writer_.add_node(op_type, name, names, {output}, attributes);
  return {output, std::move(shape)};
}

void NetworkBuilder::count(const std::string& op_type, const std::vector<Value>& inputs, const Shape& shape) {
  ++size_.operators;
  const bool is_convolution = op_type == "Conv" || op_type == "ConvTranspose";
  if (!is_convolution && op_type != "Gemm" && op_type != "MatMul") return;
  const Shape& first = inputs[0].shape;
  const Shape& second = inputs[1].shape;
  // Of what weights hold for one output element; of a transposed convolution, for one input element.
  std::int64_t products = element_count(shape) * product_of(std::span(second).subspan(1));
  if (op_type == "MatMul") products = element_count(shape) * first.back();
  if (op_type == "ConvTranspose") products = element_count(first) * product_of(std::span(second).subspan(1));
  size_.multiply_adds += products;
  if (is_convolution && seen_convolutions_.emplace(first, second, shape).second) {
    size_.convolutions.push_back(products);
  }
}

Value NetworkBuilder::pointwise(const std::string& op_type, const std::string& name, const std::vector<Value>& inputs,
                                const Attributes& attributes) {
  return node(op_type, name, inputs, inputs.front().shape, attributes);
}

Value NetworkBuilder::conv(const std::string& name, const Value& x, std::int64_t channels, std::int64_t kernel,
                           const ConvOptions& options) {
  const std::int64_t group_channels = x.shape[1] / options.groups;
  std::vector<Value> operands = {x, weights(name + ".weight", {channels, group_channels, kernel, kernel},
                                            group_channels * kernel * kernel, options.gain)};
  if (options.bias) operands.push_back(bias(name + ".bias", channels));
  Attributes attributes = {
      {"group", options.groups}, {"kernel_shape", twice(kernel)}, {"strides", twice(options.stride)}};
  Shape shape = {x.shape[0], channels};
  for (const std::size_t d : {2u, 3u}) {
    shape.push_back(options.same ? (x.shape[d] + options.stride - 1) / options.stride
                                 : window_count(x.shape[d], kernel, options.stride, options.padding, false));
  }
  if (options.same) {
    attributes["auto_pad"] = std::string("SAME_UPPER");
  } else {
    attributes["pads"] = std::vector<std::int64_t>(4, options.padding);
  }
  return node("Conv", name, operands, std::move(shape), attributes);
}

Value NetworkBuilder::conv_transpose(const std::string& name, const Value& x, std::int64_t channels,
                                     std::int64_t kernel, const ConvTransposeOptions& options) {
  const auto [stride, padding, gain] = options;
  const auto extent = [&options, kernel](std::int64_t in) {
    return (in - 1) * options.stride - 2 * options.padding + kernel;
  };
  const Shape shape = {x.shape[0], channels, extent(x.shape[2]), extent(x.shape[3])};
  // An output element meets every stride-th tap of the kernel in each direction, and never more than the input has.
  const std::int64_t taps = std::min(kernel / stride, x.shape[2]);
  const Value weight =
      weights(name + ".weight", {x.shape[1], channels, kernel, kernel}, x.shape[1] * taps * taps, gain);
  return node(
      "ConvTranspose", name, {x, weight}, shape,
      {{"kernel_shape", twice(kernel)}, {"pads", std::vector<std::int64_t>(4, padding)}, {"strides", twice(stride)}});
}

Value NetworkBuilder::batch_norm(const std::string& name, const Value& x, double scale) {
  const Shape per_channel = {x.shape[1]};
  return pointwise("BatchNormalization", name,
                   {x, random_constant(name + ".weight", per_channel, scale, 0.1 * scale),
                    random_constant(name + ".bias", per_channel, 0.0, 0.1),
                    random_constant(name + ".running_mean", per_channel, 0.0, 0.1),
                    random_constant(name + ".running_var", per_channel, 1.0, 0.1)},
                   {{"epsilon", 1e-5}});
}

Value NetworkBuilder::pool(const std::string& op_type, const std::string& name, const Value& x, std::int64_t kernel,
                           const PoolOptions& options, Attributes attributes) {
  attributes["kernel_shape"] = twice(kernel);
  attributes["strides"] = twice(options.stride);
  attributes["pads"] = std::vector<std::int64_t>(4, options.padding);
  if (options.ceil_mode) attributes["ceil_mode"] = std::int64_t{1};
  const auto count = [&](std::int64_t extent) {
    return window_count(extent, kernel, options.stride, options.padding, options.ceil_mode);
  };
  return node(op_type, name, {x}, {x.shape[0], x.shape[1], count(x.shape[2]), count(x.shape[3])}, attributes);
}

Value NetworkBuilder::max_pool(const std::string& name, const Value& x, std::int64_t kernel,
                               const PoolOptions& options) {
  return pool("MaxPool", name, x, kernel, options, {});
}

Value NetworkBuilder::average_pool(const std::string& name, const Value& x, std::int64_t kernel,
                                   const PoolOptions& options) {
  return pool("AveragePool", name, x, kernel, options, {});
}

Value NetworkBuilder::global_average_pool(const std::string& name, const Value& x) {
  return node("GlobalAveragePool", name, {x}, {x.shape[0], x.shape[1], 1, 1});
}

Value NetworkBuilder::flatten(const std::string& name, const Value& x) {
  return node("Flatten", name, {x}, {x.shape[0], element_count(x.shape) / x.shape[0]}, {{"axis", std::int64_t{1}}});
}

Value NetworkBuilder::dense(const std::string& name, const Value& x, std::int64_t units, double gain) {
  const std::int64_t inputs = x.shape[1];
  return node("Gemm", name, {x, weights(name + ".weight", {units, inputs}, inputs, gain), bias(name + ".bias", units)},
              {x.shape[0], units}, {{"transB", std::int64_t{1}}});
}

Value NetworkBuilder::concat_channels(const std::string& name, const std::vector<Value>& values) {
  Shape shape = values.front().shape;
  shape[1] = 0;
  for (const Value& value : values) shape[1] += value.shape[1];
  return node("Concat", name, values, std::move(shape), {{"axis", std::int64_t{1}}});
}

Result<std::string> NetworkBuilder::save(const std::string& path, Diagnostics& diagnostics, std::stop_token stop,
                                         Existing existing) && {
  return writer_.save(path, diagnostics, stop, existing);
}

}  // namespace stowage
