// SPDX-License-Identifier: Apache-2.0
// Target files: what is accepted prints as a file that is accepted again and prints the same.
#include "core/target.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto target = parse_target(fuzz::as_text(data, size), "fuzz.toml", {}, diagnostics);
  fuzz::check_promise(target, diagnostics);
  if (!target) return 0;
  const std::string printed = to_toml(*target);
  Diagnostics again;
  const auto second = parse_target(printed, "printed.toml", {}, again);
  if (!second || to_toml(*second) != printed) std::abort();
  return 0;
}
