// SPDX-License-Identifier: Apache-2.0
#include "tests/house/source_tree.h"
#include "tests/places.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace stowage::test {

namespace {

namespace fs = std::filesystem;

constexpr std::array folders = {"cmake",  "core",      "docs",     "driver",  "emitter",
                                "fusion", "inspector", "lowering", "samples", "tests"};

constexpr std::array product = {"core", "driver", "emitter", "fusion", "inspector", "lowering"};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<SourceFile> read_tree() {
  const fs::path root = test::source_folder();
  std::vector<SourceFile> files;
  const auto add = [&](const fs::path& path) {
    files.push_back({path.lexically_relative(root).string(), lines_of(path)});
  };
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && entry.path().filename().string()[0] != '.') add(entry.path());
  }
  for (const char* folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace

std::string SourceFile::folder() const {
  const auto slash = path.find('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool SourceFile::is_product() const {
  const std::string first = folder();
  return std::find(product.begin(), product.end(), first) != product.end();
}

std::vector<std::string> SourceFile::includes() const {
  std::vector<std::string> names;
  for (const std::string& line : lines) {
    constexpr std::string_view directive = "#include ";
    if (!line.starts_with(directive) || line.size() < directive.size() + 2) continue;
    const char close = line[directive.size()] == '<' ? '>' : '"';
    const auto end = line.find(close, directive.size() + 1);
    if (end != std::string::npos) names.push_back(line.substr(directive.size() + 1, end - directive.size() - 1));
  }
  return names;
}

const std::vector<SourceFile>& source_tree() {
  static const std::vector<SourceFile> tree = read_tree();
  return tree;
}

}  // namespace stowage::test
