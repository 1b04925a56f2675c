// SPDX-License-Identifier: Apache-2.0
// A machine, as its TOML file describes it (docs/target.md has the format). A user writes another without recompiling.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/element_type.h"
#include "core/library.h"
#include "core/rate.h"

namespace stowage {

/// One measured point: DMA bandwidth of the whole core group with blocks of so many bytes.
struct BandwidthPoint {
  std::int64_t block_bytes = 0;
  double bytes_per_second = 0;
};

/// What a transfer takes of main memory, which serves all cores together, by the lines that its blocks touch. A
/// block takes the time of its lines, but at least block_seconds, which cores whose blocks of the same moment lie in
/// one page share; a put, besides, partial_line_seconds for each line that it writes a part of.
struct LineRates {
  double bytes_per_second = 0;  ///< of lines, whole ones
  double block_seconds = 0;
  double partial_line_seconds = 0;
  std::int64_t page_bytes = 0;
};

class TomlTable;  // core/toml_reader.h

/// The family that this file's keys describe machines of, and that of a target that names none.
inline constexpr std::string_view athread_family = "athread";

/// How a core issues instructions, in order: arithmetic on one pipeline, loads, stores and branches on another beside
/// it, address arithmetic on either.
struct Pipelines {
  double arithmetic_latency = 1;  ///< cycles until the result of an addition, product or multiply-add can be used
  double load_latency = 1;        ///< cycles until an element or vector of the LDM can be used
  double divide_cycles = 1;       ///< a division or square root, of an element or a vector; nothing starts beside it
  double function_cycles = 1;     ///< exp, log and what is made of them, of one element
};

/// Register communication down a column of the mesh, or along a row: one core sends, all others take and store.
struct ColumnBroadcast {
  double start_cycles = 0;   ///< from the last core's coming until the first register is there
  double vector_cycles = 1;  ///< of a core, for a register: its load and sending, or its taking and store
};

/// The engine that computes: the cores of one core group, in a mesh.
struct Cores {
  int count = 64;
  int mesh_rows = 8;
  int mesh_columns = 8;
  int vector_lanes = 4;            ///< 32-bit lanes of one vector register
  Rate vector_flops_per_cycle{8};  ///< of one core, in the vector form of an inner loop
  Rate scalar_flops_per_cycle{1};  ///< of one core, in the scalar form
  /// Given, the two rates are what a loop reaches at most, and what it does reach follows from its instructions.
  std::optional<Pipelines> pipelines;
  double launch_seconds = 0;                        ///< spawn and join of one kernel
  double barrier_cycles = 0;                        ///< of the cores of a row, or of all, from the last one's coming
  std::optional<ColumnBroadcast> column_broadcast;  ///< where one core can load for all of its column
};

/// The space that every core has to itself (local device memory, the scratchpad).
struct Ldm {
  std::int64_t bytes = 65536;    ///< of one core
  std::int64_t reserved = 6144;  ///< bytes of it for stack and reply words; buffers use the rest
  int alignment = 32;            ///< of every buffer, in bytes

  [[nodiscard]] std::int64_t available() const { return bytes - reserved; }
};

/// The space that all cores share, where a program's tensors lie.
struct MainMemory {
  std::int64_t bytes = 0;  ///< for the tensors of a program; 0: not said, and never too few
  int line_bytes = 128;
};

/// The engine that moves data between main memory and the LDMs.
struct DmaEngine {
  std::int64_t good_block_bytes = 256;    ///< smallest block with good bandwidth: 64 floats (swTVM section 5.2)
  int alignment = 4;                      ///< hard alignment of addresses and sizes, in bytes
  double startup_cycles = 0;              ///< from the call to the reply, of a transfer of next to nothing
  double issue_cycles = 0;                ///< of a core, for one call
  double core_bytes_per_second = 0;       ///< the most that one core's transfers reach; 0: as much as all cores
  bool row_broadcast = false;             ///< a core's get can fill the LDMs of all cores of its row, or of the mesh
  std::vector<BandwidthPoint> bandwidth;  ///< of all cores, ascending block_bytes; empty where `lines` has them
  std::optional<LineRates> lines;         ///< in place of a curve by block size
};

/// The core beside the computing ones, which starts them and reads main memory through a cache of its own. What it
/// reaches in plain loops, as cycles of the computing cores' clock.
struct ManagementCore {
  Rate operations_per_cycle{1};  ///< of the elements' type; a point of a loop nest without arithmetic counts as one
  double function_cycles = 0;    ///< besides, for exp, log and what is made of them
  double bytes_per_second = 0;   ///< between main memory and its cache
  std::int64_t cache_bytes = 0;  ///< the largest cache
};

struct Target {
  std::string name;
  std::string summary;
  std::string family{athread_family};  ///< which backend plans for it (driver/backend/backend.h)
  /// Of another family than Athread: what it describes a machine by, under keys of its own. Those of bytes end so.
  std::map<std::string, double> own;
  double clock_hz = 1.45e9;  ///< of the cores; costs are cycles of it
  /// Keys whose values nobody measured, as they stand in the file: "dma.issue_cycles".
  std::vector<std::string> assumed;

  // Spaces and engines of a machine of the family Athread.
  MainMemory main_memory;
  Ldm ldm;
  Cores cores;
  DmaEngine dma;
  std::optional<ManagementCore> management_core;  ///< where its rates are said, it takes what no LDM plan holds
  std::vector<Library> libraries;                 ///< by name
  std::string use_library;                        ///< which of them programs may call; empty: none
};

/// Another family of targets than Athread: reads the keys that are its own into Target::own, and what else of a target
/// follows from them. `name`, `summary`, `family` and `clock_hz` are read for every family.
struct TargetFamily {
  std::string name;
  std::function<void(TomlTable& table, Target& target)> read;
};

/// Reads a target from TOML text. `overrides` are "key=value" settings in TOML syntax (from --set target.key=value).
/// A family that is neither Athread nor one of `families` is reported. Keys of Athread as they were written before each
/// stood in the table of its space or engine (`ldm_bytes` for `ldm.bytes`) are read too, in text and settings.
Result<Target> parse_target(std::string_view toml, const std::string& file, const std::vector<std::string>& overrides,
                            Diagnostics& diagnostics, std::span<const TargetFamily> families = {});
/// A built-in target by name, or the file of that path.
Result<Target> load_target(const std::string& name_or_path, const std::vector<std::string>& overrides,
                           Diagnostics& diagnostics, std::span<const TargetFamily> families = {});
std::vector<std::string> built_in_targets();
/// Whether it has rates for it, and emitted code can: to so many cores, in whole registers (core/athread_machine.h).
bool sends_down_columns(const Target& target);
bool sends_along_rows(const Target& target);
/// The TOML text that describes `target` completely (for --print-config and plan files).
std::string to_toml(const Target& target);

}  // namespace stowage
