// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph, one after the other; what is behind one that cannot be imported is looked at too.
#include <algorithm>

#include "core/onnx/cross_check.h"
#include "core/onnx/import_rows.h"
#include "core/onnx/node_import.h"
#include "core/onnx/structure.h"
#include "core/onnx/tensor_proto.h"
#include "core/tensor_limits.h"

namespace stowage::onnx_import {
namespace {

/// What is behind a node that cannot be imported gets a tensor of the right type and shape, where that is known.
void stand_in(ImportState& state, Scope& scope, const onnx::NodeProto& node) {
  if (!state.inferred) state.inferred = infer_types(state.model, &scope);
  for (const auto& output : node.output()) {
    if (output.empty()) continue;
    const auto found = state.inferred->find(output);
    const auto shape = found == state.inferred->end() ? std::nullopt : static_shape(found->second);
    const auto type = shape ? element_type_of(found->second.tensor_type().elem_type()) : std::nullopt;
    if (!type || !is_computable(*type) || !count_within_limit(*shape)) {
      scope.failed.insert(output);
      continue;
    }
    auto value = std::make_shared<Value>();
    value->name = output;
    value->type = *type;
    value->shape = *shape;
    value->id = state.builder.add_storage(state.builder.unique_name(output), *type, *shape);
    scope.values[output] = std::move(value);
    state.has_stand_ins = true;
  }
}

/// Imports one node, or checks as much of it as can be without its operands. Throws Refused.
void import_node(NodeImport& node, bool has_operands) {
  const onnx::NodeProto& proto = node.node();
  const bool in_branch = node.branch_depth() > 0;
  const ImportRow* row = is_onnx_domain(proto.domain()) ? find_import_row(proto.op_type(), node.opset()) : nullptr;
  if (row == nullptr && in_branch) node.refuse("unsupported-operator", "is an operator that Stowage does not have");
  const bool reported =
      row == nullptr || !why_unsupported(row->name, node.opset()).empty() || has_unsupported_type(proto);
  if (reported && !in_branch) throw Refused{};
  check_form(*row, node);
  if (!has_operands) throw Refused{};
  row->import(node);
}

}  // namespace

bool import_nodes(ImportState& state, Scope& scope, const onnx::GraphProto& graph, const std::string& prefix,
                  int branch_depth) {
  constexpr int max_reported = 1000;
  int refused = 0;
  bool good = true;
  const auto names = node_names(graph.node(), prefix);
  for (int n = 0; n < graph.node_size(); ++n) {
    if (state.stop.stop_requested()) return false;
    const onnx::NodeProto& proto = graph.node(n);
    const bool behind_failure = std::any_of(proto.input().begin(), proto.input().end(), [&](const std::string& input) {
      return !input.empty() && scope.has_failed(input);
    });
    NodeImport node(state, scope, proto, names[static_cast<std::size_t>(n)], branch_depth);
    const std::size_t reported = state.diagnostics.entries().size();
    try {
      import_node(node, !behind_failure);
    } catch (const Refused&) {
      good = false;
      if (state.diagnostics.entries().size() > reported && ++refused == max_reported) return false;
      if (branch_depth == 0) {
        stand_in(state, scope, proto);
      } else {
        for (const auto& output : proto.output()) scope.failed.insert(output);
      }
    }
  }
  return good;
}

}  // namespace stowage::onnx_import
