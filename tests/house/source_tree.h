// SPDX-License-Identifier: Apache-2.0
// The checkout as data, for the tests that keep the house rules.
#pragma once

#include <string>
#include <vector>

namespace stowage::test {

struct SourceFile {
  std::string path;  ///< from the root, for instance "core/graph.h"
  std::vector<std::string> lines;

  [[nodiscard]] bool is_header() const { return path.ends_with(".h"); }
  [[nodiscard]] bool is_cpp() const { return is_header() || path.ends_with(".cpp"); }
  /// First folder of the path, empty for a file in the root.
  [[nodiscard]] std::string folder() const;
  /// What is built into the programs and libraries.
  [[nodiscard]] bool is_product() const;
  /// Files it includes, as written between "" or <>.
  [[nodiscard]] std::vector<std::string> includes() const;
};

/// Every text file of the checkout that people write, sorted by path (build folders and hidden ones left out).
const std::vector<SourceFile>& source_tree();

}  // namespace stowage::test
