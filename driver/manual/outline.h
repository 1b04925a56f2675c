// SPDX-License-Identifier: Apache-2.0
// The commands and options of a program as plain data, of which manual pages and completions are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stowage {

enum class FileKind : std::uint8_t { none, any, folder };

/// What may stand for a value, as far as it is known beforehand.
struct ValueHint {
  std::vector<std::string> names = {};
  FileKind files = FileKind::none;
  std::string ending = {};  ///< ".toml": of any file the ones that are wanted; empty: all
};

/// An option, or an argument that goes by its place.
struct OptionOutline {
  std::vector<std::string> names = {};  ///< "-h", "--help"; empty: goes by its place
  std::string value = {};               ///< what stands for the value, "DIR"; empty: there is none
  std::string range = {};               ///< "INT in [0 - 4096]"; empty: not told
  bool required = false;
  bool repeated = false;
  std::string summary = {};
  ValueHint hint = {};
};

struct CommandOutline {
  std::string name = {};
  std::string summary = {};
  std::string examples = {};  ///< lines, each with two spaces in front
  std::vector<OptionOutline> options = {};
};

struct ExitCode {
  int code = 0;
  std::string meaning;
};

struct ProgramOutline {
  std::string name = {};
  std::string version = {};
  std::string summary = {};
  std::vector<OptionOutline> options = {};    ///< those that stand without a command
  std::vector<CommandOutline> commands = {};  ///< empty: the program is one command
  std::string examples = {};
  std::vector<ExitCode> exit_codes = {};
};

}  // namespace stowage
