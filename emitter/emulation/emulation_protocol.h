// SPDX-License-Identifier: Apache-2.0
// The two text files between the tool and an emulated program: the configuration that the runtime reads and the report
// that it leaves. One item a line (docs/emulation.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emitter/emulation/emulated_sources.h"

namespace stowage {

std::string configuration_text(const EmulationJob& job, const std::string& report_path, const std::string& dump_path);

struct EmulationProblem {
  bool error = true;
  std::string code;
  std::optional<std::size_t> launch;
  std::optional<int> core;
  std::string file;
  int line = 0;
  std::string text;
};

struct EmulationReport {
  bool complete = false;  ///< false where the program ended before it could write all of it
  double seconds = 0;
  std::int64_t parameter_fetches = 0;
  std::vector<LineCount> counts;
  std::vector<LineMeetings> meetings;
  std::vector<std::int64_t> ldm_peak_bytes;
  std::vector<EmulationProblem> problems;
};

/// Changed sources can write what they like into it: what the runtime does not write is not complete.
EmulationReport parse_emulation_report(std::string_view text);

}  // namespace stowage
