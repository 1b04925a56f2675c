// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/shard.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/quoting.h"
#include "driver/batch/estimate.h"
#include "driver/batch/identity.h"
#include "driver/files/files.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view note_format = "stowage-shard";
constexpr int note_version = 1;

std::optional<int> whole(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ShardNote note_of(const Json& json) {
  if (json.at("format") != note_format) throw std::invalid_argument("its 'format' is another");
  if (json.at("version") != note_version) throw std::invalid_argument("another version of Stowage wrote it");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  ShardNote note;
  note.stowage = json.at("stowage").get<std::string>();
  note.file = json.at("file").get<std::string>();
  note.command = json.at("command").get<std::string>();
  note.batch = json.at("batch").get<std::string>();
  note.shard.of = static_cast<int>(whole_number(json.at("of"), 1, max_shards));
  note.shard.number = static_cast<int>(whole_number(json.at("shard"), 1, note.shard.of));
  note.jobs_of_batch = static_cast<std::size_t>(whole_number(json.at("jobs_of_batch"), 0, most));
  std::int64_t least = 0;
  for (const Json& row : json.at("jobs")) {
    const std::int64_t number = whole_number(row.at("place"), least, static_cast<std::int64_t>(note.jobs_of_batch) - 1);
    auto job = row.at("job").get<std::string>();
    if (const std::string why = why_no_folder(job); !why.empty()) {
      throw std::invalid_argument(fmt::format("'{}' cannot be the name of a job: {}", line_text(job), why));
    }
    note.jobs.push_back({static_cast<std::size_t>(number), std::move(job)});
    least = number + 1;
  }
  note.results = json.at("results").get<std::string>();
  return note;
}

}  // namespace

std::optional<Shard> parse_shard(std::string_view text, std::string& why_not) {
  const auto slash = text.find('/');
  const auto number = whole(text.substr(0, slash));
  const auto of = slash == std::string_view::npos ? std::nullopt : whole(text.substr(slash + 1));
  if (!number || !of) {
    why_not = fmt::format("'{}' is no shard: I/N was wanted, for instance 1/4 for the first of four", text);
  } else if (*of < 1 || *of > max_shards) {
    why_not = fmt::format("'{}' is no shard: a batch is divided into 1 to {} of them", text, max_shards);
  } else if (*number < 1 || *number > *of) {
    why_not = fmt::format("there is no shard {} of {}: they are counted from 1 to {}", *number, *of, *of);
  } else {
    return Shard{*number, *of};
  }
  return std::nullopt;
}

std::string text_of(const Shard& shard) { return fmt::format("{}/{}", shard.number, shard.of); }

std::vector<std::size_t> numbers_in_shard(const std::vector<std::int64_t>& work, const Shard& shard) {
  std::vector<std::size_t> longest_first(work.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  using Load = std::pair<std::int64_t, int>;  // of equal ones the lower number is first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int number = 1; number <= shard.of; ++number) loads.emplace(0, number);
  std::vector<std::size_t> own;
  for (const std::size_t job : longest_first) {
    const auto [load, number] = loads.top();
    loads.pop();
    loads.emplace(load + work[job], number);
    if (number == shard.number) own.push_back(job);
  }
  std::sort(own.begin(), own.end());
  return own;
}

Result<ShardNote> shard_of(const std::vector<Job>& jobs, const Shard& shard, const std::stop_token& stop) {
  const auto identities = identities_of(jobs, stop);
  if (!identities) return Failed{};
  const std::vector<std::int64_t> work = estimated_work(jobs);
  if (stop.stop_requested()) return Failed{};
  ShardNote note;
  note.stowage = stowage_version();
  note.shard = shard;
  note.jobs_of_batch = jobs.size();
  for (const std::size_t job : numbers_in_shard(work, shard)) note.jobs.push_back({job, jobs[job].name});
  std::string all;
  for (std::size_t i = 0; i < jobs.size(); ++i) all += fmt::format("{} {}\n", text_of((*identities)[i]), work[i]);
  note.batch = hash_of(std::as_bytes(std::span(all)));
  return note;
}

std::vector<Job> jobs_of(const ShardNote& note, const std::vector<Job>& jobs) {
  std::vector<Job> own;
  for (const ShardNote::Entry& entry : note.jobs) own.push_back(jobs[entry.number]);
  return own;
}

std::string to_text(const ShardNote& note) {
  Json json;
  json["format"] = note_format;
  json["version"] = note_version;
  json["stowage"] = note.stowage;
  json["file"] = note.file;
  json["command"] = note.command;
  json["batch"] = note.batch;
  json["shard"] = note.shard.number;
  json["of"] = note.shard.of;
  json["jobs_of_batch"] = note.jobs_of_batch;
  json["jobs"] = Json::array();
  for (const ShardNote::Entry& entry : note.jobs) {
    json["jobs"].push_back({{"place", entry.number}, {"job", entry.job}});
  }
  json["results"] = note.results;
  return dumped(json, 1);
}

Result<ShardNote> read_shard_note(const fs::path& folder, Diagnostics& diagnostics) {
  const fs::path path = folder / shard_note_name;
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) {
    const bool is_folder = fs::is_directory(folder, failure);
    diagnostics.error(
        "no-shard", place_of(folder),
        is_folder ? fmt::format("no shard of a batch was run here: it has no {}", shard_note_name) : "is no folder",
        "give the folders that 'stowage batch JOBS.toml --shard I/N' wrote");
    return Failed{};
  }
  const auto text = read_text_file(path.string(), diagnostics);
  if (!text) return Failed{};
  const auto damaged = [&](const std::string& why) {
    diagnostics.error("damaged-shard", place_of(path), why, "run this shard again with --force");
    return Failed{};
  };
  try {
    return note_of(Json::parse(*text));
  } catch (const Json::exception& wrong) {
    return damaged(in_words(wrong));
  } catch (const std::invalid_argument& wrong) {
    return damaged(wrong.what());
  }
}

}  // namespace stowage
