// SPDX-License-Identifier: Apache-2.0
// Our own checks of a model's form, for every opset: each value is made once and before it is read, there are no
// cycles, tensors and attributes are of kinds that exist here. Run before ONNX's checker, whose messages they replace
// where a person is better told more.
#pragma once

#include "core/onnx/model_file.h"

namespace stowage::onnx_import {

/// Reports everything wrong with the form of the main graph; true if nothing is.
bool check_structure(const Model& model, Diagnostics& diagnostics);

/// Reports inputs, weights and casts of types that Stowage does not compute in, one diagnostic a type; true if there
/// are none.
bool check_types(const Model& model, Diagnostics& diagnostics);

/// check_types() names this node: it makes or holds values that Stowage does not compute in.
bool has_unsupported_type(const onnx::NodeProto& node);

}  // namespace stowage::onnx_import
