// SPDX-License-Identifier: Apache-2.0
// ONNX files: coverage, inputs and import each keep the promise; what is imported computes nothing here. Dynamic
// dimensions are given a small size, so that more than the first refusal is reached.
#include "core/onnx/import.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const fuzz::MemoryFile file(data, size);
  {
    Diagnostics diagnostics;
    fuzz::check_promise(onnx_coverage(file.path(), diagnostics), diagnostics);
  }
  ImportOptions options;
  options.max_generated_bytes = std::int64_t{1} << 24;
  {
    Diagnostics diagnostics;
    const auto inputs = onnx_inputs(file.path(), diagnostics);
    fuzz::check_promise(inputs, diagnostics);
    if (!inputs) return 0;
    for (const NetworkInput& input : *inputs) {
      for (const std::string& dimension : input.dimensions) {
        const bool is_number = !dimension.empty() && dimension.find_first_not_of("0123456789") == std::string::npos;
        if (!is_number) options.dimensions[dimension] = 3;
      }
    }
  }
  Diagnostics diagnostics;
  fuzz::check_promise(import_onnx(file.path(), options, diagnostics), diagnostics);
  return 0;
}
