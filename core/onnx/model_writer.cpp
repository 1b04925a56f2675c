// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/model_writer.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <system_error>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
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

namespace {

/// A constant without its bytes, and where they come from.
struct Constant {
  onnx::TensorProto header;
  std::size_t size = 0;
  ModelWriter::FillBlock fill;
};

using google::protobuf::io::CodedOutputStream;

/// Tag of a field that holds a length and that many bytes (wire type 2).
constexpr std::uint32_t bytes_tag(int field) { return static_cast<std::uint32_t>(field) << 3 | 2; }
constexpr std::uint32_t graph_tag = bytes_tag(onnx::ModelProto::kGraphFieldNumber);
constexpr std::uint32_t initializer_tag = bytes_tag(onnx::GraphProto::kInitializerFieldNumber);
constexpr std::uint32_t raw_data_tag = bytes_tag(onnx::TensorProto::kRawDataFieldNumber);

/// Bytes that a field of `content` bytes takes with its tag and length.
std::size_t field_size(std::uint32_t tag, std::size_t content) {
  return CodedOutputStream::VarintSize32(tag) + CodedOutputStream::VarintSize64(content) + content;
}

std::size_t tensor_size(const Constant& constant) {
  return constant.header.ByteSizeLong() + field_size(raw_data_tag, constant.size);
}

/// False where it was stopped.
bool write_constant(const Constant& constant, CodedOutputStream& stream, const std::stop_token& stop) {
  stream.WriteTag(initializer_tag);
  stream.WriteVarint64(tensor_size(constant));
  constant.header.SerializeToCodedStream(&stream);
  stream.WriteTag(raw_data_tag);
  stream.WriteVarint64(constant.size);
  std::vector<std::byte> block(std::min(constant.size, ModelWriter::block_size));
  for (std::size_t offset = 0; offset < constant.size; offset += block.size()) {
    if (stop.stop_requested()) return false;
    const std::span<std::byte> part = std::span(block).first(std::min(block.size(), constant.size - offset));
    constant.fill(offset, part);
    stream.WriteRaw(part.data(), static_cast<int>(part.size()));
  }
  return true;
}

}  // namespace

struct ModelWriter::Model {
  onnx::ModelProto proto;  ///< all but the graph
  onnx::GraphProto graph;  ///< all but the constants
  std::vector<Constant> constants;

  /// The order of fields is free in protobuf's format, so the constants may follow the rest of the graph.
  bool write(google::protobuf::io::ZeroCopyOutputStream& file, const std::stop_token& stop) const {
    std::size_t graph_size = graph.ByteSizeLong();
    for (const Constant& constant : constants) graph_size += field_size(initializer_tag, tensor_size(constant));
    CodedOutputStream stream(&file);
    proto.SerializeToCodedStream(&stream);
    stream.WriteTag(graph_tag);
    stream.WriteVarint64(graph_size);
    graph.SerializeToCodedStream(&stream);
    for (const Constant& constant : constants) {
      if (!write_constant(constant, stream, stop)) return false;
    }
    return !stream.HadError();
  }
};

ModelWriter::ModelWriter(std::string name, int opset, std::string about) : model_(std::make_unique<Model>()) {
  onnx::ModelProto& proto = model_->proto;
  proto.set_ir_version(opset > 13 ? newest_ir_version : ir_version_of_opset_13);
  proto.set_producer_name("stowage");
  proto.set_doc_string(std::move(about));
  proto.add_opset_import()->set_version(opset);
  model_->graph.set_name(std::move(name));
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
  set_value_info(*model_->graph.add_input(), name, type, dimensions);
}

void ModelWriter::add_output(const std::string& name, ElementType type, const std::vector<std::string>& dimensions) {
  set_value_info(*model_->graph.add_output(), name, type, dimensions);
}

void ModelWriter::add_constant(const std::string& name, const Tensor& value) {
  add_constant(name, value.type(), value.shape(), [value](std::size_t offset, std::span<std::byte> block) {
    const auto bytes = value.bytes().subspan(offset, block.size());
    std::copy(bytes.begin(), bytes.end(), block.begin());
  });
}

void ModelWriter::add_constant(const std::string& name, ElementType type, const Shape& shape, FillBlock fill) {
  Constant constant;
  constant.header.set_name(name);
  constant.header.set_data_type(data_type(type));
  for (const std::int64_t extent : shape) constant.header.add_dims(extent);
  constant.size = static_cast<std::size_t>(element_count(shape) * byte_size(type));
  constant.fill = std::move(fill);
  model_->constants.push_back(std::move(constant));
}

void ModelWriter::add_node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const Attributes& attributes) {
  onnx::NodeProto& node = *model_->graph.add_node();
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

Result<std::string> ModelWriter::save(const std::string& path, Diagnostics& diagnostics, std::stop_token stop,
                                      Existing existing) const {
  const auto fail = [&](const std::string& message, const std::error_code& error, std::string remedy) -> Failed {
    diagnostics.error("cannot-write", {.file = path}, message + ": " + error.message(), std::move(remedy));
    return {};
  };
  FileWriter file(path, existing);
  if (const std::error_code error = file.error()) {
    return fail("the file cannot be created", error, "check that its folder exists and may be written to");
  }
  // Protobuf reads no message of more than 2 GiB; larger models would need external data.
  google::protobuf::io::FileOutputStream stream(file.descriptor(), static_cast<int>(block_size));
  const bool written = model_->write(stream, stop);
  if (written && stream.Flush()) {
    const std::error_code error = file.commit();
    if (!error) return path;
    if (error == std::errc::file_exists) {
      diagnostics.error("output-exists", {.file = path}, "the file appeared while it was made, and was left as it is",
                        "give --force to replace it");
      return Failed{};
    }
    return fail("the model could not be written completely", error, "check that there is room on the disk");
  }
  if (stop.stop_requested()) return Failed{};
  return fail("the model could not be written completely", {stream.GetErrno(), std::generic_category()},
              "check that there is room on the disk");
}

}  // namespace stowage
