// SPDX-License-Identifier: Apache-2.0
// Texts of loop nests: what is accepted prints as a text that is accepted and prints the same, and can be verified. The
// passes of lowering take what `stowage pass` lets them have.
#include "core/target.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_rules.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto nest = parse_loop_nest(fuzz::as_text(data, size), diagnostics);
  fuzz::check_promise(nest, diagnostics);
  if (!nest) return 0;
  const std::string text = to_text(*nest);
  const auto again = parse_loop_nest(text, diagnostics);
  if (!again || to_text(*again) != text) std::abort();
  const bool sound = !verify(*nest, Target{});
  const bool sensible = sound || !verify_structure(*nest);
  for (const Pass& pass : nest_passes) {
    if (sound || (sensible && pass.mends)) static_cast<void>(to_text(pass.run(*nest, Target{})));
  }
  return 0;
}
