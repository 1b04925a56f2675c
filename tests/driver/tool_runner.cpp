// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/tool_runner.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "driver/tool/commands.h"
#include "tests/places.h"

namespace stowage::test {

namespace fs = std::filesystem;

ToolRun run_stowage(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Interrupt interrupt;
  ToolContext context{.out = out, .err = err, .interrupt = interrupt, .program = {}};
  const int code = run_tool(arguments, context);
  return {code, out.str(), err.str()};
}

Workplace::Workplace() : before_(fs::current_path()) {
  fs::current_path(folder_.path());
  ::setenv("STOWAGE_CACHE_DIR", "", 0);  // the user's own cache is none of a test's business
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  REQUIRE(file.good());
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::pair<std::string, std::string>> files_below(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files.emplace_back(entry.path().lexically_relative(folder).string(), read_text(entry.path()));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void compile_lenet(const std::string& folder, const std::vector<std::string>& options) {
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  std::vector<std::string> command = {"compile", "lenet.onnx", "-o", folder};
  command.insert(command.end(), options.begin(), options.end());
  const ToolRun run = run_stowage(command);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

std::string golden(const std::string& name, const std::string& actual) {
  const fs::path path = test::source_folder() / "tests/driver/golden" / name;
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) write_text(path, actual);
  return read_text(path);
}

}  // namespace stowage::test
