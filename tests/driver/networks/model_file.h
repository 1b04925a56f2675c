// SPDX-License-Identifier: Apache-2.0
// What a written ONNX file holds, read from its bytes without protobuf, so that counts of parameters come from the
// file and from nothing that wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stowage::test {

struct Weight {
  std::string name;
  std::int64_t data_type = 0;  ///< TensorProto.DataType: 1 is float
  int rank = 0;
  std::int64_t elements = 1;
  std::int64_t raw_bytes = 0;
};

struct ModelFile {
  std::vector<Weight> weights;
  std::vector<std::string> op_types;  ///< one per node, in order
};

ModelFile read_model_file(const std::string& path);

/// Elements of the trained parameters, as torchvision counts: all float weights but the running means and variances and
/// but scalars, which are literals of a formula (the 6 of ReLU6).
std::int64_t parameter_count(const ModelFile& file);

}  // namespace stowage::test
