// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/model_writer.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <onnx/onnx_pb.h>

namespace stowage {

namespace {

/// IR version 8 is the one that came with opsets 15 to 17; every reader of opset 13 knows it or an older one.
constexpr std::int64_t newest_ir_version = 8;
constexpr std::int64_t ir_version_of_opset_13 = 7;

onnx::TensorProto::DataType data_type(ElementType type) {
  switch (type) {
    case ElementType::f32: return onnx::TensorProto::FLOAT;
    case ElementType::f64: return onnx::TensorProto::DOUBLE;
    case ElementType::i8: return onnx::TensorProto::INT8;
    case ElementType::i16: return onnx::TensorProto::INT16;
    case ElementType::i32: return onnx::TensorProto::INT32;
    case ElementType::i64: return onnx::TensorProto::INT64;
    case ElementType::u8: return onnx::TensorProto::UINT8;
    case ElementType::u16: return onnx::TensorProto::UINT16;
    case ElementType::u32: return onnx::TensorProto::UINT32;
    case ElementType::u64: return onnx::TensorProto::UINT64;
    case ElementType::boolean: return onnx::TensorProto::BOOL;
    case ElementType::f16: return onnx::TensorProto::FLOAT16;
    case ElementType::bf16: return onnx::TensorProto::BFLOAT16;
  }
  fail_check("unknown element type");
}

void set_value_info(onnx::ValueInfoProto& info, const std::string& name, ElementType type,
                    const std::vector<std::string>& dimensions) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(data_type(type));
  auto& shape = *tensor.mutable_shape();
  for (const std::string& dimension : dimensions) {
    const bool is_number = !dimension.empty() && std::all_of(dimension.begin(), dimension.end(),
                                                             [](unsigned char c) { return std::isdigit(c); });
    if (is_number) {
      shape.add_dim()->set_dim_value(std::stoll(dimension));
    } else {
      shape.add_dim()->set_dim_param(dimension);
    }
  }
}

std::vector<std::string> as_dimensions(const Shape& shape) {
  std::vector<std::string> dimensions;
  for (const std::int64_t extent : shape) dimensions.push_back(std::to_string(extent));
  return dimensions;
}

struct SetAttribute {
  onnx::AttributeProto& attribute;

  void operator()(std::int64_t value) const {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void operator()(double value) const {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    attribute.set_type(onnx::AttributeProto::FLOATS);
    for (const double value : values) attribute.add_floats(static_cast<float>(value));
  }
};

}  // namespace

struct ModelWriter::Model {
  onnx::ModelProto proto;
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
};

ModelWriter::ModelWriter(std::string name, int opset, std::string about) : model_(std::make_unique<Model>()) {
  onnx::ModelProto& proto = model_->proto;
  proto.set_ir_version(opset > 13 ? newest_ir_version : ir_version_of_opset_13);
  proto.set_producer_name("stowage");
  proto.set_doc_string(std::move(about));
  proto.add_opset_import()->set_version(opset);
  model_->graph().set_name(std::move(name));
}

ModelWriter::ModelWriter(ModelWriter&&) noexcept = default;
ModelWriter& ModelWriter::operator=(ModelWriter&&) noexcept = default;
ModelWriter::~ModelWriter() = default;

void ModelWriter::add_input(const std::string& name, ElementType type, const Shape& shape) {
  add_input(name, type, as_dimensions(shape));
}

void ModelWriter::add_output(const std::string& name, ElementType type, const Shape& shape) {
  add_output(name, type, as_dimensions(shape));
}

void ModelWriter::add_input(const std::string& name, ElementType type, const std::vector<std::string>& dimensions) {
  set_value_info(*model_->graph().add_input(), name, type, dimensions);
}

void ModelWriter::add_output(const std::string& name, ElementType type, const std::vector<std::string>& dimensions) {
  set_value_info(*model_->graph().add_output(), name, type, dimensions);
}

void ModelWriter::add_constant(const std::string& name, const Tensor& value) {
  onnx::TensorProto& tensor = *model_->graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(data_type(value.type()));
  for (const std::int64_t extent : value.shape()) tensor.add_dims(extent);
  const auto bytes = value.bytes();
  tensor.set_raw_data(bytes.data(), bytes.size());
}

void ModelWriter::add_node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const Attributes& attributes) {
  onnx::NodeProto& node = *model_->graph().add_node();
  node.set_op_type(op_type);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  for (const auto& [key, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit(SetAttribute{attribute}, value);
  }
}

Result<std::string> ModelWriter::save(const std::string& path, Diagnostics& diagnostics) const {
  const std::string partial = path + ".partial";
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    if (!file) {
      diagnostics.error("cannot-write", {.file = path}, "the file cannot be created",
                        "check that its folder exists and may be written to");
      return Failed{};
    }
    // Protobuf cannot hold more than 2 GiB in one message; larger models would need external data.
    const bool written = model_->proto.SerializeToOstream(&file);
    file.close();
    if (!written || !file) {
      std::remove(partial.c_str());
      diagnostics.error("cannot-write", {.file = path}, "the model could not be written completely",
                        "check that there is room on the disk");
      return Failed{};
    }
  }
  std::error_code failure;
  std::filesystem::rename(partial, path, failure);
  if (failure) {
    std::remove(partial.c_str());
    diagnostics.error("cannot-write", {.file = path}, "the file cannot be put in place: " + failure.message());
    return Failed{};
  }
  return path;
}

}  // namespace stowage
