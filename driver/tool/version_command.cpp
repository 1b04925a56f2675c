// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/version_command.h"

#include <ostream>

#include <fmt/format.h>

#include "driver/json/json.h"
#include "driver/session/session.h"
#include "driver/store/plan_json.h"

namespace stowage {

int version_command(const std::vector<std::string>& arguments, ToolContext& context) {
  for (const std::string& argument : arguments) context.json = context.json || argument == "--json";
  for (const std::string& argument : arguments) {
    if (argument == "--version" || argument == "--json") continue;
    return usage_error(context, "", fmt::format("'{}' was not expected beside --version", argument));
  }
  if (!context.json) {
    context.out << fmt::format("stowage {}\n", stowage_version());
    return exit_done;
  }
  Json families = Json::array();
  for (const auto& backend : context.backends) families.push_back(backend->family());
  context.out << dumped(Json{{"stowage", stowage_version()},
                             {"plan_version", plan_version},
                             {"oldest_plan_version", oldest_plan_version},
                             {"families", families}},
                        1);
  return exit_done;
}

}  // namespace stowage
