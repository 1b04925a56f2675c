// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/checked_file.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "driver/exercises/exercises.h"
#include "driver/files/files.h"
#include "driver/session/session.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

namespace {

namespace fs = std::filesystem;

std::string name_of_exercise(int number) { return fmt::format("exercise-{}", number); }

/// 0 for a nest that is none.
int exercise_number(const fs::path& file) {
  for (int number = 1; number <= static_cast<int>(exercise_kinds().size()); ++number) {
    if (file.stem() == name_of_exercise(number)) return number;
  }
  return 0;
}

/// The sheet has the nest in it, which is shown beside it, and is Markdown, which is shown as it is.
std::string without_nest(std::string sheet) {
  if (sheet.starts_with("# ")) sheet.erase(0, 2);
  const std::string fence = "```\n";
  const std::size_t begin = sheet.find(fence);
  const std::size_t end = begin == std::string::npos ? begin : sheet.find(fence, begin + 1);
  if (end == std::string::npos) return sheet;
  return sheet.substr(0, begin) + sheet.substr(std::min(sheet.size(), end + fence.size() + 1));
}

bool add_nest(const NestText& nest, const Target& target, const std::string& file, CheckedFile& made,
              Diagnostics& diagnostics) {
  auto read = checked(nest, target, file, diagnostics);
  if (!read) return false;
  std::string text = to_text(read->nest, read->unknown);
  made.nests.push_back({*std::move(read), std::move(text), 0, {}});
  return true;
}

bool add_file(const fs::path& file, const Target& target, CheckedFile& made, Diagnostics& diagnostics) {
  const auto text = read_text_file(file.string(), diagnostics);
  if (!text || !add_nest({"", *text}, target, file.string(), made, diagnostics)) return false;
  const int number = exercise_number(file);
  fs::path sheet = file;
  sheet.replace_extension(".md");
  std::error_code failure;
  if (number == 0 || !fs::exists(sheet, failure)) return true;
  const auto words = read_text_file(sheet.string(), diagnostics);
  if (!words) return false;
  made.nests.back().exercise = number;
  made.nests.back().sheet = without_nest(*words);
  return true;
}

}  // namespace

bool holds_exercises(const std::string& folder) {
  off_window_thread("an exercise was looked for");
  std::error_code failure;
  for (int number = 1; number <= static_cast<int>(exercise_kinds().size()); ++number) {
    if (fs::exists(fs::path(folder) / (name_of_exercise(number) + ".nest"), failure)) return true;
  }
  return false;
}

CheckedPtr check_file(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop,
                      const std::string& target_name) {
  off_window_thread("a nest was checked");
  CheckedFile made;
  made.path = path;
  std::error_code failure;
  if (fs::exists(fs::path(path) / "plan.json", failure)) {
    const auto texts = read_nest_texts(path, {}, built_in_backends(), diagnostics);
    if (!texts) return nullptr;
    for (const NestText& nest : texts->nests) {
      if (stop.stop_requested() || !add_nest(nest, texts->target, path, made, diagnostics)) return nullptr;
    }
  } else {
    CompileRequest request;
    request.target = made.target = target_name;
    const auto target = target_of(request, diagnostics);
    if (!target) return nullptr;
    if (!fs::is_directory(path, failure)) {
      if (!add_file(path, *target, made, diagnostics)) return nullptr;
    } else {
      for (int number = 1; number <= static_cast<int>(exercise_kinds().size()); ++number) {
        const fs::path file = fs::path(path) / (name_of_exercise(number) + ".nest");
        if (!fs::exists(file, failure)) continue;
        if (stop.stop_requested() || !add_file(file, *target, made, diagnostics)) return nullptr;
      }
    }
  }
  if (made.nests.empty()) return nullptr;
  return std::make_shared<const CheckedFile>(std::move(made));
}

}  // namespace stowage::inspector
