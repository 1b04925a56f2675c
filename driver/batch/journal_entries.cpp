// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/journal_entries.h"

#include <algorithm>
#include <utility>

namespace stowage {

JournalEntry& JournalEntries::add(JournalEntry entry) { return entries_.emplace_back(std::move(entry)); }

const JournalEntry* JournalEntries::find(std::string_view job) const {
  if (!entries_.empty() && entries_.back().job == job) return &entries_.back();
  sort();
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), job,
                                      [&](std::uint32_t at, std::string_view name) { return entries_[at].job < name; });
  return found != by_name_.end() && entries_[*found].job == job ? &entries_[*found] : nullptr;
}

JournalEntry* JournalEntries::find(std::string_view job) {
  return const_cast<JournalEntry*>(std::as_const(*this).find(job));
}

std::vector<const JournalEntry*> JournalEntries::all() const {
  sort();
  std::vector<const JournalEntry*> all;
  all.reserve(by_name_.size());
  for (const std::uint32_t at : by_name_) all.push_back(&entries_[at]);
  return all;
}

void JournalEntries::clear() {
  entries_.clear();
  by_name_.clear();
  sorted_ = 0;
}

void JournalEntries::sort() const {
  if (sorted_ == entries_.size()) return;
  by_name_.reserve(by_name_.size() + entries_.size() - sorted_);
  for (; sorted_ < entries_.size(); ++sorted_) by_name_.push_back(static_cast<std::uint32_t>(sorted_));
  // Of equal names the one that came last is first, and stays.
  std::sort(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = entries_[a].job.compare(entries_[b].job);
    return order != 0 ? order < 0 : a > b;
  });
  by_name_.erase(std::unique(by_name_.begin(), by_name_.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return entries_[a].job == entries_[b].job; }),
                 by_name_.end());
}

}  // namespace stowage
