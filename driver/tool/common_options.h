// SPDX-License-Identifier: Apache-2.0
// Options that several commands declare alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace stowage {

/// A built-in target, or a file.
CLI::Validator known_targets();
/// An option that may be given several times, each time with one value.
void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& to, const std::string& type,
              const std::string& summary);
void add_cost_cache(CLI::App& app, std::optional<std::string>& to);

}  // namespace stowage
