// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/cost_cache.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
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
using Records = std::map<std::string, GroupCost::Answer>;

constexpr std::string_view suffix = ".costs";
constexpr std::size_t max_files = 64;             ///< conditions that were not asked for longest are forgotten
constexpr std::uintmax_t max_bytes = 64U << 20U;  ///< of one file; a larger one starts anew
constexpr std::size_t key_digits = 32;

std::string checksum_of(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

std::string line_escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    switch (c) {
      case '\n': line += "\\n"; break;
      case '\t': line += "\\t"; break;
      case '\\': line += "\\\\"; break;
      default: line += c;
    }
  }
  return line;
}

std::string line_unescaped(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char c = line[++i];
    text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return text;
}

/// "KEY tab CYCLES tab RULE tab REASON tab FLIP tab CHECKSUM"; the rule of an allowed group is empty.
std::string line_of(const std::string& key, const GroupCost::Answer& answer) {
  std::string line = fmt::format("{}\t{}\t{}\t{}\t{}\t", key, answer.cycles, line_escaped(answer.decision.rule),
                                 line_escaped(answer.decision.reason), line_escaped(answer.decision.flip));
  return line + checksum_of(line) + "\n";
}

/// Takes the record of a line; one that is damaged changes nothing.
void read_line(std::string_view line, Records& records) {
  std::vector<std::string_view> fields;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t tab = std::min(line.find('\t', from), line.size());
    fields.push_back(line.substr(from, tab - from));
    from = tab + 1;
  }
  if (fields.size() != 6 || fields[0].size() != key_digits) return;
  if (checksum_of(line.substr(0, line.size() - fields[5].size())) != fields[5]) return;
  GroupCost::Answer answer;
  const auto [end, error] = std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), answer.cycles);
  if (error != std::errc() || end != fields[1].data() + fields[1].size() || answer.cycles < 0) return;
  if (!fields[2].empty())
    answer.decision = Decision::refuse(line_unescaped(fields[2]), line_unescaped(fields[3]), line_unescaped(fields[4]));
  records.insert_or_assign(std::string(fields[0]), std::move(answer));
}

Records read_records(const fs::path& file) {
  Records records;
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(file, failure);
  if (failure || size > max_bytes) return records;
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line);) read_line(line, records);
  return records;
}

/// "KEY.costs", with the hash of the conditions.
bool is_costs(std::string_view name) {
  return name.ends_with(suffix) && is_hexadecimal(name.substr(0, name.size() - suffix.size()), key_digits);
}

/// What killed processes may have left: "KEY.costs.PID.tmp" earlier ones.
bool is_temporary(std::string_view name) {
  if (is_costs(name_behind_temporary(name))) return true;
  constexpr std::string_view ending = ".tmp";
  constexpr std::size_t before = key_digits + suffix.size();
  if (!name.ends_with(ending) || !is_costs(name.substr(0, before)) || name.size() < before + 2 + ending.size())
    return false;
  const std::string_view pid = name.substr(before, name.size() - ending.size() - before);
  return pid[0] == '.' && pid.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// Removes the files that were not used longest, and what killed processes left of files that nobody writes any more.
/// The folder may be one in which others keep files: theirs stay.
void tidy(const fs::path& folder) {
  using Entry = std::pair<fs::file_time_type, fs::path>;
  std::vector<Entry> files;
  std::error_code failure;
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(entry->path(), gone);
    if (gone) continue;
    const std::string name = entry->path().filename().string();
    if (is_costs(name)) files.emplace_back(time, entry->path());
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

CostCache::CostCache(fs::path folder, const std::string& conditions) {
  if (folder.empty()) return;
  file_ = std::move(folder) / (hash128_of(conditions) + std::string(suffix));
  records_ = read_records(file_);
}

const GroupCost::Answer* CostCache::find(const std::string& key) const {
  const auto found = records_.find(key);
  return found != records_.end() ? &found->second : nullptr;
}

void CostCache::add(const std::string& key, GroupCost::Answer answer) {
  changed_ = records_.try_emplace(key, std::move(answer)).second || changed_;
}

void CostCache::save() {
  if (file_.empty() || !changed_) return;
  changed_ = false;
  std::error_code failure;
  fs::create_directories(file_.parent_path(), failure);
  // Of two that save at once none loses what the other has added; without the lock that would be computed once more.
  constexpr std::chrono::seconds patience(5);
  const FileLock lock(file_, patience);
  for (auto& [key, answer] : read_records(file_)) records_.try_emplace(key, answer);
  std::string text;
  for (const auto& [key, answer] : records_) text += line_of(key, answer);
  FileWriter writer(file_);
  if (!writer.write(text) || writer.commit()) return;
  tidy(file_.parent_path());
}

}  // namespace stowage
