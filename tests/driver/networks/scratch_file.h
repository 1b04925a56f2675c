// SPDX-License-Identifier: Apache-2.0
// A model file that is gone when the test is over. Tests run side by side, so each names its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stowage::test {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::path(STOWAGE_BINARY_DIR) / "tests" / ("networks_" + name + ".onnx")) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string bytes() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace stowage::test
