// SPDX-License-Identifier: Apache-2.0
// The verdict of a check, with its reason.
#pragma once

#include <string>
#include <utility>

namespace stowage {

/// A verdict with its reason. Every legality check returns one.
struct Decision {
  bool allowed = true;
  std::string rule;    ///< name of the rule that refused
  std::string reason;  ///< with its numbers: "needs 300 KiB, has 256 KiB"
  std::string flip;    ///< the smallest change that would lift it, where there is one: "44 KiB of LDM more"
  explicit operator bool() const { return allowed; }
  static Decision allow() { return {}; }
  static Decision refuse(std::string rule, std::string reason, std::string flip = {}) {
    return {false, std::move(rule), std::move(reason), std::move(flip)};
  }
  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace stowage
