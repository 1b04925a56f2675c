// SPDX-License-Identifier: Apache-2.0
// What a job is by contents: everything that its results depend on but the program that makes them.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

/// A hash, of which a batch holds many.
struct Identity {
  std::uint64_t hash = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};
/// "xxh64:…".
std::string text_of(Identity identity);
/// Throws std::invalid_argument of another text.
Identity parse_identity(std::string_view text);

/// Of each job's keys and of the bytes of the files that it reads; one that cannot be read counts as such, for the job
/// will say so. Nothing when stopped.
Result<std::vector<Identity>> identities_of(const std::vector<Job>& jobs, const std::stop_token& stop);

/// "xxh64:…" of a job's keys alone, whatever is in the files that they name.
std::string keys_hash(const Job& job);

}  // namespace stowage
