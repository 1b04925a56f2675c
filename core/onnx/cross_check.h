// SPDX-License-Identifier: Apache-2.0
// Second opinions from the ONNX library, for the opsets that it knows (7 to 17): its checker before the import, its
// shape inference after it.
#pragma once

#include "core/onnx/node_import.h"

namespace stowage::onnx_import {

inline constexpr int newest_checked_opset = 17;

/// Runs ONNX's checker; false if it refuses the model. Newer opsets and functions written for another opset than the
/// model pass: our own checks must do for them.
bool check_with_onnx(const Model& model, Diagnostics& diagnostics);

/// Types of the model's values, as far as ONNX finds them, with the shapes of the network's inputs where `scope` is
/// given.
std::map<std::string, onnx::TypeProto> infer_types(const Model& model, const Scope* scope = nullptr);

/// The shape of a tensor's type; nothing unless all dimensions are numbers.
std::optional<Shape> static_shape(const onnx::TypeProto& type);

/// Compares the shapes that ONNX infers with ours, and those that the file declares for its outputs; differences are
/// warnings, because models with wrong declarations are common and run well.
void compare_shapes(const ImportState& state, const Scope& scope, Diagnostics& diagnostics);

}  // namespace stowage::onnx_import
