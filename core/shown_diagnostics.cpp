// SPDX-License-Identifier: Apache-2.0
#include "core/shown_diagnostics.h"

#include <fmt/format.h>

#include "core/number_text.h"

namespace stowage {

std::vector<Diagnostic> shown_diagnostics(std::span<const Diagnostic> all) {
  std::vector<Diagnostic> shown;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Diagnostic& diagnostic : all) {
    std::size_t& count = diagnostic.severity == Severity::error ? errors : warnings;
    if (++count > max_shown_diagnostics) continue;
    shown.push_back(diagnostic);
    std::vector<std::string>& notes = shown.back().notes;
    if (notes.size() > max_shown_diagnostics) {
      const std::size_t more = notes.size() - max_shown_diagnostics;
      notes.resize(max_shown_diagnostics);
      notes.push_back(fmt::format("and {}", counted(more, "more note")));
    }
  }
  const auto say_rest = [&](Severity severity, std::size_t count, std::string_view what) {
    if (count <= max_shown_diagnostics) return;
    Diagnostic rest;
    rest.severity = severity;
    rest.code = "more-diagnostics";
    rest.message = fmt::format("and {}", counted(count - max_shown_diagnostics, what));
    rest.remedy = "mend those above and try again";
    shown.push_back(std::move(rest));
  };
  say_rest(Severity::error, errors, "more error");
  say_rest(Severity::warning, warnings, "more warning");
  return shown;
}

}  // namespace stowage
