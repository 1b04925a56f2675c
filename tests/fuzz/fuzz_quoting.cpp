// SPDX-License-Identifier: Apache-2.0
// Whatever is written is read again as it was, or stays in its place, in every language that names are written in.
#include <cstdio>

#include "tests/fuzz/fuzz_support.h"
#include "tests/quoting_promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string broken = stowage::test::broken_promise_of_quoting(stowage::fuzz::as_text(data, size));
  if (broken.empty()) return 0;
  std::fprintf(stderr, "does not hold: %s\n", broken.c_str());
  std::abort();
}
