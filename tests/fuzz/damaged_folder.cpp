// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damaged_folder.h"

#include <algorithm>
#include <cstring>

#include "core/temporary_folder.h"
#include "driver/store/plan_file.h"
#include "tests/damaged_folder.h"
#include "tests/fuzz/fuzz_support.h"

namespace {

const stowage::test::DamagedFolder& folder() {
  static const stowage::TemporaryFolder scratch;
  static const stowage::test::DamagedFolder once(scratch.path() / "plan");
  return once;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maximum,
                                               unsigned seed) {
  const std::string before(stowage::fuzz::as_text(data, size));
  const bool is_json = size > 2 && nlohmann::ordered_json::accept(before);
  const std::string& start = is_json ? before : folder().whole(stowage::fuzz::damaged_file);
  const std::string after = stowage::test::JsonMutator(start, {""}, seed).next();
  const std::size_t count = std::min(maximum, after.size());
  std::memcpy(data, after.data(), count);
  return count;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  folder().put(stowage::fuzz::damaged_file, stowage::fuzz::as_text(data, size));
  stowage::Diagnostics diagnostics;
  const auto compilation = stowage::read_compilation(folder().path(), diagnostics);
  stowage::fuzz::check_promise(compilation, diagnostics);
  return 0;
}
