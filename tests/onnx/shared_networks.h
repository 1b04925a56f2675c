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

/// Networks of ../shared/models/FOLDER.
struct SharedNetworks {
  std::vector<std::filesystem::path> here;    ///< files, sorted
  std::vector<std::string> missing;           ///< names of those that ought to be there and are not
  [[nodiscard]] std::string skipped() const;  ///< "skipped, 3 cases: …", for WARN
};
SharedNetworks networks_in(const std::string& folder);

/// The types of its tensors are not read (float16): it is refused when it is imported, with all that it asks for.
bool has_unread_types(const std::filesystem::path& model);

struct Golden {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  ImportOptions options;  ///< sizes of dynamic dimensions that ONNX Runtime was given
};
/// Nothing for a network without golden outputs. Throws std::runtime_error where they are there and cannot be read.
std::optional<Golden> golden_of(const std::filesystem::path& model);

/// Names that onnx_coverage says are missing.
std::vector<std::string> unsupported_of(const std::filesystem::path& model);

/// How `actual` differs from what ONNX Runtime computed, in words; empty where type and shape are the same, NaN and
/// infinities stand at the same places, and all other elements agree to 1e-3 of the tensor's largest magnitude. ONNX
/// Runtime approximates the logistic function to about 2^-21, which shows where a whole output lies below 1e-5: hence
/// an absolute term of 1e-6.
std::string golden_difference(const Tensor& expected, const Tensor& actual);

}  // namespace stowage::test
