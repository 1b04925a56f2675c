// SPDX-License-Identifier: Apache-2.0
// Inputs of the network: dynamic dimensions become numbers (--dim), inputs whose value is given become constants
// (--bind).
#pragma once

#include "core/onnx/node_import.h"

namespace stowage::onnx_import {

/// The network's inputs as declared, without weights that are listed as inputs too.
Result<std::vector<NetworkInput>> declared_inputs(const Model& model, Diagnostics& diagnostics);

/// Puts the network's inputs into the graph and its weights and bound inputs into the scope.
bool add_inputs_and_weights(ImportState& state, Scope& scope);

}  // namespace stowage::onnx_import
