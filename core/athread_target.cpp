// SPDX-License-Identifier: Apache-2.0
#include "core/athread_target.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/athread_machine.h"

namespace stowage {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

constexpr double max_bytes_per_second = 1e15;
constexpr int largest_element_bytes = 8;

void read_curve(TomlTable& table, std::vector<BandwidthPoint>& bandwidth) {
  std::vector<TomlTable> points = table.tables("bandwidth", Need::required);
  for (TomlTable& row : points) {
    BandwidthPoint point;
    const bool has_block = row.read("block_bytes", point.block_bytes, {1, gibibyte}, Need::required);
    const bool has_rate =
        row.read("bytes_per_second", point.bytes_per_second, 1.0, max_bytes_per_second, Need::required);
    row.finish();
    if (!has_block || !has_rate) continue;
    if (!bandwidth.empty() && point.block_bytes <= bandwidth.back().block_bytes) {
      row.error("not-ascending", "block_bytes",
                fmt::format("{} follows {}, but the points of 'dma.bandwidth' ascend by block_bytes", point.block_bytes,
                            bandwidth.back().block_bytes));
      continue;
    }
    bandwidth.push_back(point);
  }
  if (points.empty() && table.has("bandwidth")) {
    table.error("out-of-range", "bandwidth", "'dma.bandwidth' has no point, at least one was wanted");
  }
}

/// A table of what lines cost, or an array of points by block size.
void read_bandwidth(TomlTable& table, DmaEngine& dma) {
  if (!table.is_table("bandwidth")) return read_curve(table, dma.bandwidth);
  TomlTable row = *table.table("bandwidth");
  LineRates lines;
  row.read("bytes_per_second", lines.bytes_per_second, 1.0, max_bytes_per_second, Need::required);
  row.read("block_seconds", lines.block_seconds, 0.0, 1.0, Need::required);
  row.read("partial_line_seconds", lines.partial_line_seconds, 0.0, 1.0, Need::required);
  row.read("page_bytes", lines.page_bytes, {1, gibibyte}, Need::required);
  row.finish();
  dma.lines = lines;
}

/// One number for elements of every type, or a table of them by type, where `other` is that of types not named.
void read_rate(TomlTable& table, std::string_view key, Rate& rate) {
  constexpr double low = 1e-3;
  constexpr double high = 1e6;
  double of_others = 1;
  if (!table.is_table(key)) {
    if (table.read(key, of_others, low, high, Need::required)) rate = Rate(of_others);
    return;
  }
  TomlTable by_type = *table.table(key);
  by_type.read("other", of_others, low, high, Need::required);
  rate = Rate(of_others);
  for (const ElementType type : all_element_types) {
    double of_type = 0;
    if (by_type.read(name_of(type), of_type, low, high)) rate.set(type, of_type);
  }
  by_type.finish();
}

void read_pipelines(TomlTable& table, std::optional<Pipelines>& to) {
  if (!table.has("pipelines")) return;
  auto row = table.table("pipelines");
  if (!row) return;
  constexpr double high = 1e6;
  Pipelines read;
  row->read("arithmetic_latency", read.arithmetic_latency, 1.0, high, Need::required);
  row->read("load_latency", read.load_latency, 1.0, high, Need::required);
  row->read("divide_cycles", read.divide_cycles, 1.0, high, Need::required);
  row->read("function_cycles", read.function_cycles, 1.0, high, Need::required);
  row->finish();
  to = read;
}

void read_column_broadcast(TomlTable& table, std::optional<ColumnBroadcast>& to) {
  if (!table.has("column_broadcast")) return;
  auto row = table.table("column_broadcast");
  if (!row) return;
  constexpr double high = 1e6;
  ColumnBroadcast read;
  row->read("start_cycles", read.start_cycles, 0.0, high, Need::required);
  row->read("vector_cycles", read.vector_cycles, 1e-3, high, Need::required);
  row->finish();
  to = read;
}

void read_management_core(TomlTable& table, std::optional<ManagementCore>& to) {
  ManagementCore read;
  read_rate(table, "operations_per_cycle", read.operations_per_cycle);
  table.read("function_cycles", read.function_cycles, 0.0, 1e6, Need::required);
  table.read("bytes_per_second", read.bytes_per_second, 1.0, max_bytes_per_second, Need::required);
  table.read("cache_bytes", read.cache_bytes, {1, gibibyte}, Need::required);
  table.finish();
  to = read;
}

bool has_only(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

/// A string that is written into a source or a Makefile as it stands.
void read_word(TomlTable& table, std::string_view key, std::string& to, std::string_view others,
               std::string_view wanted) {
  if (!table.read(key, to, Need::required)) return;
  const bool begins_with_digit = key == "sgemm" && !to.empty() && to.front() >= '0' && to.front() <= '9';
  if (has_only(to, others) && !begins_with_digit) return;
  table.error("wrong-name", key, fmt::format("'{}' is {}, {} was wanted", key, quoted_toml(to), wanted));
}

void read_efficiency(TomlTable& table, std::vector<LibraryPoint>& efficiency) {
  std::vector<TomlTable> points = table.tables("efficiency", Need::required);
  for (TomlTable& row : points) {
    LibraryPoint point;
    const bool has_extent = row.read("extent", point.extent, {1, gibibyte}, Need::required);
    const bool has_share = row.read("share", point.share, 1e-9, 1.0, Need::required);
    row.finish();
    if (!has_extent || !has_share) continue;
    if (!efficiency.empty() && point.extent <= efficiency.back().extent) {
      row.error("not-ascending", "extent",
                fmt::format("{} follows {}, but the points of 'efficiency' ascend by extent", point.extent,
                            efficiency.back().extent));
      continue;
    }
    efficiency.push_back(point);
  }
  if (points.empty() && table.has("efficiency"))
    table.error("out-of-range", "efficiency", "'efficiency' has no point, at least one was wanted");
}

void read_libraries(TomlTable& table, std::vector<Library>& to) {
  for (const std::string& name : table.keys()) {
    auto row = table.table(name);
    if (!row) continue;
    Library read;
    read.name = name;
    if (!has_only(name, "_-")) {
      table.error("wrong-name", name,
                  fmt::format("a library is called {}, letters, digits, '_' and '-' were wanted", quoted_toml(name)));
    }
    read_word(*row, "header", read.header, "_-./", "a file of letters, digits and '_', '-', '.', '/'");
    read_word(*row, "sgemm", read.sgemm, "_", "the name of a function of C");
    read_word(*row, "link", read.link, "_-./+=:, ", "options of a linker");
    row->read("call_seconds", read.call_seconds, 0.0, 10.0, Need::required);
    read_efficiency(*row, read.efficiency);
    row->finish();
    to.push_back(std::move(read));
  }
}

/// Of a size to which something is aligned that elements of 8 bytes and pointers lie in, and that DMA moves.
void check_alignment(TomlTable& table, std::string_view key, std::string_view full_name, std::int64_t value,
                     const Target& target) {
  // Main memory is allocated at no smaller multiple.
  constexpr std::int64_t least = largest_element_bytes;
  if (value < least) {
    table.error("alignment-too-small", key,
                fmt::format("'{}' is {}, at least {} was wanted: elements have up to {} bytes", full_name, value, least,
                            least));
  } else if (value < target.dma.alignment) {
    table.error("alignment-too-small", key,
                fmt::format("'{}' is {}, at least the {} of 'dma.alignment' were wanted: what it aligns, DMA moves",
                            full_name, value, target.dma.alignment));
  }
}

}  // namespace

std::optional<AthreadTables> athread_tables(TomlTable& table) {
  auto main_memory = table.table("main_memory", Need::required);
  auto ldm = table.table("ldm", Need::required);
  auto cores = table.table("cores", Need::required);
  auto dma = table.table("dma", Need::required);
  if (!main_memory || !ldm || !cores || !dma) return std::nullopt;
  std::optional<TomlTable> management_core;
  if (table.has("management_core") && !(management_core = table.table("management_core"))) return std::nullopt;
  std::optional<TomlTable> library;
  if (table.has("library") && !(library = table.table("library"))) return std::nullopt;
  return AthreadTables{*std::move(main_memory),    *std::move(ldm),   *std::move(cores), *std::move(dma),
                       std::move(management_core), std::move(library)};
}

void read_athread(AthreadTables& tables, Target& target) {
  const Need required = Need::required;
  tables.main_memory.read("bytes", target.main_memory.bytes, {1, std::int64_t{1} << 50});
  tables.main_memory.read("line_bytes", target.main_memory.line_bytes, {1, 1 << 20}, required);
  tables.main_memory.finish();
  tables.ldm.read("bytes", target.ldm.bytes, {64, gibibyte}, required);
  tables.ldm.read("reserved", target.ldm.reserved, {0, gibibyte}, required);
  tables.ldm.read("alignment", target.ldm.alignment, {1, 4096}, required);
  tables.ldm.finish();
  tables.cores.read("count", target.cores.count, {1, 4096}, required);
  tables.cores.read("mesh_rows", target.cores.mesh_rows, {1, 64}, required);
  tables.cores.read("mesh_columns", target.cores.mesh_columns, {1, 64}, required);
  tables.cores.read("vector_lanes", target.cores.vector_lanes, {1, 64}, required);
  read_rate(tables.cores, "vector_flops_per_cycle", target.cores.vector_flops_per_cycle);
  read_rate(tables.cores, "scalar_flops_per_cycle", target.cores.scalar_flops_per_cycle);
  read_pipelines(tables.cores, target.cores.pipelines);
  tables.cores.read("launch_seconds", target.cores.launch_seconds, 0.0, 10.0, required);
  tables.cores.read("barrier_cycles", target.cores.barrier_cycles, 0.0, 1e9);
  read_column_broadcast(tables.cores, target.cores.column_broadcast);
  tables.cores.finish();
  tables.dma.read("good_block_bytes", target.dma.good_block_bytes, {1, gibibyte}, required);
  tables.dma.read("alignment", target.dma.alignment, {1, 4096}, required);
  tables.dma.read("startup_cycles", target.dma.startup_cycles, 0.0, 1e9, required);
  tables.dma.read("issue_cycles", target.dma.issue_cycles, 0.0, 1e9);
  tables.dma.read("core_bytes_per_second", target.dma.core_bytes_per_second, 0.0, max_bytes_per_second);
  tables.dma.read("row_broadcast", target.dma.row_broadcast);
  read_bandwidth(tables.dma, target.dma);
  tables.dma.finish();
  if (tables.management_core) read_management_core(*tables.management_core, target.management_core);
  if (tables.library) read_libraries(*tables.library, target.libraries);
}

void clear_athread(Target& target) {
  target.main_memory = {};
  target.main_memory.line_bytes = largest_element_bytes;
  target.ldm = {0, 0, 1};
  target.cores = {};
  target.cores.count = target.cores.mesh_rows = target.cores.mesh_columns = 0;
  target.cores.vector_lanes = 1;
  target.cores.vector_flops_per_cycle = target.cores.scalar_flops_per_cycle = Rate(0);
  target.dma = {};
  target.dma.good_block_bytes = 0;
  target.dma.alignment = 1;
  target.management_core.reset();
  target.libraries.clear();
  target.use_library.clear();
}

void check_relations(AthreadTables& tables, const Target& target) {
  const Cores& cores = target.cores;
  if (constexpr int bits_of_mask = 8;
      target.dma.row_broadcast && std::max(cores.mesh_rows, cores.mesh_columns) > bits_of_mask) {
    tables.dma.error("mesh-too-large", "row_broadcast",
                     fmt::format("'dma.row_broadcast' names rows, and barriers name columns, in masks of {} bits; the "
                                 "mesh has {} rows and {} columns",
                                 bits_of_mask, cores.mesh_rows, cores.mesh_columns));
  }
  if (cores.count > cores.mesh_rows * cores.mesh_columns) {
    tables.cores.error("too-many-cores", "count",
                       fmt::format("'cores.count' is {}, but the mesh of {} x {} has {}", cores.count, cores.mesh_rows,
                                   cores.mesh_columns, cores.mesh_rows * cores.mesh_columns));
  }
  if (target.ldm.reserved >= target.ldm.bytes) {
    tables.ldm.error("no-ldm-left", "reserved",
                     fmt::format("'ldm.reserved' is {}, which leaves nothing of the {} bytes of 'ldm.bytes'",
                                 target.ldm.reserved, target.ldm.bytes));
  }
  struct Alignment {
    TomlTable& table;
    std::string_view key;
    std::string_view full_name;
    std::int64_t value;
  };
  for (Alignment& alignment : std::array<Alignment, 3>{
           {{tables.ldm, "alignment", "ldm.alignment", target.ldm.alignment},
            {tables.dma, "alignment", "dma.alignment", target.dma.alignment},
            {tables.main_memory, "line_bytes", "main_memory.line_bytes", target.main_memory.line_bytes}}}) {
    if (!is_power_of_two(alignment.value)) {
      alignment.table.error("not-a-power-of-two", alignment.key,
                            fmt::format("'{}' is {}, a power of two was wanted", alignment.full_name, alignment.value));
    } else if (alignment.full_name != "dma.alignment") {
      check_alignment(alignment.table, alignment.key, alignment.full_name, alignment.value, target);
    }
  }
  if (cores.vector_lanes != 1 && cores.vector_lanes != lanes_of_floatv4) {
    tables.cores.error(
        "unsupported-lanes", "vector_lanes",
        fmt::format(
            "'cores.vector_lanes' is {}, but code is emitted for {} lanes (floatv4) or for 1 (plain loops) only",
            cores.vector_lanes, lanes_of_floatv4));
  }
}

}  // namespace stowage
