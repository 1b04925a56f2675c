// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/record_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/file_lock.h"
#include "core/file_writer.h"
#include "core/temporary_name.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;
using Lines = std::map<std::string, std::string_view, std::less<>>;

constexpr std::array<std::string_view, 2> kinds = {costs_of_groups, choices_of_planners};
constexpr std::size_t max_files = 64;             ///< of one kind; conditions not asked for longest are forgotten
constexpr std::uintmax_t max_bytes = 16U << 20U;  ///< of one file; a larger one starts anew
constexpr std::size_t key_digits = 32;

std::string checksum_of(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

std::string line_escaped(const std::string& text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\n': line += "\\n"; break;
      case '\\': line += "\\\\"; break;
      default: line += c;
    }
  }
  return line;
}

std::string line_unescaped(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char c = line[++i];
    text += c == 'n' ? '\n' : c;
  }
  return text;
}

/// "KEY TEXT CHECKSUM", the checksum of all that stands before it.
std::string line_of(const std::string& key, const std::string& text) {
  std::string line = fmt::format("{} {} ", key, line_escaped(text));
  return line + checksum_of(line) + "\n";
}

/// The text of a line; nothing where it is damaged.
std::optional<std::string> text_of(std::string_view line) {
  const std::size_t last = line.rfind(' ');
  if (last == std::string_view::npos || last <= key_digits) return std::nullopt;
  if (checksum_of(line.substr(0, last + 1)) != line.substr(last + 1)) return std::nullopt;
  return line_unescaped(line.substr(key_digits + 1, last - key_digits - 1));
}

std::vector<char> read_text(const fs::path& file) {
  std::error_code failure;
  const std::uintmax_t size = fs::is_regular_file(file, failure) ? fs::file_size(file, failure) : 0;
  if (failure || size > max_bytes) return {};
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> text(size);
  stream.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

Lines lines_by_key(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find(' ') == key_digits) lines.insert_or_assign(std::string(line.substr(0, key_digits)), line);
  }
  return lines;
}

/// The kind of a file of ours with the name "KEY.costs", with the hash of the conditions, and of no other.
std::optional<std::string_view> kind_of(std::string_view name) {
  const auto* const kind =
      std::find_if(kinds.begin(), kinds.end(), [&](std::string_view ending) { return name.ends_with(ending); });
  if (kind == kinds.end() || !is_hexadecimal(name.substr(0, name.size() - kind->size()), key_digits)) return {};
  return *kind;
}

/// What killed processes may have left: "KEY.costs.PID.tmp" earlier ones.
bool is_temporary(std::string_view name) {
  if (kind_of(name_behind_temporary(name))) return true;
  constexpr std::string_view ending = ".tmp";
  constexpr std::size_t before = key_digits + costs_of_groups.size();
  if (!kind_of(name.substr(0, before)) || !name.ends_with(ending) || name.size() < before + 2 + ending.size())
    return false;
  const std::string_view pid = name.substr(before, name.size() - ending.size() - before);
  return pid[0] == '.' && pid.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// Removes the files of a kind that were not used longest, and what killed processes left of files that nobody writes
/// any more. The folder may be one in which others keep files: theirs stay.
void tidy(const fs::path& folder, std::string_view kind) {
  using Entry = std::pair<fs::file_time_type, fs::path>;
  std::vector<Entry> files;
  std::error_code failure;
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(entry->path(), gone);
    if (gone) continue;
    const std::string name = entry->path().filename().string();
    if (kind_of(name) == kind) files.emplace_back(time, entry->path());
    if (is_temporary(name) && time < hour_ago) fs::remove(entry->path(), gone);
  }
  if (files.size() <= max_files) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + max_files < files.size(); ++i) fs::remove(files[i].second, failure);
}

}  // namespace

std::string hash128_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

RecordFile::RecordFile(fs::path folder, std::string_view kind, const std::string& conditions) {
  if (folder.empty()) return;
  file_ = std::move(folder) / (hash128_of(conditions) + std::string(kind));
  text_ = read_text(file_);
  lines_ = lines_by_key({text_.data(), text_.size()});
  std::error_code failure;
  if (!text_.empty()) fs::last_write_time(file_, fs::file_time_type::clock::now(), failure);  // tidy() goes by it
}

std::optional<std::string> RecordFile::find(const std::string& key) const {
  if (const auto added = added_.find(key); added != added_.end()) return added->second;
  const auto line = lines_.find(key);
  return line == lines_.end() ? std::nullopt : text_of(line->second);
}

std::vector<std::string> RecordFile::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, line] : lines_) keys.push_back(key);
  for (const auto& [key, text] : added_) {
    if (!lines_.contains(key)) keys.push_back(key);
  }
  return keys;
}

void RecordFile::save() {
  if (file_.empty() || added_.empty()) return;
  std::error_code failure;
  fs::create_directories(file_.parent_path(), failure);
  // Of two that save at once none loses what the other has added; without the lock that would be computed once more.
  constexpr std::chrono::seconds patience(5);
  const FileLock lock(file_, patience);
  std::map<std::string, std::string> lines;
  std::size_t bytes = 0;
  for (const auto& [key, record] : added_) bytes += lines.emplace(key, line_of(key, record)).first->second.size();
  const std::vector<char> there = read_text(file_);
  if (bytes + there.size() <= max_bytes) {
    for (const auto& [key, line] : lines_by_key({there.data(), there.size()})) {
      if (text_of(line)) lines.emplace(key, std::string(line) + "\n");
    }
  }
  std::string text;
  for (const auto& [key, line] : lines) text += line;
  FileWriter writer(file_);
  if (!writer.write(text) || writer.commit()) return;
  tidy(file_.parent_path(), file_.extension().string());
}

}  // namespace stowage
