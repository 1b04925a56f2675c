// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/external_files.h"

#include "core/check.h"
#include "core/onnx/model_file.h"

namespace stowage {
namespace {

class Collector {
 public:
  std::set<std::string> files;

  void graph(const onnx::GraphProto& graph) {
    for (const auto& value : graph.initializer()) tensor(value);
    for (const auto& value : graph.sparse_initializer()) sparse(value);
    nodes(graph.node());
  }

  template <class Nodes>
  void nodes(const Nodes& nodes) {
    for (const auto& node : nodes) {
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_t()) tensor(attribute.t());
        if (attribute.has_sparse_tensor()) sparse(attribute.sparse_tensor());
        if (attribute.has_g()) graph(attribute.g());
        for (const auto& value : attribute.tensors()) tensor(value);
        for (const auto& value : attribute.graphs()) graph(value);
      }
    }
  }

 private:
  void tensor(const onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") files.insert(entry.value());
    }
  }

  void sparse(const onnx::SparseTensorProto& value) {
    tensor(value.values());
    tensor(value.indices());
  }
};

}  // namespace

std::set<std::string> onnx_import::external_files(const Model& model) {
  Collector collector;
  collector.graph(model.proto.graph());
  for (const auto& function : model.proto.functions()) collector.nodes(function.node());
  return std::move(collector.files);
}

std::set<std::string> onnx_external_files(const std::string& path, const std::stop_token& stop) {
  Diagnostics ignored;
  try {
    const auto model = onnx_import::load_model(path, ignored, stop);
    return model ? onnx_import::external_files(*model) : std::set<std::string>();
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception&) {
    return {};  // of protobuf, or memory ran out
  }
}

}  // namespace stowage
