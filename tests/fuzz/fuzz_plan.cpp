// SPDX-License-Identifier: Apache-2.0
// plan.json: a folder is read, or refused with a reason.
#include "tests/fuzz/fuzz_damaged_folder.h"

namespace {

const stowage::fuzz::DamagedFolder& folder() {
  static const stowage::fuzz::DamagedFolder once("plan.json");
  return once;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return folder().mutate(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  folder().read(stowage::fuzz::as_text(data, size));
  return 0;
}
