// SPDX-License-Identifier: Apache-2.0
// Texts by key on disk, of which nobody needs any: what was computed once and would be computed again without it. A
// file may be deleted at any time, shared by processes and killed at any moment: it is replaced by renaming, every
// record has a checksum, and what is damaged is as if it were not there. Nothing that goes wrong with it is an error.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace stowage {

/// 128 bits of hash as 32 hexadecimal digits.
std::string hash128_of(std::string_view text);

/// What kinds of records there are: the endings of their files, which one folder may hold.
inline constexpr std::string_view costs_of_groups = ".costs";
inline constexpr std::string_view choices_of_planners = ".choices";

/// The records that hold under one set of conditions (target, planner, version …), in one file.
class RecordFile {
 public:
  /// `folder` may not exist yet; an empty one is a file that forgets. `conditions` is text of any length, `kind` one of
  /// the endings above.
  RecordFile(std::filesystem::path folder, std::string_view kind, const std::string& conditions);

  /// By key, a hash128_of().
  [[nodiscard]] const std::map<std::string, std::string>& records() const { return records_; }
  /// Nothing where the key has a record.
  void add(const std::string& key, std::string text);
  /// Puts what was added on disk, together with what others have put there meanwhile.
  void save();

 private:
  std::filesystem::path file_;
  std::map<std::string, std::string> records_;
  bool changed_ = false;
};

}  // namespace stowage
