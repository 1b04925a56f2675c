// SPDX-License-Identifier: Apache-2.0
// What makes one target of another, in the form of --set.
#pragma once

#include <map>
#include <string>

#include "core/target.h"

namespace stowage {

/// Key of a target's file → value as TOML on one line, of everything in which `to` is other than `from`.
std::map<std::string, std::string> settings_between(const Target& from, const Target& to);

}  // namespace stowage
