// SPDX-License-Identifier: Apache-2.0
// What a batch's journal (driver/batch/journal.h) tells of jobs, by their names: of a million of them a map's nodes
// would be most of the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/identity.h"

namespace stowage {

struct JournalEntry {
  std::string job;
  Identity identity = {};                ///< what the job was by contents
  const std::string* network = nullptr;  ///< its sample network's file; null: none
  std::size_t line_begin = 0;            ///< of its result in the file
  std::size_t line_size = 0;             ///< 0 where it did not come to its end
};

/// Entries stay at their places as others are added.
class JournalEntries {
 public:
  /// In place of one that the job has already.
  JournalEntry& add(JournalEntry entry);
  /// Null where there is none. As long as nothing is added, of any thread after the first call.
  [[nodiscard]] const JournalEntry* find(std::string_view job) const;
  [[nodiscard]] JournalEntry* find(std::string_view job);
  /// In the order of their names.
  [[nodiscard]] std::vector<const JournalEntry*> all() const;
  void clear();

 private:
  void sort() const;

  std::deque<JournalEntry> entries_;  ///< as they came, with those that others replaced
  // Sorted when a job is asked for: most journals have a job's result behind its beginning.
  mutable std::vector<std::uint32_t> by_name_;
  mutable std::size_t sorted_ = 0;  ///< number of `entries_` that have been looked at for it
};

}  // namespace stowage
