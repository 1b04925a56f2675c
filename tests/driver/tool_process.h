// SPDX-License-Identifier: Apache-2.0
// The tool as a process of its own, which can be interrupted and killed.
#pragma once

#include <filesystem>
#include <functional>
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
/// Waits until something holds; false where it does not within half a minute.
bool comes_true(const std::function<bool()>& condition);

/// Processes whose program lies below `folder`.
int running_from(const std::filesystem::path& folder);
/// Processes that work in `folder` or below.
int working_in(const std::filesystem::path& folder);

/// Temporary files go to a folder of the test's while it lives.
class TemporariesIn {
 public:
  explicit TemporariesIn(const std::filesystem::path& folder);
  ~TemporariesIn();
  TemporariesIn(const TemporariesIn&) = delete;
  TemporariesIn& operator=(const TemporariesIn&) = delete;
};

}  // namespace stowage::test
