// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/common_options.h"

#include <CLI/CLI.hpp>

#include "core/target.h"
#include "driver/tool/option_values.h"

namespace stowage {

CLI::Validator known_targets() {
  std::vector<std::string> names = built_in_targets();
  names.emplace_back("*.toml");
  return known(names);
}

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& to, const std::string& type,
              const std::string& summary) {
  app.add_option(name, to, summary)->allow_extra_args(false)->type_name(type);
}

void add_cost_cache(CLI::App& app, std::optional<std::string>& to) {
  app.add_option("--cost-cache", to, "folder that keeps predicted costs and chosen schedules between runs, or 'none'")
      ->check(known({"none"}))
      ->type_name("DIR");
}

}  // namespace stowage
