// SPDX-License-Identifier: Apache-2.0
// Progress of long work, for a person who waits. Cancellation travels separately as a std::stop_token.
#pragma once

#include <functional>
#include <string>

namespace stowage {

/// Called with a stage ("fuse", "plan", "emit" …), units done and units in all. May be empty.
using ProgressSink = std::function<void(const std::string& stage, std::size_t done, std::size_t total)>;

}  // namespace stowage
