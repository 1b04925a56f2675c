// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools by oneDNN. Their windows are worked out here from the attributes and the shapes, apart from
// the definitions, whose check this is.
#include <algorithm>

#include "core/reference/onednn_session.h"

namespace stowage::reference {
namespace {

/// The numbers of a window as oneDNN wants them: a dilation of 0 means neighbouring taps.
struct Windows {
  Dims stride, dilation, pad_left, pad_right;
};

std::string auto_pad_of(const Attributes& attributes) { return string_attribute(attributes, "auto_pad", "NOTSET"); }

Windows attributes_of(const Attributes& attributes, std::size_t dimensions) {
  Windows w;
  w.stride = ints_attribute(attributes, "strides", Dims(dimensions, 1));
  w.dilation = ints_attribute(attributes, "dilations", Dims(dimensions, 1));
  for (auto& d : w.dilation) --d;
  const auto pads = ints_attribute(attributes, "pads", Dims(2 * dimensions, 0));
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(dimensions);
  w.pad_left.assign(pads.begin(), middle);
  w.pad_right.assign(middle, pads.end());
  if (auto_pad_of(attributes) == "VALID") w.pad_left = w.pad_right = Dims(dimensions, 0);
  return w;
}

std::int64_t reach(const Windows& w, const Dims& kernel, std::size_t k) {
  return (kernel[k] - 1) * (w.dilation[k] + 1) + 1;
}

/// Padding such that windows of `kernel` slide over `large` and give `small` positions. Returns false where that
/// needs padding that oneDNN would read another meaning into.
bool resolve_padding(Windows& w, const std::string& auto_pad, const Dims& kernel, const Shape& large,
                     const Shape& small) {
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const std::int64_t needed = (small[k] - 1) * w.stride[k] + reach(w, kernel, k) - large[k];
    if (auto_pad == "SAME_UPPER") w.pad_left[k] = std::max<std::int64_t>(0, needed) / 2;
    if (auto_pad == "SAME_LOWER") w.pad_left[k] = (std::max<std::int64_t>(0, needed) + 1) / 2;
    w.pad_right[k] = std::max<std::int64_t>(0, needed - w.pad_left[k]);
    const std::int64_t room = large[k] + w.pad_left[k] + w.pad_right[k] - reach(w, kernel, k);
    if (room < 0 || room / w.stride[k] + 1 != small[k]) return false;
  }
  return true;
}

Shape tail(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Tensor run_pool(Session& session, dnnl::algorithm algorithm, const Windows& w, const Dims& kernel) {
  const dnnl::memory::desc source = plain(session.input(0).shape());
  const dnnl::memory::desc destination = plain(session.call().output_shape);
  const dnnl::pooling_v2_forward::primitive_desc pd({dnnl::prop_kind::forward_inference, algorithm, source, destination,
                                                     w.stride, kernel, w.dilation, w.pad_left, w.pad_right},
                                                    session.engine());
  return session.run(dnnl::pooling_v2_forward(pd), {{DNNL_ARG_SRC, session.memory(0, source)}}, pd.dst_desc(),
                     session.call().output_shape);
}

}  // namespace

std::optional<Tensor> convolve(Session& session) {
  const Attributes& attributes = session.call().op.attributes;
  const Shape& in = session.input(0).shape();
  const Shape& weights = session.input(1).shape();
  const Shape& out = session.call().output_shape;
  const Dims kernel = tail(weights);
  Windows w = attributes_of(attributes, kernel.size());
  if (!resolve_padding(w, auto_pad_of(attributes), kernel, tail(in), tail(out))) return std::nullopt;
  const std::int64_t groups = int_attribute(attributes, "group", 1);
  Dims weight_dims = weights;
  if (groups > 1) {
    weight_dims.front() /= groups;
    weight_dims.insert(weight_dims.begin(), groups);
  }
  const dnnl::memory::desc bias = session.has(2) ? plain(session.input(2).shape()) : dnnl::memory::desc();
  const dnnl::convolution_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any_layout(in), any_layout(weight_dims),
       bias, any_layout(out), w.stride, w.dilation, w.pad_left, w.pad_right},
      session.engine());
  Arguments arguments = {{DNNL_ARG_SRC, session.memory_in(pd.src_desc(), 0, plain(in))},
                         {DNNL_ARG_WEIGHTS, session.memory_in(pd.weights_desc(), 1, plain(weight_dims))}};
  if (session.has(2)) arguments[DNNL_ARG_BIAS] = session.memory(2, bias);
  return session.run(dnnl::convolution_forward(pd), std::move(arguments), pd.dst_desc(), out);
}

std::optional<Tensor> convolve_transposed(Session& session) {
  const Attributes& attributes = session.call().op.attributes;
  const Shape& in = session.input(0).shape();
  const Shape& weights = session.input(1).shape();
  const Shape& out = session.call().output_shape;
  const Dims kernel = tail(weights);
  Windows w = attributes_of(attributes, kernel.size());
  // SAME_LOWER and output_shape put the odd element of the padding in front.
  std::string auto_pad = auto_pad_of(attributes);
  if (attributes.contains("output_shape") && auto_pad != "SAME_UPPER") auto_pad = "SAME_LOWER";
  // The windows of the transposed operator slide over its output; output_padding counts among what is cut.
  const auto output_padding = ints_attribute(attributes, "output_padding", Dims(kernel.size(), 0));
  Shape large = tail(out);
  const bool automatic = auto_pad.starts_with("SAME");
  if (automatic) {
    for (std::size_t k = 0; k < kernel.size(); ++k) large[k] -= output_padding[k];
  }
  if (!resolve_padding(w, auto_pad, kernel, large, tail(in))) return std::nullopt;
  if (automatic) {
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      w.pad_right[k] = std::max<std::int64_t>(0, w.pad_right[k] - output_padding[k]);
      const std::int64_t room = out[k + 2] + w.pad_left[k] + w.pad_right[k] - reach(w, kernel, k);
      if (room < 0 || room / w.stride[k] + 1 != in[k + 2]) return std::nullopt;
    }
  }
  // ONNX has the weights as (input channels, features of a group, …); oneDNN numbers features first.
  const std::int64_t groups = int_attribute(attributes, "group", 1);
  const Dims strides = row_major_strides(weights);
  Dims weight_dims = weights;
  Dims weight_strides = strides;
  weight_dims[0] = weights[1];
  weight_dims[1] = weights[0] / groups;
  std::swap(weight_strides[0], weight_strides[1]);
  if (groups > 1) {
    weight_dims.insert(weight_dims.begin(), groups);
    weight_strides.insert(weight_strides.begin(), strides[0] * (weights[0] / groups));
  }
  const dnnl::memory::desc given(weight_dims, dnnl::memory::data_type::f32, weight_strides);
  const dnnl::memory::desc bias = session.has(2) ? plain(session.input(2).shape()) : dnnl::memory::desc();
  const dnnl::deconvolution_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any_layout(in),
       any_layout(weight_dims), bias, any_layout(out), w.stride, w.dilation, w.pad_left, w.pad_right},
      session.engine());
  Arguments arguments = {{DNNL_ARG_SRC, session.memory_in(pd.src_desc(), 0, plain(in))},
                         {DNNL_ARG_WEIGHTS, session.memory_in(pd.weights_desc(), 1, given)}};
  if (session.has(2)) arguments[DNNL_ARG_BIAS] = session.memory(2, bias);
  return session.run(dnnl::deconvolution_forward(pd), std::move(arguments), pd.dst_desc(), out);
}

std::optional<Tensor> pool(Session& session) {
  const Attributes& attributes = session.call().op.attributes;
  const Dims kernel = ints_attribute(attributes, "kernel_shape", {});
  Windows w = attributes_of(attributes, kernel.size());
  const Dims given_right = w.pad_right;
  const Shape& in = session.input(0).shape();
  if (!resolve_padding(w, auto_pad_of(attributes), kernel, tail(in), tail(session.call().output_shape)))
    return std::nullopt;
  if (session.call().op.kind == "MaxPool") return run_pool(session, dnnl::algorithm::pooling_max, w, kernel);
  const bool include = int_attribute(attributes, "count_include_pad", 0) != 0;
  const bool dilated = std::any_of(w.dilation.begin(), w.dilation.end(), [](std::int64_t d) { return d != 0; });
  // oneDNN divides by the whole window even where ceil_mode lets it reach beyond the padding.
  if (dilated || (include && int_attribute(attributes, "ceil_mode", 0) != 0 && w.pad_right != given_right)) {
    return std::nullopt;
  }
  return run_pool(session,
                  include ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding,
                  w, kernel);
}

std::optional<Tensor> pool_globally(Session& session) {
  const Dims kernel = tail(session.input(0).shape());
  const Dims ones(kernel.size(), 1);
  const Dims zeros(kernel.size(), 0);
  const bool max = session.call().op.kind == "GlobalMaxPool";
  return run_pool(session, max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding,
                  {ones, zeros, zeros, zeros}, kernel);
}

}  // namespace stowage::reference
