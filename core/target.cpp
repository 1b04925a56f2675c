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

void read_bandwidth(TomlTable& table, Target& target) {
  std::vector<TomlTable> points = table.tables("dma_bandwidth", Need::required);
  for (TomlTable& row : points) {
    BandwidthPoint point;
    const bool has_block = row.read("block_bytes", point.block_bytes, {1, gibibyte}, Need::required);
    const bool has_rate = row.read("bytes_per_second", point.bytes_per_second, 1.0, 1e15, Need::required);
    row.finish();
    if (!has_block || !has_rate) continue;
    if (!target.dma_bandwidth.empty() && point.block_bytes <= target.dma_bandwidth.back().block_bytes) {
      row.error("not-ascending", "block_bytes",
                fmt::format("{} follows {}, but the points of 'dma_bandwidth' ascend by block_bytes", point.block_bytes,
                            target.dma_bandwidth.back().block_bytes));
      continue;
    }
    target.dma_bandwidth.push_back(point);
  }
  if (points.empty() && table.has("dma_bandwidth")) {
    table.error("out-of-range", "dma_bandwidth", "'dma_bandwidth' has no point, at least one was wanted");
  }
}

void check_alignment(TomlTable& table, std::string_view key, std::int64_t value, const Target& target) {
  // Elements of 8 bytes and pointers lie in the LDM, and main memory is allocated at no smaller multiple.
  constexpr std::int64_t least = 8;
  if (value < least) {
    table.error(
        "alignment-too-small", key,
        fmt::format("'{}' is {}, at least {} was wanted: elements have up to {} bytes", key, value, least, least));
  } else if (value < target.dma_alignment) {
    table.error("alignment-too-small", key,
                fmt::format("'{}' is {}, at least the {} of 'dma_alignment' were wanted: what it aligns, DMA moves",
                            key, value, target.dma_alignment));
  }
}

void read_athread(TomlTable& table, Target& target) {
  const Need required = Need::required;
  table.read("cores", target.cores, {1, 4096}, required);
  table.read("mesh_rows", target.mesh_rows, {1, 64}, required);
  table.read("mesh_columns", target.mesh_columns, {1, 64}, required);
  table.read("clock_hz", target.clock_hz, 1e3, 1e12, required);
  table.read("vector_lanes", target.vector_lanes, {1, 64}, required);
  table.read("vector_flops_per_cycle", target.vector_flops_per_cycle, 1e-3, 1e6, required);
  table.read("scalar_flops_per_cycle", target.scalar_flops_per_cycle, 1e-3, 1e6, required);
  table.read("ldm_bytes", target.ldm_bytes, {64, gibibyte}, required);
  table.read("ldm_reserved", target.ldm_reserved, {0, gibibyte}, required);
  table.read("ldm_alignment", target.ldm_alignment, {1, 4096}, required);
  table.read("good_block_bytes", target.good_block_bytes, {1, gibibyte}, required);
  table.read("dma_alignment", target.dma_alignment, {1, 4096}, required);
  table.read("dram_line_bytes", target.dram_line_bytes, {1, 1 << 20}, required);
  table.read("dma_startup_cycles", target.dma_startup_cycles, 0.0, 1e9, required);
  table.read("launch_seconds", target.launch_seconds, 0.0, 10.0, required);
  read_bandwidth(table, target);
}

/// Relations between keys that are right by themselves.
void check_relations(TomlTable& table, const Target& target) {
  if (target.cores > target.mesh_rows * target.mesh_columns) {
    table.error("too-many-cores", "cores",
                fmt::format("'cores' is {}, but the mesh of {} x {} has {}", target.cores, target.mesh_rows,
                            target.mesh_columns, target.mesh_rows * target.mesh_columns));
  }
  if (target.ldm_reserved >= target.ldm_bytes) {
    table.error("no-ldm-left", "ldm_reserved",
                fmt::format("'ldm_reserved' is {}, which leaves nothing of the {} bytes of 'ldm_bytes'",
                            target.ldm_reserved, target.ldm_bytes));
  }
  for (const auto& [key, value] : {std::pair<std::string_view, std::int64_t>{"ldm_alignment", target.ldm_alignment},
                                   {"dma_alignment", target.dma_alignment},
                                   {"dram_line_bytes", target.dram_line_bytes}}) {
    if (!is_power_of_two(value)) {
      table.error("not-a-power-of-two", key, fmt::format("'{}' is {}, a power of two was wanted", key, value));
    } else if (key != "dma_alignment") {
      check_alignment(table, key, value, target);
    }
  }
  if (target.vector_lanes != 1 && target.vector_lanes != lanes_of_floatv4) {
    table.error(
        "unsupported-lanes", "vector_lanes",
        fmt::format("'vector_lanes' is {}, but code is emitted for {} lanes (floatv4) or for 1 (plain loops) only",
                    target.vector_lanes, lanes_of_floatv4));
  }
}

std::vector<std::string> bandwidth_points(const Target& target) {
  std::vector<std::string> points;
  for (const BandwidthPoint& point : target.dma_bandwidth) {
    points.push_back(
        fmt::format("{{ block_bytes = {}, bytes_per_second = {} }}", point.block_bytes, point.bytes_per_second));
  }
  return points;
}

/// Every key of a target's file with its value as TOML, on one line.
std::vector<std::pair<std::string, std::string>> target_values(const Target& target) {
  std::vector<std::pair<std::string, std::string>> values;
  const auto add = [&](std::string_view key, const auto& value) { values.emplace_back(key, fmt::format("{}", value)); };
  // fmt prints doubles so that they read back equal; a whole one as "8", which TOML takes for an integer and the reader
  // for a number all the same.
  add("name", quoted_toml(target.name));
  add("summary", quoted_toml(target.summary));
  if (target.family != athread_family) {
    add("family", quoted_toml(target.family));
    add("clock_hz", target.clock_hz);
    for (const auto& [key, value] : target.own) add(key, value);
    return values;
  }
  add("cores", target.cores);
  add("mesh_rows", target.mesh_rows);
  add("mesh_columns", target.mesh_columns);
  add("clock_hz", target.clock_hz);
  add("vector_lanes", target.vector_lanes);
  add("vector_flops_per_cycle", target.vector_flops_per_cycle);
  add("scalar_flops_per_cycle", target.scalar_flops_per_cycle);
  add("ldm_bytes", target.ldm_bytes);
  add("ldm_reserved", target.ldm_reserved);
  add("ldm_alignment", target.ldm_alignment);
  add("good_block_bytes", target.good_block_bytes);
  add("dma_alignment", target.dma_alignment);
  add("dram_line_bytes", target.dram_line_bytes);
  add("dma_startup_cycles", target.dma_startup_cycles);
  add("launch_seconds", target.launch_seconds);
  add("dma_bandwidth", fmt::format("[{}]", fmt::join(bandwidth_points(target), ", ")));
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
  table.overlay(overrides, "--set target.");

  Target target;
  table.read("name", target.name, Need::required);
  table.read("summary", target.summary);
  table.read("family", target.family);
  const auto other = std::find_if(families.begin(), families.end(),
                                  [&](const TargetFamily& family) { return family.name == target.family; });
  if (target.family == athread_family) {
    read_athread(table, target);
    table.finish();
    if (!own.has_errors()) check_relations(table, target);
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
  for (const auto& [key, value] : target_values(target)) {
    if (key != "dma_bandwidth") text += fmt::format("{} = {}\n", key, value);
  }
  if (target.family != athread_family) return text;
  text += "dma_bandwidth = [\n";
  for (const std::string& point : bandwidth_points(target)) text += fmt::format("  {},\n", point);
  return text + "]\n";
}

std::map<std::string, std::string> settings_between(const Target& from, const Target& to) {
  std::map<std::string, std::string> settings;
  const auto values = target_values(from);
  const std::map<std::string, std::string> before(values.begin(), values.end());
  for (const auto& [key, value] : target_values(to)) {
    const auto was = before.find(key);
    if (was == before.end() || was->second != value) settings.emplace(key, value);
  }
  return settings;
}

}  // namespace stowage
