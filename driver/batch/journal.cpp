// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/journal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/check.h"
#include "core/file_lock.h"
#include "driver/batch/journal_lines.h"
#include "driver/batch/stored_result.h"
#include "driver/files/files.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

std::string text_at(const OpenFile& file, std::size_t offset, std::size_t count) {
  const std::vector<std::byte> bytes = file.read(offset, count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Of any version, whole or cut off.
bool is_ours(const OpenFile& file) {
  const std::string sign = journal_sign();
  const std::string text = text_at(file, 0, std::min(sign.size(), file.size()));
  return std::string_view(sign).starts_with(text);
}

}  // namespace

bool is_batch_running(const fs::path& folder) {
  const int journal = ::open((folder / journal_name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (journal < 0) return false;
  // A shared lock: two that look at once do not take each other for a batch, and it needs no right to write.
  const bool is_held = ::flock(journal, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(journal);
  return is_held;
}

BatchJournal::~BatchJournal() {
  finish_ended();
  if (descriptor_ >= 0) ::close(descriptor_);
}

void BatchJournal::report(const char* code, std::string message, std::string remedy, Diagnostics& diagnostics,
                          int line) const {
  SourceLocation location;
  location.file = path().string();
  location.line = line;
  diagnostics.error(code, std::move(location), std::move(message), std::move(remedy));
}

bool BatchJournal::take_lock(Diagnostics& diagnostics) {
  // Who only looks whether a batch runs (is_batch_running) has the lock for a moment, too.
  constexpr std::chrono::milliseconds pause(5);
  Lock lock = try_lock(descriptor_);
  for (int tries = 0; lock == Lock::taken && tries < 20; ++tries) {
    std::this_thread::sleep_for(pause);
    lock = try_lock(descriptor_);
  }
  // On a file system without locks there is none. One that was just finished has another file at its place.
  if (lock != Lock::taken && is_at(path(), descriptor_)) return true;
  report("batch-running", "another process runs a batch in this folder", "wait for it, or choose another folder",
         diagnostics);
  return false;
}

std::size_t BatchJournal::take_lines(const OpenFile& file, int& number) {
  constexpr std::size_t piece = std::size_t{1} << 18;
  std::size_t whole = 0;
  std::string text;  // from there on
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t count = std::min(piece, file.size() - at);
    text += text_at(file, at, count);
    at += count;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; ++number, begin = end + 1) {
      const std::string_view line = std::string_view(text).substr(begin, end + 1 - begin);
      if (number > 1) {
        take_line(line, whole + begin);
      } else if (line == first_journal_line(oldest_journal)) {
        is_of_older_version_ = true;
      } else if (line != first_journal_line()) {
        throw std::invalid_argument("another version of Stowage wrote it, or it was edited");
      }
    }
    text.erase(0, begin);
    whole += begin;
  }
  return whole;
}

bool BatchJournal::read(bool forced, Diagnostics& diagnostics) {
  const auto failed = [&](const char* what) {
    report("file-error", fmt::format("{}: {}", what, std::generic_category().message(errno)), "", diagnostics);
    return false;
  };
  int number = 1;
  const auto damaged = [&](const std::string& why) {
    entries_.clear();
    written_.clear();
    doubtful_.clear();
    is_damaged_ = true;
    if (forced) return true;
    report("damaged-journal", why, "give --force to do everything anew, or choose another folder", diagnostics, number);
    return false;
  };
  const auto foreign = [&] {
    report("foreign-folder", "stands where a batch writes down what it has done, and Stowage did not write it",
           "choose another folder, or move or delete this yourself", diagnostics);
    return false;
  };
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(path(), failure);
  if (!fs::exists(status)) return true;
  if (!fs::is_regular_file(status)) return foreign();
  descriptor_ = ::open(path().c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0) return failed("cannot be opened");
  if (!take_lock(diagnostics)) return false;
  const auto file = OpenFile::open(path().string(), diagnostics);
  if (!file) return false;
  try {
    if (!is_ours(*file)) return foreign();
    const std::size_t whole = take_lines(*file, number);
    leave_doubtful();
    // What a killed process did not finish would stand in front of the next line.
    const bool is_cut = whole < file->size();
    return !is_cut || ::ftruncate(descriptor_, static_cast<off_t>(whole)) == 0 || failed("cannot be written");
  } catch (const Json::exception& wrong) {
    return damaged(in_words(wrong));
  } catch (const std::exception& wrong) {
    return damaged(wrong.what());
  }
}

const std::string* BatchJournal::shared_network(std::string network) {
  return network.empty() ? nullptr : &*networks_.insert(std::move(network)).first;
}

void BatchJournal::take_line(std::string_view line, std::size_t begin) {
  const Json json = Json::parse(line);
  if (json.contains("begin")) {
    JournalEntry entry{json.at("begin").get<std::string>(), parse_identity(json.at("identity").get<std::string>()),
                       shared_network(json.value("network", std::string()))};
    doubtful_.erase(entry.job);  // which names the entry that this one replaces
    entries_.add(std::move(entry));
  } else if (json.contains("end")) {
    JournalEntry* const found = entries_.find(json.at("end").get<std::string>());
    if (found == nullptr || result_of(json.at("result").get<std::string>()).result.name != found->job) {
      throw std::invalid_argument("it is about a job that was not begun");
    }
    found->line_begin = begin;
    found->line_size = line.size();
    if (boot_ != nullptr) doubtful_.insert_or_assign(found->job, boot_);
  } else if (json.contains("boot")) {
    boot_ = &*boots_.insert(json.at("boot").get<std::string>()).first;
  } else if (json.contains("synced")) {
    const auto place = json.at("synced").get<std::size_t>();
    std::erase_if(doubtful_, [&](const auto& one) { return entries_.find(one.first)->line_begin < place; });
  } else {
    written_[json.at("writes").get<std::string>()].insert(
        {json.at("hash").get<std::string>(), json.at("run").get<std::string>()});
  }
}

void BatchJournal::leave_doubtful() {
  // Results without a boot before them are not doubtful: they are of a batch that came to its end, or of a Stowage that
  // asked the disk for each.
  const std::string now = boot_now();
  for (const auto& [job, boot] : std::exchange(doubtful_, {})) {
    if (!boot->empty() && *boot == now) {
      has_unsynced_before_ = true;
      continue;
    }
    entries_.find(job)->line_size = 0;
  }
}

void BatchJournal::raise_version() {
  const std::string line = first_journal_line();
  check(line.size() == first_journal_line(oldest_journal).size(), "the version has one digit more");
  // Not by the journal's own descriptor, which writes at the end only.
  const int descriptor = ::open(path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0 || ::pwrite(descriptor, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
    failure_ = {errno, std::generic_category()};
  }
  if (descriptor >= 0) ::close(descriptor);
  is_of_older_version_ = false;
}

JobEnd BatchJournal::result(const JournalEntry& entry) const {
  return result_of(Json::parse(raw_line(entry)).at("result").get<std::string>()).result;
}

std::string BatchJournal::line(const std::string& job) const {
  const JournalEntry* const entry = find(job);
  if (const auto held = unwritten_.find(job); held != unwritten_.end()) {
    return Json::parse(held->second).at("result").get<std::string>();
  }
  if (entry == nullptr || entry->line_size == 0) return "";
  return Json::parse(raw_line(*entry)).at("result").get<std::string>();
}

std::string BatchJournal::raw_line(const JournalEntry& entry) const {
  std::string line(entry.line_size, '\0');
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count =
        ::pread(descriptor_, line.data() + done, line.size() - done, static_cast<off_t>(entry.line_begin + done));
    if (count == 0 || (count < 0 && errno != EINTR)) throw std::runtime_error("the batch's journal cannot be read");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return line;
}

std::set<fs::path> BatchJournal::networks() const {
  std::set<fs::path> networks;
  for (const JournalEntry* const entry : entries_.all()) {
    if (entry->network != nullptr) networks.insert(folder_ / *entry->network);
  }
  return networks;
}

std::string BatchJournal::name_of(const fs::path& file) const {
  const auto canonical = [](const fs::path& path) {
    std::error_code failure;
    return fs::weakly_canonical(fs::absolute(path, failure), failure);
  };
  // A link at its place is replaced, and not what it points to.
  const fs::path parent = canonical(file.has_parent_path() ? file.parent_path() : fs::path("."));
  return (parent.lexically_proximate(canonical(folder_)) / file.filename()).lexically_normal().string();
}

std::optional<std::string> BatchJournal::hash_now(std::string_view name) const {
  std::error_code failure;
  const fs::path file = folder_ / name;
  if (!fs::is_regular_file(fs::symlink_status(file, failure))) return std::nullopt;
  Diagnostics ignored;
  const auto hash = hash_of_file(file.string(), ignored);
  return hash ? std::optional(*hash) : std::nullopt;
}

bool BatchJournal::is_own(const fs::path& file) const {
  const std::string name = name_of(file);
  const auto written = written_.find(name);
  if (written == written_.end()) return false;
  const auto hash = hash_now(name);
  return hash && std::any_of(written->second.begin(), written->second.end(), [&](const Written& one) {
           return one.hash == *hash && (one.run == run_ || one.run.starts_with(run_ + " --only "));
         });
}

bool BatchJournal::begin(std::span<const Job> jobs, std::span<const Identity> identities,
                         std::span<const fs::path> replaced, Diagnostics& diagnostics) {
  if (descriptor_ < 0) {
    descriptor_ = ::open(path().c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) {
      report("file-error", "cannot be made: " + std::generic_category().message(errno), "", diagnostics);
      return false;
    }
    if (!take_lock(diagnostics)) return false;
  }
  if (is_damaged_ && ::ftruncate(descriptor_, 0) != 0) failure_ = {errno, std::generic_category()};
  std::string lines;
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  size_ = static_cast<std::size_t>(std::max<off_t>(end, 0));
  if (end == 0) lines = first_journal_line();
  if (is_of_older_version_ && end > 0) raise_version();
  lines += boot_line(boot_now());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string network = jobs[i].keys->network.empty() ? "" : network_path(jobs[i], "").generic_string();
    const JournalEntry& entry = entries_.add({jobs[i].name, identities[i], shared_network(network)});
    lines += begin_line(entry.job, entry.identity, entry.network);
  }
  for (const fs::path& file : replaced) {
    const std::string name = name_of(file);
    const auto hash = hash_now(name);
    if (hash && written_[name].insert({*hash, run_}).second) lines += written_line(name, *hash, run_);
  }
  size_ += lines.size();
  append(lines);
  sync();
  if (has_unsynced_before_ && !failure_) {
    // Else they would be doubtful again after a power failure now, in which this boot is not theirs any more.
    const std::string synced = synced_line(size_);
    size_ += synced.size();
    append(synced);
  }
  if (!failure_) return true;
  report("file-error", "cannot be written: " + failure_.message(), "", diagnostics);
  return false;
}

void BatchJournal::end(const JobResult& result) {
  const std::string line = end_line(result);
  const std::lock_guard lock(ending_);
  write(line);
  if (failure_) {
    // Most likely the disk is full. The job is done all the same, and its result goes into the files of results.
    unwritten_.emplace(result.name, line);
    return;
  }
  JournalEntry& entry = *entries_.find(result.name);
  entry.line_begin = size_;
  entry.line_size = line.size();
  size_ += line.size();
  has_unsynced_ = true;
  if (!writer_.joinable()) writer_ = std::jthread([this](const std::stop_token& stop) { sync_ended(stop); });
  has_ended_.notify_one();
}

void BatchJournal::sync_ended(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds pause(500);  // an eternity of 50 small jobs, and little for a power failure
  std::unique_lock lock(ending_);
  while (has_ended_.wait(lock, stop, [&] { return has_unsynced_; })) {
    has_unsynced_ = false;
    const std::size_t place = size_;
    lock.unlock();
    const std::error_code failure = synced();
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    const std::string line = synced_line(place);
    size_ += line.size();
    write(line);
    has_ended_.wait_for(lock, stop, pause, [] { return false; });
  }
}

void BatchJournal::finish_ended() {
  if (!writer_.joinable()) return;
  writer_.request_stop();
  writer_.join();
}

bool BatchJournal::is_whole(Diagnostics& diagnostics) {
  finish_ended();
  if (!failure_) return true;
  report("file-error", "cannot be written: " + failure_.message(),
         "the results are written all the same; the next run does again what this file does not tell of", diagnostics);
  return false;
}

void BatchJournal::writes(const fs::path& file, const std::string& hash) {
  finish_ended();
  const std::string name = name_of(file);
  if (!written_[name].insert({hash, run_}).second) return;
  const std::string line = written_line(name, hash, run_);
  size_ += line.size();
  append(line);
}

void BatchJournal::write(const std::string& lines) {
  for (std::string_view rest = lines; !rest.empty() && !failure_;) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      failure_ = {errno, std::generic_category()};
    }
  }
}

void BatchJournal::append(const std::string& lines) {
  write(lines);
  if (!failure_) ::fdatasync(descriptor_);  // what cannot do that (a network's file system, say) is not waited for
}

std::error_code BatchJournal::synced() const {
  if (::syncfs(descriptor_) != 0 && errno == EIO) return {errno, std::generic_category()};
  return {};
}

void BatchJournal::sync() {
  if (!failure_) failure_ = synced();
}

bool BatchJournal::tidy(std::span<const Job> jobs, Diagnostics& diagnostics) {
  finish_ended();
  TextFileWriter writer(path(), Existing::replace);
  writer.write(first_journal_line());
  const auto tell = [&](const JournalEntry& entry) {
    writer.write(begin_line(entry.job, entry.identity, entry.network));
    if (const auto held = unwritten_.find(entry.job); held != unwritten_.end()) {
      writer.write(held->second);
    } else if (entry.line_size > 0) {
      writer.write(raw_line(entry));
    }
  };
  std::vector<std::string_view> told;
  told.reserve(jobs.size());
  for (const Job& job : jobs) {
    told.emplace_back(job.name);
    if (const JournalEntry* const entry = find(job.name)) tell(*entry);
  }
  std::sort(told.begin(), told.end());
  for (const JournalEntry* const entry : entries_.all()) {
    if (!std::binary_search(told.begin(), told.end(), std::string_view(entry->job))) tell(*entry);
  }
  for (const auto& [name, all] : written_) {
    // Those that were written over are there no more.
    const auto hash = hash_now(name);
    for (const Written& one : all) {
      if (hash && *hash == one.hash) writer.write(written_line(name, one.hash, one.run));
    }
  }
  // The plans are on the disk already, where the lines that this file replaces told of them.
  if (!unwritten_.empty()) static_cast<void>(synced());
  if (!writer.commit_to_disk(diagnostics)) return false;
  sync();
  return true;
}

}  // namespace stowage
