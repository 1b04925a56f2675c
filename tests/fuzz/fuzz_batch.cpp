// SPDX-License-Identifier: Apache-2.0
// Batch files, with the schedules in them.
#include "driver/batch.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const fuzz::MemoryFile file(data, size);
  Diagnostics diagnostics;
  fuzz::check_promise(load_jobs(file.path(), diagnostics), diagnostics);
  return 0;
}
