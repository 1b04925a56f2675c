// SPDX-License-Identifier: Apache-2.0
// What a batch has done so far, line by line in the hidden file .batch.jsonl of its folder, so that one that was killed
// goes on where it was: a line for each job that is going to be run, one with the result of each that came to its end,
// and one for each file that is written. A line that a killed process did not finish is none. What a line announces is
// begun when it is on the disk. Results are written at once, so that a killed batch knows of them, but the disk is not
// asked for each, which would keep it from all else: every so often what results tell of is put there, then a line
// "synced" that says so. After a power failure (the machine's "boot" is another) results behind the last such line may
// tell of plans that were lost, and count as none.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "driver/batch/batch.h"
#include "driver/batch/identity.h"
#include "driver/batch/journal_entries.h"
#include "driver/files/files.h"

namespace stowage {

inline constexpr std::string_view journal_name = ".batch.jsonl";

/// Whether a process runs a batch in this folder now, as far as the file system knows of locks.
bool is_batch_running(const std::filesystem::path& folder);

class BatchJournal {
 public:
  /// `run` is the command line that goes on where an equal one stopped.
  BatchJournal(std::filesystem::path folder, std::string run) : folder_(std::move(folder)), run_(std::move(run)) {}
  BatchJournal(const BatchJournal&) = delete;
  BatchJournal& operator=(const BatchJournal&) = delete;
  ~BatchJournal();

  /// Reads what there is, if anything, and keeps other processes from running a batch there as long as this one lives.
  /// Reported: batch-running, foreign-folder and, unless everything is to be done anew, damaged-journal.
  bool read(bool forced, Diagnostics& diagnostics);
  [[nodiscard]] const JournalEntry* find(const std::string& job) const { return entries_.find(job); }
  /// Of a job that came to its end, what its line says.
  [[nodiscard]] JobEnd result(const JournalEntry& entry) const;
  /// The line of results.jsonl of a job that came to its end; empty of another. Not while jobs run.
  [[nodiscard]] std::string line(const std::string& job) const;
  /// Sample networks that jobs of this journal write.
  [[nodiscard]] std::set<std::filesystem::path> networks() const;
  /// Whether a file of results, of this folder or anywhere, holds what this run wrote there before, or a part of it
  /// (--only).
  [[nodiscard]] bool is_own(const std::filesystem::path& file) const;

  /// Before anything else is written. The jobs are those that will be run; `replaced` are files of results that may be
  /// written over whoever wrote them.
  bool begin(std::span<const Job> jobs, std::span<const Identity> identities,
             std::span<const std::filesystem::path> replaced, Diagnostics& diagnostics);
  /// A job came to its end. Of any thread.
  void end(const JobResult& result);
  /// No job runs any more. False after a reported error: a line could not be written. Those of jobs that have ended are
  /// held then, and tidy() tries them again.
  bool is_whole(Diagnostics& diagnostics);
  /// A file of results is going to be written, with this hash.
  void writes(const std::filesystem::path& file, const std::string& hash);
  /// At the end: the same lines whatever was run side by side, or in how many attempts.
  bool tidy(std::span<const Job> jobs, Diagnostics& diagnostics);

 private:
  /// Line by line; throws what is wrong with one. The bytes of whole lines.
  std::size_t take_lines(const OpenFile& file, int& number);
  bool take_lock(Diagnostics& diagnostics);
  void take_line(std::string_view line, std::size_t begin);
  /// Results that no later line "synced" tells of are none if the machine was started again since.
  void leave_doubtful();
  /// A file of an older version gets lines of this one; its first line says so before.
  void raise_version();
  const std::string* shared_network(std::string network);
  /// As it stands in the file.
  [[nodiscard]] std::string raw_line(const JournalEntry& entry) const;
  void write(const std::string& lines);
  void append(const std::string& lines);  ///< and waits for the disk
  /// All that was written so far, the plans in their folders as well, is on the disk then.
  void sync();
  [[nodiscard]] std::error_code synced() const;  ///< the same; what went wrong
  /// Puts the lines of jobs that have ended, and what they tell of, on the disk, until a stop is requested and none is
  /// left.
  void sync_ended(const std::stop_token& stop);
  /// Nothing else writes then.
  void finish_ended();
  [[nodiscard]] std::filesystem::path path() const { return folder_ / journal_name; }
  void report(const char* code, std::string message, std::string remedy, Diagnostics& diagnostics, int line = 0) const;

  struct Written {
    std::string hash;
    std::string run;
    auto operator<=>(const Written&) const = default;
  };

  /// The way to a file from the folder on, so that both can be moved together.
  [[nodiscard]] std::string name_of(const std::filesystem::path& file) const;
  /// Of a file that is there, what it holds now.
  [[nodiscard]] std::optional<std::string> hash_now(std::string_view name) const;

  std::filesystem::path folder_;
  std::string run_;
  int descriptor_ = -1;
  std::set<std::string> networks_;  ///< of entries
  JournalEntries entries_;
  std::map<std::string, std::set<Written>> written_;
  bool is_damaged_ = false;
  bool is_of_older_version_ = false;
  std::error_code failure_;                       ///< of the first line that could not be written
  std::map<std::string, std::string> unwritten_;  ///< lines of jobs that ended after that
  std::set<std::string> boots_;                   ///< that lines were written in
  const std::string* boot_ = nullptr;             ///< of the lines being read; null: they are all synced
  /// While reading: jobs with a result that no line "synced" behind it tells of, and the boot that it was written in.
  std::map<std::string_view, const std::string*> doubtful_;
  bool has_unsynced_before_ = false;  ///< results were read that count, and that no line "synced" tells of
  std::mutex ending_;                 ///< of the next two, unwritten_, the file, and entries_ while jobs run
  std::size_t size_ = 0;              ///< of the file
  bool has_unsynced_ = false;
  std::condition_variable_any has_ended_;
  std::jthread writer_;
};

}  // namespace stowage
