// SPDX-License-Identifier: Apache-2.0
#include "core/reference/onednn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/channel_blocks.h"
#include "core/reference/onednn_session.h"

namespace stowage::reference {
namespace {

struct Row {
  std::string_view kind;
  std::optional<Tensor> (*run)(Session& session);
  /// It multiplies and adds only, so that NaN and infinities in its data come out as IEEE has them. The other
  /// primitives compare or clamp, and lose NaN; padding is skipped by oneDNN, which would have to meet an infinite
  /// weight.
  bool multiplies_and_adds = false;
};

constexpr std::array rows = {
    Row{"Abs", map_elements},
    Row{"Add", combine, true},
    Row{"AveragePool", pool, true},
    Row{"BatchNormalization", batch_normalize},
    Row{"Clip", map_elements},
    Row{"Conv", convolve, true},
    Row{"ConvTranspose", convolve_transposed, true},
    Row{"Div", combine, true},
    Row{"Exp", map_elements},
    Row{"Gemm", multiply_scaled_matrices, true},
    Row{"GlobalAveragePool", pool_globally, true},
    Row{"GlobalMaxPool", pool_globally},
    Row{"HardSwish", map_elements},
    Row{"LRN", normalize_locally},
    Row{"LayerNormalization", layer_normalize},
    Row{"LeakyRelu", map_elements},
    Row{"Log", map_elements},
    Row{"MatMul", multiply_matrices, true},
    Row{"Max", combine},
    Row{"MaxPool", pool},
    Row{"Min", combine},
    Row{"Mul", combine, true},
    Row{"PRelu", parametric_relu},
    Row{"ReduceMax", reduce},
    Row{"ReduceMean", reduce, true},
    Row{"ReduceSum", reduce, true},
    Row{"Relu", map_elements},
    Row{"Sigmoid", map_elements},
    Row{"Softmax", softmax},
    Row{"Sqrt", map_elements},
    Row{"Sub", combine, true},
    Row{"Sum", combine, true},
    Row{"Tanh", map_elements},
};

/// What holds for all primitives: f32, some elements, not too many dimensions.
bool suits_onednn(ElementType type, const Shape& shape) {
  return type == ElementType::f32 && shape.size() <= 6 &&
         std::none_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; });
}

bool is_finite(const Tensor& tensor) {
  const auto elements = tensor.as<float>();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return std::isfinite(x); });
}

/// oneDNN computes these operands as IEEE and ONNX say.
bool keeps_ieee(const Row& row, const std::vector<std::optional<Tensor>>& inputs) {
  for (std::size_t slot = row.multiplies_and_adds ? 1 : 0; slot < inputs.size(); ++slot) {
    if (inputs[slot] && !is_finite(*inputs[slot])) return false;
  }
  return true;
}

}  // namespace

dnnl::memory::desc plain(const Dims& dims) { return {dims, dnnl::memory::data_type::f32, row_major_strides(dims)}; }

dnnl::memory::desc any_layout(const Dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

Session::Session(const OneDnnCall& call) : call_(call), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

dnnl::memory Session::memory(std::size_t slot, const dnnl::memory::desc& layout) const {
  // oneDNN takes sources by non-const pointers, and only reads them.
  return {layout, engine_, const_cast<std::byte*>(input(slot).bytes().data())};
}

dnnl::memory Session::memory_in(const dnnl::memory::desc& wanted, std::size_t slot, const dnnl::memory::desc& layout) {
  dnnl::memory given = memory(slot, layout);
  if (wanted == layout) return given;
  dnnl::memory copy(wanted, engine_);
  dnnl::reorder(given, copy).execute(stream_, given, copy);
  return copy;
}

Tensor Session::run(const dnnl::primitive& primitive, Arguments arguments, const dnnl::memory::desc& destination,
                    const Dims& dims) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(call_.output_shape)) * sizeof(float));
  const dnnl::memory::desc plain_destination = plain(dims);
  dnnl::memory result(plain_destination, engine_, bytes.data());
  if (destination == plain_destination) {
    arguments[DNNL_ARG_DST] = result;
    primitive.execute(stream_, arguments);
  } else {
    dnnl::memory blocked(destination, engine_);
    arguments[DNNL_ARG_DST] = blocked;
    primitive.execute(stream_, arguments);
    dnnl::reorder(blocked, result).execute(stream_, blocked, result);
  }
  stream_.wait();
  return Tensor(ElementType::f32, call_.output_shape, std::move(bytes));
}

namespace {

/// Pictures with channels in blocks are taken apart and put together again around the operator as ONNX defines it, so
/// that what is computed in blocks is compared with what knows nothing of them.
std::optional<Tensor> run_without_blocks(const OneDnnCall& call, const ChannelBlocks& blocks) {
  Operator op = call.op;
  op.attributes.erase(channel_blocks_attribute);
  std::vector<std::optional<Tensor>> inputs = call.inputs;
  if (blocks.operand > 0) inputs[0] = unblocked(*inputs[0], 1);
  const bool has_weights = inputs.size() > 1 && inputs[1].has_value();
  if (blocks.result > 0 && has_weights) inputs[1] = unblocked(*inputs[1], 0);
  const Shape shape = blocks.result > 0 ? unblocked_shape(call.output_shape, 1) : call.output_shape;
  const auto result = run_by_onednn({op, inputs, call.output_type, shape});
  return result && blocks.result > 0 ? std::optional(blocked(*result, 1, blocks.result)) : result;
}

}  // namespace

std::optional<Tensor> run_by_onednn(const OneDnnCall& call) {
  if (const ChannelBlocks blocks = channel_blocks_of(call.op.attributes); blocks != ChannelBlocks{}) {
    return run_without_blocks(call, blocks);
  }
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.kind == call.op.kind; });
  if (row == rows.end() || !suits_onednn(call.output_type, call.output_shape)) return std::nullopt;
  for (const auto& input : call.inputs) {
    if (input && !suits_onednn(input->type(), input->shape())) return std::nullopt;
  }
  if (!keeps_ieee(*row, call.inputs)) return std::nullopt;
  try {
    Session session(call);
    return row->run(session);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return std::nullopt;
    fail_check(fmt::format("oneDNN on {} ({}): {}", call.op.name, call.op.kind, error.what()));
  }
}

}  // namespace stowage::reference
