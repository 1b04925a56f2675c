// SPDX-License-Identifier: Apache-2.0
// A target as settings in the form of --set, and what makes one target of another.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/target.h"

namespace stowage {

/// Key of a target's file ("ldm.bytes") → value as TOML on one line.
std::map<std::string, std::string> settings_of(const Target& target);

/// Those of `to` in which it is other than `from`.
std::map<std::string, std::string> settings_between(const Target& from, const Target& to);

/// Whether the value of a key ("ldm.bytes") is a number of bytes.
bool is_in_bytes(const Target& target, std::string_view key);

}  // namespace stowage
