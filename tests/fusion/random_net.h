// SPDX-License-Identifier: Apache-2.0
// Random small networks, for property tests of fusion and of what lies behind it.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/fusion/net.h"
#include "tests/fusion/run_graph.h"

namespace stowage::testing {

/// Random graphs of convolutions, products, pools, element-wise operators with broadcasting and views.
class RandomNet {
 public:
  explicit RandomNet(unsigned seed) : net_("random", seed), random_(seed) {}

  Graph make(int size) {
    tensors_ = {net_.input("x0", {1, 4, 6, 6}), net_.input("x1", {1, 4, 1, 1}), net_.input("x2", {3, 8})};
    for (int i = 0; i < size; ++i) add("op" + std::to_string(i));
    // Results that nobody reads are outputs, and now and then one that is read.
    std::vector<TensorId> outputs;
    for (const TensorId tensor : made_) {
      const bool is_read = std::find(read_.begin(), read_.end(), tensor) != read_.end();
      if (!is_read || random_() % 8 == 0) outputs.push_back(tensor);
    }
    return net_.done(outputs);
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  TensorId any() {
    // Recent tensors first, so that chains grow.
    const std::size_t back = std::min(pick(tensors_.size()), pick(tensors_.size()));
    const TensorId tensor = tensors_[tensors_.size() - 1 - back];
    read_.push_back(tensor);
    return tensor;
  }

  TensorId any_broadcast(const Shape& shape) {
    std::vector<TensorId> fitting;
    for (const TensorId tensor : tensors_) {
      const Shape& other = net_.shape(tensor);
      bool fits = other.size() == shape.size();
      for (std::size_t d = 0; fits && d < shape.size(); ++d)
        fits = other[d] == shape[d] || other[d] == 1 || shape[d] == 1;
      if (fits) fitting.push_back(tensor);
    }
    const TensorId tensor = fitting[pick(fitting.size())];
    read_.push_back(tensor);
    return tensor;
  }

  void add(const std::string& name) {
    const TensorId x = any();
    const Shape shape = net_.shape(x);
    const bool is_image = shape.size() == 4;
    TensorId made;
    switch (pick(11)) {
      case 10: made = add_branches(name, x); break;
      case 0:
      case 1:
        if (is_image) {
          made = net_.conv(name, x, 4, shape[2] >= 3 ? 3 : 1);
        } else {
          made = net_.op("MatMul", name, {x, net_.constant(name + "_w", {shape.back(), 8})});
        }
        break;
      case 2:
        if (is_image) {
          made = net_.batch_norm(name, x);
        } else {
          made = net_.op("Softmax", name, {x});
        }
        break;
      case 3: {
        const char* kinds[] = {"Relu", "Sigmoid", "Tanh", "HardSwish"};
        made = net_.op(kinds[pick(4)], name, {x});
        break;
      }
      case 4:
      case 5: {
        const char* kinds[] = {"Add", "Mul", "Sub"};
        const char* kind = kinds[pick(3)];
        const TensorId other = any_broadcast(shape);
        made = pick(2) == 0 ? net_.op(kind, name, {x, other}) : net_.op(kind, name, {other, x});
        break;
      }
      case 6: made = net_.op("Mul", name, {x, x}); break;
      case 7: {
        const Shape row = is_image ? Shape{shape[1], 1, 1} : Shape{shape.back()};
        made = net_.op(pick(2) == 0 ? "Add" : "Mul", name, {x, net_.constant(name + "_c", row)});
        break;
      }
      case 8:
        made = is_image && shape[2] > 1 ? net_.op("GlobalAveragePool", name, {x})
                                        : net_.op("Clip", name, {x}, {{"min", -0.5}});
        break;
      default: {
        std::vector<std::int64_t> reversed(shape.rbegin(), shape.rend());
        const TensorId view = net_.op("Reshape", name, {x}, {{"shape", reversed}});
        made_.push_back(view);
        read_.push_back(view);
        made = net_.op("Reshape", name + "_back", {view}, {{"shape", std::vector<std::int64_t>(shape)}});
      }
    }
    tensors_.push_back(made);
    made_.push_back(made);
  }

  /// Two to four alike convolutions or products of one tensor, joined now and then.
  TensorId add_branches(const std::string& name, TensorId x) {
    const Shape shape = net_.shape(x);
    const bool is_image = shape.size() == 4;
    const bool is_active = pick(2) == 0;
    std::vector<std::optional<TensorId>> results;
    for (std::size_t count = 2 + pick(3); count > 0; --count) {
      const std::string own = name + "_" + std::to_string(count);
      const auto features = static_cast<std::int64_t>(1 + pick(5));
      TensorId result = is_image ? net_.conv(own, x, features)
                                 : net_.op("MatMul", own, {x, net_.constant(own + "_w", {shape.back(), features})});
      if (is_active) result = net_.op("Relu", own + "_relu", {result});
      made_.push_back(result);
      results.emplace_back(result);
    }
    const std::size_t used = pick(3);
    if (used == 0) return *results[pick(results.size())];
    if (used == 1) results.pop_back();
    for (const auto& result : results) read_.push_back(*result);
    const auto axis = static_cast<std::int64_t>(is_image ? 1 : shape.size() - 1);
    const TensorId joined = net_.op("Concat", name + "_joined", results, {{"axis", axis}});
    made_.push_back(joined);
    read_.push_back(joined);
    if (is_image) return net_.conv(name, joined, 4);
    return net_.op("MatMul", name, {joined, net_.constant(name + "_w", {net_.shape(joined).back(), 8})});
  }

  Net net_;
  std::mt19937 random_;
  std::vector<TensorId> tensors_;
  std::vector<TensorId> made_;
  std::vector<TensorId> read_;
};

inline Values random_inputs(const Graph& graph, unsigned seed) {
  Net random("values", seed);
  Values values;
  for (const TensorId input : graph.inputs()) {
    values[graph.tensor(input).name] = random.random_tensor(graph.tensor(input).shape);
  }
  return values;
}

}  // namespace stowage::testing
