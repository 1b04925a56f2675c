// SPDX-License-Identifier: Apache-2.0
// Calls the tool's commands as a person would, without a process each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/temporary_folder.h"

namespace stowage::test {

struct ToolRun {
  int code = 0;
  std::string out;
  std::string err;
};

ToolRun run_stowage(const std::vector<std::string>& arguments);

/// Writes lenet.onnx and compiles it to a folder.
void compile_lenet(const std::string& folder = "lenet", const std::vector<std::string>& options = {});

/// A temporary folder that is the current one while it lives, so that commands and messages have short paths.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

 private:
  std::filesystem::path before_;
  TemporaryFolder folder_;
};

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);
/// Every file below a folder with its contents, hidden ones included.
std::vector<std::pair<std::string, std::string>> files_below(const std::filesystem::path& folder);

/// The text of tests/driver/golden/NAME; with STOWAGE_UPDATE_GOLDEN in the environment `actual` is written there first.
std::string golden(const std::string& name, const std::string& actual);

}  // namespace stowage::test
