// SPDX-License-Identifier: Apache-2.0
// Names as identifiers of C, in ASCII. The IR's identifiers are made here; those of emitted sources besides belong to
// somebody, which emitter/athread/c_writer.h sees to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace stowage {

/// `text` with '_' for every byte that an identifier cannot hold, and "t_" in front where it would begin with a digit.
/// Never empty.
std::string identifier_of(std::string_view text);

/// Hands out each name once, with "_2", "_3" … behind further ones.
class UniqueNames {
 public:
  std::string take(const std::string& wanted);

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int, std::less<>> next_;  ///< of names that were wanted more than once: the number to try
};

}  // namespace stowage
