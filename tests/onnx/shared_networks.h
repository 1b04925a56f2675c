// SPDX-License-Identifier: Apache-2.0
// Networks of the shared folder, as their exporters wrote them, and what ONNX Runtime computed for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/tensor.h"

namespace stowage::test {

/// Files of ../shared/models/FOLDER, sorted; where it is missing, says "skipped" and gives none.
std::vector<std::filesystem::path> models_in(const std::string& folder);

struct Golden {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  ImportOptions options;  ///< sizes of dynamic dimensions that ONNX Runtime was given
};
/// Nothing for a network without golden outputs, or with types that are not read.
std::optional<Golden> golden_of(const std::filesystem::path& model);

/// Names that onnx_coverage says are missing.
std::vector<std::string> unsupported_of(const std::filesystem::path& model);

/// Whether all elements agree to 1e-3 of the tensor's largest magnitude. ONNX Runtime approximates the logistic
/// function to about 2^-21, which shows where a whole output lies below 1e-5: hence the absolute term.
bool agrees(const Tensor& expected, const Tensor& actual);

}  // namespace stowage::test
