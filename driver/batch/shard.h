// SPDX-License-Identifier: Apache-2.0
// A batch in parts, for several processes or machines: `stowage batch --shard 2/4` runs the jobs of the second of four
// shards. Which these are depends on the batch alone, so the shards need not know of each other. What a shard's folder
// is of stands in its shard.json, which merging goes by (driver/batch/merge.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

struct Shard {
  int number = 1;  ///< from 1 on
  int of = 1;
  friend auto operator<=>(const Shard&, const Shard&) = default;
};
inline constexpr int max_shards = 10'000;

/// "2/4"; nothing where it is no shard, and `why_not` says why.
std::optional<Shard> parse_shard(std::string_view text, std::string& why_not);
std::string text_of(const Shard& shard);  ///< "2/4"

/// Numbers of a shard's jobs, ascending, where each job takes the work given here. The longest job goes first, to the
/// shard that has the least so far. Every job is in one shard; if there are more shards than jobs, some stay empty.
std::vector<std::size_t> numbers_in_shard(const std::vector<std::int64_t>& work, const Shard& shard);

/// What shard.json says.
struct ShardNote {
  struct Entry {
    std::size_t number = 0;  ///< among the jobs of the whole batch, from 0 on
    std::string job;
  };
  std::string stowage;  ///< version that runs it
  std::string file;     ///< batch file
  std::string command;  ///< of the whole batch
  std::string batch;    ///< hash of what all jobs are by contents and of how they are divided
  Shard shard;
  std::size_t jobs_of_batch = 0;
  std::vector<Entry> jobs;
  std::string results;  ///< hash of the results.jsonl of a shard that is done; empty before
};

/// The note of one shard of these jobs. Fails without a diagnostic when stopped.
Result<ShardNote> shard_of(const std::vector<Job>& jobs, const Shard& shard, const std::stop_token& stop);
/// The jobs that it names, of those of the whole batch.
std::vector<Job> jobs_of(const ShardNote& note, const std::vector<Job>& jobs);

std::string to_text(const ShardNote& note);
/// Of the folder of a shard. Reported: no-shard, damaged-shard.
Result<ShardNote> read_shard_note(const std::filesystem::path& folder, Diagnostics& diagnostics);

}  // namespace stowage
