// SPDX-License-Identifier: Apache-2.0
#include "built_in_template_text.h"  // fusion/templates/*.toml, embedded by the build
#include "fusion/templates/template.h"

namespace stowage {

const std::vector<FusionTemplate>& built_in_templates() {
  static const std::vector<FusionTemplate> all = [] {
    std::vector<FusionTemplate> templates;
    Diagnostics diagnostics;
    for (const char* file : {"attention.toml", "layer_normalization.toml", "depthwise_pointwise.toml",
                             "convolution_pool.toml", "pool_convolution.toml", "convolution_convolution.toml",
                             "parallel_convolutions.toml", "parallel_products.toml", "convolution.toml", "matmul.toml",
                             "depthwise.toml", "reduction.toml", "element_wise.toml"}) {
      auto parsed = parse_templates(built_in_template_text(file), file, diagnostics);
      check(static_cast<bool>(parsed), "a built-in template is wrong: " + format_diagnostics(diagnostics));
      templates.insert(templates.end(), parsed->begin(), parsed->end());
    }
    return templates;
  }();
  return all;
}

}  // namespace stowage
