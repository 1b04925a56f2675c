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
#include "core/athread_machine.h"
#include "core/athread_target.h"
#include "core/target_settings.h"
#include "core/toml_reader.h"

namespace stowage {

namespace {

/// Each is samples/targets/NAME.toml, embedded.
constexpr std::array<std::string_view, 1> built_in_names = {"sw26010"};

std::vector<std::string> bandwidth_points(const Target& target) {
  std::vector<std::string> points;
  for (const BandwidthPoint& point : target.dma.bandwidth) {
    points.push_back(
        fmt::format("{{ block_bytes = {}, bytes_per_second = {} }}", point.block_bytes, point.bytes_per_second));
  }
  return points;
}

std::string line_rates_text(const LineRates& lines) {
  return fmt::format("{{ bytes_per_second = {}, block_seconds = {}, partial_line_seconds = {}, page_bytes = {} }}",
                     lines.bytes_per_second, lines.block_seconds, lines.partial_line_seconds, lines.page_bytes);
}

std::string pipelines_text(const Pipelines& pipelines) {
  return fmt::format("{{ arithmetic_latency = {}, load_latency = {}, divide_cycles = {}, function_cycles = {} }}",
                     pipelines.arithmetic_latency, pipelines.load_latency, pipelines.divide_cycles,
                     pipelines.function_cycles);
}

std::string column_broadcast_text(const ColumnBroadcast& broadcast) {
  return fmt::format("{{ start_cycles = {}, vector_cycles = {} }}", broadcast.start_cycles, broadcast.vector_cycles);
}

std::string rate_text(const Rate& rate) {
  if (rate.own().empty()) return fmt::format("{}", rate.of_others());
  std::string text = "{ ";
  for (const auto& [type, of_type] : rate.own()) text += fmt::format("{} = {}, ", name_of(type), of_type);
  return text + fmt::format("other = {} }}", rate.of_others());
}

std::string efficiency_text(const Library& library) {
  std::vector<std::string> points;
  for (const LibraryPoint& point : library.efficiency)
    points.push_back(fmt::format("{{ extent = {}, share = {} }}", point.extent, point.share));
  return fmt::format("[{}]", fmt::join(points, ", "));
}

enum class Unit : std::uint8_t { bytes, other };

/// A key of a target's file with its value as TOML on one line.
struct TargetValue {
  std::string table;  ///< "" for keys that stand in none
  std::string key;
  std::string value;
  Unit unit = Unit::other;

  [[nodiscard]] std::string full_name() const { return table.empty() ? key : table + "." + key; }
};

/// A key of a table that is the value of another key.
struct InnerKey {
  std::string_view key;
  Unit unit = Unit::other;
};
constexpr std::array<InnerKey, 10> inner_keys = {{{"cores.pipelines.arithmetic_latency"},
                                                  {"cores.pipelines.load_latency"},
                                                  {"cores.pipelines.divide_cycles"},
                                                  {"cores.pipelines.function_cycles"},
                                                  {"cores.column_broadcast.start_cycles"},
                                                  {"cores.column_broadcast.vector_cycles"},
                                                  {"dma.bandwidth.bytes_per_second"},
                                                  {"dma.bandwidth.block_seconds"},
                                                  {"dma.bandwidth.partial_line_seconds"},
                                                  {"dma.bandwidth.page_bytes", Unit::bytes}}};

constexpr std::string_view bandwidth_key = "bandwidth";

void add_libraries(const Target& target, std::vector<TargetValue>& values) {
  for (const Library& library : target.libraries) {
    const std::string table = "library." + library.name;
    values.push_back({table, "header", quoted_toml(library.header)});
    values.push_back({table, "sgemm", quoted_toml(library.sgemm)});
    values.push_back({table, "link", quoted_toml(library.link)});
    values.push_back({table, "call_seconds", fmt::format("{}", library.call_seconds)});
    values.push_back({table, "efficiency", efficiency_text(library)});
  }
}

void add_management_core(const ManagementCore& core, std::vector<TargetValue>& values) {
  const std::string table = "management_core";
  values.push_back({table, "operations_per_cycle", rate_text(core.operations_per_cycle)});
  values.push_back({table, "function_cycles", fmt::format("{}", core.function_cycles)});
  values.push_back({table, "bytes_per_second", fmt::format("{}", core.bytes_per_second)});
  values.push_back({table, "cache_bytes", fmt::format("{}", core.cache_bytes), Unit::bytes});
}

/// All of them, in the order of the file.
std::vector<TargetValue> target_values(const Target& target) {
  std::vector<TargetValue> values;
  std::string_view table;
  const auto add = [&](std::string_view key, const auto& value, Unit unit = Unit::other) {
    values.push_back({std::string(table), std::string(key), fmt::format("{}", value), unit});
  };
  // fmt prints doubles so that they read back equal; a whole one as "8", which TOML takes for an integer and the reader
  // for a number all the same.
  add("name", quoted_toml(target.name));
  add("summary", quoted_toml(target.summary));
  const bool is_athread = target.family == athread_family;
  if (!is_athread) add("family", quoted_toml(target.family));
  add("clock_hz", target.clock_hz);
  if (!target.assumed.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& key : target.assumed) quoted.push_back(quoted_toml(key));
    add("assumed", fmt::format("[{}]", fmt::join(quoted, ", ")));
  }
  if (!is_athread) {
    for (const auto& [key, value] : target.own) add(key, value, key.ends_with("bytes") ? Unit::bytes : Unit::other);
    return values;
  }
  if (!target.use_library.empty()) add("use_library", quoted_toml(target.use_library));
  table = "main_memory";
  if (target.main_memory.bytes > 0) add("bytes", target.main_memory.bytes, Unit::bytes);
  add("line_bytes", target.main_memory.line_bytes, Unit::bytes);
  table = "ldm";
  add("bytes", target.ldm.bytes, Unit::bytes);
  add("reserved", target.ldm.reserved, Unit::bytes);
  add("alignment", target.ldm.alignment, Unit::bytes);
  table = "cores";
  add("count", target.cores.count);
  add("mesh_rows", target.cores.mesh_rows);
  add("mesh_columns", target.cores.mesh_columns);
  add("vector_lanes", target.cores.vector_lanes);
  add("vector_flops_per_cycle", rate_text(target.cores.vector_flops_per_cycle));
  add("scalar_flops_per_cycle", rate_text(target.cores.scalar_flops_per_cycle));
  if (target.cores.pipelines) add("pipelines", pipelines_text(*target.cores.pipelines));
  add("launch_seconds", target.cores.launch_seconds);
  add("barrier_cycles", target.cores.barrier_cycles);
  if (target.cores.column_broadcast) add("column_broadcast", column_broadcast_text(*target.cores.column_broadcast));
  table = "dma";
  add("good_block_bytes", target.dma.good_block_bytes, Unit::bytes);
  add("alignment", target.dma.alignment, Unit::bytes);
  add("startup_cycles", target.dma.startup_cycles);
  add("issue_cycles", target.dma.issue_cycles);
  add("core_bytes_per_second", target.dma.core_bytes_per_second);
  add("row_broadcast", target.dma.row_broadcast);
  add(bandwidth_key, target.dma.lines ? line_rates_text(*target.dma.lines)
                                      : fmt::format("[{}]", fmt::join(bandwidth_points(target), ", ")));
  if (target.management_core) add_management_core(*target.management_core, values);
  add_libraries(target, values);
  return values;
}

/// What is said to be assumed must be there.
void check_assumed(TomlTable& table, const Target& target) {
  std::vector<std::string> names;
  for (const TargetValue& value : target_values(target)) names.push_back(value.full_name());
  // Keys of tables that a setting may have taken the place of.
  for (const InnerKey& inner : inner_keys) names.emplace_back(inner.key);
  for (const std::string& key : target.assumed) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    table.error("unknown-key", "assumed", fmt::format("'assumed' names '{}', which is no key of this target", key),
                suggest_name(key, names));
  }
}

Result<std::string> read_text(const std::string& path, Diagnostics& diagnostics) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.good() && !stream.eof()) {
    SourceLocation location;
    location.file = path;
    diagnostics.error("unreadable-file", location, "the file cannot be read");
    return Failed{};
  }
  return text;
}

}  // namespace

bool sends_down_columns(const Target& target) {
  return target.cores.column_broadcast && target.cores.mesh_rows <= rows_of_register_communication &&
         target.ldm.alignment >= bytes_of_register;
}

bool sends_along_rows(const Target& target) {
  return target.cores.column_broadcast && target.cores.mesh_columns <= rows_of_register_communication &&
         target.ldm.alignment >= bytes_of_register;
}

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
    table.read("assumed", target.assumed);
    table.read("use_library", target.use_library);
    auto tables = athread_tables(table);
    if (tables) read_athread(*tables, target);
    table.finish();
    if (tables && !own.has_errors()) {
      check_relations(*tables, target);
      check_assumed(table, target);
      if (!target.use_library.empty() && find_library(target, target.use_library) == nullptr) {
        table.error("unknown-library", "use_library",
                    fmt::format("'use_library' is '{}', which is no library of this target", target.use_library),
                    suggest_name(target.use_library, library_names(target)));
      }
    }
  } else if (other != families.end()) {
    table.read("clock_hz", target.clock_hz, 1e3, 1e12, Need::required);
    clear_athread(target);
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
      SourceLocation location;
      location.file = name_or_path;
      diagnostics.error("unreadable-file", location, "there is no such file, a target in TOML was wanted");
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

const Library* find_library(const Target& target, std::string_view name) {
  const auto found = std::find_if(target.libraries.begin(), target.libraries.end(),
                                  [&](const Library& library) { return library.name == name; });
  return found == target.libraries.end() ? nullptr : &*found;
}

std::vector<std::string> library_names(const Target& target) {
  std::vector<std::string> names;
  for (const Library& library : target.libraries) names.push_back(library.name);
  return names;
}

void use_library(Target& target, const std::string& name, Diagnostics& diagnostics) {
  if (find_library(target, name) == nullptr) {
    diagnostics.error("unknown-library", {}, fmt::format("no library '{}'", name),
                      suggest_name(name, library_names(target)));
  }
  target.use_library = name;
}

std::string to_toml(const Target& target) {
  std::string text;
  std::string_view table;
  const std::vector<TargetValue> values = target_values(target);
  for (const TargetValue& value : values) {
    if (value.table != table) text += fmt::format("\n[{}]\n", value.table);
    table = value.table;
    if (value.key != bandwidth_key || target.dma.lines) {
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

bool is_in_bytes(const Target& target, std::string_view key) {
  const auto inner =
      std::find_if(inner_keys.begin(), inner_keys.end(), [&](const InnerKey& one) { return one.key == key; });
  if (inner != inner_keys.end()) return inner->unit == Unit::bytes;
  const std::vector<TargetValue> values = target_values(target);
  return std::any_of(values.begin(), values.end(),
                     [&](const TargetValue& value) { return value.full_name() == key && value.unit == Unit::bytes; });
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
