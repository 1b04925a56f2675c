// SPDX-License-Identifier: Apache-2.0
// Calls of functions become the functions' nodes: of those that the model brings along, and of operators that Stowage
// does not have but ONNX defines by others.
#pragma once

#include "core/onnx/model_file.h"

namespace stowage::onnx_import {

/// Replaces every call, in branches and in functions too. Values and nodes of a function are called CALL/NAME.
/// Reports recursion, calls that nest too deep or become too many nodes, functions that are defined twice, and calls
/// with too many operands.
bool expand_functions(Model& model, Diagnostics& diagnostics);

}  // namespace stowage::onnx_import
