// SPDX-License-Identifier: Apache-2.0
// Fork and exec, as all children of ours are started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stowage {

class Confinement;

/// Our descriptors that become a child's standard streams.
struct ChildStreams {
  int input = -1;   ///< negative: there is none
  int output = -1;  ///< standard output and standard error
};

/// Starts `program` (a path) with `command` as its arguments, its name included, in a session of its own. It is killed
/// when the thread that calls this ends. The child's number, or -1 where the program was not executed (errno says why).
pid_t spawn(const std::string& program, const std::vector<std::string>& command, const std::filesystem::path& folder,
            const std::vector<std::string>& environment, const ChildStreams& streams,
            const Confinement* confinement = nullptr);

}  // namespace stowage
