// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/merge.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
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
    SourceLocation location;
    location.file = path;
    location.line = line;
    own_.error(code, std::move(location), std::move(message), std::move(remedy));
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
      const auto [known, is_new] = folders.emplace(shard.note.shard, shard.path);
      if (is_new) continue;
      refuse(shard.path, "shard-given-twice", fmt::format("is {}, as {} is", in_words(shard.note.shard), known->second),
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
    batch_.lines.resize(note.jobs_of_batch);
    for (const ShardFolder& shard : shards_) {
      read_results(shard);
      batch_.folders.push_back(shard.path);
    }
  }

  /// As it is unless somebody edited what the shards say.
  [[nodiscard]] bool all_jobs_named() const {
    std::vector<std::size_t> numbers;
    for (const ShardFolder& shard : shards_) {
      for (const ShardNote::Entry& entry : shard.note.jobs) numbers.push_back(entry.number);
    }
    if (numbers.size() != shards_.front().note.jobs_of_batch) return false;
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != i) return false;
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
    const auto file = OpenFile::open(path, own_);
    if (!file) return;
    const std::vector<ShardNote::Entry>& jobs = shard.note.jobs;
    std::size_t row = 0;
    bool good = true;
    try {
      const std::size_t cut = each_line(*file, [&](std::size_t begin, std::string_view line) {
        std::string why = row == jobs.size() ? "the shard has no job for this line" : take(line, begin, jobs[row]);
        good = why.empty();
        if (!good) damaged(why, row + 1);
        ++row;
        return good;
      });
      if (!good) return;
      if (cut < file->size()) return damaged("the file is cut off in the middle of this line", row + 1);
    } catch (const std::runtime_error& unread) {
      return refuse(path, "file-error", unread.what(), "");
    }
    if (row != jobs.size()) {
      return damaged(
          fmt::format("the shard has {}, and the file {}", counted(jobs.size(), "job"), counted(row, "line")), 0);
    }
    const auto hash = hash_of_file(path, own_);
    if (hash && *hash != shard.note.results) damaged("the file was changed since the shard was run", 0);
  }

  /// Until a line is not taken. Where the last whole line ends.
  static std::size_t each_line(const OpenFile& file, const std::function<bool(std::size_t, std::string_view)>& taken) {
    constexpr std::size_t piece = std::size_t{1} << 18;
    std::size_t whole = 0;
    std::string text;  // from there on
    for (std::size_t at = 0; at < file.size();) {
      const std::size_t count = std::min(piece, file.size() - at);
      const std::vector<std::byte> bytes = file.read(at, count);
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      at += count;
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        if (!taken(whole + begin, std::string_view(text).substr(begin, end - begin))) return whole + begin;
      }
      text.erase(0, begin);
      whole += begin;
    }
    return whole;
  }

  /// What is wrong with the line; empty where nothing is.
  std::string take(std::string_view line, std::size_t begin, const ShardNote::Entry& entry) {
    try {
      StoredResult stored = result_of(line);
      if (stored.job.name != entry.job) {
        return fmt::format("it is about the job '{}', and '{}' was wanted", stored.job.name, entry.job);
      }
      stored.job.keys = shared(stored.job.keys);
      batch_.jobs[entry.number] = std::move(stored.job);
      batch_.results[entry.number] = std::move(stored.result);
      batch_.lines[entry.number] = {batch_.folders.size(), begin, line.size()};
      return "";
    } catch (const Json::exception& wrong) {
      return stowage::in_words(wrong);
    } catch (const Damage& wrong) {
      return wrong.what();
    }
  }

  /// Many jobs have the same, as far as a line tells of it.
  const Shared<JobKeys>& shared(const Shared<JobKeys>& keys) {
    const CompileRequest& request = keys->request;
    return keys_
        .try_emplace({keys->network, request.target, request.fusion, request.planner, request.layout, request.library,
                      request.cost},
                     keys)
        .first->second;
  }

  std::map<std::array<std::string, 7>, Shared<JobKeys>> keys_;
  Diagnostics& diagnostics_;
  Diagnostics own_;
  std::vector<ShardFolder> shards_;
  MergedBatch batch_;
};

}  // namespace

std::string line_of(const MergedBatch& batch, std::size_t job) {
  const MergedBatch::ResultLine& line = batch.lines[job];
  const std::string path = (fs::path(batch.folders[line.shard]) / results_name).string();
  Diagnostics unread;
  const auto file = OpenFile::open(path, unread);
  if (!file) throw std::runtime_error(path + " is not there any more");
  const std::vector<std::byte> bytes = file->read(line.begin, line.size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<MergedBatch> merge_shards(const std::vector<std::string>& folders, Diagnostics& diagnostics) {
  return Merger(diagnostics).merged(folders);
}

}  // namespace stowage
