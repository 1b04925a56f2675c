// SPDX-License-Identifier: Apache-2.0
// Batch files: jobs that are accepted have what running them needs.
#include "driver/batch/batch.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto jobs = parse_jobs(fuzz::as_text(data, size), "fuzz.toml", diagnostics);
  fuzz::check_promise(jobs, diagnostics);
  if (!jobs) return 0;
  for (const Job& job : *jobs) {
    if (job.name.empty() || job.name.find('/') != std::string::npos) std::abort();
    if (job.keys->network.empty() == job.keys->request.model.empty()) std::abort();
  }
  return 0;
}
