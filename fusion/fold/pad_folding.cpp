// SPDX-License-Identifier: Apache-2.0
#include "fusion/fold/pad_folding.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/operators.h"

namespace stowage {
namespace {

Decision pads_with_zeros(const Graph& graph, const Operator& pad) {
  const std::string mode = string_attribute(pad.attributes, "mode", "constant");
  if (mode != "constant") return Decision::refuse("pad-value", fmt::format("it pads in mode {}", mode));
  double value = float_attribute(pad.attributes, "value", 0);
  if (pad.inputs.size() > 1 && pad.inputs[1]) {
    const GraphTensor& operand = graph.tensor(*pad.inputs[1]);
    if (!operand.constant) return Decision::refuse("pad-value", fmt::format("{} is not constant", operand.name));
    value = operand.constant->as_double(0);
  }
  if (value != 0) return Decision::refuse("pad-value", fmt::format("it pads with {}", value));
  return Decision::allow();
}

}  // namespace

bool absorbs_pads(const Operator& op) { return op.kind == "Conv" || op.kind == "AveragePool"; }

PadFolding folded_pads(const Graph& graph, const Operator& pad, const Operator& window) {
  if (Decision decision = pads_with_zeros(graph, pad); !decision) return {std::move(decision), {}};
  const std::size_t rank = graph.tensor(pad.first_output()).shape.size();
  const auto pads = ints_attribute(pad.attributes, "pads", {});
  check(pads.size() == 2 * rank, "a Pad has two numbers a dimension");
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0)
      return {Decision::refuse("pad-place", fmt::format("it takes {} away", counted(-pads[i], "element"))), {}};
    if (pads[i] > 0 && i % rank < 2) {
      return {Decision::refuse("pad-place", fmt::format("it pads dimension {}, which no window runs along", i % rank)),
              {}};
    }
  }
  const std::string auto_pad = string_attribute(window.attributes, "auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") {
    return {Decision::refuse("auto-pad", fmt::format("{} computes its own pads ({})", window.name, auto_pad)), {}};
  }
  const std::size_t spatial = rank - 2;
  std::vector<std::int64_t> own(2 * spatial, 0);
  if (auto_pad == "NOTSET") own = ints_attribute(window.attributes, "pads", own);
  PadFolding folding;
  folding.attributes = window.attributes;
  if (window.kind == "AveragePool") {
    if (int_attribute(window.attributes, "ceil_mode", 0) != 0) {
      return {Decision::refuse("ceil-mode", fmt::format("{} rounds its extents up", window.name)), {}};
    }
    const bool counts_pads = int_attribute(window.attributes, "count_include_pad", 0) != 0;
    if (!counts_pads && std::any_of(own.begin(), own.end(), [](std::int64_t p) { return p != 0; })) {
      return {Decision::refuse("count-include-pad",
                               fmt::format("{} does not count its own padding, but would count this", window.name)),
              {}};
    }
    folding.attributes["count_include_pad"] = std::int64_t{1};
  }
  for (std::size_t d = 0; d < spatial; ++d) {
    own[d] += pads[2 + d];
    own[spatial + d] += pads[rank + 2 + d];
  }
  folding.attributes.erase("auto_pad");
  folding.attributes["pads"] = own;
  return folding;
}

}  // namespace stowage
