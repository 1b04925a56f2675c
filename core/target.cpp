// SPDX-License-Identifier: Apache-2.0
#include "core/target.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "built_in_target_text.h"
#include "core/target_settings.h"
#include "core/toml_reader.h"

namespace stowage {

namespace {

constexpr int lanes_of_floatv4 = 4;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

/// Each is samples/targets/NAME.toml, embedded.
constexpr std::array<std::string_view, 1> built_in_names = {"sw26010"};

bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/// Keys of Athread's machines as they were written when all of them stood side by side.
constexpr std::array<MovedKey, 15> keys_once = {{{"cores", "cores", "count"},
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
                                                 {"dma_bandwidth", "dma", "bandwidth"}}};

/// The tables of an Athread machine's file.
struct AthreadTables {
  TomlTable main_memory;
  TomlTable ldm;
  TomlTable cores;
  TomlTable dma;
};

std::optional<AthreadTables> tables_of(TomlTable& table) {
  auto main_memory = table.table("main_memory", Need::required);
  auto ldm = table.table("ldm", Need::required);
  auto cores = table.table("cores", Need::required);
  auto dma = table.table("dma", Need::required);
  if (!main_memory || !ldm || !cores || !dma) return std::nullopt;
  return AthreadTables{*std::move(main_memory), *std::move(ldm), *std::move(cores), *std::move(dma)};
}

void read_bandwidth(TomlTable& table, std::vector<BandwidthPoint>& bandwidth) {
  std::vector<TomlTable> points = table.tables("bandwidth", Need::required);
  for (TomlTable& row : points) {
    BandwidthPoint point;
    const bool has_block = row.read("block_bytes", point.block_bytes, {1, gibibyte}, Need::required);
    const bool has_rate = row.read("bytes_per_second", point.bytes_per_second, 1.0, 1e15, Need::required);
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

void read_athread(AthreadTables& tables, Target& target) {
  const Need required = Need::required;
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
  tables.cores.read("launch_seconds", target.cores.launch_seconds, 0.0, 10.0, required);
  tables.cores.finish();
  tables.dma.read("good_block_bytes", target.dma.good_block_bytes, {1, gibibyte}, required);
  tables.dma.read("alignment", target.dma.alignment, {1, 4096}, required);
  tables.dma.read("startup_cycles", target.dma.startup_cycles, 0.0, 1e9, required);
  read_bandwidth(tables.dma, target.dma.bandwidth);
  tables.dma.finish();
}

/// Of a size to which something is aligned that elements of 8 bytes and pointers lie in, and that DMA moves.
void check_alignment(TomlTable& table, std::string_view key, std::string_view full_name, std::int64_t value,
                     const Target& target) {
  // Main memory is allocated at no smaller multiple.
  constexpr std::int64_t least = 8;
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

/// Relations between keys that are right by themselves.
void check_relations(AthreadTables& tables, const Target& target) {
  const Cores& cores = target.cores;
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

std::vector<std::string> bandwidth_points(const Target& target) {
  std::vector<std::string> points;
  for (const BandwidthPoint& point : target.dma.bandwidth) {
    points.push_back(
        fmt::format("{{ block_bytes = {}, bytes_per_second = {} }}", point.block_bytes, point.bytes_per_second));
  }
  return points;
}

std::string rate_text(const Rate& rate) {
  if (rate.own().empty()) return fmt::format("{}", rate.of_others());
  std::string text = "{ ";
  for (const auto& [type, of_type] : rate.own()) text += fmt::format("{} = {}, ", name_of(type), of_type);
  return text + fmt::format("other = {} }}", rate.of_others());
}

/// A key of a target's file with its value as TOML on one line.
struct TargetValue {
  std::string table;  ///< "" for keys that stand in none
  std::string key;
  std::string value;

  [[nodiscard]] std::string full_name() const { return table.empty() ? key : table + "." + key; }
};

constexpr std::string_view bandwidth_key = "bandwidth";

/// All of them, in the order of the file.
std::vector<TargetValue> target_values(const Target& target) {
  std::vector<TargetValue> values;
  std::string_view table;
  const auto add = [&](std::string_view key, const auto& value) {
    values.push_back({std::string(table), std::string(key), fmt::format("{}", value)});
  };
  // fmt prints doubles so that they read back equal; a whole one as "8", which TOML takes for an integer and the reader
  // for a number all the same.
  add("name", quoted_toml(target.name));
  add("summary", quoted_toml(target.summary));
  const bool is_athread = target.family == athread_family;
  if (!is_athread) add("family", quoted_toml(target.family));
  add("clock_hz", target.clock_hz);
  if (!is_athread) {
    for (const auto& [key, value] : target.own) add(key, value);
    return values;
  }
  table = "main_memory";
  add("line_bytes", target.main_memory.line_bytes);
  table = "ldm";
  add("bytes", target.ldm.bytes);
  add("reserved", target.ldm.reserved);
  add("alignment", target.ldm.alignment);
  table = "cores";
  add("count", target.cores.count);
  add("mesh_rows", target.cores.mesh_rows);
  add("mesh_columns", target.cores.mesh_columns);
  add("vector_lanes", target.cores.vector_lanes);
  add("vector_flops_per_cycle", rate_text(target.cores.vector_flops_per_cycle));
  add("scalar_flops_per_cycle", rate_text(target.cores.scalar_flops_per_cycle));
  add("launch_seconds", target.cores.launch_seconds);
  table = "dma";
  add("good_block_bytes", target.dma.good_block_bytes);
  add("alignment", target.dma.alignment);
  add("startup_cycles", target.dma.startup_cycles);
  add(bandwidth_key, fmt::format("[{}]", fmt::join(bandwidth_points(target), ", ")));
  return values;
}

Result<std::string> read_text(const std::string& path, Diagnostics& diagnostics) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.good() && !stream.eof()) {
    SourcePlace place;
    place.file = path;
    diagnostics.error("unreadable-file", place, "the file cannot be read");
    return Failed{};
  }
  return text;
}

}  // namespace

Result<Target> parse_target(std::string_view toml, const std::string& file, const std::vector<std::string>& overrides,
                            Diagnostics& diagnostics, std::span<const TargetFamily> families) {
  Diagnostics own;
  const auto parsed = TomlTable::parse(toml, file, own);
  if (!parsed) {
    diagnostics.append(own);
    return Failed{};
  }
  TomlTable table = *parsed;
  Target target;
  // Whose keys these are must be known before settings are laid over them, which may name another family themselves.
  const bool has_wrong_family = table.has("family") && !table.read("family", target.family);
  if (target.family == athread_family) table.move_keys(keys_once);
  table.overlay(overrides, "--set target.");
  if (!has_wrong_family) table.read("family", target.family);

  table.read("name", target.name, Need::required);
  table.read("summary", target.summary);
  const auto other = std::find_if(families.begin(), families.end(),
                                  [&](const TargetFamily& family) { return family.name == target.family; });
  if (target.family == athread_family) {
    table.read("clock_hz", target.clock_hz, 1e3, 1e12, Need::required);
    auto tables = tables_of(table);
    if (tables) read_athread(*tables, target);
    table.finish();
    if (tables && !own.has_errors()) check_relations(*tables, target);
  } else if (other != families.end()) {
    table.read("clock_hz", target.clock_hz, 1e3, 1e12, Need::required);
    other->read(table, target);
    table.finish();
  } else {  // nobody knows which keys it has
    std::vector<std::string> names{std::string(athread_family)};
    for (const TargetFamily& family : families) names.push_back(family.name);
    table.error("unknown-family", "family", fmt::format("no family of targets '{}'", target.family),
                suggest_name(target.family, names));
  }

  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return target;
}

Result<Target> load_target(const std::string& name_or_path, const std::vector<std::string>& overrides,
                           Diagnostics& diagnostics, std::span<const TargetFamily> families) {
  if (std::find(built_in_names.begin(), built_in_names.end(), name_or_path) != built_in_names.end()) {
    const std::string file = name_or_path + ".toml";
    return parse_target(built_in_target_text(file), "built-in " + file, overrides, diagnostics, families);
  }
  std::error_code failure;
  if (!std::filesystem::is_regular_file(name_or_path, failure)) {
    if (name_or_path.find_first_of("/.") != std::string::npos) {
      SourcePlace place;
      place.file = name_or_path;
      diagnostics.error("unreadable-file", place, "there is no such file, a target in TOML was wanted");
      return Failed{};
    }
    const std::vector<std::string> names = built_in_targets();
    diagnostics.error("unknown-target", {}, fmt::format("no built-in target or file '{}'", name_or_path),
                      suggest_name(name_or_path, names));
    return Failed{};
  }
  const auto text = read_text(name_or_path, diagnostics);
  if (!text) return Failed{};
  return parse_target(*text, name_or_path, overrides, diagnostics, families);
}

std::vector<std::string> built_in_targets() { return {built_in_names.begin(), built_in_names.end()}; }

std::string to_toml(const Target& target) {
  std::string text;
  std::string_view table;
  const std::vector<TargetValue> values = target_values(target);
  for (const TargetValue& value : values) {
    if (value.table != table) text += fmt::format("\n[{}]\n", value.table);
    table = value.table;
    if (value.key != bandwidth_key) {
      text += fmt::format("{} = {}\n", value.key, value.value);
      continue;
    }
    text += fmt::format("{} = [\n", value.key);
    for (const std::string& point : bandwidth_points(target)) text += fmt::format("  {},\n", point);
    text += "]\n";
  }
  return text;
}

std::map<std::string, std::string> settings_of(const Target& target) {
  std::map<std::string, std::string> settings;
  for (const TargetValue& value : target_values(target)) settings.emplace(value.full_name(), value.value);
  return settings;
}

std::map<std::string, std::string> settings_between(const Target& from, const Target& to) {
  const std::map<std::string, std::string> before = settings_of(from);
  std::map<std::string, std::string> settings = settings_of(to);
  std::erase_if(settings, [&](const auto& setting) {
    const auto was = before.find(setting.first);
    return was != before.end() && was->second == setting.second;
  });
  return settings;
}

}  // namespace stowage
