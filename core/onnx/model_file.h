// SPDX-License-Identifier: Apache-2.0
// A model file in memory: parsed, known to be ONNX, of a version that Stowage reads.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"

namespace stowage::onnx_import {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

inline constexpr int oldest_opset = 7;
/// The newest one whose forms the import table was written for and whose operator tests it passes.
inline constexpr int newest_opset = 27;
inline constexpr int max_nodes = 200'000;
inline constexpr std::size_t max_name_length = 2048;

struct Model {
  std::string path;
  std::string folder;  ///< where external data may lie
  onnx::ModelProto proto;
  int opset = 0;  ///< version of ONNX's own operators that the file was written for
  /// By a value that they make: the opset of nodes out of functions that were written for another one.
  std::map<std::string, int> other_opsets;
  /// A node of the file that ONNX defines by others, and for which these stand.
  struct WrittenOut {
    std::string kind;
    std::string node;
    int call = 0;  ///< tells nodes of one name apart
  };
  /// By a value that they make: which one nodes stand for.
  std::map<std::string, WrittenOut> written_out;

  [[nodiscard]] int opset_of(const onnx::NodeProto& node) const;
  [[nodiscard]] const WrittenOut* written_out_for(const onnx::NodeProto& node) const;

  [[nodiscard]] SourceLocation location(std::string object = {}) const {
    SourceLocation location;
    location.file = path;
    location.object = std::move(object);
    return location;
  }
};

/// Fails without a diagnostic when stopped.
Result<Model> load_model(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop = {});

bool is_onnx_domain(const std::string& domain);  ///< "" or "ai.onnx"

/// A name for every node. A node without one is called KIND_N, where it is the N-th node of its kind in the
/// file's order, counting from 1 and counting named ones too; `prefix` stands before it.
std::vector<std::string> node_names(const Nodes& nodes, const std::string& prefix = {});
/// "node conv1 (Conv)": how diagnostics name a node.
std::string node_label(const std::string& name, const onnx::NodeProto& node);

}  // namespace stowage::onnx_import
