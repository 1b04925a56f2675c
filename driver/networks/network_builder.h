// SPDX-License-Identifier: Apache-2.0
// Appends layers to an ONNX model and keeps track of shapes, so that a topology reads like its paper's table.
// Weights are drawn so that activations keep their magnitude from layer to layer.
#pragma once

#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "core/onnx/model_writer.h"
#include "driver/networks/networks.h"

namespace stowage {

/// A tensor of the network under construction; mostly it has the name of the node that computes it.
struct Value {
  std::string name;
  Shape shape;
};

struct ConvOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< on each side; with `same`, what TensorFlow's SAME padding asks for instead
  std::int64_t groups = 1;
  bool bias = true;
  bool same = false;  ///< auto_pad = SAME_UPPER
  double gain = 2.0;  ///< variance of the output relative to the input's mean square; 2 in front of a ReLU
};

struct ConvTransposeOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  double gain = 2.0;
};

struct PoolOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool ceil_mode = false;
};

class NetworkBuilder {
 public:
  NetworkBuilder(const NetworkRow& network, const NetworkOptions& options);

  [[nodiscard]] std::int64_t batch() const { return options_.batch; }

  Value input(const std::string& name, Shape shape, ElementType type = ElementType::f32);
  void output(const Value& value);

  /// A constant of uniformly distributed values in [mean - spread, mean + spread). They depend on the seed and the
  /// name only, so that a layer keeps its weights when others change.
  Value random_constant(const std::string& name, Shape shape, double mean, double spread);
  /// Random weights whose sum of products over `fan_in` inputs has `gain` times the inputs' mean square as variance.
  Value weights(const std::string& name, Shape shape, std::int64_t fan_in, double gain);
  Value bias(const std::string& name, std::int64_t size);
  Value constant(const std::string& name, const Tensor& value);

  /// Any node with one output of the given shape, called like the node unless `output_name` says otherwise.
  Value node(const std::string& op_type, const std::string& name, const std::vector<Value>& inputs, Shape shape,
             const Attributes& attributes = {}, const std::string& output_name = {});
  /// A node whose output has its first input's shape.
  Value pointwise(const std::string& op_type, const std::string& name, const std::vector<Value>& inputs,
                  const Attributes& attributes = {});

  Value conv(const std::string& name, const Value& x, std::int64_t channels, std::int64_t kernel,
             const ConvOptions& options = {});
  /// Without bias and with output size (in - 1) * stride - 2 * padding + kernel.
  Value conv_transpose(const std::string& name, const Value& x, std::int64_t channels, std::int64_t kernel,
                       const ConvTransposeOptions& options);
  /// Inference form: statistics near 0 and 1, scale near `scale`.
  Value batch_norm(const std::string& name, const Value& x, double scale = 1.0);
  Value relu(const std::string& name, const Value& x) { return pointwise("Relu", name, {x}); }
  Value add(const std::string& name, const Value& a, const Value& b) { return pointwise("Add", name, {a, b}); }
  Value max_pool(const std::string& name, const Value& x, std::int64_t kernel, const PoolOptions& options);
  Value average_pool(const std::string& name, const Value& x, std::int64_t kernel, const PoolOptions& options);
  Value global_average_pool(const std::string& name, const Value& x);
  Value flatten(const std::string& name, const Value& x);
  /// Fully connected (Gemm with weights as units x inputs, and a bias).
  Value dense(const std::string& name, const Value& x, std::int64_t units, double gain = 2.0);
  Value concat_channels(const std::string& name, const std::vector<Value>& values);

  /// Of what was appended so far.
  [[nodiscard]] const NetworkSize& size() const { return size_; }

  Result<std::string> save(const std::string& path, Diagnostics& diagnostics, std::stop_token stop,
                           Existing existing) &&;

 private:
  Value pool(const std::string& op_type, const std::string& name, const Value& x, std::int64_t kernel,
             const PoolOptions& options, Attributes attributes);

  void count(const std::string& op_type, const std::vector<Value>& inputs, const Shape& shape);

  NetworkOptions options_;
  ModelWriter writer_;
  NetworkSize size_;
  std::set<std::tuple<Shape, Shape, Shape>> seen_convolutions_;  ///< operands and result
};

}  // namespace stowage
