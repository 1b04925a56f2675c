// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/merge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/batch/shard.h"
#include "driver/batch/stored_result.h"
#include "driver/files/files.h"
#include "driver/json/damage.h"
#include "driver/json/json.h"
#include "driver/text/listed.h"
#include "driver/text/shell_text.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

struct ShardFolder {
  std::string path;
  ShardNote note;
};

std::string in_words(const Shard& shard) { return fmt::format("shard {} of {}", shard.number, shard.of); }

/// The command that runs what is left of it.
std::string command_of(const ShardFolder& shard) {
  return fmt::format("{} --shard {} -o {}", shard.note.command, text_of(shard.note.shard), shell_quoted(shard.path));
}

class Merger {
 public:
  explicit Merger(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Result<MergedBatch> merged(const std::vector<std::string>& folders) {
    for (const std::string& path : folders) {
      if (auto note = read_shard_note(path, own_)) shards_.push_back({path, *std::move(note)});
    }
    for (const ShardFolder& shard : shards_) compare(shards_.front(), shard);
    if (!own_.has_errors()) check_all_there();
    if (!own_.has_errors()) read_all();
    diagnostics_.append(own_);
    if (own_.has_errors()) return Failed{};
    return std::move(batch_);
  }

 private:
  void refuse(const std::string& path, const char* code, std::string message, std::string remedy, int line = 0) {
    SourceLocation place;
    place.file = path;
    place.line = line;
    own_.error(code, std::move(place), std::move(message), std::move(remedy));
  }

  /// That both are shards of one batch.
  void compare(const ShardFolder& first, const ShardFolder& shard) {
    const std::string remedy = "give the folders of all shards of one batch, and no others";
    const ShardNote& a = first.note;
    const ShardNote& b = shard.note;
    if (b.stowage != stowage_version()) {
      refuse(shard.path, "other-version",
             fmt::format("stowage {} ran this shard, and this is {}", b.stowage, stowage_version()),
             "merge shards with the program that ran them");
    } else if (a.command != b.command) {
      refuse(shard.path, "other-batch", fmt::format("is of '{}', and {} of '{}'", b.command, first.path, a.command),
             remedy);
    } else if (a.shard.of != b.shard.of) {
      refuse(shard.path, "other-batch",
             fmt::format("is {}, and {} is {}", in_words(b.shard), first.path, in_words(a.shard)), remedy);
    } else if (a.batch != b.batch || a.jobs_of_batch != b.jobs_of_batch) {
      refuse(shard.path, "other-batch",
             fmt::format("its jobs are of another batch than those of {}: the batch file, or a file that one of its "
                         "jobs reads, was another when this shard ran",
                         first.path),
             "run the shards again with --force from the same files");
    }
  }

  void check_all_there() {
    std::map<Shard, std::string> folders;
    for (const ShardFolder& shard : shards_) {
      const auto [place, is_new] = folders.emplace(shard.note.shard, shard.path);
      if (is_new) continue;
      refuse(shard.path, "shard-given-twice", fmt::format("is {}, as {} is", in_words(shard.note.shard), place->second),
             "give each shard once");
    }
    const ShardNote& note = shards_.front().note;
    std::vector<std::string> missing;
    for (int number = 1; number <= note.shard.of; ++number) {
      const Shard wanted{number, note.shard.of};
      if (!folders.contains(wanted)) missing.push_back(text_of(wanted));
    }
    if (!missing.empty()) {
      refuse("", "missing-shard",
             fmt::format("the batch has {}, of which {} {} missing: {}", counted(shard_count(note), "shard"),
                         missing.size(), missing.size() == 1 ? "is" : "are", first_few(missing)),
             fmt::format("run '{} --shard {}', and give its folder too", note.command, missing.front()));
    }
    for (const ShardFolder& shard : shards_) {
      if (!shard.note.results.empty()) continue;
      refuse(shard.path, "unfinished-shard",
             fmt::format("{} is not done: it runs still, or was stopped", in_words(shard.note.shard)),
             fmt::format("wait for it, or run '{}'", command_of(shard)));
    }
  }

  static std::size_t shard_count(const ShardNote& note) { return static_cast<std::size_t>(note.shard.of); }

  static std::string first_few(std::vector<std::string> names) {
    constexpr std::size_t shown = 8;
    if (names.size() <= shown) return listed(names);
    names.resize(shown);
    return fmt::format("{}, ...", fmt::join(names, ", "));
  }

  void read_all() {
    const ShardNote& note = shards_.front().note;
    if (!all_jobs_named()) {
      return refuse(shards_.front().path, "damaged-shard",
                    fmt::format("the shards' {} do not name each of the batch's {} once", shard_note_name,
                                counted(note.jobs_of_batch, "job")),
                    "run the shards again with --force");
    }
    batch_.file = note.file;
    batch_.command = note.command;
    batch_.jobs.resize(note.jobs_of_batch);
    batch_.results.resize(note.jobs_of_batch);
    batch_.folders.resize(note.jobs_of_batch);
    for (const ShardFolder& shard : shards_) read_results(shard);
  }

  /// As it is unless somebody edited what the shards say.
  [[nodiscard]] bool all_jobs_named() const {
    std::vector<std::size_t> places;
    for (const ShardFolder& shard : shards_) {
      for (const ShardNote::Entry& entry : shard.note.jobs) places.push_back(entry.place);
    }
    if (places.size() != shards_.front().note.jobs_of_batch) return false;
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != i) return false;
    }
    return true;
  }

  void read_results(const ShardFolder& shard) {
    const std::string path = (fs::path(shard.path) / results_name).string();
    const auto damaged = [&](const std::string& why, std::size_t line) {
      // It is written again from what the shard has done.
      refuse(path, "damaged-results", why, fmt::format("remove this file, and run '{}'", command_of(shard)),
             static_cast<int>(line));
    };
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) return damaged("there is no such file any more", 0);
    const auto text = whole_text(path);
    if (!text) return;
    const std::vector<ShardNote::Entry>& jobs = shard.note.jobs;
    std::size_t row = 0;
    for (std::size_t at = 0; at < text->size(); ++row) {
      const auto end = text->find('\n', at);
      if (end == std::string::npos) return damaged("the file is cut off in the middle of this line", row + 1);
      if (row == jobs.size()) return damaged("the shard has no job for this line", row + 1);
      if (const std::string why = take(text->substr(at, end - at), shard.path, jobs[row]); !why.empty())
        return damaged(why, row + 1);
      at = end + 1;
    }
    if (row != jobs.size()) {
      return damaged(
          fmt::format("the shard has {}, and the file {}", counted(jobs.size(), "job"), counted(row, "line")), 0);
    }
    if (hash_of(std::as_bytes(std::span(*text))) != shard.note.results) {
      damaged("the file was changed since the shard was run", 0);
    }
  }

  /// What is wrong with the line; empty where nothing is.
  std::string take(const std::string& line, const std::string& folder, const ShardNote::Entry& entry) {
    try {
      StoredResult stored = result_of(line);
      if (stored.job.name != entry.job) {
        return fmt::format("it is about the job '{}', and '{}' was wanted", stored.job.name, entry.job);
      }
      batch_.jobs[entry.place] = std::move(stored.job);
      batch_.results[entry.place] = std::move(stored.result);
      batch_.folders[entry.place] = folder;
      return "";
    } catch (const Json::exception& wrong) {
      return stowage::in_words(wrong);
    } catch (const Damage& wrong) {
      return wrong.what();
    }
  }

  /// Of any size.
  std::optional<std::string> whole_text(const std::string& path) {
    const auto file = OpenFile::open(path, own_);
    if (!file) return std::nullopt;
    try {
      return file->text();
    } catch (const std::runtime_error& failure) {
      refuse(path, "file-error", failure.what(), "");
      return std::nullopt;
    }
  }

  Diagnostics& diagnostics_;
  Diagnostics own_;
  std::vector<ShardFolder> shards_;
  MergedBatch batch_;
};

}  // namespace

Result<MergedBatch> merge_shards(const std::vector<std::string>& folders, Diagnostics& diagnostics) {
  return Merger(diagnostics).merged(folders);
}

}  // namespace stowage
