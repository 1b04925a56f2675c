// SPDX-License-Identifier: Apache-2.0
// Drops what no network output depends on: branches that training needed, or whose shape alone was read.
#pragma once

#include "core/graph.h"

namespace stowage::onnx_import {

/// The graph without operators and constants that no output depends on. Network inputs all stay.
Graph without_unused(const Graph& graph);

}  // namespace stowage::onnx_import
