// SPDX-License-Identifier: Apache-2.0
// A machine, as its TOML file describes it (docs/target.md has the format). A user writes another without recompiling.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"

namespace stowage {

/// One measured point: DMA bandwidth of the whole core group with blocks of so many bytes.
struct BandwidthPoint {
  std::int64_t block_bytes = 0;
  double bytes_per_second = 0;
};

class TomlTable;  // core/toml_reader.h

/// The family that this file's keys describe machines of, and that of a target that names none.
inline constexpr std::string_view athread_family = "athread";

struct Target {
  std::string name;
  std::string summary;
  std::string family{athread_family};  ///< which backend plans for it (driver/backend/backend.h)
  /// Of another family than Athread: what it describes a machine by, under keys of its own.
  std::map<std::string, double> own;

  // Cores.
  int cores = 64;
  int mesh_rows = 8;
  int mesh_columns = 8;
  double clock_hz = 1.45e9;
  int vector_lanes = 4;               ///< 32-bit lanes of one vector register
  double vector_flops_per_cycle = 8;  ///< of one core, in the vector form of an inner loop
  double scalar_flops_per_cycle = 1;  ///< of one core, in the scalar form

  // Local device memory of one core.
  std::int64_t ldm_bytes = 65536;
  std::int64_t ldm_reserved = 6144;  ///< stack and reply words; buffers use ldm_bytes - ldm_reserved
  int ldm_alignment = 32;            ///< of every buffer, in bytes

  // DMA between main memory and LDM.
  std::int64_t good_block_bytes = 256;  ///< smallest block with good bandwidth: 64 floats (swTVM section 5.2)
  int dma_alignment = 4;                ///< hard alignment of addresses and sizes, in bytes
  int dram_line_bytes = 128;
  double dma_startup_cycles = 0;              ///< of one blocking DMA operation, all cores active
  std::vector<BandwidthPoint> dma_bandwidth;  ///< ascending block_bytes

  double launch_seconds = 0;  ///< spawn and join of one kernel

  [[nodiscard]] std::int64_t ldm_available() const { return ldm_bytes - ldm_reserved; }
};

/// Another family of targets than Athread: reads the keys that are its own into Target::own, and what else of a target
/// follows from them. `name`, `summary`, `family` and `clock_hz` are read for every family.
struct TargetFamily {
  std::string name;
  std::function<void(TomlTable& table, Target& target)> read;
};

/// Reads a target from TOML text. `overrides` are "key=value" settings in TOML syntax (from --set target.key=value).
/// A family that is neither Athread nor one of `families` is reported.
Result<Target> parse_target(std::string_view toml, const std::string& file, const std::vector<std::string>& overrides,
                            Diagnostics& diagnostics, std::span<const TargetFamily> families = {});
/// A built-in target by name, or the file of that path.
Result<Target> load_target(const std::string& name_or_path, const std::vector<std::string>& overrides,
                           Diagnostics& diagnostics, std::span<const TargetFamily> families = {});
std::vector<std::string> built_in_targets();
/// The TOML text that describes `target` completely (for --print-config and plan files).
std::string to_toml(const Target& target);

}  // namespace stowage
