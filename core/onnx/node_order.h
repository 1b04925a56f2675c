// SPDX-License-Identifier: Apache-2.0
// Nodes in the order of their dependences, whatever the file's order is; names first, because they tell the file's.
#pragma once

#include <set>
#include <string>

#include "core/onnx/model_file.h"

namespace stowage::onnx_import {

/// Gives every node without a name the one that node_names() tells, in branches too: a name stays when nodes move.
void name_nodes(Nodes& nodes);

/// Values that a node reads: its operands, and those that its branches read from around them.
std::set<std::string> values_read(const onnx::NodeProto& node);

/// Sorts nodes so that each value is made before it is read, in branches too. Those that need not move keep their
/// order. Nodes in a cycle, or behind one, stay where they are.
void sort_nodes(Nodes& nodes);

}  // namespace stowage::onnx_import
