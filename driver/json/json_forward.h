// SPDX-License-Identifier: Apache-2.0
// The name of JSON values, for headers that many include and that only pass them on.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stowage {

using Json = nlohmann::ordered_json;

}  // namespace stowage
