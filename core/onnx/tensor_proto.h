// SPDX-License-Identifier: Apache-2.0
// Values of ONNX tensors, in every form in which a file may store them: raw bytes, typed fields, and external files
// inside the model's folder. Declared sizes are compared with what is really there before anything is allocated.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "core/diagnostics.h"
#include "core/tensor.h"

namespace stowage::onnx_import {

inline constexpr int max_rank = 16;

/// Our element type for an ONNX one; nothing for strings, complex numbers and the types below one byte.
std::optional<ElementType> element_type_of(int onnx_type);
/// ONNX's spelling: "float16", "string" …
std::string onnx_type_name(int onnx_type);
/// True for the ONNX types that operators compute in: numbers and bool, without float16 and bfloat16.
bool is_computable(int onnx_type);
bool is_computable(ElementType type);

/// Reads a tensor; external data is looked for below `folder`.
Result<Tensor> read_tensor(const onnx::TensorProto& proto, const std::string& folder, const SourceLocation& location,
                           Diagnostics& diagnostics);
/// The same, but large raw bytes are taken out of `proto` instead of copied: weights are most of what a model is.
Result<Tensor> take_tensor(onnx::TensorProto& proto, const std::string& folder, const SourceLocation& location,
                           Diagnostics& diagnostics);

}  // namespace stowage::onnx_import
