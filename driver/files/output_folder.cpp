// SPDX-License-Identifier: Apache-2.0
#include "driver/files/output_folder.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view format_line = "stowage-folder 1 ";

struct ContentRow {
  FolderContent content;
  std::string_view name;  ///< in the marker
  std::string_view in_words;
};
/// In the order of FolderContent.
constexpr ContentRow contents[] = {{FolderContent::plan, "plan", "a plan"},
                                   {FolderContent::outputs, "outputs", "outputs"},
                                   {FolderContent::passes, "passes", "nests after each pass"}};

const ContentRow& row_of(FolderContent content) { return contents[static_cast<std::size_t>(content)]; }

struct Marker {
  FolderContent content{};
  std::set<std::string> files;  ///< paths below the folder
};

/// Nothing where the folder has none that we wrote.
std::optional<Marker> read_marker(const fs::path& folder) {
  const fs::path path = folder / folder_marker;
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(path, failure))) return std::nullopt;
  std::ifstream lines(path, std::ios::binary);
  std::string line;
  if (!std::getline(lines, line) || !line.starts_with(format_line)) return std::nullopt;
  const std::string content = line.substr(format_line.size());
  const auto* const row =
      std::find_if(std::begin(contents), std::end(contents), [&](const ContentRow& r) { return r.name == content; });
  if (row == std::end(contents)) return std::nullopt;
  Marker marker;
  marker.content = row->content;
  while (std::getline(lines, line)) marker.files.insert(line);
  marker.files.emplace(folder_marker);
  return marker;
}

bool is_above_one(const std::set<std::string>& files, const std::string& folder) {
  const auto next = files.lower_bound(folder + '/');
  return next != files.end() && next->starts_with(folder + '/');
}

constexpr std::string_view layouts = "layout";

/// The inspector keeps in a plan's folder what Graphviz answered: files of 16 hexadecimal digits.
bool is_kept_layout(const fs::path& path) {
  const std::string name = path.stem().string();
  return path.parent_path() == layouts && path.extension() == ".plain" && name.size() == 16 &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Paths of what is not in the list: files, links, folders without a file of the list. Those are not looked into.
std::vector<std::string> foreign_entries(const fs::path& folder, const std::set<std::string>& files,
                                         std::error_code& failure) {
  std::vector<std::string> foreign;
  fs::recursive_directory_iterator entry(folder, failure);
  for (const fs::recursive_directory_iterator end; !failure && entry != end; entry.increment(failure)) {
    const std::string path = entry->path().lexically_relative(folder).generic_string();
    const fs::file_status status = entry->symlink_status(failure);
    if (failure) break;
    const bool known = fs::is_directory(status)
                           ? is_above_one(files, path) || path == layouts
                           : fs::is_regular_file(status) && (files.contains(path) || is_kept_layout(path));
    if (known) continue;
    foreign.push_back(path);
    entry.disable_recursion_pending();
  }
  std::sort(foreign.begin(), foreign.end());
  return foreign;
}

/// True if the folder is `path` or above it, by whatever names.
bool is_above(const fs::path& folder, const fs::path& path) {
  std::error_code failure;
  fs::path at = fs::canonical(path, failure);
  if (failure) return false;  // there is nothing that could be lost
  for (;; at = at.parent_path()) {
    if (fs::equivalent(at, folder, failure)) return true;
    if (at == at.parent_path()) return false;
  }
}

/// True for a file of a folder of ours; of one without a list it is what a plan consists of.
bool is_written_by_us(const fs::path& folder, const fs::path& relative) {
  if (const std::optional<Marker> marker = read_marker(folder))
    return marker->files.contains(relative.generic_string());
  static const std::set<std::string> of_a_plan = {"plan.json", "trace.json", "report.md", "src"};
  return of_a_plan.contains(relative.begin()->string());
}

/// True if `path`, itself or what it leads to, is a file of ours in the folder.
bool is_ours_in(const fs::path& folder, const fs::path& path) {
  std::error_code failure;
  const fs::path top = fs::canonical(folder, failure);
  if (failure) return false;
  const fs::path absolute = fs::absolute(path);
  for (const fs::path& place :
       {fs::canonical(absolute.parent_path(), failure) / absolute.filename(), fs::canonical(absolute, failure)}) {
    const fs::path relative = place.lexically_relative(top);
    if (!relative.empty() && *relative.begin() != ".." && relative != "." && is_written_by_us(top, relative))
      return true;
  }
  return false;
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) quoted.push_back("'" + names[i] + "'");
  const std::string text = fmt::format("{}", fmt::join(quoted, ", "));
  return names.size() > shown ? fmt::format("{}, ... ({} in all)", text, names.size()) : text;
}

}  // namespace

std::string marker_text(const fs::path& folder, FolderContent content) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(folder).generic_string());
  }
  std::string text = fmt::format("{}{}\n", format_line, row_of(content).name);
  for (const std::string& file : files) text += file + '\n';
  return text;
}

fs::path without_slash(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::optional<fs::path> input_replaced_by(const fs::path& wanted, std::span<const fs::path> inputs) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(wanted, failure))) return std::nullopt;
  for (const fs::path& input : inputs) {
    if (fs::is_directory(input, failure)) {
      if (is_ours_in(input, wanted)) return wanted;
    } else if (fs::equivalent(wanted, input, failure)) {
      return input;
    }
  }
  return std::nullopt;
}

bool may_write_folder(const fs::path& wanted, FolderContent content, bool force, std::span<const fs::path> inputs,
                      Diagnostics& diagnostics) {
  const auto refuse = [&](const char* code, std::string message, std::string remedy) {
    SourceLocation location;
    location.file = wanted.string();
    diagnostics.error(code, std::move(location), std::move(message), std::move(remedy));
    return false;
  };
  const fs::path folder = without_slash(wanted);
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(folder, failure);
  if (!fs::exists(status)) return true;
  if (!fs::is_directory(status)) {
    return refuse("output-exists", "exists and is not a folder", "choose another place");
  }
  if (!force) return refuse("output-exists", "the output folder exists already", "give --force to replace it");
  if (is_above(folder, fs::current_path())) {
    return refuse("output-in-use", "replacing it would remove the working directory", "choose another place");
  }
  for (const fs::path& input : inputs) {
    if (!is_above(folder, input)) continue;
    return refuse("output-in-use", fmt::format("replacing it would remove {}, which the command reads", input.string()),
                  "choose another place");
  }
  const std::optional<Marker> marker = read_marker(folder);
  const auto foreign = foreign_entries(folder, marker ? marker->files : std::set<std::string>{}, failure);
  if (failure) {
    return refuse("file-error", "what is in the folder cannot be read: " + failure.message(), "choose another place");
  }
  if (!foreign.empty()) {
    return refuse("foreign-folder", "holds what Stowage did not write: " + first_of(foreign),
                  "choose another place, or move or delete this yourself");
  }
  if (marker && marker->content != content) {
    return refuse("foreign-folder",
                  fmt::format("holds {}, not {}", row_of(marker->content).in_words, row_of(content).in_words),
                  "choose another place, or delete it yourself");
  }
  return true;
}

}  // namespace stowage
