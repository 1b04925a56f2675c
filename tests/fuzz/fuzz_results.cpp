// SPDX-License-Identifier: Apache-2.0
// Results of batches: rows that are accepted can be compared with each other and told.
#include "driver/batch/baseline.h"
#include "driver/json/json.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  Diagnostics diagnostics;
  const auto rows = parse_results(fuzz::as_text(data, size), "fuzz.jsonl", diagnostics);
  fuzz::check_promise(rows, diagnostics);
  if (!rows) return 0;
  std::vector<ResultRow> turned(rows->rbegin(), rows->rend());
  for (std::size_t i = 0; i < turned.size(); ++i) turned[i].job = (*rows)[i].job;
  const Comparison comparison = compared({"fuzz.jsonl", *rows}, turned, {}, usual_tolerance);
  if (comparison_text(comparison).empty() || dumped(to_json(comparison)).empty()) std::abort();
  return 0;
}
