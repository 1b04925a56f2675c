// SPDX-License-Identifier: Apache-2.0
// A file of a plan folder whose other files are whole. Inputs come from the whole file by mistakes in its entries,
// because damaged bytes are hardly ever JSON.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/temporary_folder.h"
#include "driver/plan_file.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/mutated_json.h"
#include "tests/mutated_plan.h"

namespace stowage::fuzz {

class DamagedFolder {
 public:
  explicit DamagedFolder(const std::string& file) : folder_(scratch_.path() / "plan"), path_(folder_ / file) {
    test::write_varied_plan(folder_);
    std::ifstream stream(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(stream), {});
  }

  void read(std::string_view text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
    Diagnostics diagnostics;
    check_promise(read_compilation(folder_, diagnostics), diagnostics);
  }

  std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) const {
    const std::string before(as_text(data, size));
    const bool is_json = nlohmann::ordered_json::accept(before);
    test::JsonMutator mutator(is_json && size > 2 ? before : whole_, {""}, seed);
    const std::string after = mutator.next();
    const std::size_t count = std::min(most, after.size());
    std::memcpy(data, after.data(), count);
    return count;
  }

 private:
  TemporaryFolder scratch_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
  std::string whole_;
};

}  // namespace stowage::fuzz
