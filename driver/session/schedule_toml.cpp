// SPDX-License-Identifier: Apache-2.0
#include "driver/session/schedule_toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/files/files.h"

namespace stowage {

FixedSchedules read_schedules(TomlTable& table, const Backend& backend) {
  FixedSchedules fixed;
  for (const std::string& name : table.keys()) {
    fixed.locations[name] = table.located(name);
    if (auto schedule = table.table(name)) backend.read_schedule(*schedule, name, fixed);
  }
  return fixed;
}

std::vector<FixedGroup> read_groups(TomlTable& table) {
  std::vector<FixedGroup> groups;
  for (TomlTable& row : table.tables("group")) {
    FixedGroup group;
    row.read("operators", group.operators, Need::required);
    group.location = row.located("operators");
    if (row.has("operators") && group.operators.empty()) row.error("empty-group", "operators", "a group has operators");
    row.finish();
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<FixedSchedules> load_schedules(const std::string& path, const Backend& backend, Diagnostics& diagnostics) {
  const auto text = read_text_file(path, diagnostics);
  if (!text) return Failed{};
  return parse_schedules(*text, path, backend, diagnostics);
}

Result<FixedSchedules> parse_schedules(std::string_view text, const std::string& file, const Backend& backend,
                                       Diagnostics& diagnostics) {
  Diagnostics own;
  FixedSchedules fixed;
  if (auto parsed = TomlTable::parse(text, file, own)) {
    const Need need = parsed->has("group") ? Need::optional : Need::required;
    if (auto table = parsed->table("schedule", need)) fixed = read_schedules(*table, backend);
    fixed.groups = read_groups(*parsed);
    parsed->finish();
  }
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return fixed;
}

std::string group_toml(const std::vector<std::string>& operators) {
  std::vector<std::string> names;
  for (const std::string& name : operators) names.push_back(quoted_toml(name));
  return fmt::format("[[group]]\noperators = [{}]\n", fmt::join(names, ", "));
}

}  // namespace stowage
