// SPDX-License-Identifier: Apache-2.0
// Reading what a target's file says of a machine of the family Athread: two memory spaces and two engines, a table
// each (docs/target.md).
#pragma once

#include <array>
#include <optional>

#include "core/target.h"
#include "core/toml_reader.h"

namespace stowage {

/// Keys of Athread's machines as they were once written: when all of them stood side by side, and when the blocks of a
/// transfer were called rows.
inline constexpr std::array<MovedKey, 16> keys_once = {
    {{"cores", "cores", "count"},
     {"mesh_rows", "cores", "mesh_rows"},
     {"mesh_columns", "cores", "mesh_columns"},
     {"vector_lanes", "cores", "vector_lanes"},
     {"vector_flops_per_cycle", "cores", "vector_flops_per_cycle"},
     {"scalar_flops_per_cycle", "cores", "scalar_flops_per_cycle"},
     {"launch_seconds", "cores", "launch_seconds"},
     {"ldm_bytes", "ldm", "bytes"},
     {"ldm_reserved", "ldm", "reserved"},
     {"ldm_alignment", "ldm", "alignment"},
     {"dram_line_bytes", "main_memory", "line_bytes"},
     {"good_block_bytes", "dma", "good_block_bytes"},
     {"dma_alignment", "dma", "alignment"},
     {"dma_startup_cycles", "dma", "startup_cycles"},
     {"dma_bandwidth", "dma", "bandwidth"},
     {"dma.bandwidth.row_seconds", "dma.bandwidth", "block_seconds"}}};

/// The tables of an Athread machine's file.
struct AthreadTables {
  TomlTable main_memory;
  TomlTable ldm;
  TomlTable cores;
  TomlTable dma;
  std::optional<TomlTable> management_core;
  std::optional<TomlTable> library;
};

/// Nothing where one of them is missing or no table; that is reported.
std::optional<AthreadTables> athread_tables(TomlTable& table);

/// Reads and reports key by key.
void read_athread(AthreadTables& tables, Target& target);

/// Of a target of another family: nothing of a machine of Athread's, and where tensors lie in main memory no more than
/// elements of every type need.
void clear_athread(Target& target);

/// Reports relations that are wrong between keys that are right by themselves.
void check_relations(AthreadTables& tables, const Target& target);

}  // namespace stowage
