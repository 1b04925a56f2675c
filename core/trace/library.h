// SPDX-License-Identifier: Apache-2.0
// The record of the choice between a vendor's library and a loop nest.
#pragma once

#include <string>

namespace stowage {

/// Of an operator that multiplies, where programs may call a library: whether that computes it.
struct LibraryJudged {
  std::string library;
  bool computes = false;
  std::string rule;  ///< that says so
  std::string reason;
};

}  // namespace stowage
