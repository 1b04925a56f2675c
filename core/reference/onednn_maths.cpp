// SPDX-License-Identifier: Apache-2.0
// Matrix products, element-wise operators, normalisations and reductions by oneDNN.
#include <algorithm>
#include <limits>

#include "core/reference/onednn_session.h"

namespace stowage::reference {
namespace {

using dnnl::algorithm;

constexpr auto inference = dnnl::prop_kind::forward_inference;

/// `shape` with leading ones, as many as make `rank` dimensions (at least one).
Dims with_rank(const Shape& shape, std::size_t rank) {
  Dims dims = shape;
  while (dims.size() < std::max<std::size_t>(rank, 1)) dims.insert(dims.begin(), 1);
  return dims;
}

Dims with_rank(const Shape& shape) { return with_rank(shape, shape.size()); }

Tensor run_element_wise(Session& session, algorithm a, double alpha, double beta) {
  const Dims dims = with_rank(session.input(0).shape());
  const dnnl::memory::desc layout = plain(dims);
  const dnnl::eltwise_forward::primitive_desc pd(
      {inference, a, layout, static_cast<float>(alpha), static_cast<float>(beta)}, session.engine());
  return session.run(dnnl::eltwise_forward(pd), {{DNNL_ARG_SRC, session.memory(0, layout)}}, layout, dims);
}

Tensor multiply(Session& session, const dnnl::memory::desc& a, const dnnl::memory::desc& b, const Dims& result) {
  const dnnl::matmul::primitive_desc pd({a, b, plain(result)}, session.engine());
  return session.run(dnnl::matmul(pd), {{DNNL_ARG_SRC, session.memory(0, a)}, {DNNL_ARG_WEIGHTS, session.memory(1, b)}},
                     pd.dst_desc(), result);
}

}  // namespace

std::optional<Tensor> map_elements(Session& session) {
  const std::string& kind = session.call().op.kind;
  const Attributes& attributes = session.call().op.attributes;
  if (kind == "Abs") return run_element_wise(session, algorithm::eltwise_abs, 0, 0);
  if (kind == "Exp") return run_element_wise(session, algorithm::eltwise_exp, 0, 0);
  if (kind == "HardSwish") return run_element_wise(session, algorithm::eltwise_hardswish, 0, 0);
  if (kind == "LeakyRelu") {
    return run_element_wise(session, algorithm::eltwise_relu, float_attribute(attributes, "alpha", 0.01), 0);
  }
  if (kind == "Log") return run_element_wise(session, algorithm::eltwise_log, 0, 0);
  if (kind == "Relu") return run_element_wise(session, algorithm::eltwise_relu, 0, 0);
  if (kind == "Sigmoid") return run_element_wise(session, algorithm::eltwise_logistic, 0, 0);
  if (kind == "Sqrt") return run_element_wise(session, algorithm::eltwise_sqrt, 0, 0);
  if (kind == "Tanh") return run_element_wise(session, algorithm::eltwise_tanh, 0, 0);
  check(kind == "Clip", "element-wise operator without a oneDNN algorithm");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto limit = [&](std::size_t slot, const std::string& name, double fallback) {
    return session.has(slot) ? session.input(slot).as_double(0) : float_attribute(attributes, name, fallback);
  };
  const double low = limit(1, "min", -infinity);
  const double high = limit(2, "max", infinity);
  if (!(low <= high)) return std::nullopt;  // oneDNN refuses an empty range, ONNX gives the upper bound
  return run_element_wise(session, algorithm::eltwise_clip, low, high);
}

std::optional<Tensor> combine(Session& session) {
  const std::string& kind = session.call().op.kind;
  const algorithm a = kind == "Sub"   ? algorithm::binary_sub
                      : kind == "Mul" ? algorithm::binary_mul
                      : kind == "Div" ? algorithm::binary_div
                      : kind == "Max" ? algorithm::binary_max
                      : kind == "Min" ? algorithm::binary_min
                                      : algorithm::binary_add;
  const OneDnnCall& call = session.call();
  if (call.inputs.size() != 2 || !session.has(0) || !session.has(1)) return std::nullopt;
  // The first operand must have the result's shape; where the order does not matter they can be swapped.
  const bool ordered = kind == "Sub" || kind == "Div";
  const bool first_is_whole = session.input(0).shape() == call.output_shape;
  const bool second_is_whole = session.input(1).shape() == call.output_shape;
  if (!first_is_whole && (ordered || !second_is_whole)) return std::nullopt;
  const std::size_t whole = first_is_whole ? 0 : 1;
  const std::size_t rank = call.output_shape.size();
  const Dims dims = with_rank(call.output_shape);
  const dnnl::memory::desc source = plain(dims);
  const dnnl::memory::desc other = plain(with_rank(session.input(1 - whole).shape(), rank));
  const dnnl::binary::primitive_desc pd({a, source, other, source}, session.engine());
  return session.run(
      dnnl::binary(pd),
      {{DNNL_ARG_SRC_0, session.memory(whole, source)}, {DNNL_ARG_SRC_1, session.memory(1 - whole, other)}}, source,
      dims);
}

std::optional<Tensor> parametric_relu(Session& session) {
  const Shape& shape = session.input(0).shape();
  const Dims dims = with_rank(shape);
  const dnnl::memory::desc source = plain(dims);
  const dnnl::memory::desc slope = plain(with_rank(session.input(1).shape(), shape.size()));
  const dnnl::prelu_forward::primitive_desc pd({inference, source, slope}, session.engine());
  if (pd.weights_desc() != slope) return std::nullopt;
  return session.run(dnnl::prelu_forward(pd),
                     {{DNNL_ARG_SRC, session.memory(0, source)}, {DNNL_ARG_WEIGHTS, session.memory(1, slope)}}, source,
                     dims);
}

std::optional<Tensor> multiply_matrices(Session& session) {
  Shape a = session.input(0).shape();
  Shape b = session.input(1).shape();
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::size_t rank = std::max(a.size(), b.size());
  const Dims dims_a = with_rank(a, rank);
  const Dims dims_b = with_rank(b, rank);
  Dims result = dims_a;
  for (std::size_t k = 0; k + 2 < rank; ++k) result[k] = std::max(dims_a[k], dims_b[k]);
  result.back() = dims_b.back();
  return multiply(session, plain(dims_a), plain(dims_b), result);
}

std::optional<Tensor> multiply_scaled_matrices(Session& session) {
  const Attributes& attributes = session.call().op.attributes;
  const auto layout = [&](std::size_t slot, const std::string& transposed) {
    const Shape& shape = session.input(slot).shape();
    if (int_attribute(attributes, transposed, 0) == 0) return plain(shape);
    return dnnl::memory::desc({shape[1], shape[0]}, dnnl::memory::data_type::f32, Dims{1, shape[1]});
  };
  const Shape& shape = session.call().output_shape;
  const Tensor product = multiply(session, layout(0, "transA"), layout(1, "transB"), shape);
  const double alpha = float_attribute(attributes, "alpha", 1);
  const double beta = session.has(2) ? float_attribute(attributes, "beta", 1) : 0;
  if (alpha == 1 && beta == 0) return product;
  std::vector<float> scaled(product.as<float>().begin(), product.as<float>().end());
  const Dims c_shape = session.has(2) ? with_rank(session.input(2).shape(), 2) : Dims{1, 1};
  for (std::int64_t x = 0; x < shape[0]; ++x) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      float& value = scaled[static_cast<std::size_t>(x * shape[1] + y)];
      const std::int64_t c_at = (c_shape[0] == 1 ? 0 : x * c_shape[1]) + (c_shape[1] == 1 ? 0 : y);
      const double c = beta == 0 ? 0 : beta * session.input(2).as_double(c_at);
      value = static_cast<float>(alpha * static_cast<double>(value) + c);
    }
  }
  return Tensor::of_floats(shape, scaled);
}

std::optional<Tensor> batch_normalize(Session& session) {
  const Shape& shape = session.input(0).shape();
  if (shape.size() < 2) return std::nullopt;
  const dnnl::memory::desc source = plain(shape);
  const dnnl::memory::desc parameter = plain(session.input(1).shape());
  using dnnl::normalization_flags;
  const dnnl::batch_normalization_forward::primitive_desc pd(
      {inference, source, static_cast<float>(float_attribute(session.call().op.attributes, "epsilon", 1e-5)),
       normalization_flags::use_global_stats | normalization_flags::use_scale | normalization_flags::use_shift},
      session.engine());
  return session.run(dnnl::batch_normalization_forward(pd),
                     {{DNNL_ARG_SRC, session.memory(0, source)},
                      {DNNL_ARG_SCALE, session.memory(1, parameter)},
                      {DNNL_ARG_SHIFT, session.memory(2, parameter)},
                      {DNNL_ARG_MEAN, session.memory(3, parameter)},
                      {DNNL_ARG_VARIANCE, session.memory(4, parameter)}},
                     source, shape);
}

std::optional<Tensor> layer_normalize(Session& session) {
  const Shape& shape = session.input(0).shape();
  const Attributes& attributes = session.call().op.attributes;
  std::int64_t axis = int_attribute(attributes, "axis", -1);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) (static_cast<std::int64_t>(k) < axis ? rows : columns) *= shape[k];
  // oneDNN wants one parameter for each normalised element.
  if (session.input(1).size() != columns || (session.has(2) && session.input(2).size() != columns)) return std::nullopt;
  const Dims dims = {rows, columns};
  const dnnl::memory::desc source = plain(dims);
  const dnnl::memory::desc parameter = plain({columns});
  using dnnl::normalization_flags;
  const auto flags =
      session.has(2) ? normalization_flags::use_scale | normalization_flags::use_shift : normalization_flags::use_scale;
  const dnnl::layer_normalization_forward::primitive_desc pd(
      {inference, source, static_cast<float>(float_attribute(attributes, "epsilon", 1e-5)), flags}, session.engine());
  Arguments arguments = {{DNNL_ARG_SRC, session.memory(0, source)}, {DNNL_ARG_SCALE, session.memory(1, parameter)}};
  if (session.has(2)) arguments[DNNL_ARG_SHIFT] = session.memory(2, parameter);
  return session.run(dnnl::layer_normalization_forward(pd), std::move(arguments), source, dims);
}

std::optional<Tensor> normalize_locally(Session& session) {
  const Shape& shape = session.input(0).shape();
  const Attributes& attributes = session.call().op.attributes;
  const std::int64_t size = int_attribute(attributes, "size", 1);
  // The window of an even size is not centred, and ONNX and oneDNN lean to different sides.
  if (size % 2 == 0 || shape.size() < 3 || shape.size() > 5) return std::nullopt;
  const dnnl::memory::desc source = plain(shape);
  const dnnl::lrn_forward::primitive_desc pd({inference, algorithm::lrn_across_channels, source, size,
                                              static_cast<float>(float_attribute(attributes, "alpha", 1e-4)),
                                              static_cast<float>(float_attribute(attributes, "beta", 0.75)),
                                              static_cast<float>(float_attribute(attributes, "bias", 1))},
                                             session.engine());
  return session.run(dnnl::lrn_forward(pd), {{DNNL_ARG_SRC, session.memory(0, source)}}, source, shape);
}

std::optional<Tensor> reduce(Session& session) {
  const Shape& shape = session.input(0).shape();
  const Attributes& attributes = session.call().op.attributes;
  if (shape.empty()) return std::nullopt;
  Dims result = shape;
  if (!attributes.contains("axes")) result = Dims(shape.size(), 1);
  for (const std::int64_t axis : ints_attribute(attributes, "axes", {})) {
    result[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis)] = 1;
  }
  if (result == shape) return std::nullopt;  // oneDNN refuses to reduce nothing
  const std::string& kind = session.call().op.kind;
  const algorithm a = kind == "ReduceMax"    ? algorithm::reduction_max
                      : kind == "ReduceMean" ? algorithm::reduction_mean
                                             : algorithm::reduction_sum;
  const dnnl::memory::desc source = plain(shape);
  const dnnl::reduction::primitive_desc pd({a, source, plain(result), 0, 0}, session.engine());
  return session.run(dnnl::reduction(pd), {{DNNL_ARG_SRC, session.memory(0, source)}}, pd.dst_desc(), result);
}

std::optional<Tensor> softmax(Session& session) {
  const Shape& shape = session.input(0).shape();
  const Attributes& attributes = session.call().op.attributes;
  Dims axes = ints_attribute(attributes, "axes", {int_attribute(attributes, "axis", -1)});
  for (auto& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(shape.size()) : 0;
  std::sort(axes.begin(), axes.end());
  if (axes.back() - axes.front() + 1 != static_cast<std::int64_t>(axes.size())) return std::nullopt;  // not adjacent
  Dims dims = {1, 1, 1};  // elements before, along and behind the axes
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const auto axis = static_cast<std::int64_t>(k);
    dims[axis < axes.front() ? 0 : axis <= axes.back() ? 1 : 2] *= shape[k];
  }
  const dnnl::memory::desc source = plain(dims);
  const dnnl::softmax_v2_forward::primitive_desc pd({inference, algorithm::softmax_accurate, source, source, 1},
                                                    session.engine());
  return session.run(dnnl::softmax_v2_forward(pd), {{DNNL_ARG_SRC, session.memory(0, source)}}, source, dims);
}

}  // namespace stowage::reference
