// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stowage {

/// A file by path and contents.
struct FileIdentity {
  std::string path;
  std::string hash;  ///< "xxh64:" and 16 hexadecimal digits
};

}  // namespace stowage
