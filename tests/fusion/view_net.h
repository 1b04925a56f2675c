// SPDX-License-Identifier: Apache-2.0
// Random networks that mostly move elements: concatenations, slices, splits, reshapes and transposes around a few
// operators that compute, for property tests of views.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/fusion/net.h"

namespace stowage::testing {

class ViewNet {
 public:
  explicit ViewNet(unsigned seed) : net_("views", seed), random_(seed) {}

  Graph make(int size) {
    const std::int64_t batch = 1 + static_cast<std::int64_t>(pick(2));
    tensors_ = {net_.input("x0", {batch, 4, 6, 6}), net_.input("x1", {batch, 2, 6, 6}), net_.input("x2", {3, 8})};
    for (int i = 0; i < size; ++i) add("op" + std::to_string(i));
    std::vector<TensorId> outputs;
    for (const TensorId tensor : made_) {
      const bool is_read = std::find(read_.begin(), read_.end(), tensor) != read_.end();
      if (!is_read || pick(8) == 0) outputs.push_back(tensor);
    }
    return net_.done(outputs);
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  TensorId any() {
    const std::size_t back = std::min(pick(tensors_.size()), pick(tensors_.size()));
    return read(tensors_[tensors_.size() - 1 - back]);
  }
  TensorId read(TensorId tensor) {
    read_.push_back(tensor);
    return tensor;
  }
  void made(TensorId tensor) {
    made_.push_back(tensor);
    if (element_count(net_.shape(tensor)) < 4000) tensors_.push_back(tensor);
  }

  void add(const std::string& name) {
    const TensorId x = any();
    const Shape shape = net_.shape(x);
    const std::size_t axis = pick(shape.size());
    switch (pick(10)) {
      case 0:
      case 1:
      case 2: made(net_.op("Concat", name, joined(x, axis), {{"axis", static_cast<std::int64_t>(axis)}})); break;
      case 3: split(name, x, axis); break;
      case 4: slice(name, x, axis); break;
      case 5: made(net_.op("Reshape", name, {x}, {{"shape", other_shape(shape)}})); break;
      case 6:
        if (shape.size() == 4 && shape[2] > 1 && shape[3] > 1 && shape[1] >= 1 && shape[1] <= 16) {
          made(net_.conv(name, x, 1 + static_cast<std::int64_t>(pick(6)), 3));
          break;
        }
        [[fallthrough]];
      case 7: made(net_.op(pick(2) == 0 ? "Relu" : "Tanh", name, {x})); break;
      case 8: made(net_.op("Transpose", name, {x}, {{"perm", other_order(shape)}})); break;
      default: made(net_.op("Add", name, {x, like(x)}));
    }
  }

  /// A dimension of extent 1 elsewhere, which moves nothing; or any order.
  std::vector<std::int64_t> other_order(const Shape& shape) {
    std::vector<std::int64_t> perm(shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    const auto one = std::find(shape.begin(), shape.end(), 1);
    if (one == shape.end() || pick(4) == 0) {
      std::shuffle(perm.begin(), perm.end(), random_);
    } else {
      perm.erase(perm.begin() + (one - shape.begin()));
      perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(pick(shape.size())), one - shape.begin());
    }
    return perm;
  }

  /// x and up to three tensors that differ from it in the extent of the axis only.
  std::vector<std::optional<TensorId>> joined(TensorId x, std::size_t axis) {
    std::vector<TensorId> fitting;
    for (const TensorId tensor : tensors_) {
      Shape other = net_.shape(tensor);
      if (other.size() == net_.shape(x).size()) other[axis] = net_.shape(x)[axis];
      if (other == net_.shape(x)) fitting.push_back(tensor);
    }
    std::vector<std::optional<TensorId>> operands = {x};
    for (std::size_t more = pick(4); more > 0; --more) operands.emplace_back(read(fitting[pick(fitting.size())]));
    std::shuffle(operands.begin(), operands.end(), random_);
    return operands;
  }

  void split(const std::string& name, TensorId x, std::size_t axis) {
    const std::int64_t extent = net_.shape(x)[axis];
    const std::int64_t at = static_cast<std::int64_t>(pick(static_cast<std::size_t>(extent) + 1));
    made(cut(name + "a", x, axis, 0, at, 1));
    made(cut(name + "b", x, axis, at, extent, 1));
  }

  void slice(const std::string& name, TensorId x, std::size_t axis) {
    const std::int64_t extent = net_.shape(x)[axis];
    const std::int64_t steps[] = {1, 1, 2, -1};
    const std::int64_t step = steps[pick(4)];
    made(step > 0 ? cut(name, x, axis, static_cast<std::int64_t>(pick(2)), extent, step)
                  : cut(name, x, axis, extent, -extent - 1, step));
  }

  TensorId cut(const std::string& name, TensorId x, std::size_t axis, std::int64_t start, std::int64_t end,
               std::int64_t step) {
    using Ints = std::vector<std::int64_t>;
    return net_.op("Slice", name, {x},
                   {{"axes", Ints{static_cast<std::int64_t>(axis)}},
                    {"starts", Ints{start}},
                    {"ends", Ints{end}},
                    {"steps", Ints{step}}});
  }

  TensorId like(TensorId x) {
    std::vector<TensorId> fitting;
    for (const TensorId tensor : tensors_) {
      if (net_.shape(tensor) == net_.shape(x)) fitting.push_back(tensor);
    }
    return read(fitting[pick(fitting.size())]);
  }

  /// Dimensions merged, taken apart, or with a one put between.
  std::vector<std::int64_t> other_shape(Shape shape) {
    const std::size_t d = pick(shape.size());
    switch (pick(3)) {
      case 0:
        if (d + 1 < shape.size()) {
          shape[d] *= shape[d + 1];
          shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
        }
        break;
      case 1:
        if (shape[d] % 2 == 0) {
          shape[d] /= 2;
          shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d) + static_cast<std::ptrdiff_t>(pick(2)), 2);
        }
        break;
      default: shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), 1);
    }
    return shape;
  }

  Net net_;
  std::mt19937 random_;
  std::vector<TensorId> tensors_;
  std::vector<TensorId> made_;
  std::vector<TensorId> read_;
};

}  // namespace stowage::testing
