// SPDX-License-Identifier: Apache-2.0
// Texts by key on disk, of which nobody needs any: what was computed once and would be computed again without it. A
// file may be deleted at any time, shared by processes and killed at any moment: it is replaced by renaming, every
// record has a checksum, and what is damaged is as if it were not there. Nothing that goes wrong with it is an error.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stowage {

/// 128 bits of hash as 32 hexadecimal digits.
std::string hash128_of(std::string_view text);

/// What kinds of records there are: the endings of their files, which one folder may hold.
inline constexpr std::string_view costs_of_groups = ".costs";
inline constexpr std::string_view choices_of_planners = ".choices";

/// The records that hold under one set of conditions (target, planner, version …), in one file.
class RecordFile {
 public:
  /// Reads what is there, which counts as a use of it. `folder` may not exist yet; an empty one is a file that forgets.
  /// `conditions` is text of any length, `kind` one of the endings above.
  RecordFile(std::filesystem::path folder, std::string_view kind, const std::string& conditions);
  RecordFile(const RecordFile&) = delete;  // its lines are views of its own text, which stays where it is when moved
  RecordFile& operator=(const RecordFile&) = delete;
  RecordFile(RecordFile&&) = default;
  RecordFile& operator=(RecordFile&&) = default;
  ~RecordFile() = default;

  /// By key, a hash128_of(); nothing where there is none, or a damaged one.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  /// In place of what the key had, once it is saved.
  void add(const std::string& key, std::string text) { added_.insert_or_assign(key, std::move(text)); }
  /// Puts what was added on disk, together with what others have put there meanwhile.
  void save();

 private:
  std::filesystem::path file_;
  std::vector<char> text_;                                      ///< of the file
  std::map<std::string, std::string_view, std::less<>> lines_;  ///< of it, by key; looked at when they are asked for
  std::map<std::string, std::string> added_;
};

}  // namespace stowage
