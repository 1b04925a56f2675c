// SPDX-License-Identifier: Apache-2.0
#include "core/usual_remedy.h"

#include <fmt/format.h>

#include "core/operators.h"
#include "core/tensor_limits.h"

namespace stowage {
namespace {

/// "Conv takes X, W, B, of which the first 2 must be there".
std::string operands_of(const OperatorRow& row) {
  std::string names;
  for (const std::string_view name : row.operands) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return fmt::format("{} takes {}, of which the first {} must be there", row.name, names, row.required_operands);
}

/// "attributes of Softmax: axis (int, axis summed over, default -1)".
std::string attributes_of(const OperatorRow& row) {
  if (row.attributes.empty()) return fmt::format("{} takes no attributes", row.name);
  std::string names;
  for (const AttributeRow& attribute : row.attributes) {
    names += fmt::format("{}{} ({}: {})", names.empty() ? "" : ", ", attribute.name, attribute.type, attribute.summary);
  }
  return fmt::format("attributes of {}: {}", row.name, names);
}

}  // namespace

std::string usual_remedy(std::string_view code, std::string_view kind) {
  const OperatorRow* row = find_operator_row(kind);
  if (code == "tensor-too-large") return std::string(too_large_remedy);
  if (code == "unsupported-element-type" || code == "wrong-type" || code == "type-mismatch") {
    return "convert the operand with a Cast, or export the network in float32";
  }
  if (code == "axis-out-of-range") return "axes count from 0, or from -1 backwards from the last one";
  if (code == "shape-mismatch" && row != nullptr) {
    return fmt::format("give operands and attributes that fit each other; {}: {}", row->name, row->summary);
  }
  if (row != nullptr && (code == "missing-input" || code == "missing-operand" || code == "too-many-operands" ||
                         code == "wrong-operand-count")) {
    return operands_of(*row);
  }
  if (row != nullptr && code.ends_with("attribute")) return attributes_of(*row);
  return "mend the node where the network is made, and export it again";
}

}  // namespace stowage
