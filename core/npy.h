// SPDX-License-Identifier: Apache-2.0
// Reads and writes NumPy .npy files (versions 1.0 to 3.0, little-endian, C order).
#pragma once

#include <string>

#include "core/diagnostics.h"
#include "core/tensor.h"

namespace stowage {

Result<Tensor> read_npy(const std::string& path, Diagnostics& diagnostics);
Result<std::string> write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics);

}  // namespace stowage
