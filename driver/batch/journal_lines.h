// SPDX-License-Identifier: Apache-2.0
// The lines that a batch's journal (driver/batch/journal.h) consists of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "driver/batch/batch.h"
#include "driver/batch/identity.h"

namespace stowage {

/// In version 1 there were no lines "boot" and "synced" at first.
inline constexpr int newest_journal = 2;
inline constexpr int oldest_journal = 1;

/// What a journal of any version begins with.
std::string journal_sign();
/// Of the same length in every version.
std::string first_journal_line(int version = newest_journal);

/// `network` may be null.
std::string begin_line(const std::string& job, Identity identity, const std::string* network);
std::string end_line(const JobResult& result);

/// Of this start of the machine: another after a power failure. Empty where that is not known.
std::string boot_now();
std::string boot_line(const std::string& boot);
/// What stands in front of this place in the file.
std::string synced_line(std::size_t place);

std::string written_line(std::string_view name, const std::string& hash, const std::string& run);

}  // namespace stowage
