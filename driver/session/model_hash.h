// SPDX-License-Identifier: Apache-2.0
// What a model is by contents.
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "core/diagnostics.h"

namespace stowage {

/// The hash of its file; of a model with external data that of its hash and of the names and hashes of the files that
/// hold it, which change what the network computes as the model itself does.
Result<std::string> hash_of_model(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop = {});

/// The same where its file's own hash is known, and the other files that its values come from, relative to its folder.
Result<std::string> hash_with_external_files(const std::string& own, const std::string& path,
                                             const std::set<std::string>& external_files, Diagnostics& diagnostics,
                                             const std::stop_token& stop);

}  // namespace stowage
