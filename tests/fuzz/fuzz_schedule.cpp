// SPDX-License-Identifier: Apache-2.0
// Schedule files: what is accepted prints as a file that is accepted again and means the same.
#include "driver/athread/athread_backend.h"
#include "driver/athread/athread_schedule.h"
#include "driver/session/schedule_toml.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto fixed = parse_schedules(fuzz::as_text(data, size), "fuzz.toml", AthreadBackend(), diagnostics);
  fuzz::check_promise(fixed, diagnostics);
  if (!fixed || fixed->schedules.empty()) return 0;
  std::string printed;
  for (const auto& [name, schedule] : fixed->schedules) printed += to_toml(name, schedule);
  Diagnostics again;
  const auto second = parse_schedules(printed, "printed.toml", AthreadBackend(), again);
  if (!second || second->schedules != fixed->schedules) std::abort();
  return 0;
}
