// SPDX-License-Identifier: Apache-2.0
// .npy files: a tensor whose bytes are those of its shape, or a reason.
#include "core/npy.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const fuzz::MemoryFile file(data, size);
  Diagnostics diagnostics;
  const auto tensor = read_npy(file.path(), diagnostics);
  fuzz::check_promise(tensor, diagnostics);
  if (!tensor) return 0;
  const auto bytes = element_count(tensor->shape()) * byte_size(tensor->type());
  if (bytes != static_cast<std::int64_t>(tensor->bytes().size())) std::abort();
  return 0;
}
