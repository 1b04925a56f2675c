// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/tensor_proto.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/number_text.h"
#include "core/tensor_limits.h"

namespace stowage::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

/// What external_data says; offset and length as written.
struct ExternalData {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

std::optional<std::int64_t> parse_count(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

class TensorReader {
 public:
  TensorReader(const TensorProto& proto, const std::string& folder, const SourceLocation& location,
               Diagnostics& diagnostics, TensorProto* taken_from = nullptr)
      : proto_(proto), taken_from_(taken_from), folder_(folder), location_(location), diagnostics_(diagnostics) {
    if (location_.object.empty()) location_.object = fmt::format("tensor {}", proto.name());
  }

  Result<Tensor> read() {
    const auto type = element_type_of(proto_.data_type());
    if (!type) {
      return fail("unsupported-type",
                  fmt::format("holds {} elements, which Stowage does not read", onnx_type_name(proto_.data_type())));
    }
    if (proto_.has_segment()) return fail("invalid-tensor", "is stored in segments, which no ONNX version reads");
    if (proto_.dims_size() > max_rank) {
      return fail("tensor-too-large",
                  fmt::format("has {} dimensions; at most {} are read", proto_.dims_size(), max_rank));
    }
    const Shape shape(proto_.dims().begin(), proto_.dims().end());
    const auto count = checked_element_count(shape);
    std::int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, static_cast<std::int64_t>(byte_size(*type)), &bytes)) {
      return fail("tensor-too-large", fmt::format("has the impossible shape {}", to_text(shape)));
    }
    if (proto_.data_location() == TensorProto::EXTERNAL) return read_external(*type, shape, bytes);
    if (proto_.has_raw_data()) return read_raw(*type, shape, bytes);
    return read_typed(*type, shape, *count);
  }

 private:
  Failed fail(std::string code, std::string message, std::string remedy = {}) {
    if (remedy.empty()) {
      remedy = code == "tensor-too-large"   ? std::string(too_large_remedy)
               : code == "unsupported-type" ? "convert the network to float32"
               : code == "external-data"    ? "export the model again, its data files beside it"
                                            : "fetch or export the model again: its weights are damaged";
    }
    diagnostics_.error(std::move(code), location_, std::move(message), std::move(remedy));
    return {};
  }

  static Tensor finished(ElementType type, Shape shape, std::vector<std::byte> bytes) {
    if (type == ElementType::boolean) {
      for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
    }
    return {type, std::move(shape), std::move(bytes)};
  }

  Failed wrong_size(const Shape& shape, std::string_view found, std::string_view wanted) {
    return fail("invalid-tensor",
                fmt::format("has shape {} and so needs {}, but the file holds {}", to_text(shape), wanted, found));
  }

  Result<Tensor> read_raw(ElementType type, const Shape& shape, std::int64_t bytes) {
    const std::string& raw = proto_.raw_data();
    if (static_cast<std::int64_t>(raw.size()) != bytes) {
      return wrong_size(shape, counted(raw.size(), "byte"), counted(bytes, "byte"));
    }
    constexpr std::size_t large = 4096;  // bytes
    if (taken_from_ != nullptr && raw.size() > large && type != ElementType::boolean) {
      return Tensor(type, shape, std::move(*taken_from_->mutable_raw_data()));
    }
    std::vector<std::byte> content(raw.size());
    if (!raw.empty()) std::memcpy(content.data(), raw.data(), raw.size());
    return finished(type, shape, std::move(content));
  }

  template <class Stored, class Field>
  Result<Tensor> convert(ElementType type, const Shape& shape, std::int64_t count, const Field& field) {
    if (field.size() != count) {
      return wrong_size(shape, counted(field.size(), "value"), counted(count, "value"));
    }
    std::vector<std::byte> content(static_cast<std::size_t>(count) * sizeof(Stored));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Stored>(field.Get(static_cast<int>(i)));
      std::memcpy(content.data() + static_cast<std::size_t>(i) * sizeof(Stored), &value, sizeof value);
    }
    return finished(type, shape, std::move(content));
  }

  Result<Tensor> read_typed(ElementType type, const Shape& shape, std::int64_t count) {
    switch (type) {
      case ElementType::f32: return convert<float>(type, shape, count, proto_.float_data());
      case ElementType::f64: return convert<double>(type, shape, count, proto_.double_data());
      case ElementType::i64: return convert<std::int64_t>(type, shape, count, proto_.int64_data());
      case ElementType::u32: return convert<std::uint32_t>(type, shape, count, proto_.uint64_data());
      case ElementType::u64: return convert<std::uint64_t>(type, shape, count, proto_.uint64_data());
      case ElementType::i32: return convert<std::int32_t>(type, shape, count, proto_.int32_data());
      case ElementType::i16: return convert<std::int16_t>(type, shape, count, proto_.int32_data());
      case ElementType::i8: return convert<std::int8_t>(type, shape, count, proto_.int32_data());
      case ElementType::u8: return convert<std::uint8_t>(type, shape, count, proto_.int32_data());
      case ElementType::boolean: return convert<bool>(type, shape, count, proto_.int32_data());
      case ElementType::u16:
      case ElementType::f16:
      case ElementType::bf16: return convert<std::uint16_t>(type, shape, count, proto_.int32_data());
    }
    fail_check("element type without a typed field");
  }

  Result<ExternalData> external_data() {
    ExternalData external;
    for (const auto& entry : proto_.external_data()) {
      if (entry.key() == "location") external.location = entry.value();
      if (entry.key() != "offset" && entry.key() != "length") continue;
      const auto value = parse_count(entry.value());
      if (!value) {
        return fail("external-data", fmt::format("has {} '{}' of its external data, which is not a count of bytes",
                                                 entry.key(), entry.value()));
      }
      if (entry.key() == "offset") external.offset = *value;
      if (entry.key() == "length") external.length = *value;
    }
    if (external.location.empty()) return fail("external-data", "is stored outside the file, but no location is given");
    return external;
  }

  /// The file, if it lies inside the model's folder even when links are followed.
  Result<fs::path> external_path(const std::string& location) {
    const fs::path relative(location);
    const std::string remedy = "external data must lie in the model's folder or below it";
    if (location.find('\0') != std::string::npos) {
      return fail("external-data", "has an external location with a zero byte in it", remedy);
    }
    bool climbs = relative.is_absolute();
    for (const fs::path& part : relative) climbs = climbs || part == "..";
    if (climbs) {
      return fail("external-data", fmt::format("names external data outside the model's folder: '{}'", location),
                  remedy);
    }
    std::error_code error;
    const fs::path root = fs::canonical(folder_.empty() ? fs::path(".") : fs::path(folder_), error);
    if (error) return fail("external-data", fmt::format("the model's folder cannot be found: {}", error.message()));
    const fs::path file = fs::canonical(root / relative, error);
    if (error) {
      return fail("external-data", fmt::format("external data '{}' cannot be found: {}", location, error.message()),
                  "copy the data files together with the model");
    }
    const auto [end, ignored] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
    if (end != root.end()) {
      return fail("external-data",
                  fmt::format("names external data '{}', a link to outside the model's folder", location), remedy);
    }
    if (!fs::is_regular_file(file, error)) {
      return fail("external-data", fmt::format("external data '{}' is not a file", location));
    }
    return file;
  }

  Result<Tensor> read_external(ElementType type, const Shape& shape, std::int64_t bytes) {
    const auto external = external_data();
    if (!external) return Failed{};
    const auto file = external_path(external->location);
    if (!file) return Failed{};
    if (external->length && *external->length != bytes) {
      return wrong_size(shape, fmt::format("{} in '{}'", counted(*external->length, "byte"), external->location),
                        counted(bytes, "byte"));
    }
    std::error_code error;
    const auto size = static_cast<std::int64_t>(fs::file_size(*file, error));
    if (error || external->offset > size || bytes > size - external->offset) {
      return fail("external-data",
                  fmt::format("needs {} at offset {} of '{}', which has {}", counted(bytes, "byte"), external->offset,
                              external->location, counted(error ? 0 : size, "byte")));
    }
    std::vector<std::byte> content(static_cast<std::size_t>(bytes));
    std::ifstream stream(*file, std::ios::binary);
    stream.seekg(external->offset);
    stream.read(reinterpret_cast<char*>(content.data()), bytes);
    if (!stream) return fail("external-data", fmt::format("external data '{}' cannot be read", external->location));
    return finished(type, shape, std::move(content));
  }

  const TensorProto& proto_;
  TensorProto* taken_from_;  ///< the same one, where its bytes may be taken
  const std::string& folder_;
  SourceLocation location_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<ElementType> element_type_of(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT: return ElementType::f32;
    case TensorProto::DOUBLE: return ElementType::f64;
    case TensorProto::INT8: return ElementType::i8;
    case TensorProto::INT16: return ElementType::i16;
    case TensorProto::INT32: return ElementType::i32;
    case TensorProto::INT64: return ElementType::i64;
    case TensorProto::UINT8: return ElementType::u8;
    case TensorProto::UINT16: return ElementType::u16;
    case TensorProto::UINT32: return ElementType::u32;
    case TensorProto::UINT64: return ElementType::u64;
    case TensorProto::BOOL: return ElementType::boolean;
    case TensorProto::FLOAT16: return ElementType::f16;
    case TensorProto::BFLOAT16: return ElementType::bf16;
    default: return std::nullopt;
  }
}

std::string onnx_type_name(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::UNDEFINED: return "untyped";
    // Types that are younger than the ONNX version Stowage is built with have no constant there.
    case 17: return "float8e4m3fn";
    case 18: return "float8e4m3fnuz";
    case 19: return "float8e5m2";
    case 20: return "float8e5m2fnuz";
    case 21: return "uint4";
    case 22: return "int4";
    case 23: return "float4e2m1";
    default: break;
  }
  if (!TensorProto::DataType_IsValid(onnx_type)) return fmt::format("type {}", onnx_type);
  std::string name = TensorProto::DataType_Name(static_cast<TensorProto::DataType>(onnx_type));
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name == "float" ? "float32" : name == "double" ? "float64" : name;
}

bool is_computable(int onnx_type) {
  const auto type = element_type_of(onnx_type);
  return type && is_computable(*type);
}

bool is_computable(ElementType type) { return type != ElementType::f16 && type != ElementType::bf16; }

Result<Tensor> read_tensor(const TensorProto& proto, const std::string& folder, const SourceLocation& location,
                           Diagnostics& diagnostics) {
  return TensorReader(proto, folder, location, diagnostics).read();
}

Result<Tensor> take_tensor(TensorProto& proto, const std::string& folder, const SourceLocation& location,
                           Diagnostics& diagnostics) {
  return TensorReader(proto, folder, location, diagnostics, &proto).read();
}

}  // namespace stowage::onnx_import
