// SPDX-License-Identifier: Apache-2.0
#include "core/read_whole.h"

#include <fstream>
#include <iterator>

namespace stowage {

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace stowage
