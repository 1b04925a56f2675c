// SPDX-License-Identifier: Apache-2.0
// Running another program: the C compiler, an emulated network.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace stowage {

class Confinement;

struct ProcessResult {
  bool started = false;          ///< false: the program could not be executed
  bool stopped = false;          ///< killed because a stop was requested
  bool out_of_time = false;      ///< killed because it took longer than it might
  std::optional<int> exit_code;  ///< where it ended by itself
  int signal = 0;                ///< that ended it, or 0
  std::string output;            ///< standard output and standard error, as they came; of very much the end
};

/// Runs `command` (the program is searched for in PATH) in `folder`, without input, with `environment` ("NAME=value")
/// added to ours. It is killed, with all it started, within a tenth of a second after a stop is requested or its time
/// is over, and itself when we end, however that is. `confinement` keeps it from more than that; it is for programs
/// that others may have written.
ProcessResult run_process(const std::vector<std::string>& command, const std::filesystem::path& folder,
                          const std::vector<std::string>& environment = {}, const std::stop_token& stop = {},
                          std::optional<std::chrono::milliseconds> time_limit = {},
                          const Confinement* confinement = nullptr);

/// Path of a program that can be executed, searched for in PATH unless it holds a slash; "" where there is none.
std::string find_program(const std::string& name);

}  // namespace stowage
