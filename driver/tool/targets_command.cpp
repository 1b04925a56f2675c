// SPDX-License-Identifier: Apache-2.0
// The machines that are built in, one machine key by key, and its contradictions.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "core/check_target.h"
#include "core/number_text.h"
#include "core/quoting.h"
#include "core/target_settings.h"
#include "driver/json/json.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/tool/commands.h"

namespace stowage {
namespace {

int list_targets(ToolContext& context) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : built_in_targets()) {
    Diagnostics diagnostics;
    const auto target = load_target(name, {}, diagnostics);
    check(static_cast<bool>(target), "a built-in target does not read");
    rows.push_back({name, std::to_string(target->cores.count), bytes_text(target->ldm.bytes), target->summary});
  }
  return print_rows(context, "targets", {"name", "cores", "ldm", "summary"}, rows, "targets");
}

/// Whether a setting is named as assumed, itself or a key of its table.
std::string basis_of(const std::string& key, const Target& target) {
  std::string keys;
  for (const std::string& assumed : target.assumed) {
    if (assumed == key) return "assumed";
    if (assumed.starts_with(key + ".")) keys += (keys.empty() ? "" : ", ") + assumed.substr(key.size() + 1);
  }
  return keys.empty() ? "" : "assumed: " + keys;
}

int print_target(const Target& target, const TargetsOptions& options, ToolContext& context) {
  const std::map<std::string, std::string> settings = settings_of(target);
  if (context.json) {
    Json json = {{"stowage", stowage_version()}, {"name", target.name}};
    json["settings"] = settings;
    json["assumed"] = target.assumed;
    context.out << dumped(json, 1);
    return exit_done;
  }
  TextTable table({"key", "value", ""});
  for (const auto& [key, value] : settings) {
    if (key != "assumed" && key != "summary" && key != "name") table.add({key, value, basis_of(key, target)});
  }
  context.out << fmt::format("stowage {} | stowage targets {}\n\n{}\n\n{}", stowage_version(),
                             shell_quoted(options.name), target.summary, table.text());
  return exit_done;
}

int check_target(const Target& target, const TargetsOptions& options, ToolContext& context) {
  const std::vector<Contradiction> found = contradictions(target);
  if (context.json) {
    Json json = {{"stowage", stowage_version()}, {"name", target.name}, {"contradictions", Json::array()}};
    for (const Contradiction& one : found) {
      json["contradictions"].push_back({{"key", one.key}, {"message", one.message}, {"remedy", one.remedy}});
    }
    context.out << dumped(json, 1);
    return found.empty() ? exit_done : exit_failed;
  }
  if (found.empty()) {
    context.out << fmt::format("{}: no contradictions\n", target.name);
    return exit_done;
  }
  Diagnostics diagnostics;
  for (const Contradiction& one : found) {
    SourceLocation location;
    location.file = options.name;
    diagnostics.error("contradiction", location, fmt::format("'{}': {}", one.key, one.message), one.remedy);
  }
  return failed(context, diagnostics);
}

}  // namespace

int targets_command(const TargetsOptions& options, ToolContext& context) {
  if (options.name.empty()) {
    if (options.check) {
      return usage_error(context, "targets", "which target is to be checked is not given",
                         "stowage targets FILE.toml --check");
    }
    return list_targets(context);
  }
  Diagnostics diagnostics;
  const auto target = load_target(options.name, {}, diagnostics, families_of(context.backends));
  if (!target) return failed(context, diagnostics);
  return options.check ? check_target(*target, options, context) : print_target(*target, options, context);
}

}  // namespace stowage
