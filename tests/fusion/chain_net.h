// SPDX-License-Identifier: Apache-2.0
// Long chains and a template that fits all of them: what shows whether a search stays proportional to a network.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "fusion/templates/template.h"
#include "tests/fusion/net.h"

namespace stowage::testing {

inline Graph chain(int length) {
  Net net("chain");
  TensorId x = net.input("x", {2, 2});
  for (int i = 0; i < length; ++i) x = net.op("Relu", "relu" + std::to_string(i), {x});
  return net.done({x});
}

/// One template, "everything": up to `repeat` element-wise operators in a chain behind a first one.
inline std::vector<FusionTemplate> chain_of(int repeat) {
  Diagnostics diagnostics;
  auto templates = parse_templates(
      "[[template]]\nname = \"everything\"\n"
      "[[template.vertex]]\nname = \"first\"\nrole = \"anchor\"\nkinds = [\"@element_wise\"]\n"
      "[[template.vertex]]\nname = \"tail\"\nrole = \"epilogue\"\nkinds = [\"@element_wise\"]\n"
      "repeat = " +
          std::to_string(repeat) + "\n[[template.edge]]\nfrom = \"first\"\nto = \"tail\"\n",
      "mine.toml", diagnostics);
  if (!templates) throw std::logic_error(format_diagnostics(diagnostics));
  return *std::move(templates);
}

}  // namespace stowage::testing
