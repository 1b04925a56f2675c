// SPDX-License-Identifier: Apache-2.0
// What a model is by contents.
#pragma once

#include <stop_token>
#include <string>

#include "core/diagnostics.h"

namespace stowage {

/// The hash of its file; of a model with external data that of its hash and of the names and hashes of the files that
/// hold it, which change what the network computes as the model itself does.
Result<std::string> hash_of_model(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop = {});

}  // namespace stowage
