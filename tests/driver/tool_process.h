// SPDX-License-Identifier: Apache-2.0
// The tool as a process of its own, which can be interrupted and killed.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace stowage::test {

/// A running stowage whose outputs go to the files out.txt and err.txt, or others with `name` in front.
pid_t start(std::vector<std::string> arguments, const std::string& name = {});
/// Its exit code, or minus the signal that ended it.
int wait_for(pid_t child);
/// Entries of the current folder but those outputs, sorted.
std::vector<std::string> entries();
void sleep_milliseconds(int milliseconds);

}  // namespace stowage::test
