// SPDX-License-Identifier: Apache-2.0
// Template files: whatever is accepted can be written out to plain patterns.
#include "fusion/templates/pattern.h"
#include "fusion/templates/template.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto templates = parse_templates(fuzz::as_text(data, size), "fuzz.toml", diagnostics);
  fuzz::check_promise(templates, diagnostics);
  if (!templates) return 0;
  for (const FusionTemplate& fusion_template : *templates) {
    const auto patterns = expand(fusion_template);
    if (patterns.empty() || static_cast<std::int64_t>(patterns.size()) > expansion_count(fusion_template)) std::abort();
  }
  return 0;
}
