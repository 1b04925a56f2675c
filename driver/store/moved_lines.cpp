// SPDX-License-Identifier: Apache-2.0
#include "driver/store/moved_lines.h"

#include <algorithm>
#include <span>
#include <sstream>

namespace stowage {

namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Lines without a place of their own that stand between the same two lines in both texts, as many as before, were
/// edited one by one (renamed, for instance): each is still the line that it was.
void match_edited(std::vector<int>& places, std::size_t lines_after) {
  for (std::size_t from = 0; from < places.size();) {
    if (places[from] >= 0) {
      ++from;
      continue;
    }
    std::size_t to = from;
    while (to < places.size() && places[to] < 0) ++to;
    const int first = from == 0 ? 0 : places[from - 1] + 1;
    const int end = to == places.size() ? static_cast<int>(lines_after) : places[to];
    if (end - first == static_cast<int>(to - from)) {
      for (std::size_t i = from; i < to; ++i) places[i] = first + static_cast<int>(i - from);
    }
    from = to;
  }
}

using Lines = std::span<const std::string>;

/// By line of `before` (from 0): its line in `after`, or -1; of the longest common subsequence. Nothing of texts so
/// long that its table would be too large.
std::vector<int> common_lines(Lines before, Lines after) {
  constexpr std::size_t max_cells = 4'000'000;
  std::vector<int> result(before.size(), -1);
  if (before.size() * after.size() > max_cells) return result;
  // length[i][j]: of the longest common subsequence of before[i…] and after[j…].
  std::vector<std::vector<int>> length(before.size() + 1, std::vector<int>(after.size() + 1, 0));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      length[i][j] = before[i] == after[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  for (std::size_t i = 0, j = 0; i < before.size() && j < after.size();) {
    if (before[i] == after[j]) {
      result[i++] = static_cast<int>(j++);
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

/// The same of whole texts, which mostly begin and end with the same lines.
std::vector<int> new_lines(Lines before, Lines after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t first = 0;
  while (first < shorter && before[first] == after[first]) ++first;
  std::size_t last = 0;
  while (last < shorter - first && before[before.size() - 1 - last] == after[after.size() - 1 - last]) ++last;
  const std::vector<int> between = common_lines(before.subspan(first, before.size() - first - last),
                                                after.subspan(first, after.size() - first - last));
  std::vector<int> result(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i < first) {
      result[i] = static_cast<int>(i);
    } else if (i - first < between.size()) {
      const int at = between[i - first];
      result[i] = at < 0 ? -1 : at + static_cast<int>(first);
    } else {
      result[i] = static_cast<int>(after.size() - (before.size() - i));
    }
  }
  match_edited(result, after.size());
  return result;
}

}  // namespace

std::vector<LineOrigin> moved_origins(const std::vector<LineOrigin>& origins, const std::string& before,
                                      const std::string& after) {
  const std::vector<std::string> lines_before = split_lines(before);
  const std::vector<std::string> lines_after = split_lines(after);
  const std::vector<int> places = new_lines(lines_before, lines_after);
  std::vector<LineOrigin> result;
  for (LineOrigin origin : origins) {
    const int place = places.at(static_cast<std::size_t>(origin.line - 1));
    if (place < 0) continue;
    origin.line = place + 1;
    result.push_back(origin);
  }
  return result;
}

}  // namespace stowage
