// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/shown_diagnostics.h"

namespace stowage {

void Diagnostics::add(Diagnostic diagnostic) { entries_.push_back(std::move(diagnostic)); }

void Diagnostics::error(std::string code, SourceLocation location, std::string message, std::string remedy) {
  add({Severity::error, std::move(code), std::move(location), std::move(message), std::move(remedy), {}, {}});
}

void Diagnostics::warning(std::string code, SourceLocation location, std::string message, std::string remedy) {
  add({Severity::warning, std::move(code), std::move(location), std::move(message), std::move(remedy), {}, {}});
}

void Diagnostics::append(const Diagnostics& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

bool Diagnostics::has_errors() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string format_diagnostic(const Diagnostic& diagnostic) {
  const SourceLocation& location = diagnostic.location;
  std::string text;
  if (!location.file.empty()) text += location.file + ":";
  if (location.line > 0) text += fmt::format("{}:", location.line);
  if (location.line > 0 && location.column > 0) text += fmt::format("{}:", location.column);
  if (!text.empty()) text += " ";
  text += diagnostic.severity == Severity::error ? "error: " : "warning: ";
  if (!location.object.empty()) text += location.object + ": ";
  text += fmt::format("{} [{}]\n", diagnostic.message, diagnostic.code);
  if (!diagnostic.source_line.empty()) {
    text += fmt::format("    {}\n", diagnostic.source_line);
    if (location.column > 0) {
      const int width = std::max(1, location.end_column - location.column);
      text += fmt::format("    {}{}\n", std::string(static_cast<std::size_t>(location.column - 1), ' '),
                          std::string(static_cast<std::size_t>(width), '^'));
    }
  }
  for (const std::string& note : diagnostic.notes) text += fmt::format("  note: {}\n", note);
  if (!diagnostic.remedy.empty()) text += fmt::format("  help: {}\n", diagnostic.remedy);
  return text;
}

std::string format_diagnostics(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : shown_diagnostics(diagnostics.entries())) text += format_diagnostic(diagnostic);
  return text;
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (diagnostic.severity != Severity::error) continue;
    const std::string& object = diagnostic.location.object;
    return object.empty() ? diagnostic.message : fmt::format("{}: {}", object, diagnostic.message);
  }
  return "";
}

namespace {

/// Letters to insert, remove or replace, or neighbours to exchange.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t longest_name = 200;  // nobody misspells longer ones, and the table of distances grows
  if (name.size() > longest_name) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    // A name with no letter in common (of one letter, mostly) is no help.
    if (distance < best_distance && distance < name.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggest_name(std::string_view name, std::span<const std::string> candidates) {
  if (const auto nearest = nearest_name(name, candidates)) return fmt::format("did you mean '{}'?", *nearest);
  if (candidates.empty()) return {};
  return fmt::format("known are: {}", fmt::join(candidates, ", "));
}

}  // namespace stowage
