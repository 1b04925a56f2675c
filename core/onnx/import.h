// SPDX-License-Identifier: Apache-2.0
// ONNX in: a model file becomes a Graph in canonical form (one output an operator, shapes and axes as attributes,
// inference form, constants folded). docs/onnx.md says what is read and how.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/graph.h"

namespace stowage {

struct ImportOptions {
  std::map<std::string, std::int64_t> dimensions;  ///< --dim NAME=SIZE: fixes a dynamic dimension by name
  std::map<std::string, Tensor> bindings;          ///< --bind INPUT=file.npy: makes an input a constant
  /// Limit for all constants that are larger than what the file says about them (ConstantOfShape, folded operators).
  std::int64_t max_generated_bytes = std::int64_t{2} << 30;
};

/// Reads, checks and canonicalises a model. All mistakes found are in `diagnostics`; unsupported operators are listed
/// together, each with its nodes, before anything else. Fails without a diagnostic when stopped. `external_files`,
/// where given, gets what onnx_external_files() tells of the file, which then need not be read once more for it.
Result<Graph> import_onnx(const std::string& path, const ImportOptions& options, Diagnostics& diagnostics,
                          std::stop_token stop = {}, std::set<std::string>* external_files = nullptr);

/// One input of the network as the file declares it; weights that are listed as inputs too are left out.
struct NetworkInput {
  std::string name;
  ElementType type = ElementType::f32;
  /// A number, or the name by which --dim fixes a dynamic dimension; unnamed ones are called INPUT_AXIS.
  std::vector<std::string> dimensions;
};
Result<std::vector<NetworkInput>> onnx_inputs(const std::string& path, Diagnostics& diagnostics);

/// Network inputs whose values decide shapes or axes, as far as the bindings given so far tell: --bind must give them.
/// Binding these may uncover others; none are left once the list is empty.
Result<std::vector<std::string>> onnx_inputs_to_bind(const std::string& path, const ImportOptions& options,
                                                     Diagnostics& diagnostics);

struct CoverageRow {
  std::string operator_name;  ///< "Conv", or "com.example::Foo"
  bool supported = false;
  std::string reason;  ///< why not
  std::string remedy;  ///< what may help; may be empty
  std::vector<std::string> nodes;
};
/// Which operators of the model are supported, sorted by name, without compiling.
Result<std::vector<CoverageRow>> onnx_coverage(const std::string& path, Diagnostics& diagnostics);

/// Reads the value of a tensor from a serialised ONNX TensorProto (test data).
Result<Tensor> read_tensor_proto(const std::string& path, Diagnostics& diagnostics);

}  // namespace stowage
