// SPDX-License-Identifier: Apache-2.0
// A model file that is gone when the test is over. Tests run side by side, so each has a folder of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/temporary_folder.h"

namespace stowage::test {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name) : path_(folder_.path() / (name + ".onnx")) {}
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string bytes() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace stowage::test
