// SPDX-License-Identifier: Apache-2.0
// Schedule files: what is accepted prints as a file that is accepted again as the same schedules.
#include "driver/schedule_toml.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const fuzz::MemoryFile file(data, size);
  const auto fixed = load_schedules(file.path(), diagnostics);
  fuzz::check_promise(fixed, diagnostics);
  if (!fixed) return 0;
  std::string printed;
  for (const auto& [name, schedule] : fixed->schedules) printed += to_toml(name, schedule) + "\n";
  Diagnostics again;
  const fuzz::MemoryFile copy(reinterpret_cast<const std::uint8_t*>(printed.data()), printed.size());
  const auto second = load_schedules(copy.path(), again);
  if (!second || second->schedules != fixed->schedules) std::abort();
  return 0;
}
