// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/networks/model_file.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace stowage::test {

namespace {

/// One message in protobuf's wire format: fields of a number and either a varint or a run of bytes.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  /// Calls on_field(number, value, bytes) for each field; a varint has empty bytes, a run of bytes has value 0.
  template <class OnField>
  void for_each_field(const OnField& on_field) {
    while (!rest_.empty()) {
      const std::uint64_t key = varint();
      const auto number = static_cast<int>(key >> 3);
      switch (key & 7) {
        case 0: on_field(number, varint(), std::string_view{}); break;
        case 1: take(8); break;
        case 2: on_field(number, std::uint64_t{0}, take(varint())); break;
        case 5: take(4); break;
        default: throw std::runtime_error("unknown wire type");
      }
    }
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("overlong varint");
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::runtime_error("truncated message");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

// Field numbers of onnx.proto.
enum ModelField { model_graph = 7 };
enum GraphField { graph_node = 1, graph_initializer = 5 };
enum NodeField { node_op_type = 4 };
enum TensorField { tensor_dims = 1, tensor_data_type = 2, tensor_name = 8, tensor_raw_data = 9 };

Weight read_weight(std::string_view bytes) {
  Weight weight;
  Message(bytes).for_each_field([&](int number, std::uint64_t value, std::string_view run) {
    if (number == tensor_dims && !run.empty()) throw std::runtime_error("packed dims are not read here");
    if (number == tensor_dims) {
      ++weight.rank;
      weight.elements *= static_cast<std::int64_t>(value);
    }
    if (number == tensor_data_type) weight.data_type = static_cast<std::int64_t>(value);
    if (number == tensor_name) weight.name = run;
    if (number == tensor_raw_data) weight.raw_bytes = static_cast<std::int64_t>(run.size());
  });
  return weight;
}

}  // namespace

ModelFile read_model_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(std::filesystem::file_size(path), '\0');
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw std::runtime_error("unreadable");
  ModelFile file;
  Message(bytes).for_each_field([&](int model_number, std::uint64_t, std::string_view graph) {
    if (model_number != model_graph) return;
    Message(graph).for_each_field([&](int number, std::uint64_t, std::string_view run) {
      if (number == graph_initializer) file.weights.push_back(read_weight(run));
      if (number == graph_node) {
        Message(run).for_each_field([&](int node_number, std::uint64_t, std::string_view text) {
          if (node_number == node_op_type) file.op_types.emplace_back(text);
        });
      }
    });
  });
  return file;
}

std::int64_t parameter_count(const ModelFile& file) {
  std::int64_t count = 0;
  for (const Weight& weight : file.weights) {
    const bool is_statistic = weight.name.ends_with(".running_mean") || weight.name.ends_with(".running_var");
    if (weight.data_type == 1 && weight.rank > 0 && !is_statistic) count += weight.elements;
  }
  return count;
}

}  // namespace stowage::test
