// SPDX-License-Identifier: Apache-2.0
// Everything that happens in one step of a program, for traces and pictures (Backend::timeline): slices on tracks, as
// its family names them. Cycles count from the start of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"

namespace stowage {

struct StepTimeline {
  /// A row of slices that do not overlap.
  struct Track {
    std::string process;  ///< tracks of one process stand together: "cores", "DMA"
    std::string name;     ///< "core 3"
    int number = 0;       ///< among those of its process; another one's is another
  };
  /// What a slice is about; many slices share one.
  struct Label {
    std::string name;                      ///< "compute conv1", "wait for get data"
    std::string category;                  ///< "compute", "wait", "transfer"
    std::optional<StatementId> statement;  ///< by which plan and emulation name it
  };
  struct Slice {
    int track = 0;
    int label = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  /// From a transfer to what waits for it, as indices of slices; begins where the one does, ends where the other does.
  struct Flow {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  /// A figure over time, which keeps its value until the next one.
  struct Counter {
    std::string name;  ///< "DMA GB/s"
    struct Value {
      std::int64_t cycle = 0;
      double value = 0;
    };
    std::vector<Value> values;  ///< by cycle, ascending
  };

  std::int64_t cycles = 0;
  std::vector<Track> tracks;
  std::vector<Label> labels;
  std::vector<Slice> slices;  ///< of each track by cycle, ascending
  std::vector<Flow> flows;
  std::vector<Counter> counters;
};

}  // namespace stowage
