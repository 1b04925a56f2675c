// SPDX-License-Identifier: Apache-2.0
// Building and running a folder of Athread sources in emulation: the layer below emulate(), which knows programs.
// It knows sources, launches, ranges of main memory and source lines only. docs/emulation.md has the conventions.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "emitter/emulation/emulate.h"

namespace stowage {

/// A tensor in main memory as one launch may use it. Area 0 holds parameters, area 1 activations.
struct EmulatedRange {
  std::string name;
  int area = 1;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool writable = false;
};

/// Bytes of the LDM that belong to no buffer; with the sanitizer a kernel may not touch them.
struct EmulatedGap {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

struct EmulatedLaunch {
  std::string name;  ///< for messages
  std::vector<EmulatedRange> ranges;
  std::vector<EmulatedGap> gaps;
};

/// Main memory to hand back as it is after a launch (-1: before the first).
struct EmulatedDump {
  int after_launch = 0;
  int area = 1;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

struct SourceText {
  std::string path;
  std::string text;
};

struct DataFile {
  std::string name;
  std::function<std::vector<std::byte>()> bytes;  ///< called once, when the file is written; large networks are large
};

struct EmulatedLine {
  std::string file;
  int line = 0;
};

struct EmulationJob {
  std::vector<SourceText> sources;   ///< .c files are compiled; "*.s.c" are compute-core files
  std::vector<DataFile> data;        ///< in the program's working folder before it starts
  std::vector<std::string> results;  ///< files that the program leaves there
  std::vector<EmulatedLaunch> launches;
  std::vector<EmulatedDump> dumps;
  int cores = 64;   ///< of the machine; a launch runs on as many as athread_set_num_threads said, else on 64 at most
  int columns = 8;  ///< of the mesh
  std::int64_t ldm_bytes = 59392;
  int dma_alignment = 4;
  int line_bytes = 128;                 ///< of main memory
  std::vector<EmulatedLine> unaligned;  ///< lines whose DMA may be unaligned: a warning there, an error anywhere else
  EmulationOptions options;
};

/// What one source line did in one launch, over all cores.
struct LineCount {
  int launch = 0;
  std::string file;
  int line = 0;
  std::int64_t operations = 0;  ///< athread_get and athread_put
  std::int64_t bytes = 0;
  std::int64_t transfers = 0;  ///< operations that were the first since their reply word was zeroed
};

/// At one source line in one launch: barriers, and boxes that were sent from LDM to LDM, of the core that has most.
struct LineMeetings {
  int launch = 0;
  std::string file;
  int line = 0;
  TeamMeetings meetings;
};

struct EmulationRun {
  std::vector<LineCount> counts;             ///< by launch; lines in no particular order
  std::vector<LineMeetings> meetings;        ///< likewise
  std::vector<std::int64_t> ldm_peak_bytes;  ///< by launch
  std::int64_t parameter_fetches = 0;
  double build_seconds = 0;
  double run_seconds = 0;                       ///< between spawns and joins
  std::vector<std::vector<std::byte>> dumps;    ///< as asked for
  std::vector<std::vector<std::byte>> results;  ///< as asked for
};

/// Problems that the runtime saw become diagnostics with the file, line and text of the source and the core.
/// Failed without an error in `diagnostics` means that a stop was requested.
Result<EmulationRun> run_emulated_sources(const EmulationJob& job, Diagnostics& diagnostics,
                                          const std::stop_token& stop = {});

}  // namespace stowage
